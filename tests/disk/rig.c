#include "tests/disk/rig.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BODY_BYTES_MAX = 77000 };

const struct rig_mode rig_wal_full = {"WAL", "FULL", 20};

// ---- what the rows hold

static uint64_t mixed(uint64_t value)
{
    value = (value ^ value >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return value ^ value >> 32;
}

// Mostly a few hundred bytes, now and then as long as a pair of eyes.
static size_t body(unsigned row, unsigned version, uint8_t *out)
{
    uint64_t state = mixed(row * UINT64_C(1000003) + version);
    size_t bytes = state % 40 == 0 ? BODY_BYTES_MAX : 20 + state % 900;
    for (size_t i = 0; i < bytes; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        out[i] = (uint8_t)(state >> 56);
    }
    return bytes;
}

// The row that transaction k rewrites.
static unsigned rewritten(unsigned k)
{
    return 1 + (unsigned)(mixed(k) % k);
}

// ---- the process

static uint64_t wall_ns(void *arg)
{
    (void)arg;
    return UINT64_C(1700000000000000000);
}

static void crashed(void *arg)
{
    ((struct rig *)arg)->crashed = true;
}

void rig_open(struct rig *rig, const char *name, uint64_t seed, struct rig_mode mode)
{
    *rig = (struct rig){.mode = mode};
    assert_int_equal(uvea_sim_disk_open(name, seed, wall_ns, NULL, &rig->disk), UVEA_OK);
    uvea_sim_disk_on_crash(rig->disk, crashed, rig);
}

void rig_close(struct rig *rig)
{
    rig_stop(rig);
    uvea_sim_disk_close(rig->disk);
}

void rig_faults(struct rig *rig, struct uvea_sim_disk_faults faults)
{
    uvea_sim_disk_faults_set(rig->disk, &faults);
}

static bool execute(struct rig *rig, const char *sql)
{
    return sqlite3_exec(rig->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool connect(struct rig *rig)
{
    char sql[256];
    (void)snprintf(sql, sizeof(sql),
                   "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=%s; PRAGMA synchronous=%s;"
                   "PRAGMA wal_autocheckpoint=%d; PRAGMA cache_size=50",
                   rig->mode.journal, rig->mode.synchronous, rig->mode.checkpoint_pages);
    return sqlite3_open_v2("party.db", &rig->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                           uvea_sim_disk_vfs(rig->disk)) == SQLITE_OK &&
           execute(rig, sql);
}

bool rig_start(struct rig *rig)
{
    return connect(rig) && execute(rig, "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, "
                                        "version INTEGER, noise INTEGER, body BLOB)");
}

void rig_stop(struct rig *rig)
{
    assert_int_equal(sqlite3_close(rig->db), SQLITE_OK);
    rig->db = NULL;
}

static bool write_row(struct rig *rig, const char *sql, unsigned row, unsigned version)
{
    static uint8_t bytes[BODY_BYTES_MAX];
    size_t len = body(row, version, bytes);
    sqlite3_stmt *statement = NULL;
    bool done = sqlite3_prepare_v2(rig->db, sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_bind_int(statement, 1, (int)row) == SQLITE_OK &&
                sqlite3_bind_int(statement, 2, (int)version) == SQLITE_OK &&
                sqlite3_bind_blob(statement, 3, bytes, (int)len, SQLITE_STATIC) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_DONE;
    return sqlite3_finalize(statement) == SQLITE_OK && done;
}

static bool transact(struct rig *rig, unsigned k)
{
    return execute(rig, "BEGIN IMMEDIATE") &&
           write_row(rig, "INSERT INTO t VALUES(?1, ?2, random(), ?3)", k, 0) &&
           write_row(rig, "UPDATE t SET version=?2, body=?3 WHERE id=?1", rewritten(k), k) &&
           execute(rig, "COMMIT");
}

void rig_work(struct rig *rig, unsigned count)
{
    for (unsigned i = 0; i < count && !rig->failed && !rig->crashed; i++) {
        if (transact(rig, rig->acknowledged + 1)) {
            rig->acknowledged++;
        } else {
            rig->failed = true;
        }
    }
}

bool rig_checkpoint(struct rig *rig)
{
    return sqlite3_wal_checkpoint_v2(rig->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
           SQLITE_OK;
}

void rig_restart(struct rig *rig)
{
    uvea_sim_disk_crash(rig->disk);
    rig_stop(rig);
    rig_faults(rig, (struct uvea_sim_disk_faults){0});
    uvea_sim_disk_restart(rig->disk);
    rig->failed = false;
    rig->crashed = false;
}

// ---- judging

static bool integrity_ok(struct rig *rig)
{
    sqlite3_stmt *statement = NULL;
    bool ok =
        sqlite3_prepare_v2(rig->db, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW &&
        strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    return sqlite3_finalize(statement) == SQLITE_OK && ok;
}

// Rows and versions must be those of the state after as many transactions as there are rows.
static bool read_rows(struct rig *rig, unsigned *rows)
{
    static uint8_t bytes[BODY_BYTES_MAX];
    unsigned versions[RIG_TRANSACTIONS_MAX + 1] = {0};
    sqlite3_stmt *statement = NULL;
    bool good = sqlite3_prepare_v2(rig->db, "SELECT id, version, body FROM t ORDER BY id", -1,
                                   &statement, NULL) == SQLITE_OK;
    *rows = 0;
    while (good && *rows < RIG_TRANSACTIONS_MAX && sqlite3_step(statement) == SQLITE_ROW) {
        unsigned row = ++*rows;
        versions[row] = (unsigned)sqlite3_column_int(statement, 1);
        size_t len = body(row, versions[row], bytes);
        good = sqlite3_column_int(statement, 0) == (int)row &&
               sqlite3_column_bytes(statement, 2) == (int)len &&
               memcmp(sqlite3_column_blob(statement, 2), bytes, len) == 0;
    }
    good = sqlite3_finalize(statement) == SQLITE_OK && good;
    unsigned expected[RIG_TRANSACTIONS_MAX + 1] = {0};
    for (unsigned k = 1; k <= *rows; k++) {
        expected[rewritten(k)] = k;
    }
    return good && memcmp(versions, expected, sizeof(versions)) == 0;
}

// Before the table was there nothing can have been acknowledged.
static bool has_table(struct rig *rig, bool *has)
{
    sqlite3_stmt *statement = NULL;
    *has = false;
    if (sqlite3_prepare_v2(rig->db, "SELECT count(*) FROM sqlite_schema WHERE name='t'", -1,
                           &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        *has = sqlite3_column_int(statement, 0) == 1;
    }
    return sqlite3_finalize(statement) == SQLITE_OK;
}

enum rig_state rig_judge(struct rig *rig)
{
    bool table;
    unsigned rows = 0;
    if (!connect(rig) || !integrity_ok(rig) || !has_table(rig, &table) ||
        (table && !read_rows(rig, &rows))) {
        return RIG_CORRUPT;
    }
    unsigned acknowledged = rig->acknowledged;
    rig->acknowledged = rows;
    if (rows < acknowledged) {
        return RIG_LOST;
    }
    return rows <= acknowledged + 1 ? RIG_WHOLE : RIG_CORRUPT;
}

// ---- bytes

static void append_file(sqlite3_vfs *vfs, const char *name, int flags, struct uvea_buf *out)
{
    sqlite3_int64 size;
    sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
    assert_non_null(file);
    if (vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY | flags, NULL) == SQLITE_OK) {
        assert_int_equal(file->pMethods->xFileSize(file, &size), SQLITE_OK);
        uint8_t *to = uvea_buf_extend(out, (size_t)size);
        assert_true(to != NULL || size == 0);
        if (size > 0) {
            assert_int_equal(file->pMethods->xRead(file, to, (int)size, 0), SQLITE_OK);
        }
        assert_int_equal(file->pMethods->xClose(file), SQLITE_OK);
    }
    free(file);
}

void rig_bytes(struct rig *rig, struct uvea_buf *out)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(uvea_sim_disk_vfs(rig->disk));
    append_file(vfs, "party.db", SQLITE_OPEN_MAIN_DB, out);
    append_file(vfs, "party.db-wal", SQLITE_OPEN_WAL, out);
    append_file(vfs, "party.db-journal", SQLITE_OPEN_MAIN_JOURNAL, out);
}
