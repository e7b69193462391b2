// Private to sim/disk: a file as the operating system and the medium see it. Its contents lie in
// chunks of 64 KiB; of each 512-byte sector changed since the last sync the durable contents are
// kept aside, so that a sync only forgets them and a crash can bring them back.
#ifndef UVEA_SIM_DISK_MEDIA_H
#define UVEA_SIM_DISK_MEDIA_H

#include "core/base/error.h"
#include "sim/disk/disk.h"
#include "sim/runtime/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_DISK_CHUNK_BYTES = 64 * 1024,
    UVEA_DISK_CHUNK_SECTORS = UVEA_DISK_CHUNK_BYTES / UVEA_SIM_SECTOR_BYTES,
    UVEA_DISK_SPARE_MAX = 64, // shadows kept for the next use
};

// What a chunk was at the last sync.
struct uvea_disk_shadow {
    struct uvea_disk_shadow *next; // among the spare ones
    // A sector's bit is set in either when old holds its durable contents.
    uint64_t written[UVEA_DISK_CHUNK_SECTORS / 64];
    uint64_t cut[UVEA_DISK_CHUNK_SECTORS / 64]; // by a truncation
    // The bytes written to a sector, from low to before high: garbage reaches no others.
    uint16_t low[UVEA_DISK_CHUNK_SECTORS];
    uint16_t high[UVEA_DISK_CHUNK_SECTORS];
    uint8_t old[UVEA_DISK_CHUNK_BYTES];
};

struct uvea_disk_spare {
    struct uvea_disk_shadow *first;
    size_t count;
};

struct uvea_disk_file {
    struct uvea_disk_file *next;
    char *name; // NULL for a temporary file
    unsigned opens;
    bool deleted; // goes with its last handle
    uint64_t size;
    uint64_t size_durable;
    uint64_t size_min; // since the last sync
    uint8_t **chunks;  // NULL: zeros
    struct uvea_disk_shadow **shadows;
    uint32_t *dirty; // the chunks that have a shadow
    size_t dirty_count;
    size_t chunk_count; // room in the three tables
};

// What befell sectors in a crash.
struct uvea_disk_toll {
    uint64_t lost;
    uint64_t spoiled;
};

// name is copied; NULL for a temporary file.
UVEA_MUST_USE struct uvea_disk_file *uvea_disk_file_make(const char *name);
void uvea_disk_file_free(struct uvea_disk_file *file);
void uvea_disk_spare_deinit(struct uvea_disk_spare *spare);

// Gives back how many bytes there were; the rest of out is left as it was.
size_t uvea_disk_file_read(const struct uvea_disk_file *file, uint64_t offset, uint8_t *out,
                           size_t bytes);
// MEMORY: a part may have been written.
UVEA_MUST_USE enum uvea_error uvea_disk_file_write(struct uvea_disk_file *file,
                                                   struct uvea_disk_spare *spare, uint64_t offset,
                                                   const uint8_t *from, size_t bytes);
UVEA_MUST_USE enum uvea_error uvea_disk_file_truncate(struct uvea_disk_file *file,
                                                      struct uvea_disk_spare *spare, uint64_t size);
// Whether something has been changed since the last sync.
bool uvea_disk_file_pending(const struct uvea_disk_file *file);
void uvea_disk_file_sync(struct uvea_disk_file *file, struct uvea_disk_spare *spare);
void uvea_disk_file_crash(struct uvea_disk_file *file, struct uvea_disk_spare *spare,
                          struct uvea_sim_random *random, struct uvea_disk_toll *toll);
// As it is, nothing pending; NULL when memory is short.
UVEA_MUST_USE struct uvea_disk_file *uvea_disk_file_copy(const struct uvea_disk_file *file);
// On the medium as well. offset < size.
UVEA_MUST_USE enum uvea_error uvea_disk_file_flip(struct uvea_disk_file *file, uint64_t offset,
                                                  unsigned bit);

#endif
