// What the files of the population share. Private to them.
#ifndef UVEA_SIM_WORLD_POPULATION_IMPL_H
#define UVEA_SIM_WORLD_POPULATION_IMPL_H

#include "sim/world/population.h"

// What was enrolled under a serial, now and before.
struct uvea_memory {
    uint16_t version;
    bool has_former;
    struct uvea_oracle_pair now;
    struct uvea_oracle_pair former;
};

// Reads the scenario's template files into population->pool.
UVEA_MUST_USE enum uvea_error uvea_population_read_pool(struct uvea_population *population,
                                                        struct uvea_error_context *context);

// Notes what is new in the model.
UVEA_MUST_USE enum uvea_error uvea_population_remember(struct uvea_population *population,
                                                       const struct uvea_oracle_service *model);

#endif
