// Who is enrolled and who asks: templates in the clear, made from the seed or read from files, and
// the queries a scenario plans, made when their turn comes from what is enrolled by then.
#ifndef UVEA_SIM_WORLD_POPULATION_H
#define UVEA_SIM_WORLD_POPULATION_H

#include "core/base/error.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "oracle/service.h"
#include "sim/runtime/random.h"
#include "sim/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uvea_memory;

struct uvea_population {
    const struct uvea_scenario *scenario;
    struct uvea_sim_random templates; // stream "templates": generated irises
    struct uvea_sim_random workload;  // stream "workload": targets and flipped positions
    struct uvea_template_pair *pool;  // pairs of the template files, owned
    size_t pool_count;
    struct uvea_memory *memory; // of each serial, owned
    size_t memory_count;
    struct uvea_expectation *expects; // of mixed requests, owned
};

// Reads the scenario's template files. NOT_FOUND when one does not exist, FORMAT with file and
// line.
UVEA_MUST_USE enum uvea_error uvea_population_init(struct uvea_population *population,
                                                   const struct uvea_scenario *scenario,
                                                   struct uvea_error_context *context);
void uvea_population_deinit(struct uvea_population *population);

// What can be known before a run: the template files hold enough entries for the records and for
// each request, and no request names a target that cannot be enrolled by then. FORMAT names the
// entry; *line: its line in the scenario, or 0.
UVEA_MUST_USE enum uvea_error uvea_population_check(const struct uvea_population *population,
                                                    unsigned *line,
                                                    struct uvea_error_context *context);

// The pair to enrol as record `index` (from 0) before the first request. FORMAT when the template
// files hold fewer.
UVEA_MUST_USE enum uvea_error uvea_population_record(struct uvea_population *population,
                                                     size_t index, struct uvea_template_pair *out,
                                                     struct uvea_error_context *context);

// A request that is about to be made.
struct uvea_demand {
    enum uvea_request_plan_type type; // the plan's, or UNIQUENESS where a mix had no target left
    bool has_pair;
    struct uvea_template_pair pair;        // whose eyes it sends
    uint32_t serial_id;                    // named by the request; 0 for none
    const struct uvea_expectation *expect; // the plan's, or what its mix says; NULL for none
};

// Makes request `index` of the scenario, given what is enrolled. certain: nothing else is under
// way, so that a mix can say what the answer has to be. FORMAT when the plan names a serial or an
// index that does not exist, or needs a target and nobody is enrolled.
UVEA_MUST_USE enum uvea_error uvea_population_demand(struct uvea_population *population,
                                                     size_t index,
                                                     const struct uvea_oracle_service *model,
                                                     bool certain, struct uvea_demand *out,
                                                     struct uvea_error_context *context);

// Shares both eyes out to the three parties, with coefficients drawn from random. scratch is room
// for one eye's shares.
void uvea_population_split(const struct uvea_template_pair *pair, struct uvea_sim_random *random,
                           struct uvea_iris_share scratch[UVEA_PARTY_COUNT],
                           struct uvea_iris_upload uploads[UVEA_PARTY_COUNT]);

// The oracle has its own type for the same bits.
void uvea_population_to_oracle(const struct uvea_template_pair *in, struct uvea_oracle_pair *out);

#endif
