// Files of the simulated disk, called as SQLite calls them.
#include "core/base/check.h"
#include "sim/disk/disk.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SECTOR = UVEA_SIM_SECTOR_BYTES,
    CHUNK = 64 * 1024,
    OPEN_FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL,
};

static struct uvea_sim_disk *disk;
static sqlite3_vfs *vfs;

static uint64_t wall_ns(void *arg)
{
    (void)arg;
    return UINT64_C(1234567000000);
}

static void open_disk(uint64_t seed)
{
    assert_int_equal(uvea_sim_disk_open("medium", seed, wall_ns, NULL, &disk), UVEA_OK);
    vfs = sqlite3_vfs_find("medium");
    assert_non_null(vfs);
}

static void close_disk(void)
{
    uvea_sim_disk_close(disk);
    assert_null(sqlite3_vfs_find("medium"));
}

static sqlite3_file *open_file(const char *name, int flags)
{
    sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
    assert_non_null(file);
    assert_int_equal(vfs->xOpen(vfs, name, file, flags, NULL), SQLITE_OK);
    return file;
}

static void close_file(sqlite3_file *file)
{
    assert_int_equal(file->pMethods->xClose(file), SQLITE_OK);
    free(file);
}

static void put(sqlite3_file *file, uint64_t offset, uint8_t value, size_t bytes)
{
    uint8_t *from = malloc(bytes);
    assert_non_null(from);
    memset(from, value, bytes);
    assert_int_equal(file->pMethods->xWrite(file, from, (int)bytes, (sqlite3_int64)offset),
                     SQLITE_OK);
    free(from);
}

static void sync_file(sqlite3_file *file)
{
    assert_int_equal(file->pMethods->xSync(file, SQLITE_SYNC_NORMAL), SQLITE_OK);
}

static void truncate_file(sqlite3_file *file, uint64_t size)
{
    assert_int_equal(file->pMethods->xTruncate(file, (sqlite3_int64)size), SQLITE_OK);
}

static uint64_t size_of(sqlite3_file *file)
{
    sqlite3_int64 size;
    assert_int_equal(file->pMethods->xFileSize(file, &size), SQLITE_OK);
    return (uint64_t)size;
}

static uint8_t byte_at(sqlite3_file *file, uint64_t offset)
{
    uint8_t byte;
    assert_int_equal(file->pMethods->xRead(file, &byte, 1, (sqlite3_int64)offset), SQLITE_OK);
    return byte;
}

// Whether so many bytes all have this value.
static bool all(sqlite3_file *file, uint64_t offset, uint8_t value, size_t bytes)
{
    uint8_t *got = malloc(bytes + 1);
    assert_non_null(got);
    assert_int_equal(file->pMethods->xRead(file, got, (int)bytes, (sqlite3_int64)offset),
                     SQLITE_OK);
    size_t i = 0;
    while (i < bytes && got[i] == value) {
        i++;
    }
    free(got);
    return i == bytes;
}

// The process dies, the file is opened again.
static sqlite3_file *crash_and_open(sqlite3_file *file)
{
    uvea_sim_disk_crash(disk);
    uvea_sim_disk_crash(disk); // a dead disk does not die
    uint8_t byte = 1;
    assert_int_equal(file->pMethods->xRead(file, &byte, 1, 0), SQLITE_IOERR_READ);
    assert_int_equal(file->pMethods->xWrite(file, &byte, 1, 0), SQLITE_IOERR_WRITE);
    assert_int_equal(file->pMethods->xSync(file, 0), SQLITE_IOERR_FSYNC);
    assert_int_equal(file->pMethods->xTruncate(file, 0), SQLITE_IOERR_TRUNCATE);
    close_file(file);
    uvea_sim_disk_restart(disk);
    return open_file("f", OPEN_FLAGS);
}

static void test_reads_what_was_written(void **state)
{
    (void)state;
    open_disk(1);
    sqlite3_file *file = open_file("f", OPEN_FLAGS);
    put(file, CHUNK - 3, 7, 10);
    put(file, 3 * CHUNK + 100, 9, 2 * CHUNK);
    assert_int_equal(size_of(file), 5 * CHUNK + 100);
    assert_true(all(file, 0, 0, CHUNK - 3));
    assert_true(all(file, CHUNK - 3, 7, 10));
    assert_true(all(file, CHUNK + 7, 0, 2 * CHUNK + 93));
    assert_true(all(file, 3 * CHUNK + 100, 9, 2 * CHUNK));
    uint8_t end[20];
    memset(end, 1, sizeof(end));
    assert_int_equal(file->pMethods->xRead(file, end, 20, 5 * CHUNK + 90), SQLITE_IOERR_SHORT_READ);
    assert_int_equal(end[9], 9);
    assert_int_equal(end[10], 0);
    assert_int_equal(uvea_sim_disk_stats(disk).bytes, 5 * CHUNK + 100);
    truncate_file(file, CHUNK + 1);
    put(file, 2 * CHUNK, 1, 1);
    assert_true(all(file, CHUNK - 3, 7, 4));
    assert_true(all(file, CHUNK + 1, 0, CHUNK - 1)); // what was cut does not come back
    close_file(file);
    close_disk();
}

static void test_synced_is_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        open_disk(seed);
        sqlite3_file *file = open_file("f", OPEN_FLAGS);
        put(file, 0, 5, 3 * CHUNK + 17);
        sync_file(file);
        file = crash_and_open(file);
        assert_int_equal(size_of(file), 3 * CHUNK + 17);
        assert_true(all(file, 0, 5, 3 * CHUNK + 17));
        close_file(file);
        assert_int_equal(uvea_sim_disk_stats(disk).lost, 0);
        close_disk();
    }
}

// Each sector keeps, loses or spoils what was written to it, and nothing beside it.
static void test_unsynced_by_sectors(void **state)
{
    (void)state;
    enum { SECTORS = 64, FROM = 100, BYTES = 300 };
    unsigned kept = 0;
    unsigned lost = 0;
    unsigned spoiled = 0;
    uint64_t counted[2] = {0};
    for (uint64_t seed = 0; seed < 100; seed++) {
        open_disk(seed);
        sqlite3_file *file = open_file("f", OPEN_FLAGS);
        put(file, 0, 1, SECTORS * SECTOR);
        sync_file(file);
        for (unsigned i = 0; i < SECTORS; i += 2) {
            put(file, (uint64_t)i * SECTOR + FROM, 2, BYTES);
        }
        file = crash_and_open(file);
        assert_int_equal(size_of(file), SECTORS * SECTOR);
        for (unsigned i = 0; i < SECTORS; i++) {
            uint64_t at = (uint64_t)i * SECTOR;
            assert_true(all(file, at, 1, FROM));
            assert_true(all(file, at + FROM + BYTES, 1, SECTOR - FROM - BYTES));
            bool is_lost = all(file, at + FROM, 1, BYTES);
            bool is_kept = all(file, at + FROM, 2, BYTES);
            assert_true(i % 2 == 0 || is_lost);
            lost += i % 2 == 0 && is_lost;
            kept += is_kept;
            spoiled += !is_kept && !is_lost;
        }
        close_file(file);
        counted[0] += uvea_sim_disk_stats(disk).lost;
        counted[1] += uvea_sim_disk_stats(disk).spoiled;
        close_disk();
    }
    assert_int_equal(kept + lost + spoiled, 100 * SECTORS / 2);
    assert_true(kept > 800 && lost > 800 && spoiled > 600);
    assert_int_equal(counted[0], lost);
    assert_int_equal(counted[1], spoiled);
}

static void test_growth_comes_in_part(void **state)
{
    (void)state;
    bool none = false;
    bool some = false;
    bool whole = false;
    for (uint64_t seed = 0; seed < 100; seed++) {
        open_disk(seed);
        sqlite3_file *file = open_file("f", OPEN_FLAGS);
        put(file, 0, 1, 700);
        sync_file(file);
        put(file, 700, 2, 5 * CHUNK);
        file = crash_and_open(file);
        uint64_t size = size_of(file);
        assert_true(size >= 700 && size <= 700 + 5 * CHUNK);
        assert_true(all(file, 0, 1, 700));
        none |= size == 700;
        whole |= size == 700 + 5 * CHUNK;
        some |= size > 700 && size < 700 + 5 * CHUNK;
        put(file, 6 * CHUNK, 3, 1);
        assert_true(all(file, size, 0, 6 * CHUNK - size)); // nothing behind the end comes back
        close_file(file);
        close_disk();
    }
    assert_true(none && some && whole);
}

static void test_truncation_is_undone_or_not(void **state)
{
    (void)state;
    static const uint64_t cuts[] = {0, 1, 511, 512, 513, CHUNK, CHUNK + 5};
    bool undone = false;
    bool done = false;
    for (uint64_t seed = 0; seed < 140; seed++) {
        uint64_t cut = cuts[seed % UVEA_COUNT_OF(cuts)];
        open_disk(seed);
        sqlite3_file *file = open_file("f", OPEN_FLAGS);
        put(file, 0, 1, 3 * CHUNK);
        sync_file(file);
        put(file, 2 * CHUNK, 4, 9);
        truncate_file(file, cut);
        file = crash_and_open(file);
        uint64_t size = size_of(file);
        assert_true(size == cut || size == 3 * CHUNK);
        assert_true(all(file, 0, 1, size));
        undone |= size != cut;
        done |= size == cut;
        close_file(file);
        close_disk();
    }
    assert_true(done && undone);
}

// Written behind a truncation and lost: zeros when the truncation took place, else what was there.
static void test_written_behind_a_truncation(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        open_disk(seed);
        sqlite3_file *file = open_file("f", OPEN_FLAGS);
        put(file, 0, 1, 4 * SECTOR);
        sync_file(file);
        truncate_file(file, 100);
        put(file, 100, 2, 3 * SECTOR);
        file = crash_and_open(file);
        uint64_t size = size_of(file);
        assert_true(size >= 100 && size <= 4 * SECTOR);
        assert_true(all(file, 0, 1, 100));
        if (size == 4 * SECTOR) { // undone; the last sector was cut and hardly written
            assert_true(all(file, 3 * SECTOR + 100, 1, SECTOR - 100) ||
                        all(file, 3 * SECTOR + 100, 0, SECTOR - 100));
        }
        close_file(file);
        close_disk();
    }
}

static void test_names(void **state)
{
    (void)state;
    open_disk(3);
    int exists;
    sqlite3_file *none = calloc(1, (size_t)vfs->szOsFile);
    assert_non_null(none);
    assert_int_equal(vfs->xOpen(vfs, "f", none, SQLITE_OPEN_READWRITE, NULL), SQLITE_CANTOPEN);
    free(none);
    sqlite3_file *file = open_file("f", OPEN_FLAGS);
    sqlite3_file *temporary = open_file(NULL, OPEN_FLAGS | SQLITE_OPEN_DELETEONCLOSE);
    put(temporary, 0, 1, 10);
    close_file(temporary);
    assert_int_equal(vfs->xAccess(vfs, "f", SQLITE_ACCESS_EXISTS, &exists), SQLITE_OK);
    assert_true(exists);
    put(file, 0, 6, 100);
    assert_int_equal(vfs->xDelete(vfs, "f", 1), SQLITE_OK);
    assert_int_equal(vfs->xDelete(vfs, "f", 1), SQLITE_IOERR_DELETE_NOENT);
    assert_int_equal(vfs->xAccess(vfs, "f", SQLITE_ACCESS_EXISTS, &exists), SQLITE_OK);
    assert_false(exists);
    assert_int_equal(byte_at(file, 99), 6); // who has it open still reads it
    sqlite3_file *other = open_file("f", OPEN_FLAGS);
    assert_int_equal(size_of(other), 0);
    close_file(file);
    close_file(other);
    assert_int_equal(uvea_sim_disk_stats(disk).bytes, 0);
    struct uvea_sim_disk *twin;
    assert_int_equal(uvea_sim_disk_open("medium", 3, wall_ns, NULL, &twin), UVEA_ERR_USAGE);
    close_disk();
}

static void test_locks(void **state)
{
    (void)state;
    open_disk(4);
    sqlite3_file *a = open_file("f", OPEN_FLAGS);
    sqlite3_file *b = open_file("f", OPEN_FLAGS);
    int reserved;
    assert_int_equal(a->pMethods->xLock(a, SQLITE_LOCK_SHARED), SQLITE_OK);
    assert_int_equal(b->pMethods->xLock(b, SQLITE_LOCK_SHARED), SQLITE_OK);
    assert_int_equal(a->pMethods->xLock(a, SQLITE_LOCK_RESERVED), SQLITE_OK);
    assert_int_equal(b->pMethods->xLock(b, SQLITE_LOCK_RESERVED), SQLITE_BUSY);
    assert_int_equal(b->pMethods->xCheckReservedLock(b, &reserved), SQLITE_OK);
    assert_true(reserved);
    assert_int_equal(a->pMethods->xLock(a, SQLITE_LOCK_EXCLUSIVE), SQLITE_BUSY);
    assert_int_equal(b->pMethods->xUnlock(b, SQLITE_LOCK_NONE), SQLITE_OK);
    assert_int_equal(b->pMethods->xLock(b, SQLITE_LOCK_SHARED), SQLITE_BUSY);
    assert_int_equal(a->pMethods->xLock(a, SQLITE_LOCK_EXCLUSIVE), SQLITE_OK);
    assert_int_equal(b->pMethods->xLock(b, SQLITE_LOCK_SHARED), SQLITE_BUSY);
    close_file(a);
    assert_int_equal(b->pMethods->xLock(b, SQLITE_LOCK_SHARED), SQLITE_OK);
    close_file(b);
    close_disk();
}

// A large file is cheap: a hundred megabytes, and syncs of a little of it.
static void test_large_file(void **state)
{
    (void)state;
    enum { MEGABYTES = 100, BLOB = 77 * 1024 };
    open_disk(5);
    sqlite3_file *file = open_file("f", OPEN_FLAGS);
    for (uint64_t at = 0; at < UINT64_C(1048576) * MEGABYTES; at += BLOB) {
        put(file, at, (uint8_t)(at / BLOB), BLOB);
        sync_file(file);
    }
    for (unsigned i = 0; i < 20000; i++) {
        put(file, (uint64_t)i * 4096, 3, 512);
        sync_file(file);
    }
    assert_int_equal(uvea_sim_disk_stats(disk).syncs, 20000 + (MEGABYTES * 1024 + 76) / 77);
    truncate_file(file, 0);
    file = crash_and_open(file);
    close_file(file);
    close_disk();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_was_written),
        cmocka_unit_test(test_synced_is_kept),
        cmocka_unit_test(test_unsynced_by_sectors),
        cmocka_unit_test(test_growth_comes_in_part),
        cmocka_unit_test(test_truncation_is_undone_or_not),
        cmocka_unit_test(test_written_behind_a_truncation),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_large_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
