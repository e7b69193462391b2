#include "core/base/check.h"
#include "sim/disk/state.h"

#include <stdio.h>
#include <string.h>

#define UNIX_EPOCH_MS                                                                              \
    UINT64_C(210866760000000) // 1970 as SQLite counts: milliseconds of Julian days

// What SQLite holds of an open file.
struct uvea_disk_handle {
    sqlite3_file base;
    struct uvea_sim_disk *disk;
    struct uvea_disk_file *file;
    struct uvea_disk_handle *next;
    int lock;
    bool database;
    bool delete_on_close;
};

static bool coin(struct uvea_sim_random *random)
{
    return uvea_sim_random_chance(random, 1, 2);
}

// ---- what SQLite calls on a file

static struct uvea_disk_handle *handle_of(sqlite3_file *base)
{
    return (struct uvea_disk_handle *)base;
}

static int file_close(sqlite3_file *base)
{
    struct uvea_disk_handle *handle = handle_of(base);
    struct uvea_sim_disk *disk = handle->disk;
    struct uvea_disk_file *file = handle->file;
    struct uvea_disk_handle **at = &disk->handles;
    while (*at != handle) {
        at = &(*at)->next;
    }
    *at = handle->next;
    file->deleted |= handle->delete_on_close;
    if (--file->opens == 0 && file->deleted) {
        uvea_disk_forget(disk, file);
    }
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *out, int bytes, sqlite3_int64 offset)
{
    struct uvea_disk_handle *handle = handle_of(base);
    struct uvea_sim_disk *disk = handle->disk;
    if (disk->dead) {
        return SQLITE_IOERR_READ;
    }
    enum uvea_disk_verdict verdict = uvea_disk_judge(disk, UVEA_DISK_READ);
    if (verdict == UVEA_DISK_FAIL) {
        return SQLITE_IOERR_READ;
    }
    if (verdict == UVEA_DISK_CUT_SHORT) {
        // SQLite takes SHORT_READ for the end of the file, which this is not.
        size_t part = (size_t)uvea_sim_random_below(&disk->faults_random, (uint64_t)bytes);
        (void)uvea_disk_file_read(handle->file, (uint64_t)offset, out, part);
        return SQLITE_IOERR_READ;
    }
    size_t got = uvea_disk_file_read(handle->file, (uint64_t)offset, out, (size_t)bytes);
    if (got == (size_t)bytes) {
        return SQLITE_OK;
    }
    memset((uint8_t *)out + got, 0, (size_t)bytes - got);
    return SQLITE_IOERR_SHORT_READ;
}

// A page of the database may only change when what the WAL or the journal holds of it is durable.
static void check_order(struct uvea_disk_handle *handle, uint64_t offset)
{
    static const char *const suffixes[] = {"-wal", "-journal"};
    if (!handle->database || handle->file->name == NULL || offset >= handle->file->size_durable) {
        return;
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(suffixes); i++) {
        char name[UVEA_DISK_PATH_BYTES_MAX + 16];
        (void)snprintf(name, sizeof(name), "%s%s", handle->file->name, suffixes[i]);
        const struct uvea_disk_file *log = uvea_disk_find(handle->disk, name);
        handle->disk->stats.order += log != NULL && uvea_disk_file_pending(log);
    }
}

static int write_bytes(struct uvea_disk_handle *handle, const void *from, size_t bytes,
                       uint64_t offset)
{
    switch (uvea_disk_file_write(handle->file, &handle->disk->spare, offset, from, bytes)) {
    case UVEA_OK:
        return SQLITE_OK;
    case UVEA_ERR_MEMORY:
        return SQLITE_IOERR_NOMEM;
    default:
        return SQLITE_FULL;
    }
}

// How many of these bytes still fit.
static size_t room(const struct uvea_disk_handle *handle, size_t bytes, uint64_t offset)
{
    const struct uvea_sim_disk *disk = handle->disk;
    uint64_t end = offset + bytes;
    if (disk->faults.space_bytes == 0 || end <= handle->file->size) {
        return bytes;
    }
    uint64_t used = uvea_disk_bytes(disk);
    uint64_t left = used < disk->faults.space_bytes ? disk->faults.space_bytes - used : 0;
    uint64_t end_max = handle->file->size + left;
    return end <= end_max ? bytes : end_max <= offset ? 0 : (size_t)(end_max - offset);
}

static int file_write(sqlite3_file *base, const void *from, int bytes, sqlite3_int64 offset)
{
    struct uvea_disk_handle *handle = handle_of(base);
    struct uvea_sim_disk *disk = handle->disk;
    if (disk->dead) {
        return SQLITE_IOERR_WRITE;
    }
    enum uvea_disk_verdict verdict = uvea_disk_judge(disk, UVEA_DISK_WRITE);
    size_t part = room(handle, (size_t)bytes, (uint64_t)offset);
    bool full = part < (size_t)bytes;
    if (verdict == UVEA_DISK_FAIL) {
        part = (size_t)uvea_sim_random_below(&disk->faults_random, part + 1);
    } else {
        disk->stats.injected += full;
    }
    check_order(handle, (uint64_t)offset);
    int status = write_bytes(handle, from, part, (uint64_t)offset);
    if (verdict == UVEA_DISK_DIE) {
        uvea_disk_die(disk);
    }
    if (verdict != UVEA_DISK_GO_ON) {
        return SQLITE_IOERR_WRITE;
    }
    return status == SQLITE_OK && full ? SQLITE_FULL : status;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct uvea_disk_handle *handle = handle_of(base);
    struct uvea_sim_disk *disk = handle->disk;
    if (disk->dead) {
        return SQLITE_IOERR_TRUNCATE;
    }
    enum uvea_disk_verdict verdict = uvea_disk_judge(disk, UVEA_DISK_WRITE);
    if (verdict == UVEA_DISK_FAIL) {
        return SQLITE_IOERR_TRUNCATE;
    }
    enum uvea_error error = uvea_disk_file_truncate(handle->file, &disk->spare, (uint64_t)size);
    if (verdict == UVEA_DISK_DIE) {
        uvea_disk_die(disk);
    }
    return verdict == UVEA_DISK_GO_ON && error == UVEA_OK ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

// The process may die meanwhile, and its disk with it.
static void stall(struct uvea_sim_disk *disk)
{
    if (!disk->dead && disk->faults.stall_ns > 0 && disk->stalled != NULL) {
        disk->stats.stalled++;
        disk->stalled(disk->stalled_arg, disk->faults.stall_ns);
    }
}

static int file_sync(sqlite3_file *base, int flags)
{
    (void)flags;
    struct uvea_disk_handle *handle = handle_of(base);
    struct uvea_sim_disk *disk = handle->disk;
    stall(disk);
    if (disk->dead) {
        return SQLITE_IOERR_FSYNC;
    }
    enum uvea_disk_verdict verdict = uvea_disk_judge(disk, UVEA_DISK_SYNC);
    bool done =
        verdict == UVEA_DISK_GO_ON || (verdict == UVEA_DISK_DIE && coin(&disk->crash_random));
    if (done && !disk->faults.lying_sync) {
        uvea_disk_file_sync(handle->file, &disk->spare);
    }
    if (verdict == UVEA_DISK_DIE) {
        uvea_disk_die(disk);
    }
    return verdict == UVEA_DISK_GO_ON ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct uvea_disk_handle *handle = handle_of(base);
    *size = (sqlite3_int64)handle->file->size;
    return handle->disk->dead ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

// The highest lock that another handle has on this file.
static int lock_of_others(const struct uvea_disk_handle *handle)
{
    int lock = SQLITE_LOCK_NONE;
    for (const struct uvea_disk_handle *other = handle->disk->handles; other != NULL;
         other = other->next) {
        if (other != handle && other->file == handle->file && other->lock > lock) {
            lock = other->lock;
        }
    }
    return lock;
}

static int file_lock(sqlite3_file *base, int lock)
{
    struct uvea_disk_handle *handle = handle_of(base);
    int others = lock_of_others(handle);
    if (handle->disk->dead) {
        return SQLITE_IOERR_LOCK;
    }
    if (lock <= handle->lock) {
        return SQLITE_OK;
    }
    if (lock == SQLITE_LOCK_SHARED ? others >= SQLITE_LOCK_PENDING
                                   : others >= SQLITE_LOCK_RESERVED) {
        return SQLITE_BUSY;
    }
    if (lock == SQLITE_LOCK_EXCLUSIVE && others >= SQLITE_LOCK_SHARED) {
        handle->lock = SQLITE_LOCK_PENDING; // no new readers
        return SQLITE_BUSY;
    }
    handle->lock = lock;
    return SQLITE_OK;
}

static int file_unlock(sqlite3_file *base, int lock)
{
    struct uvea_disk_handle *handle = handle_of(base);
    if (lock < handle->lock) {
        handle->lock = lock;
    }
    return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *base, int *out)
{
    const struct uvea_disk_handle *handle = handle_of(base);
    *out = handle->lock >= SQLITE_LOCK_RESERVED || lock_of_others(handle) >= SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int what, void *arg)
{
    (void)base;
    (void)what;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector_bytes(sqlite3_file *base)
{
    (void)base;
    return UVEA_SIM_SECTOR_BYTES;
}

// The one promise that SQLite takes for granted on every Unix.
static int file_characteristics(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

// Version 1 has no shared memory: a WAL then needs exclusive locking.
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_bytes,
    .xDeviceCharacteristics = file_characteristics,
};

// ---- what SQLite calls on the whole

static struct uvea_sim_disk *disk_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                    int *out_flags)
{
    struct uvea_sim_disk *disk = disk_of(vfs);
    struct uvea_disk_handle *handle = handle_of(base);
    memset(handle, 0, sizeof(*handle));
    if (disk->dead) {
        return SQLITE_CANTOPEN;
    }
    struct uvea_disk_file *file = name == NULL ? NULL : uvea_disk_find(disk, name);
    if (file == NULL && name != NULL && (flags & SQLITE_OPEN_CREATE) == 0) {
        return SQLITE_CANTOPEN;
    }
    if (file != NULL && (flags & SQLITE_OPEN_EXCLUSIVE) != 0) {
        return SQLITE_CANTOPEN;
    }
    if (file == NULL) {
        file = uvea_disk_file_make(name);
        if (file == NULL) {
            return SQLITE_NOMEM;
        }
        uvea_disk_append(disk, file);
    }
    file->opens++;
    *handle = (struct uvea_disk_handle){
        .base = {&methods},
        .disk = disk,
        .file = file,
        .next = disk->handles,
        .database = (flags & SQLITE_OPEN_MAIN_DB) != 0,
        .delete_on_close = name == NULL || (flags & SQLITE_OPEN_DELETEONCLOSE) != 0,
    };
    disk->handles = handle;
    if (out_flags != NULL) {
        *out_flags = flags;
    }
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    (void)sync_directory;
    struct uvea_sim_disk *disk = disk_of(vfs);
    if (disk->dead) {
        return SQLITE_IOERR_DELETE;
    }
    struct uvea_disk_file *file = uvea_disk_find(disk, name);
    if (file == NULL) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    enum uvea_disk_verdict verdict = uvea_disk_judge(disk, UVEA_DISK_WRITE);
    if (verdict == UVEA_DISK_GO_ON || (verdict == UVEA_DISK_DIE && coin(&disk->crash_random))) {
        file->deleted = true;
        if (file->opens == 0) {
            uvea_disk_forget(disk, file);
        }
    }
    if (verdict == UVEA_DISK_DIE) {
        uvea_disk_die(disk);
    }
    return verdict == UVEA_DISK_GO_ON ? SQLITE_OK : SQLITE_IOERR_DELETE;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)flags;
    *out = uvea_disk_find(disk_of(vfs), name) != NULL;
    return disk_of(vfs)->dead ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int bytes, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)bytes, "%s", name) < bytes ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *vfs, int bytes, char *out)
{
    uvea_sim_random_fill(&disk_of(vfs)->sqlite_random, (uint8_t *)out, (size_t)bytes);
    return bytes;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int vfs_current_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *out)
{
    struct uvea_sim_disk *disk = disk_of(vfs);
    *out = (sqlite3_int64)(disk->wall_ns(disk->wall_arg) / UVEA_DISK_MILLION + UNIX_EPOCH_MS);
    return SQLITE_OK;
}

static int vfs_current_time(sqlite3_vfs *vfs, double *out)
{
    sqlite3_int64 ms;
    (void)vfs_current_time_ms(vfs, &ms);
    *out = (double)ms / 86400000.0;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    if (bytes > 0) {
        out[0] = '\0';
    }
    return 0;
}

const sqlite3_vfs uvea_disk_vfs = {
    .iVersion = 2,
    .szOsFile = sizeof(struct uvea_disk_handle),
    .mxPathname = UVEA_DISK_PATH_BYTES_MAX,
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_pathname,
    .xRandomness = vfs_randomness,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_current_time,
    .xCurrentTimeInt64 = vfs_current_time_ms,
    .xGetLastError = vfs_last_error,
};
