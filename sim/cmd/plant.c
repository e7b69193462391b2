#include "sim/cmd/plant.h"

#include "core/base/plant.h"

#ifdef UVEA_ALARM

#include "core/base/check.h"
#include "sim/cmd/cmd.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define PLANT_NAME(id, text, what) text,
    UVEA_PLANTS(PLANT_NAME)
#undef PLANT_NAME
};

int uvea_cmd_list_plants(void)
{
    for (size_t plant = 0; plant < UVEA_COUNT_OF(names); plant++) {
        (void)puts(names[plant]);
    }
    return UVEA_EXIT_PASS;
}

enum uvea_error uvea_cmd_set_plant(const char *name, struct uvea_error_context *context)
{
    if (name == NULL) {
        return UVEA_OK;
    }
    for (size_t plant = 0; plant < UVEA_COUNT_OF(names); plant++) {
        if (strcmp(name, names[plant]) == 0) {
            uvea_plant_set((enum uvea_plant)plant);
            return UVEA_OK;
        }
    }
    return uvea_error_set(context, UVEA_ERR_USAGE, "no planted fault '%.100s'; --plants lists them",
                          name);
}

#endif
