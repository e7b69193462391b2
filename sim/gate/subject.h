// Templates as both paths see them: in the clear, as ring shares, and as field shares converted by
// the protocol. A gate may look at all of it.
#ifndef UVEA_SIM_GATE_SUBJECT_H
#define UVEA_SIM_GATE_SUBJECT_H

#include "core/field/spectrum.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "oracle/match.h"
#include "sim/gate/check.h"

#include <stddef.h>
#include <stdint.h>

// One eye, 300 KB: only ever in an array of subjects.
struct uvea_gate_subject {
    struct uvea_template iris;
    struct uvea_iris_share shares[UVEA_PARTY_COUNT];
    struct uvea_field_eye field[UVEA_PARTY_COUNT];
};

// Shares each subject's iris at random, then converts all of them in one call on a session.
UVEA_MUST_USE enum uvea_error uvea_gate_subjects_share(struct uvea_gate_run *run,
                                                       struct uvea_gate_subject *subjects,
                                                       size_t count, uint32_t session_id);

// The coordinate at a position of a share, position 6400p + 3200w + 800(r mod 4) + 4c + (r div 4):
// of the code -1, 0 or 1, and of the mask (positions below 6400) 0 or 1.
int uvea_gate_code_at(const struct uvea_template *iris, size_t position);
int uvea_gate_mask_at(const struct uvea_template *iris, size_t position);

// The same bits in the oracle's type.
void uvea_gate_to_oracle(const struct uvea_template *iris, struct uvea_oracle_template *out);

#endif
