// A small database over a simulated disk whose every state can be told: transaction k inserts row k
// and rewrites an earlier row, and what they hold follows from k alone.
#ifndef UVEA_TESTS_DISK_RIG_H
#define UVEA_TESTS_DISK_RIG_H

#include "core/base/buf.h"
#include "sim/disk/disk.h"

#include <stdbool.h>
#include <stdint.h>

enum { RIG_TRANSACTIONS_MAX = 256 };

struct sqlite3;

// How SQLite is told to write.
struct rig_mode {
    const char *journal; // "WAL", "DELETE"
    const char *synchronous;
    int checkpoint_pages;
};

extern const struct rig_mode rig_wal_full;

struct rig {
    struct uvea_sim_disk *disk;
    struct sqlite3 *db; // NULL when closed
    struct rig_mode mode;
    unsigned acknowledged; // transactions that SQLite said were committed
    bool failed;           // one was not
    bool crashed;          // the disk called
};

enum rig_state {
    RIG_WHOLE,   // all that was acknowledged, and at most the transaction under way
    RIG_LOST,    // an earlier state
    RIG_CORRUPT, // no state at all
};

// A disk of its own; nothing on it.
void rig_open(struct rig *rig, const char *name, uint64_t seed, struct rig_mode mode);
void rig_close(struct rig *rig);

// Opens the database and makes the table when there is none; false when SQLite reports an error.
bool rig_start(struct rig *rig);
void rig_stop(struct rig *rig);
// Transactions acknowledged+1 and so on, `count` of them or to the first error.
void rig_work(struct rig *rig, unsigned count);
// `PRAGMA wal_checkpoint(TRUNCATE)`; false on an error.
bool rig_checkpoint(struct rig *rig);
// After the process died: closes, restarts the disk without faults.
void rig_restart(struct rig *rig);
// Opens the database anew and tells what is in it; acknowledged is then what was found.
enum rig_state rig_judge(struct rig *rig);

// Appends the bytes of all files of the database.
void rig_bytes(struct rig *rig, struct uvea_buf *out);

// From now on.
void rig_faults(struct rig *rig, struct uvea_sim_disk_faults faults);

#endif
