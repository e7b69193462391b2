// A server of Debian's package, started for this program alone in a directory of its own and
// reached through a socket there.
#include "tests/store/fixture.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/uvea-store-XXXXXX";
static char bin[128];
static char url[256];
static unsigned places;
static pid_t server;

// The newest of the installed versions.
static bool find_programs(void)
{
    for (int version = 30; version >= 14; version--) {
        char path[160];
        (void)snprintf(bin, sizeof(bin), "/usr/lib/postgresql/%d/bin", version);
        (void)snprintf(path, sizeof(path), "%s/initdb", bin);
        if (access(path, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

// PostgreSQL refuses to run as root.
static void become_unprivileged(void)
{
    if (geteuid() != 0) {
        return;
    }
    const struct passwd *user = getpwnam("postgres");
    if (user == NULL) {
        user = getpwnam("nobody");
    }
    if (user == NULL || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) {
        _exit(127);
    }
}

static bool give_directory(void)
{
    if (geteuid() != 0) {
        return true;
    }
    const struct passwd *user = getpwnam("postgres");
    if (user == NULL) {
        user = getpwnam("nobody");
    }
    return user != NULL && chown(directory, user->pw_uid, user->pw_gid) == 0;
}

// Ends with its parent, output discarded.
static pid_t launch(char *const arguments[])
{
    pid_t child = fork();
    if (child == 0) {
        int log = open("/dev/null", O_RDWR);
        (void)dup2(log, 0);
        (void)dup2(log, 1);
        (void)dup2(log, 2);
        become_unprivileged();
        (void)prctl(PR_SET_PDEATHSIG, SIGINT);
        if (chdir(directory) == 0) {
            (void)execv(arguments[0], arguments);
        }
        _exit(127);
    }
    return child;
}

static bool make_cluster(void)
{
    char program[160];
    (void)snprintf(program, sizeof(program), "%s/initdb", bin);
    pid_t child = launch((char *[]){program, "-D", "data", "-U", "uvea", "-A", "trust", "-E",
                                    "UTF8", "--locale=C", "--no-sync", "--no-instructions", NULL});
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool reach_server(void)
{
    for (int tries = 0; tries < 600; tries++) {
        if (PQping(url) == PQPING_OK) {
            return true;
        }
        if (waitpid(server, NULL, WNOHANG) == server) {
            server = 0;
            return false;
        }
        (void)usleep(100000);
    }
    return false;
}

int backend_start(void)
{
    if (!find_programs()) {
        (void)fprintf(stderr, "skipped: no PostgreSQL server is installed\n");
        exit(77);
    }
    if (mkdtemp(directory) == NULL || !give_directory() || !make_cluster()) {
        (void)fprintf(stderr, "initdb failed in %s\n", directory);
        return 1;
    }
    char program[160];
    (void)snprintf(program, sizeof(program), "%s/postgres", bin);
    server =
        launch((char *[]){program, "-D", "data", "-k", directory, "-c", "listen_addresses=", "-c",
                          "shared_buffers=16MB", "-c", "fsync=off", NULL});
    (void)snprintf(url, sizeof(url), "host=%s user=uvea dbname=postgres", directory);
    if (server <= 0 || !reach_server()) {
        (void)fprintf(stderr, "the server in %s cannot be reached\n", directory);
        return 1;
    }
    return 0;
}

void backend_stop(void)
{
    if (server > 0) {
        (void)kill(server, SIGINT); // ends connections and stops
        (void)waitpid(server, NULL, 0);
    }
    char program[] = "/bin/rm";
    pid_t child = launch((char *[]){program, "-rf", "data", NULL});
    if (child > 0) {
        (void)waitpid(child, NULL, 0);
    }
    (void)rmdir(directory);
}

static void place(struct fixture *fixture)
{
    (void)snprintf(fixture->place, sizeof(fixture->place), "Store-%u", ++places);
}

static enum uvea_error open_schema(struct fixture *fixture)
{
    return uvea_store_open_postgres(uvea_test_rt(), url, fixture->place, &fixture->store,
                                    &fixture->context);
}

static void raw(struct fixture *fixture, const char *sql, long long *value)
{
    PGconn *connection = PQconnectdb(url);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    char path[320];
    (void)snprintf(path, sizeof(path),
                   "CREATE SCHEMA IF NOT EXISTS \"%s\"; SET search_path = \"%s\"", fixture->place,
                   fixture->place);
    PQclear(PQexec(connection, "SET client_min_messages = error"));
    PQclear(PQexec(connection, path));
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fail_msg("%s: %s", sql, PQresultErrorMessage(result));
    }
    if (value != NULL) {
        *value = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    }
    PQclear(result);
    PQfinish(connection);
}

static enum uvea_error connect_schema(struct fixture *fixture, struct uvea_sql **sql)
{
    return uvea_sql_open_postgres(url, fixture->place, sql, &fixture->context);
}

// Tables, their columns, and versions.
static uint64_t fingerprint(struct fixture *fixture)
{
    long long tables = 0;
    long long versions = 0;
    fixture->backend->raw(fixture,
                          "SELECT count(*) FROM information_schema.columns"
                          " WHERE table_schema = current_schema()",
                          &tables);
    fixture->backend->raw(fixture,
                          "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
                          " AND tablename = 'uvea_schema'",
                          &versions);
    if (versions != 0) {
        fixture->backend->raw(fixture, "SELECT sum(version) FROM uvea_schema", &versions);
    }
    return (uint64_t)tables * 1000 + (uint64_t)versions;
}

// Ends the store's connection.
static void hurt(struct fixture *fixture, bool on)
{
    if (on) {
        fixture->backend->raw(fixture,
                              "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
                              " WHERE application_name = 'uvea'",
                              NULL);
    }
}

// A trigger that runs at the commit ends its own connection.
static void hurt_commit(struct fixture *fixture, bool on)
{
    fixture->backend->raw(
        fixture,
        on ? "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
             " $$BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END$$;"
             "CREATE CONSTRAINT TRIGGER die AFTER INSERT ON topic DEFERRABLE INITIALLY DEFERRED"
             " FOR EACH ROW EXECUTE FUNCTION die()"
           : "DROP TRIGGER die ON topic",
        NULL);
}

const struct backend backend = {
    .name = "postgres",
    .place = place,
    .open = open_schema,
    .raw = raw,
    .connect = connect_schema,
    .fingerprint = fingerprint,
    .hurt = hurt,
    .hurt_commit = hurt_commit,
    .waits = true,
};
