// One party from its start to its end: start-up with the two others, batches one after the other,
// results, an orderly stop. Straight-line code over the runtime; the simulator and uvead run the
// same. Sources: service.md 1, 8.2-8.7.
#ifndef UVEA_CORE_SERVICE_NODE_H
#define UVEA_CORE_SERVICE_NODE_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/coord/coord.h"
#include "core/mpc/prf.h"
#include "core/net/mesh.h"
#include "core/rt/rt.h"
#include "core/scan/policy.h"
#include "core/scan/search.h"
#include "core/service/batch.h"
#include "core/service/share_object.h"
#include "core/store/store.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uvea_node;

// What an onlooker sees of a party: for judges and measurements. Each may be NULL. Called by the
// party's main task; the batch is good during the call only.
struct uvea_node_observer {
    void *arg;
    // A server of this party takes connections: what is "http" or "mesh".
    void (*listening)(void *arg, const char *what, const char *address);
    // The entries are agreed; nothing is processed.
    void (*begun)(void *arg, struct uvea_party party, const struct uvea_batch *batch);
    void (*processed)(void *arg, struct uvea_party party, const struct uvea_batch *batch);
    void (*committed)(void *arg, struct uvea_party party, const struct uvea_batch *batch);
    void (*published)(void *arg, struct uvea_party party, const struct uvea_batch *batch);
};

// Strings are borrowed. What must be equal on all three parties is compared at start-up
// (common_config of service.md 8.1) and marked =.
struct uvea_node_config {
    struct uvea_party party;
    const char *environment; // =
    const char *image_name;
    struct uvea_mesh_config mesh;     // session count =, a positive multiple of 8
    enum uvea_prf_kind prf;           // =
    struct uvea_search_config search; // =, but for kernels
    struct uvea_policy policy;        // =
    struct uvea_gates gates;          // =
    uint32_t batch_requests_max;      // =, 1..UVEA_BATCH_REQUESTS_MAX
    uint32_t records_max;             // =, max_db_size
    uint32_t modifications_lookback;  // =, 1..UVEA_SYNC_MODIFICATIONS_MAX
    size_t cold_cache_records;        // local
    struct uvea_share_keys keys;      // secret
    const char *http_address;         // own server: what peers and clients call
    const char *peer_http_addresses[UVEA_PARTY_COUNT];
    struct uvea_coord_timing timing;
    uint64_t processing_ns_max;     // = 600 s: one batch from agreement to commit
    uint64_t drain_ns_max;          // = 10 s: how long an orderly stop waits for the batch in work
    uint64_t ingest_ns;             // pause between two pulls of an empty topic; 20 ms
    uint64_t ingest_backoff_ns_min; // 200 ms, doubling
    uint64_t ingest_backoff_ns_max; // 5 s
    struct uvea_node_observer observer;
    uvea_http_handler_fn *more_paths; // asked for paths that are not the node's; NULL: 404
    void *more_paths_arg;
};

// The defaults of service.md 10 (production where it says so) for everything but party, addresses,
// kernels and keys.
struct uvea_node_config uvea_node_config_default(struct uvea_party party);

// USAGE names the field that is out of bounds.
UVEA_MUST_USE enum uvea_error uvea_node_open(struct uvea_rt *rt,
                                             const struct uvea_node_config *config,
                                             struct uvea_store *store, struct uvea_node **node,
                                             struct uvea_error_context *context);

// (blocks) The whole life, once for each node. OK after an orderly stop (also one that a peer's
// shutdown brought about), with what asked for it in context; otherwise the failure, named in
// context. Restarting the process is
// always a right answer to it. A start that fails when the server is up returns one and a half
// heartbeats later, so that peers can see it.
UVEA_MUST_USE enum uvea_error uvea_node_run(struct uvea_node *node,
                                            struct uvea_error_context *context);

// Asks for an orderly stop, from any task: the batch in work is finished, then run returns.
void uvea_node_stop(struct uvea_node *node, const char *reason);

// NULL is allowed.
void uvea_node_close(struct uvea_node *node);

// What the three parties must have in common, as a JSON object that the caller releases; NULL when
// memory is short.
json_t *uvea_node_common_config(const struct uvea_node_config *config);

struct uvea_node_stats {
    uint64_t batches;
    uint64_t requests;           // answered, errors included
    uint64_t published_sequence; // of the last request whose result is published; 0: none yet
    uint64_t comparisons;
    uint64_t records;
    uint64_t bytes_sent;
    uint64_t stage_ns[UVEA_STAGE_COUNT];
};
// From any task while the node is open. Except for the stages, as of the last batch.
struct uvea_node_stats uvea_node_stats(const struct uvea_node *node);

// ---- the HTTP interface for clients, served beside the paths of core/coord/state.h
//
//   PUT  /v1/shares/KEY          a share object; 200, 409 when other bytes stand there already
//   POST /v1/requests            party 0 only (else 404): an envelope; 200 {"message_id": "...",
//                                "sequence_number": "40 digits"}; the same MessageId again gives
//                                the same number. 400 with a sentence: no envelope (not an object,
//                                no MessageId)
//   GET  /v1/topic?after=N&max=M party 0 only: {"messages": [{"sequence_number": "...",
//                                "body": "..."}]}, at most 64
//   GET  /v1/results?after=N&max=M  this party's results in order: {"results": [{"number": n,
//                                "sequence_number": "...", "batch": "40 digits" or null,
//                                "message_type": "...", "attributes": {..} or null,
//                                "body": "..."}]}, at most 64.
//                                batch: sequence number of the first message of the batch it was
//                                processed in; null where that was not written down

#endif
