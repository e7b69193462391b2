// The scenarios of scenarios/ that need no other file, inside the command, so that the gate runs
// from anywhere. The table is generated at build time.
#ifndef UVEA_SIM_GATE_SCENARIOS_H
#define UVEA_SIM_GATE_SCENARIOS_H

#include <stddef.h>
#include <stdint.h>

struct uvea_gate_scenario {
    const char *name;
    const uint8_t *text;
    size_t len;
};

// Ends with an entry that is all zero.
extern const struct uvea_gate_scenario uvea_gate_scenarios[];

#endif
