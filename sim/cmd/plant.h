// Planted faults by name, for the commands of the alarm build.
#ifndef UVEA_SIM_CMD_PLANT_H
#define UVEA_SIM_CMD_PLANT_H

#ifdef UVEA_ALARM

#include "core/base/error.h"

// One name on a line. Returns the exit status.
int uvea_cmd_list_plants(void);

// Switches the fault on; NULL leaves all off. USAGE: there is none of that name.
UVEA_MUST_USE enum uvea_error uvea_cmd_set_plant(const char *name,
                                                 struct uvea_error_context *context);

#endif

#endif
