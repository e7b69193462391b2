// A simulated disk under SQLite: a VFS whose files live in memory and which knows, sector by
// sector, what has reached the medium. A crash loses, keeps or spoils what has not. Everything is
// drawn from the streams "disk/<name>", "disk/<name>/crash" and "disk/<name>/sqlite", SQLite's own
// randomness included, and its clock is the caller's, so that equal runs write equal bytes. SQLite
// has one generator for the whole process: opening a disk seeds it anew.
//
// Which faults are allowed, and why the party must survive them: whatever SQLite was told is
// durable (a successful sync) is kept, so a party in WAL mode with synchronous FULL loses nothing
// it has acknowledged. A lying sync and bit rot break that promise; a party must then stop or be
// refused, never answer wrongly.
//
// The process that uses a disk dies with uvea_sim_disk_crash: from then on every call of SQLite on
// it fails, until uvea_sim_disk_restart. Making and deleting a file is durable at once; truncation
// and writes are not. Bytes that were not written keep their value, also in a sector that is
// spoiled (what SQLite calls power-safe overwrite). There is no shared memory: a WAL needs
// locking_mode=EXCLUSIVE, set before the first access.
//
// SQLite notices a flipped bit in its own structures and in the WAL, not in what a row holds: rows
// that matter need a check of their own.
#ifndef UVEA_SIM_DISK_DISK_H
#define UVEA_SIM_DISK_DISK_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UVEA_SIM_SECTOR_BYTES = 512 };

struct uvea_sim_disk;

// name: unique in the process, also the name of the VFS; copied. wall_ns gives the time that SQLite
// sees.
UVEA_MUST_USE enum uvea_error uvea_sim_disk_open(const char *name, uint64_t seed,
                                                 uint64_t (*wall_ns)(void *arg), void *arg,
                                                 struct uvea_sim_disk **disk);
// No file is open. NULL is allowed.
void uvea_sim_disk_close(struct uvea_sim_disk *disk);

const char *uvea_sim_disk_vfs(const struct uvea_sim_disk *disk);

// ---- faults

struct uvea_sim_disk_faults {
    // chances in 1/1,000,000 per call; a truncation or a delete counts as a write
    uint32_t eio_read;
    uint32_t eio_write;      // a part may have been written
    uint32_t eio_sync;       // nothing is synced; a later sync may do it
    uint32_t short_read;     // a part is read, then the call fails: to SQLite a short read that
                             // succeeds means the end of the file
    uint64_t fail_nth;       // the nth read, write or sync from now fails with EIO; 0: none
    uint64_t space_bytes;    // the disk is full at so many; 0: never
    bool lying_sync;         // a sync does nothing and says it did
    uint64_t stall_ns;       // a sync takes so long
    uint64_t crash_at_write; // the nth write or sync from now does not return: it may have taken
                             // place, the disk is dead, then crashed() is called; 0: none
};
// From now on; all zero is a good disk.
void uvea_sim_disk_faults_set(struct uvea_sim_disk *disk,
                              const struct uvea_sim_disk_faults *faults);

// Called when crash_at_write strikes, in the middle of a call of SQLite: the owner kills the
// process. The disk is dead already; killing it again does nothing.
void uvea_sim_disk_on_crash(struct uvea_sim_disk *disk, void (*crashed)(void *arg), void *arg);

// Called in the middle of a sync that takes its time: passes so much of it, or returns when the
// process is to end. Without it no sync takes any time.
void uvea_sim_disk_on_stall(struct uvea_sim_disk *disk, void (*stalled)(void *arg, uint64_t ns),
                            void *arg);

struct uvea_sim_disk_stats {
    uint64_t reads;
    uint64_t writes;
    uint64_t syncs;
    uint64_t stalled;  // syncs that took their time
    uint64_t injected; // calls that failed by a fault
    uint64_t lost;     // sectors that a crash lost
    uint64_t spoiled;  // sectors that a crash or rot spoiled
    uint64_t order;    // database pages overwritten before their copy in the WAL, or what they were
                       // in the rollback journal, was synced
    uint64_t bytes;    // in all files
};
struct uvea_sim_disk_stats uvea_sim_disk_stats(const struct uvea_sim_disk *disk);

// ---- death and other accidents

// The process dies: unsynced sectors are kept, lost or filled with garbage, a third each; for one
// file in eight all are kept, for one in eight all are lost. A file that grew keeps all, a part or
// nothing of its new length; a truncation took place or did not.
void uvea_sim_disk_crash(struct uvea_sim_disk *disk);
// All files were closed (they may be closed after the crash); the disk works again.
void uvea_sim_disk_restart(struct uvea_sim_disk *disk);

// While no file is open: forget everything; take over another disk's files, or keep a copy to come
// back to; flip one bit in one page of a file chosen at random. The disk that is copied may be in
// use: its files are taken as they are, in one moment.
void uvea_sim_disk_wipe(struct uvea_sim_disk *disk);
UVEA_MUST_USE enum uvea_error uvea_sim_disk_copy(struct uvea_sim_disk *to,
                                                 const struct uvea_sim_disk *from);
UVEA_MUST_USE enum uvea_error uvea_sim_disk_rot(struct uvea_sim_disk *disk);

#endif
