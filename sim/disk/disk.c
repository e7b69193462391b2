#include "sim/disk/disk.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/disk/state.h"

#include <stdio.h>
#include <string.h>

enum { ROT_PAGE_BYTES = 4096 };

// ---- files by name

struct uvea_disk_file *uvea_disk_find(const struct uvea_sim_disk *disk, const char *name)
{
    struct uvea_disk_file *file = disk->files;
    while (file != NULL && (file->deleted || file->name == NULL || strcmp(file->name, name) != 0)) {
        file = file->next;
    }
    return file;
}

void uvea_disk_append(struct uvea_sim_disk *disk, struct uvea_disk_file *file)
{
    struct uvea_disk_file **at = &disk->files;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = file;
}

void uvea_disk_forget(struct uvea_sim_disk *disk, struct uvea_disk_file *file)
{
    struct uvea_disk_file **at = &disk->files;
    while (*at != file) {
        at = &(*at)->next;
    }
    *at = file->next;
    uvea_disk_file_free(file);
}

static void forget_all(struct uvea_sim_disk *disk)
{
    UVEA_CHECK(disk->handles == NULL);
    while (disk->files != NULL) {
        uvea_disk_forget(disk, disk->files);
    }
}

uint64_t uvea_disk_bytes(const struct uvea_sim_disk *disk)
{
    uint64_t bytes = 0;
    for (const struct uvea_disk_file *file = disk->files; file != NULL; file = file->next) {
        bytes += file->size;
    }
    return bytes;
}

// ---- faults

// Counts down; true when it strikes now.
static bool nth(uint64_t *left)
{
    return *left > 0 && --*left == 0;
}

enum uvea_disk_verdict uvea_disk_judge(struct uvea_sim_disk *disk,
                                       enum uvea_disk_operation operation)
{
    struct uvea_sim_disk_faults *faults = &disk->faults;
    struct uvea_sim_random *random = &disk->faults_random;
    uint64_t *const counts[] = {&disk->stats.reads, &disk->stats.writes, &disk->stats.syncs};
    const uint32_t chances[] = {faults->eio_read, faults->eio_write, faults->eio_sync};
    ++*counts[operation];
    if (operation != UVEA_DISK_READ && nth(&faults->crash_at_write)) {
        return UVEA_DISK_DIE;
    }
    if (nth(&faults->fail_nth) ||
        uvea_sim_random_chance(random, chances[operation], UVEA_DISK_MILLION)) {
        disk->stats.injected++;
        return UVEA_DISK_FAIL;
    }
    if (operation == UVEA_DISK_READ &&
        uvea_sim_random_chance(random, faults->short_read, UVEA_DISK_MILLION)) {
        disk->stats.injected++;
        return UVEA_DISK_CUT_SHORT;
    }
    return UVEA_DISK_GO_ON;
}

void uvea_disk_die(struct uvea_sim_disk *disk)
{
    uvea_sim_disk_crash(disk);
    if (disk->crashed != NULL) {
        disk->crashed(disk->crashed_arg);
    }
}

// ---- the disk

static void init_stream(struct uvea_sim_random *random, uint64_t seed, const char *name,
                        const char *what)
{
    char stream[UVEA_DISK_NAME_BYTES_MAX + 16];
    (void)snprintf(stream, sizeof(stream), "disk/%s%s", name, what);
    uvea_sim_random_init(random, seed, stream);
}

// SQLite draws WAL salts and random() from one generator per process, which the default VFS would
// seed; this seeds it instead.
static void seed_sqlite(struct uvea_sim_disk *disk)
{
    int seed = (int)uvea_sim_random_range(&disk->sqlite_random, 1, INT32_MAX);
    (void)sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, seed, (sqlite3 *)NULL);
}

enum uvea_error uvea_sim_disk_open(const char *name, uint64_t seed, uint64_t (*wall_ns)(void *arg),
                                   void *arg, struct uvea_sim_disk **disk)
{
    if (strlen(name) >= UVEA_DISK_NAME_BYTES_MAX || sqlite3_vfs_find(name) != NULL) {
        return UVEA_ERR_USAGE;
    }
    struct uvea_sim_disk *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    memcpy(made->name, name, strlen(name));
    made->wall_ns = wall_ns;
    made->wall_arg = arg;
    init_stream(&made->faults_random, seed, name, "");
    init_stream(&made->crash_random, seed, name, "/crash");
    init_stream(&made->sqlite_random, seed, name, "/sqlite");
    made->vfs = uvea_disk_vfs;
    made->vfs.zName = made->name;
    made->vfs.pAppData = made;
    if (sqlite3_vfs_register(&made->vfs, 0) != SQLITE_OK) {
        uvea_mem_free(made);
        return UVEA_ERR_MEMORY;
    }
    seed_sqlite(made);
    *disk = made;
    return UVEA_OK;
}

void uvea_sim_disk_close(struct uvea_sim_disk *disk)
{
    if (disk == NULL) {
        return;
    }
    forget_all(disk);
    uvea_disk_spare_deinit(&disk->spare);
    (void)sqlite3_vfs_unregister(&disk->vfs);
    uvea_mem_free(disk);
}

const char *uvea_sim_disk_vfs(const struct uvea_sim_disk *disk)
{
    return disk->name;
}

void uvea_sim_disk_faults_set(struct uvea_sim_disk *disk, const struct uvea_sim_disk_faults *faults)
{
    disk->faults = *faults;
}

void uvea_sim_disk_on_crash(struct uvea_sim_disk *disk, void (*crashed)(void *arg), void *arg)
{
    disk->crashed = crashed;
    disk->crashed_arg = arg;
}

void uvea_sim_disk_on_stall(struct uvea_sim_disk *disk, void (*stalled)(void *arg, uint64_t ns),
                            void *arg)
{
    disk->stalled = stalled;
    disk->stalled_arg = arg;
}

struct uvea_sim_disk_stats uvea_sim_disk_stats(const struct uvea_sim_disk *disk)
{
    struct uvea_sim_disk_stats stats = disk->stats;
    stats.bytes = uvea_disk_bytes(disk);
    return stats;
}

void uvea_sim_disk_crash(struct uvea_sim_disk *disk)
{
    if (disk->dead) {
        return;
    }
    disk->dead = true;
    struct uvea_disk_toll toll = {0};
    for (struct uvea_disk_file *file = disk->files; file != NULL; file = file->next) {
        uvea_disk_file_crash(file, &disk->spare, &disk->crash_random, &toll);
    }
    disk->stats.lost += toll.lost;
    disk->stats.spoiled += toll.spoiled;
}

void uvea_sim_disk_restart(struct uvea_sim_disk *disk)
{
    UVEA_CHECK(disk->handles == NULL);
    disk->dead = false;
}

void uvea_sim_disk_wipe(struct uvea_sim_disk *disk)
{
    forget_all(disk);
}

enum uvea_error uvea_sim_disk_copy(struct uvea_sim_disk *to, const struct uvea_sim_disk *from)
{
    UVEA_CHECK(to != from && to->handles == NULL);
    struct uvea_disk_file *old = to->files;
    to->files = NULL;
    for (const struct uvea_disk_file *file = from->files; file != NULL; file = file->next) {
        if (file->deleted || file->name == NULL) {
            continue;
        }
        struct uvea_disk_file *copy = uvea_disk_file_copy(file);
        if (copy == NULL) {
            forget_all(to);
            to->files = old;
            return UVEA_ERR_MEMORY;
        }
        uvea_disk_append(to, copy);
    }
    struct uvea_disk_file *copied = to->files;
    to->files = old;
    forget_all(to);
    to->files = copied;
    return UVEA_OK;
}

enum uvea_error uvea_sim_disk_rot(struct uvea_sim_disk *disk)
{
    UVEA_CHECK(disk->handles == NULL);
    uint64_t pages = 0;
    for (const struct uvea_disk_file *file = disk->files; file != NULL; file = file->next) {
        pages += (file->size + ROT_PAGE_BYTES - 1) / ROT_PAGE_BYTES;
    }
    if (pages == 0) {
        return UVEA_ERR_NOT_FOUND;
    }
    uint64_t page = uvea_sim_random_below(&disk->crash_random, pages);
    struct uvea_disk_file *file = disk->files;
    for (;; file = file->next) {
        uint64_t own = (file->size + ROT_PAGE_BYTES - 1) / ROT_PAGE_BYTES;
        if (page < own) {
            break;
        }
        page -= own;
    }
    uint64_t start = page * ROT_PAGE_BYTES;
    uint64_t len = file->size - start < ROT_PAGE_BYTES ? file->size - start : ROT_PAGE_BYTES;
    uint64_t at = start + uvea_sim_random_below(&disk->crash_random, len);
    unsigned bit = (unsigned)uvea_sim_random_below(&disk->crash_random, 8);
    UVEA_TRY(uvea_disk_file_flip(file, at, bit));
    disk->stats.spoiled++;
    return UVEA_OK;
}
