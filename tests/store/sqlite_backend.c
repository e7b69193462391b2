// Files in a directory of their own.
#include "tests/store/fixture.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static char directory[] = "/tmp/uvea-store-XXXXXX";
static unsigned places;

int backend_start(void)
{
    return mkdtemp(directory) != NULL ? 0 : 1;
}

void backend_stop(void)
{
    for (unsigned i = 1; i <= places; i++) {
        static const char *const suffixes[] = {"", "-wal", "-journal"};
        for (size_t k = 0; k < 3; k++) {
            char path[128];
            (void)snprintf(path, sizeof(path), "%s/%u.db%s", directory, i, suffixes[k]);
            (void)unlink(path);
        }
    }
    (void)rmdir(directory);
}

static void place(struct fixture *fixture)
{
    (void)snprintf(fixture->place, sizeof(fixture->place), "%s/%u.db", directory, ++places);
}

static enum uvea_error open_file(struct fixture *fixture)
{
    return uvea_store_open_sqlite(uvea_test_rt(), fixture->place, NULL, &fixture->store,
                                  &fixture->context);
}

static int first_value(void *arg, int columns, char **values, char **names)
{
    (void)columns;
    (void)names;
    long long *value = arg;
    if (value != NULL && values[0] != NULL) {
        *value = strtoll(values[0], NULL, 10);
    }
    return 0;
}

static void raw(struct fixture *fixture, const char *sql, long long *value)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fixture->place, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, first_value, value, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static enum uvea_error connect_file(struct fixture *fixture, struct uvea_sql **sql)
{
    return uvea_sql_open_sqlite(fixture->place, NULL, sql, &fixture->context);
}

// Of every byte of the file.
static uint64_t fingerprint(struct fixture *fixture)
{
    uint64_t sum = 14695981039346656037u;
    FILE *file = fopen(fixture->place, "rb");
    assert_non_null(file);
    for (int byte = fgetc(file); byte != EOF; byte = fgetc(file)) {
        sum = (sum ^ (uint64_t)byte) * 1099511628211u;
    }
    (void)fclose(file);
    return sum;
}

// No file may grow.
static void hurt(struct fixture *fixture, bool on)
{
    (void)fixture;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = on ? 4096 : limit.rlim_max;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

const struct backend backend = {
    .name = "sqlite",
    .place = place,
    .open = open_file,
    .raw = raw,
    .connect = connect_file,
    .fingerprint = fingerprint,
    .hurt = hurt,
};
