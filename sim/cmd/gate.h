// Private to `uvea gate`: what a run of checks came to, and how it is printed.
#ifndef UVEA_SIM_CMD_GATE_H
#define UVEA_SIM_CMD_GATE_H

#include "core/base/error.h"
#include "sim/cmd/file.h"
#include "sim/gate/gate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UVEA_GATE_CHECKS_MAX = 32 };

struct uvea_gate_outcome {
    struct uvea_gate_result result;
    uint64_t elapsed_ns;
};

struct uvea_gate_report {
    uint64_t seed;
    struct uvea_gate_outcome outcomes[UVEA_GATE_CHECKS_MAX];
    size_t count;
};

// pass unless a check was wrong; skipped when none of them could run.
enum uvea_gate_status uvea_gate_report_status(const struct uvea_gate_report *report);

// One check as lines of text, and the last line over all of them.
void uvea_gate_print_check(const struct uvea_gate_result *result);
void uvea_gate_print_verdict(const struct uvea_gate_report *report);

// One JSON object on a line of its own. MEMORY or nothing.
UVEA_MUST_USE enum uvea_error uvea_gate_print_json(const struct uvea_gate_report *report);

// A JUnit document: one testcase per check and one, skipped, per part that could not run.
UVEA_MUST_USE enum uvea_error uvea_gate_write_junit(const struct uvea_gate_report *report,
                                                    struct uvea_output *out,
                                                    struct uvea_error_context *context);

#endif
