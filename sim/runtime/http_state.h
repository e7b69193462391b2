// What the files of the simulated HTTP share. Private to sim/runtime.
//
// On the wire: a request is le32 magic, le16 bytes of the method, le16 bytes of the target, le32
// bytes of the body, then these three; an answer is le32 magic, le16 status, le16 zero, le32 bytes
// of the body, then the body.
#ifndef UVEA_SIM_RUNTIME_HTTP_STATE_H
#define UVEA_SIM_RUNTIME_HTTP_STATE_H

#include "core/base/buf.h"
#include "core/rt/rt.h"
#include "sim/runtime/http.h"
#include "sim/runtime/random.h"

struct uvea_sim;
struct uvea_sim_node;

enum {
    UVEA_SIM_HTTP_METHOD_BYTES_MAX = 15,
    UVEA_SIM_HTTP_TARGET_BYTES_MAX = 4095,
    UVEA_SIM_HTTP_IDLE_MAX = 16, // connections a node keeps for later calls; the oldest goes first
    UVEA_SIM_HTTP_SERVED_MAX = 256, // connections of one server; more are closed at once
    UVEA_SIM_HTTP_STALE_MAX = 16,   // paths of which the answer before is known
    UVEA_SIM_HTTP_STALE_BYTES_MAX = 1 << 20,
};

// ---- http_message.c

// A request as it was received; all zero before. method and target end with NUL.
struct uvea_sim_http_received {
    char method[UVEA_SIM_HTTP_METHOD_BYTES_MAX + 1];
    char target[UVEA_SIM_HTTP_TARGET_BYTES_MAX + 1];
    struct uvea_buf body;
};

// USAGE when the method or the target is empty or too long, LIMIT when the body is.
UVEA_MUST_USE enum uvea_error uvea_sim_http_check(const struct uvea_http_request *request);

UVEA_MUST_USE enum uvea_error uvea_sim_http_send_request(struct uvea_rt *rt,
                                                         struct uvea_stream *stream,
                                                         const struct uvea_http_request *request,
                                                         uint64_t deadline_ns);

// The head may take until idle_ns, the rest until whole_ns behind the head. On failure received
// holds what came.
UVEA_MUST_USE enum uvea_error uvea_sim_http_recv_request(struct uvea_rt *rt,
                                                         struct uvea_stream *stream,
                                                         struct uvea_sim_http_received *received,
                                                         uint64_t idle_ns, uint64_t whole_ns);

// Sends the head of an answer with body_bytes bytes, which the caller sends.
UVEA_MUST_USE enum uvea_error uvea_sim_http_send_head(struct uvea_rt *rt,
                                                      struct uvea_stream *stream, unsigned status,
                                                      size_t body_bytes, uint64_t deadline_ns);

// answer: all zero before, and the caller's to release whatever the outcome.
UVEA_MUST_USE enum uvea_error uvea_sim_http_recv_answer(struct uvea_rt *rt,
                                                        struct uvea_stream *stream,
                                                        struct uvea_http_response *answer,
                                                        uint64_t deadline_ns);

// ---- http_fault.c

enum uvea_sim_http_fault {
    UVEA_SIM_HTTP_STATUS_409,
    UVEA_SIM_HTTP_STATUS_5XX,
    UVEA_SIM_HTTP_NO_ANSWER,
    UVEA_SIM_HTTP_LOST_ANSWER,
    UVEA_SIM_HTTP_RESET,
    UVEA_SIM_HTTP_DUPLICATE,
    UVEA_SIM_HTTP_TRUNCATED,
    UVEA_SIM_HTTP_EMPTY,
    UVEA_SIM_HTTP_WRONG_TYPE,
    UVEA_SIM_HTTP_STALE,
    UVEA_SIM_HTTP_SLOW,
    UVEA_SIM_HTTP_HONEST,
};

_Static_assert((int)UVEA_SIM_HTTP_HONEST == (int)UVEA_SIM_HTTP_FAULT_COUNT,
               "every fault is counted");

// What is to happen to one request. All that it needs to know is drawn before the handler is asked.
struct uvea_sim_http_plan {
    enum uvea_sim_http_fault fault;
    uint64_t random;
};

struct uvea_sim_http_answered {
    char path[UVEA_SIM_HTTP_TARGET_BYTES_MAX + 1];
    struct uvea_buf body;
};

// HTTP of one node.
struct uvea_sim_http {
    struct uvea_sim_http_faults faults;
    struct uvea_sim_random random;
    uint32_t run_left; // how many more answers of 409 this run has
    struct uvea_sim_http_answered *answered[UVEA_SIM_HTTP_STALE_MAX];
    struct uvea_stream *idle[UVEA_SIM_HTTP_IDLE_MAX]; // oldest first
    unsigned idle_count;
};

void uvea_sim_http_init(struct uvea_sim_node *node);
void uvea_sim_http_deinit(struct uvea_sim_node *node);

struct uvea_sim_http_plan uvea_sim_http_draw(struct uvea_sim_node *node, const char *target);

// Records and counts it.
void uvea_sim_http_happens(struct uvea_sim_node *node, unsigned peer,
                           enum uvea_sim_http_fault fault, unsigned status, const char *target);

// Changes the handler's answer as planned; gives what has happened to it (HONEST when there was
// nothing to change).
enum uvea_sim_http_fault uvea_sim_http_distort(struct uvea_sim_node *node,
                                               const struct uvea_sim_http_plan *plan,
                                               const char *target,
                                               struct uvea_http_response *answer);

// ---- http_client.c

enum uvea_error uvea_sim_op_http_call(struct uvea_rt *rt, const char *address,
                                      const struct uvea_http_request *request,
                                      struct uvea_http_response *response, uint64_t deadline_ns);

// ---- http_server.c

const char *uvea_sim_http_server_address(const struct uvea_http_server *server);

enum uvea_error uvea_sim_op_http_serve(struct uvea_rt *rt, const char *address,
                                       uvea_http_handler_fn *handler, void *arg,
                                       struct uvea_http_server **server);
void uvea_sim_op_http_close(struct uvea_rt *rt, struct uvea_http_server *server);

// Drops the servers of this node that are left (NULL: of all); gives how many.
unsigned uvea_sim_http_servers_drop(struct uvea_sim *sim, const struct uvea_sim_node *node);

#endif
