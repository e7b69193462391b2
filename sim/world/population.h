// Who is enrolled and who asks: templates in the clear, made from the seed or read from files, and
// the queries a scenario plans, made when their turn comes from what is enrolled by then.
#ifndef UVEA_SIM_WORLD_POPULATION_H
#define UVEA_SIM_WORLD_POPULATION_H

#include "core/base/error.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "oracle/decide.h"
#include "sim/runtime/random.h"
#include "sim/scenario/scenario.h"

#include <stddef.h>
#include <stdint.h>

struct uvea_population {
    const struct uvea_scenario *scenario;
    struct uvea_sim_random templates; // stream "templates": generated irises
    struct uvea_sim_random workload;  // stream "workload": targets and flipped positions
    struct uvea_template_pair *pool;  // pairs of the template files, owned
    size_t pool_count;
};

// Reads the scenario's template files. NOT_FOUND when one does not exist, FORMAT with file and
// line.
UVEA_MUST_USE enum uvea_error uvea_population_init(struct uvea_population *population,
                                                   const struct uvea_scenario *scenario,
                                                   struct uvea_error_context *context);
void uvea_population_deinit(struct uvea_population *population);

// What can be known before a run: the template files hold enough entries for the records and for
// each request, and no request names a target that cannot be enrolled by then. FORMAT names the
// entry.
UVEA_MUST_USE enum uvea_error uvea_population_check(const struct uvea_population *population,
                                                    struct uvea_error_context *context);

// The pair to enrol as record `index` (from 0) before the first request. FORMAT when the template
// files hold fewer.
UVEA_MUST_USE enum uvea_error uvea_population_record(struct uvea_population *population,
                                                     size_t index, struct uvea_template_pair *out,
                                                     struct uvea_error_context *context);

// The query of a planned request, given what the oracle has enrolled. FORMAT when the plan names a
// serial or an index that does not exist, or needs a target and nobody is enrolled.
UVEA_MUST_USE enum uvea_error uvea_population_query(struct uvea_population *population,
                                                    const struct uvea_request_plan *plan,
                                                    const struct uvea_oracle_model *model,
                                                    struct uvea_template_pair *out,
                                                    struct uvea_error_context *context);

// Shares both eyes out to the three parties, with coefficients drawn from random. scratch is room
// for one eye's shares.
void uvea_population_split(const struct uvea_template_pair *pair, struct uvea_sim_random *random,
                           struct uvea_iris_share scratch[UVEA_PARTY_COUNT],
                           struct uvea_iris_upload uploads[UVEA_PARTY_COUNT]);

// The oracle has its own type for the same bits.
void uvea_population_to_oracle(const struct uvea_template_pair *in, struct uvea_oracle_pair *out);

#endif
