// Many comparisons through one of the four anonymous predicates, chunk after chunk, among three
// parties; then every opened word of every party against the right bits.
#ifndef UVEA_SIM_GATE_JUDGE_H
#define UVEA_SIM_GATE_JUDGE_H

#include "sim/gate/check.h"
#include "sim/gate/trio.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum uvea_gate_form {
    UVEA_GATE_FIELD_FULL,
    UVEA_GATE_FIELD_RANGE,
    UVEA_GATE_RING_DENSE,
    UVEA_GATE_RING_TWO_TERM,
    UVEA_GATE_FORM_COUNT,
};

const char *uvea_gate_form_text(enum uvea_gate_form form);

// Scores g with their right bits, dealt out as the form wants them: in the field one residue each,
// in the ring an interleaved pair (C, m) with 2C - m = g. All owned.
struct uvea_gate_scores {
    enum uvea_gate_form form;
    size_t count;
    uint16_t *contributions[UVEA_PARTY_COUNT];
    bool *right;
    uint64_t *opened[UVEA_PARTY_COUNT]; // room for `count` chunks of one comparison
};

// Deals count scores, score_of(arg, i), at random. In the field a score may be any number: it
// stands for its residue, and the right bit is [residue + 32768 mod p >= 32768]. In the ring it is
// SCORE_MIN..SCORE_MAX, and the right bit is [score >= 0].
typedef int32_t uvea_gate_score_fn(void *arg, size_t i);
UVEA_MUST_USE enum uvea_error uvea_gate_scores_init(struct uvea_gate_run *run,
                                                    struct uvea_gate_scores *scores,
                                                    enum uvea_gate_form form, size_t count,
                                                    uvea_gate_score_fn *score_of, void *arg);
void uvea_gate_scores_deinit(struct uvea_gate_scores *scores);

// Judges the first `count` scores `chunk` at a time (count = 0: one call with nothing) on one
// session, and counts each comparison as a case. meters may be NULL.
UVEA_MUST_USE enum uvea_error uvea_gate_judge(struct uvea_gate_run *run,
                                              struct uvea_gate_scores *scores, size_t count,
                                              size_t chunk, uint32_t session_id,
                                              struct uvea_gate_meter *meters);

#endif
