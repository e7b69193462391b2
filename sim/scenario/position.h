// Where things stand in a YAML text, for sentences that name a line.
#ifndef UVEA_SIM_SCENARIO_POSITION_H
#define UVEA_SIM_SCENARIO_POSITION_H

#include <stddef.h>
#include <stdint.h>

// The line (from 1) of the value at a path such as "network.latency_us" or "requests[3].by"; 0 when
// the text has no such value.
unsigned uvea_yaml_line(const uint8_t *text, size_t len, const char *path);

// The line of the first mapping key of that name behind a place (line and column from 1); 0 when
// there is none.
unsigned uvea_yaml_key_line(const uint8_t *text, size_t len, const char *key, unsigned line,
                            unsigned column);

// The line where a second document starts; 0 when there is only one.
unsigned uvea_yaml_second_document(const uint8_t *text, size_t len);

#endif
