// A fleet: three parties as processes of the simulator, each with a simulated disk that outlives
// it, and a client that runs a script against them over HTTP. Parties that fail or are killed are
// started again, until the script is through; then all are asked to stop.
#ifndef UVEA_TESTS_SERVICE_FLEET_H
#define UVEA_TESTS_SERVICE_FLEET_H

#include "core/base/chacha.h"
#include "core/service/message.h"
#include "core/service/node.h"
#include "sim/disk/disk.h"
#include "sim/runtime/http.h"
#include "sim/runtime/process.h"
#include "sim/runtime/sim.h"
#include "tests/scan/fixture.h"
#include "tests/support/cmocka.h"

#include <jansson.h>

enum {
    FLEET_REQUESTS_MAX = 128,
    FLEET_RESTARTS_MAX = 200, // of one party; more are a loop
    FLEET_RECORDS_MAX = 64,
    FLEET_DEATHS_MAX = 4, // planned for one party
    FLEET_CLIENT = UVEA_PARTY_COUNT,
};

struct fleet;

// The party dies when it passes this point for the nth time in one life.
struct fleet_death {
    enum uvea_point point;
    uint64_t nth;
};

struct fleet_member {
    struct fleet *fleet;
    unsigned party;
    struct uvea_rt *rt;
    struct uvea_node_config config;
    char disk_name[32];
    struct uvea_sim_disk *disk;
    struct uvea_node *node;                      // while it runs
    struct fleet_death deaths[FLEET_DEATHS_MAX]; // in one life after the other
    unsigned death_count;
    uint64_t dies_in_commit;   // of the batch in which it processes its nth request; 0: not
    uint64_t dies_at_write;    // of that commit
    uint64_t fails_allocation; // of its first life; 0: none
    uint64_t allocations;      // of its first life, when fails_allocation is not 0
    unsigned starts;
    unsigned crashes;
    enum uvea_error error; // of its last life that was not cut short
    struct uvea_error_context context;
    json_t *results[FLEET_REQUESTS_MAX + 1]; // by sequence number, owned
    uint64_t result_count;
    uint64_t processed;
    uint64_t committed;
    uint64_t published;
    size_t batch_entries_max;
};

typedef void fleet_script_fn(struct fleet *fleet);

struct fleet {
    struct uvea_sim_config sim_config;
    struct uvea_sim *sim;
    struct fleet_member member[UVEA_PARTY_COUNT];
    uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    struct uvea_chacha rng;
    struct uvea_rt *rt; // the client's
    fleet_script_fn *script;
    void *arg;                // the script's
    bool no_restart;          // who fails stays down
    bool stop_when_processed; // each party is asked to stop when it has processed a batch
    unsigned seed_only;       // bit p: only these parties are seeded; 0: all
    bool over;
    unsigned next_name;
    struct uvea_sim_outcome outcome;
};

// Three parties with empty databases, two scan sessions per eye and quarter, batches of one.
void fleet_open(struct fleet *fleet, uint64_t seed);
// Enrols pairs before the first start.
void fleet_seed(struct fleet *fleet, const struct uvea_template_pair *pairs, size_t count);
// Plans a death: in the first life that has none yet.
void fleet_plan_death(struct fleet *fleet, unsigned party, enum uvea_point point, uint64_t nth);
// Plans a death while a batch is committed, at the nth write or sync of its disk, once.
void fleet_plan_death_in_commit(struct fleet *fleet, unsigned party, uint64_t request,
                                uint64_t write);
// Runs the script; checks that everything came to an end and was given back.
void fleet_run(struct fleet *fleet, fleet_script_fn *script, void *arg);
void fleet_close(struct fleet *fleet);

// All three parties' last lives ended well.
void fleet_assert_orderly(const struct fleet *fleet);
// The three databases hold the same serials at the same versions, `records` of them.
void fleet_assert_records(struct fleet *fleet, const uint16_t *versions, size_t records);

// ---- from the script

// One HTTP request, again and again until it is answered with one of these statuses.
unsigned fleet_call(struct fleet *fleet, unsigned party, const char *method, const char *target,
                    const struct uvea_buf *body, struct uvea_buf *answer);

// Shares a pair out under a new key, which it returns (good until the fleet is closed). spoiled:
// bit p says that party p's copy is no share object; missing: that it gets none.
const char *fleet_share(struct fleet *fleet, const struct uvea_template_pair *pair,
                        unsigned spoiled, unsigned missing);

// Posts a message (message_id is made when it has none) and returns its sequence number.
uint64_t fleet_post(struct fleet *fleet, struct uvea_message *message);
uint64_t fleet_post_text(struct fleet *fleet, const char *text);

// Waits until all three parties have published the result of this message.
void fleet_await(struct fleet *fleet, uint64_t sequence);

// The three results are there, equal but for node_id, and hold the members of want.
void fleet_expect(struct fleet *fleet, uint64_t sequence, const char *want);

// Messages are not let through to this party while it is on.
void fleet_hold_topic(struct fleet *fleet, bool held);

#endif
