// Equal runs, copies, lost disks, rot.
#include "core/base/buf.h"
#include "sim/runtime/random.h"
#include "tests/disk/rig.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Random values in rows, WAL salts, SQLite's idea of the time, crashes and errors: all from the
// seed.
static void run_for_bytes(uint64_t seed, struct uvea_buf *out)
{
    struct rig rig;
    rig_open(&rig, "equal", seed, rig_wal_full);
    for (unsigned life = 0; life < 3; life++) {
        rig_faults(&rig, (struct uvea_sim_disk_faults){
                             .crash_at_write = 120, .eio_write = 2000, .eio_read = 2000});
        if (rig_start(&rig)) {
            rig_work(&rig, 10);
        }
        rig_bytes(&rig, out);
        rig_restart(&rig);
        assert_int_equal(rig_judge(&rig), RIG_WHOLE);
        assert_int_equal(sqlite3_exec(rig.db,
                                      "UPDATE t SET noise=random() WHERE id=1; CREATE TABLE "
                                      "IF NOT EXISTS u(w); INSERT INTO u VALUES("
                                      "datetime('now'))",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        rig_bytes(&rig, out);
        rig_stop(&rig);
    }
    rig_bytes(&rig, out);
    rig_close(&rig);
}

static void test_equal_seeds_equal_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct uvea_buf first = {0};
        struct uvea_buf second = {0};
        struct uvea_buf other = {0};
        run_for_bytes(seed, &first);
        run_for_bytes(seed, &second);
        run_for_bytes(seed + 100, &other);
        assert_true(first.len > 100000);
        assert_int_equal(first.len, second.len);
        assert_memory_equal(first.data, second.data, first.len);
        assert_true(first.len != other.len || memcmp(first.data, other.data, first.len) != 0);
        uvea_buf_deinit(&first);
        uvea_buf_deinit(&second);
        uvea_buf_deinit(&other);
    }
}

static void test_time_is_the_worlds(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, "time", 1, rig_wal_full);
    assert_true(rig_start(&rig));
    sqlite3_stmt *statement = NULL;
    assert_int_equal(
        sqlite3_prepare_v2(rig.db, "SELECT strftime('%s','now')", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "1700000000");
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    rig_close(&rig);
}

// An older copy comes back; another party's files are taken over; the old ones are gone.
static void test_copy_and_wipe(void **state)
{
    (void)state;
    struct rig rig;
    struct rig copy;
    rig_open(&rig, "one", 1, rig_wal_full);
    rig_open(&copy, "two", 2, rig_wal_full);
    assert_true(rig_start(&rig));
    rig_work(&rig, 10);
    rig_restart(&rig); // with a WAL left behind
    assert_int_equal(uvea_sim_disk_copy(copy.disk, rig.disk), UVEA_OK);
    assert_int_equal(uvea_sim_disk_stats(copy.disk).bytes, uvea_sim_disk_stats(rig.disk).bytes);
    copy.acknowledged = 10;
    assert_int_equal(rig_judge(&copy), RIG_WHOLE);
    rig_work(&copy, 5);
    rig_stop(&copy);
    assert_int_equal(rig_judge(&rig), RIG_WHOLE); // the original did not notice
    assert_int_equal(rig.acknowledged, 10);
    rig_stop(&rig);
    assert_int_equal(uvea_sim_disk_copy(rig.disk, copy.disk), UVEA_OK);
    rig.acknowledged = 15;
    assert_int_equal(rig_judge(&rig), RIG_WHOLE);
    rig_stop(&rig);
    uvea_sim_disk_wipe(rig.disk);
    assert_int_equal(uvea_sim_disk_stats(rig.disk).bytes, 0);
    assert_int_equal(rig_judge(&rig), RIG_LOST);
    assert_int_equal(rig.acknowledged, 0);
    rig_close(&rig);
    rig_close(&copy);
}

// The disk of a process that works is copied; neither notices.
static void test_copy_of_a_disk_in_use(void **state)
{
    (void)state;
    struct rig rig;
    struct rig copy;
    rig_open(&rig, "one", 1, rig_wal_full);
    rig_open(&copy, "two", 2, rig_wal_full);
    assert_true(rig_start(&rig));
    rig_work(&rig, 10);
    assert_int_equal(uvea_sim_disk_copy(copy.disk, rig.disk), UVEA_OK);
    copy.acknowledged = 10;
    assert_int_equal(rig_judge(&copy), RIG_WHOLE);
    rig_stop(&copy);
    rig_work(&rig, 5);
    rig_stop(&rig);
    assert_int_equal(rig_judge(&rig), RIG_WHOLE);
    assert_int_equal(rig.acknowledged, 15);
    rig_close(&rig);
    rig_close(&copy);
}

// ---- rot. SQLite finds a flipped bit in its own structures and in the WAL, not in what a row
// holds nor in what is free: the rows need checks of their own, here the rig's.

enum rot { ROT_FOUND_BY_SQLITE, ROT_FOUND_BY_ROWS, ROT_HARMLESS, ROT_KINDS };

static bool sqlite_content(struct rig *rig)
{
    sqlite3_stmt *statement = NULL;
    bool ok =
        sqlite3_open_v2("party.db", &rig->db, SQLITE_OPEN_READWRITE,
                        uvea_sim_disk_vfs(rig->disk)) == SQLITE_OK &&
        sqlite3_exec(rig->db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(rig->db, "PRAGMA integrity_check", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW &&
        strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    ok = sqlite3_finalize(statement) == SQLITE_OK && ok;
    rig_stop(rig);
    return ok;
}

static enum rot rot(uint64_t seed)
{
    struct rig rig;
    rig_open(&rig, "rot", seed, rig_wal_full);
    assert_true(rig_start(&rig));
    rig_work(&rig, 30);
    rig_stop(&rig); // all in the database, no WAL
    assert_int_equal(uvea_sim_disk_rot(rig.disk), UVEA_OK);
    assert_int_equal(uvea_sim_disk_stats(rig.disk).spoiled, 1);
    enum rot kind = ROT_HARMLESS;
    if (!sqlite_content(&rig)) {
        kind = ROT_FOUND_BY_SQLITE;
    } else if (rig_judge(&rig) != RIG_WHOLE || rig.acknowledged != 30) {
        kind = ROT_FOUND_BY_ROWS;
    }
    rig_close(&rig);
    return kind;
}

static void test_rot(void **state)
{
    (void)state;
    unsigned count[ROT_KINDS] = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        count[rot(seed)]++;
    }
    print_message("rot: %u found by SQLite, %u by checks of rows, %u harmless\n",
                  count[ROT_FOUND_BY_SQLITE], count[ROT_FOUND_BY_ROWS], count[ROT_HARMLESS]);
    assert_true(count[ROT_FOUND_BY_SQLITE] > 0);
    assert_true(count[ROT_FOUND_BY_ROWS] > 0);
    assert_true(count[ROT_HARMLESS] > 0);
}

static void test_no_rot_on_an_empty_disk(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, "empty", 1, rig_wal_full);
    assert_int_equal(uvea_sim_disk_rot(rig.disk), UVEA_ERR_NOT_FOUND);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_seeds_equal_bytes),
        cmocka_unit_test(test_time_is_the_worlds),
        cmocka_unit_test(test_copy_and_wipe),
        cmocka_unit_test(test_copy_of_a_disk_in_use),
        cmocka_unit_test(test_rot),
        cmocka_unit_test(test_no_rot_on_an_empty_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
