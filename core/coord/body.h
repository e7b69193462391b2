// The small bodies that parties ask each other for, and their JSON. Decoders take what a peer sent:
// they give FORMAT or LIMIT with a sentence, and leave the output as it was. Source:
// service.md 8.1.
#ifndef UVEA_CORE_COORD_BODY_H
#define UVEA_CORE_COORD_BODY_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/coord/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_COORD_BODY_BYTES_MAX = 16384, // of each body below
    UVEA_COORD_LISTED_MAX = 64,        // verified ids in one /health
    UVEA_COORD_IMAGE_BYTES_MAX = 255,
};

struct uvea_coord_id {
    char text[UVEA_COORD_UUID_CHARS + 1];
};

// 36 characters: groups of 8, 4, 4, 4 and 12 hex digits (lower case).
bool uvea_coord_id_valid(const char *text);

// GET /health
struct uvea_coord_health {
    const char *image_name; // written only
    struct uvea_coord_id boot;
    bool shutting_down;
    bool ready;
    struct uvea_coord_id verified[UVEA_COORD_LISTED_MAX];
    size_t verified_count;
};
UVEA_MUST_USE enum uvea_error uvea_coord_health_encode(const struct uvea_coord_health *health,
                                                       struct uvea_buf *json);
UVEA_MUST_USE enum uvea_error uvea_coord_health_decode(const uint8_t *json, size_t bytes,
                                                       struct uvea_coord_health *health,
                                                       struct uvea_error_context *context);
bool uvea_coord_health_lists(const struct uvea_coord_health *health, const char *boot_id);

// GET /batch-sync-state
struct uvea_coord_size {
    uint64_t batch_id;
    uint32_t count; // messages_to_poll
};
UVEA_MUST_USE enum uvea_error uvea_coord_size_encode(const struct uvea_coord_size *size,
                                                     struct uvea_buf *json);
UVEA_MUST_USE enum uvea_error uvea_coord_size_decode(const uint8_t *json, size_t bytes,
                                                     struct uvea_coord_size *size,
                                                     struct uvea_error_context *context);

// GET /batch-sync-entries
struct uvea_coord_entries {
    bool valid[UVEA_COORD_ENTRIES_MAX];
    size_t count;
    uint8_t sha[UVEA_COORD_SHA_BYTES];
};
UVEA_MUST_USE enum uvea_error uvea_coord_entries_encode(const struct uvea_coord_entries *entries,
                                                        struct uvea_buf *json);
UVEA_MUST_USE enum uvea_error uvea_coord_entries_decode(const uint8_t *json, size_t bytes,
                                                        struct uvea_coord_entries *entries,
                                                        struct uvea_error_context *context);

#endif
