// Inside of node.h: what a party holds, and the stages of its life. Inside the module.
#ifndef UVEA_CORE_SERVICE_NODE_IMPL_H
#define UVEA_CORE_SERVICE_NODE_IMPL_H

#include "core/net/control.h"
#include "core/service/endpoints.h"
#include "core/service/guard.h"
#include "core/service/ingest.h"
#include "core/service/node.h"
#include "core/service/process.h"

#include <stdatomic.h>

// What uvea_node_stats gives; written by the main task.
struct uvea_node_counters {
    atomic_uint_fast64_t batches;
    atomic_uint_fast64_t requests;
    atomic_uint_fast64_t published_sequence;
    atomic_uint_fast64_t comparisons;
    atomic_uint_fast64_t records;
    atomic_uint_fast64_t bytes_sent;
};

struct uvea_node {
    struct uvea_rt *rt;
    struct uvea_node_config config; // holds keys
    struct uvea_store *store;       // borrowed
    struct uvea_coord *coord;
    struct uvea_coord_link link;
    struct uvea_endpoints endpoints;

    // from start-up to the end of run; NULL or all zero outside
    struct uvea_http_server *server;
    struct uvea_ingest *ingest;
    struct uvea_heartbeat *heartbeat;
    struct uvea_guard *guard;
    struct uvea_mesh *mesh;
    struct uvea_control *control;
    struct uvea_session *sessions;    // by position; owned
    struct uvea_session **session_at; // the same as pointers; owned
    size_t session_count;             // 0 until the sessions may be looked at
    struct uvea_resident resident;
    struct uvea_spectral spectral;
    struct uvea_cold *cold;
    struct uvea_process process;

    uint64_t batch_id; // of the batch in work or the next one
    struct uvea_stages stages;
    struct uvea_node_counters counters;
};

// ---- startup.c: service.md 8.2

void uvea_node_say_listening(const struct uvea_node *node, const char *what, const char *address);

// (blocks) From nothing to ready, with the two peers.
UVEA_MUST_USE enum uvea_error uvea_node_start(struct uvea_node *node,
                                              struct uvea_error_context *context);

// ---- config.c

UVEA_MUST_USE enum uvea_error uvea_node_check_config(const struct uvea_node_config *config,
                                                     struct uvea_error_context *context);

// ---- load.c: the database in memory, and what searches it

// Reads the scanned eye of every record.
UVEA_MUST_USE enum uvea_error uvea_node_load(struct uvea_node *node,
                                             struct uvea_error_context *context);
// (blocks) Connects the mesh and brings the sessions up.
UVEA_MUST_USE enum uvea_error uvea_node_connect(struct uvea_node *node,
                                                struct uvea_error_context *context);
// (blocks) Compares the databases, then converts them on the NTT path.
UVEA_MUST_USE enum uvea_error uvea_node_prepare(struct uvea_node *node,
                                                struct uvea_error_context *context);
void uvea_node_unload(struct uvea_node *node);

// ---- intake.c

// (blocks) Forms a batch of `count` pending messages: claims them, opens the shares, agrees on the
// entries. batch is all zero before; after a failure it is to be released as well.
UVEA_MUST_USE enum uvea_error uvea_node_take_batch(struct uvea_node *node, uint32_t count,
                                                   struct uvea_batch *batch,
                                                   struct uvea_error_context *context);

// ---- settle.c

// Commits a processed batch and publishes its results.
UVEA_MUST_USE enum uvea_error uvea_node_settle_batch(struct uvea_node *node,
                                                     const struct uvea_batch *batch,
                                                     struct uvea_error_context *context);

#endif
