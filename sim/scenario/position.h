// Where things stand in a YAML text, for sentences that name a line.
#ifndef UVEA_SIM_SCENARIO_POSITION_H
#define UVEA_SIM_SCENARIO_POSITION_H

#include <stddef.h>
#include <stdint.h>

// The line (from 1) of the value at a path such as "network.latency_us" or "requests[3].by"; 0 when
// the text has no such value.
unsigned uvea_yaml_line(const uint8_t *text, size_t len, const char *path);

enum { UVEA_YAML_PATH_BYTES = 256 };

// The line of the first mapping key of that name behind a place (line and column from 1), and its
// path; 0 when there is none, and the path stays as it is.
unsigned uvea_yaml_key_line(const uint8_t *text, size_t len, const char *key, unsigned line,
                            unsigned column, char path[UVEA_YAML_PATH_BYTES]);

// What a scenario does not use of YAML: a second document, anchors, aliases, merge keys, a NUL in a
// text. The line of the first of them, and its name in *what; 0 when there is none.
unsigned uvea_yaml_unused(const uint8_t *text, size_t len, const char **what);

// The lines of the entries of a list: lines[i] becomes that of the value at "list[i].field", or
// where there is none that of "list[i]" itself; what is not found stays as it is.
void uvea_yaml_entry_lines(const uint8_t *text, size_t len, const char *list, const char *field,
                           unsigned *lines, size_t count);

#endif
