// Three parties on the simulator that live as a service does, but for the work itself: start-up,
// batches, an end together. A party whose life fails begins another one 3 s later.
#ifndef UVEA_TESTS_COORD_FLEET_H
#define UVEA_TESTS_COORD_FLEET_H

#include "core/coord/coord.h"
#include "sim/runtime/http.h"
#include "sim/runtime/sim.h"
#include "tests/sim/harness.h"

enum { FLEET_LIVES_MAX = 100 };

// Where a life can be cut short.
enum fleet_phase {
    FLEET_OPENED, // nothing is served yet
    FLEET_SERVING,
    FLEET_MET,
    FLEET_SEEN,
    FLEET_EXCHANGED,
    FLEET_READY,
    FLEET_RUNNING, // both peers are ready
    FLEET_SIZE_AGREED,
    FLEET_ENTRIES_AGREED,
    FLEET_PHASES,
};

struct fleet;

struct fleet_party {
    struct fleet *fleet;
    unsigned index;
    struct uvea_rt *rt;
    struct uvea_coord_link link; // of the life under way
    struct uvea_http_server *server;
    struct uvea_heartbeat *heartbeat;
    unsigned lives;
    uint64_t batches; // of this life
    uint32_t last_size;
    bool finished; // all batches of this life
    struct {
        enum uvea_error error;
        struct uvea_error_context context;
        enum fleet_phase phase;
    } ended[FLEET_LIVES_MAX]; // how each life ended
    enum fleet_phase phase;
};

struct fleet {
    struct uvea_sim_config sim_config;
    uint64_t delay_ns[UVEA_PARTY_COUNT]; // before the first life
    uint64_t batches;                    // wanted of one life
    struct uvea_coord_timing timing;
    uint64_t (*work_ns)(unsigned party, uint64_t batch); // of a batch; NULL: none
    uint32_t (*available)(unsigned party, uint64_t batch, unsigned asked);
    void (*prepare)(struct fleet *fleet, struct uvea_sim *sim); // faults
    unsigned cut_party;                                         // whose first life is cut short
    enum fleet_phase cut_phase;                                 // FLEET_PHASES: nobody's
    unsigned lives_max;                                         // then the party gives up
    const char *config[UVEA_PARTY_COUNT];                       // JSON
    uint64_t db_len[UVEA_PARTY_COUNT];

    struct uvea_sim *sim;
    struct fleet_party parties[UVEA_PARTY_COUNT];
    uint32_t agreed[64]; // size of each batch, as the first party to agree it says
    uint64_t end_ns;     // simulated
    unsigned gave_up;
};

void fleet_init(struct fleet *fleet, uint64_t seed);

// Runs until all parties have finished together, or one has given up. Checks that sizes and
// validity are the same everywhere, and that everything was released.
void fleet_run(struct fleet *fleet);

// Whether life `life` of the party ended in this error with a sentence that holds text.
void fleet_expect_end(const struct fleet *fleet, unsigned party, unsigned life,
                      enum uvea_error error, const char *text);

#endif
