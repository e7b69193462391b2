// Three meshes on the simulator. A test fills in configurations, gives the function that each party
// runs, and looks at what came out. The node `client` (index 3) is free for hostile connectors.
//
// Tasks run on their own stacks, from which cmocka cannot leave: inside a task TRIO_EXPECT notes a
// failure, and trio_run reports it.
#ifndef UVEA_TESTS_NET_TRIO_H
#define UVEA_TESTS_NET_TRIO_H

#include "core/net/mesh.h"
#include "sim/runtime/sim.h"
#include "tests/support/cmocka.h"

enum { TRIO_CLIENT = UVEA_PARTY_COUNT, TRIO_EXTRA_MAX = 4 };

struct trio;

struct trio_party {
    struct trio *trio;
    unsigned index;
    struct uvea_rt *rt;
    struct uvea_mesh *mesh; // open while the party's function runs, unless raw
};

typedef void trio_fn(struct trio_party *party);

struct trio {
    struct uvea_sim_config sim_config;
    struct uvea_mesh_config mesh[UVEA_PARTY_COUNT];
    trio_fn *fn[UVEA_PARTY_COUNT + 1]; // the last is the client's; NULL: the node does nothing
    bool raw[UVEA_PARTY_COUNT];        // the party's function is given no mesh
    void *arg;

    struct uvea_sim *sim;
    struct trio_party parties[UVEA_PARTY_COUNT + 1];
    unsigned waiting; // in trio_wait_all
    unsigned rounds;
    unsigned failures;
    struct uvea_sim_outcome outcome;
};

// Default configurations; all three parties run fn.
void trio_init(struct trio *trio, trio_fn *fn);

// Runs to the end; fails the test when an expectation failed, when a task is left, or when a
// stream, channel or listener was not closed.
void trio_run(struct trio *trio);

// uvea_mesh_connect, expected to succeed.
void trio_connect(struct trio_party *party);

// Returns when all three parties have called it: nobody disconnects while others still work.
void trio_wait_all(struct trio_party *party);

void trio_sleep(struct uvea_rt *rt, uint64_t ns);

void trio_note(struct trio *trio, bool holds, const char *file, int line, const char *what);
#define TRIO_EXPECT(trio, condition) trio_note((trio), (condition), __FILE__, __LINE__, #condition)

// The text names all of these parts.
bool trio_says(const struct uvea_error_context *context, const char *first, const char *second);

// Runs fn(arg + i * size) in count tasks of the party and waits for them.
void trio_parallel(struct trio_party *party, uvea_task_fn *fn, void *args, size_t size,
                   unsigned count);

// Deterministic contents that tell apart sender, receiver, session and step.
uint8_t trio_byte(unsigned from, unsigned to, uint32_t session, uint32_t step, size_t i);

// Sends / expects Bytes of that content.
void trio_send(struct trio_party *party, uint32_t position, enum uvea_peer peer, uint32_t step,
               size_t bytes);
void trio_expect(struct trio_party *party, uint32_t position, enum uvea_peer peer, uint32_t step,
                 size_t bytes);

#endif
