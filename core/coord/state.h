// What a party tells its peers over HTTP, and the pure function that answers their requests from
// it. One structure holds it; tasks of the party change it, handlers on any thread read it.
// Sources: service.md 8.1; wire.md 9.
#ifndef UVEA_CORE_COORD_STATE_H
#define UVEA_CORE_COORD_STATE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/rt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_COORD_UUID_CHARS = 36,
    UVEA_COORD_PEERS_MAX = 16, // verified ids remembered, stale ones included
    UVEA_COORD_ENTRIES_MAX = 64,
    UVEA_COORD_SHA_BYTES = 32,
};

struct uvea_coord;

// image_name: what runs here, compared by heartbeats for a log line only. The boot id is a random
// UUID (version 4) drawn from rt. The strings are copied.
UVEA_MUST_USE enum uvea_error uvea_coord_open(struct uvea_rt *rt, struct uvea_party party,
                                              const char *image_name, struct uvea_coord **coord);
// No handler may be running. NULL is allowed.
void uvea_coord_close(struct uvea_coord *coord);

const char *uvea_coord_boot_id(const struct uvea_coord *coord);

// ---- what is told

void uvea_coord_set_ready(struct uvea_coord *coord, bool ready);

// Remembers a peer's boot id, which /health then lists. LIMIT after UVEA_COORD_PEERS_MAX.
UVEA_MUST_USE enum uvea_error uvea_coord_verify_peer(struct uvea_coord *coord,
                                                     struct uvea_party peer, const char *boot_id);
// Whether boot_id is the one last remembered for this peer.
bool uvea_coord_is_verified(const struct uvea_coord *coord, struct uvea_party peer,
                            const char *boot_id);

// The body of /startup-sync (copied); until it is given, that path answers 503.
UVEA_MUST_USE enum uvea_error uvea_coord_publish_sync(struct uvea_coord *coord,
                                                      const struct uvea_buf *json);

// batch_id >= 1, and never less than before. A non-zero count stands for good within its batch id;
// zero may be raised. Returns what is published now. The count of the batch before stays readable,
// so that a peer whose answer was lost still gets it.
uint32_t uvea_coord_publish_batch(struct uvea_coord *coord, uint64_t batch_id, uint32_t count);

void uvea_coord_publish_entries(struct uvea_coord *coord, const bool *valid, size_t count,
                                const uint8_t sha[UVEA_COORD_SHA_BYTES]);

// ---- stopping: the first reason stands. A stop is asked for by a signal or found necessary (a
// peer is gone). /health says shutting_down from then on.

UVEA_PRINTF(3, 4)
void uvea_coord_stop(struct uvea_coord *coord, enum uvea_error error, const char *format, ...);
// OK while nobody has asked; otherwise the error given (UVEA_ERR_CLOSED for an orderly stop), and
// its sentence.
UVEA_MUST_USE enum uvea_error uvea_coord_stopped(const struct uvea_coord *coord,
                                                 struct uvea_error_context *context);

// ---- answering

// Fills response and returns true when the path is one of GET /health, /ready, /startup-sync,
// /batch-sync-state?batch_id=N, /batch-sync-entries; false for every other path. A known path with
// another method is 405, a bad query 400. Depends on nothing but state and request.
bool uvea_coord_handle(const struct uvea_coord *coord, const struct uvea_http_request *request,
                       struct uvea_http_response *response);

#endif
