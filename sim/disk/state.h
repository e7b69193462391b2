// Private to sim/disk: the disk's state, shared between what SQLite calls and what the world calls.
#ifndef UVEA_SIM_DISK_STATE_H
#define UVEA_SIM_DISK_STATE_H

#include "sim/disk/disk.h"
#include "sim/disk/media.h"
#include "sim/runtime/random.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    UVEA_DISK_NAME_BYTES_MAX = 128,
    UVEA_DISK_PATH_BYTES_MAX = 512,
};

#define UVEA_DISK_MILLION 1000000u

struct uvea_disk_handle;

struct uvea_sim_disk {
    sqlite3_vfs vfs;
    char name[UVEA_DISK_NAME_BYTES_MAX];
    uint64_t (*wall_ns)(void *arg);
    void *wall_arg;
    struct uvea_sim_random faults_random;
    struct uvea_sim_random crash_random;
    struct uvea_sim_random sqlite_random;
    struct uvea_sim_disk_faults faults;
    void (*crashed)(void *arg);
    void *crashed_arg;
    void (*stalled)(void *arg, uint64_t ns);
    void *stalled_arg;
    struct uvea_disk_file *files; // in order of creation
    struct uvea_disk_handle *handles;
    struct uvea_disk_spare spare;
    struct uvea_sim_disk_stats stats;
    bool dead;
};

// All functions of the VFS; its name and pAppData, the disk, are not set.
extern const sqlite3_vfs uvea_disk_vfs;

// NULL: there is none of that name.
struct uvea_disk_file *uvea_disk_find(const struct uvea_sim_disk *disk, const char *name);
void uvea_disk_append(struct uvea_sim_disk *disk, struct uvea_disk_file *file);
void uvea_disk_forget(struct uvea_sim_disk *disk, struct uvea_disk_file *file);
uint64_t uvea_disk_bytes(const struct uvea_sim_disk *disk);

// ---- faults

enum uvea_disk_operation { UVEA_DISK_READ, UVEA_DISK_WRITE, UVEA_DISK_SYNC };

// What the disk does with a call.
enum uvea_disk_verdict {
    UVEA_DISK_GO_ON,
    UVEA_DISK_FAIL,
    UVEA_DISK_CUT_SHORT,
    UVEA_DISK_DIE,
};

enum uvea_disk_verdict uvea_disk_judge(struct uvea_sim_disk *disk,
                                       enum uvea_disk_operation operation);
// The crash that a verdict asked for.
void uvea_disk_die(struct uvea_sim_disk *disk);

#endif
