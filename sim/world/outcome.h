// How a call over HTTP went, for sentences that a user reads.
#ifndef UVEA_SIM_WORLD_OUTCOME_H
#define UVEA_SIM_WORLD_OUTCOME_H

#include "core/base/error.h"

enum { UVEA_OUTCOME_CHARS = 64 };

// "nobody listens", "status 503", "the deadline passed". status counts without an error only.
void uvea_outcome_text(enum uvea_error error, unsigned status, char text[UVEA_OUTCOME_CHARS]);

#endif
