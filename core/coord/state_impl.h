// What uvea_coord holds, for the files that make up core/coord/state.h.
#ifndef UVEA_CORE_COORD_STATE_IMPL_H
#define UVEA_CORE_COORD_STATE_IMPL_H

#include "core/coord/body.h"
#include "core/coord/state.h"

// Everything below the line changes under the lock.
struct uvea_coord {
    struct uvea_rt *rt;
    struct uvea_lock *lock;
    struct uvea_party party;
    struct uvea_coord_id boot;
    char image_name[UVEA_COORD_IMAGE_BYTES_MAX + 1];
    // ----
    bool ready;
    struct uvea_coord_id verified[UVEA_COORD_PEERS_MAX]; // in the order in which they were met
    size_t verified_count;
    struct uvea_coord_id last[UVEA_PARTY_COUNT]; // of each peer; empty: none
    struct uvea_buf sync;                        // empty: not published
    struct uvea_coord_size current;              // batch_id 0: none
    struct uvea_coord_size before;
    struct uvea_coord_entries entries;
    enum uvea_error stopped; // OK: nobody has asked
    struct uvea_error_context stop_reason;
};

#endif
