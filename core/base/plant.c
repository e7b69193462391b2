#include "core/base/plant.h"

#ifdef UVEA_ALARM
static enum uvea_plant active;

void uvea_plant_set(enum uvea_plant plant)
{
    active = plant;
}

bool uvea_plant_active(enum uvea_plant plant)
{
    return active == plant;
}
#else
typedef int uvea_plant_is_empty; // ISO C wants a declaration in every file
#endif
