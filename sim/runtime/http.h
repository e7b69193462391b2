// HTTP in a simulation: requests and answers travel as messages over the simulated streams, so that
// every fault of the network reaches them too; what befalls HTTP itself is injected here, at the
// server, from the stream "http/<node>".
//
// A server reads and answers each connection in a task of its own; one without a request for 30 s
// is ended, and a request or an answer that takes longer than 60 s is given up. A node keeps up to
// 16 connections for its next calls and takes none that it knows to be over; one that ends while a
// request is on its way makes the call fail with CLOSED or RESET, and it is not made again.
#ifndef UVEA_SIM_RUNTIME_HTTP_H
#define UVEA_SIM_RUNTIME_HTTP_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct uvea_sim;

// What a server does instead of, or to, an honest answer. Chances are in 1/1,000,000 per request;
// the first that comes up is taken, in the order below. It does not happen, nor count, when the
// handler's answer leaves nothing to cut, delay or replace. Only requests whose path begins with
// path_prefix are touched ("" or NULL: all).
struct uvea_sim_http_faults {
    const char *path_prefix; // not copied
    uint32_t status_409;  // 409 without a body, the handler is not asked; in runs of 1 to run_max
    uint32_t status_5xx;  // 500, 502, 503 or 429, likewise
    uint32_t no_answer;   // the request is taken and never answered, the handler is not asked
    uint32_t lost_answer; // the handler is asked, then the connection breaks
    uint32_t reset;       // the connection breaks before the handler is asked
    uint32_t duplicate;   // the handler is asked twice, the second answer goes out
    uint32_t truncated;   // the body is cut at a random place
    uint32_t empty;       // 200 with an empty body
    uint32_t wrong_type;  // 200 with JSON of another shape
    uint32_t stale;       // the body of the answer before on this path, when there is one
    uint32_t slow;        // the body arrives over 0.1 to 30 s
    uint32_t run_max;
};

// From now on, for the server(s) of this node; all zero switches faults off.
void uvea_sim_http_faults_set(struct uvea_sim *sim, unsigned node,
                              const struct uvea_sim_http_faults *faults);

// How often each fault happened in the run, over all nodes, in the order of the members above.
enum { UVEA_SIM_HTTP_FAULT_COUNT = 11 };
const char *uvea_sim_http_fault_text(unsigned which);
uint64_t uvea_sim_http_fault_count(const struct uvea_sim *sim, unsigned which);

// Answers 409 in the run, honest and injected ones.
uint64_t uvea_sim_http_conflicts(const struct uvea_sim *sim);

#endif
