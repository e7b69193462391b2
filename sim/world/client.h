// The client of a world, or of a live cluster: makes each planned request when its turn comes,
// shares it out, sends it to the parties and reads what each of them answers, all over HTTP and
// with patience: what fails is tried again until its time is up. What it sends and reads goes into
// the ledger.
#ifndef UVEA_SIM_WORLD_CLIENT_H
#define UVEA_SIM_WORLD_CLIENT_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/rt.h"
#include "core/service/share_object.h"
#include "sim/world/leak.h"
#include "sim/world/ledger.h"
#include "sim/world/population.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the client asks for when the plan says restart; an error ends it.
typedef enum uvea_error uvea_client_restart_fn(void *arg, const struct uvea_request_plan *plan,
                                               struct uvea_error_context *reason);

// Called whenever the client waits, five times a second at least unless a party keeps it waiting;
// an error ends it.
typedef enum uvea_error uvea_client_attend_fn(void *arg, struct uvea_error_context *reason);

// When a message was accepted and each party's result of it read, by the client's clock; 0: not
// yet.
struct uvea_client_times {
    uint64_t accepted_ns;
    uint64_t answered_ns[UVEA_PARTY_COUNT];
};

enum { UVEA_CLIENT_ENROLMENTS = 16 }; // under way at once

struct uvea_client {
    // given
    struct uvea_rt *rt;
    const struct uvea_scenario *scenario;
    struct uvea_population *population;
    struct uvea_ledger *ledger;
    const char *addresses[UVEA_PARTY_COUNT]; // of the parties' HTTP servers
    uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    bool carries_on;        // also after a wrong answer
    bool simulated;         // rt is of the simulator, whose trace and watchdog are told
    struct uvea_leak *leak; // is told what each party gets, or NULL
    uint64_t deadline_ns;   // by the client's clock
    uint64_t patience_ns;   // 0: the deadline stands; else each answer moves it this far away
    uint64_t poll_ns_max;   // longest pause between two looks for answers
    uint64_t pace_ns;       // 0: the scenario's pauses; else a request every so often
    size_t enrolments;      // so many of the first requests stand for the scenario's database
    struct uvea_client_times *times; // room for every request, by sequence number - 1, or NULL
    uvea_client_restart_fn *restart;
    void *restart_arg;
    uvea_client_attend_fn *attend; // or NULL
    void *attend_arg;
    uvea_world_progress_fn *progress;
    void *progress_arg;
    // found
    size_t sent;                     // requests accepted, restarts not counted
    uint64_t read[UVEA_PARTY_COUNT]; // results
    uint64_t retried_posts;
    uint64_t paced_from_ns;  // when the first request behind the enrolments was due
    uint64_t bytes_sent;     // bodies of HTTP requests
    uint64_t bytes_received; // bodies of the answers to them
    bool finished;           // every request was answered by all three parties
    bool bad_plan;           // a request cannot be made as the scenario says
    enum uvea_error error;
    struct uvea_error_context reason; // empty when finished
};

// The task; arg is the struct uvea_client.
void uvea_client_run(void *arg);

#endif
