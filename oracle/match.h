// The oracle's matcher: templates in the clear, scores by counting bits, thresholds by two
// formulas. It shares no arithmetic with core/, so that a mistake there cannot be repeated here
// unseen; only core/base is included. Source: service.md 2.1-2.4, wire.md 8.
#ifndef UVEA_ORACLE_MATCH_H
#define UVEA_ORACLE_MATCH_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    UVEA_ORACLE_WORDS = 200,
    UVEA_ORACLE_ROTATION_MAX = 15,
    UVEA_ORACLE_ROTATIONS = 31, // rotation rho is stored at index, or bit, rho + 15
};

// Plain index i = 800 row + 4 column + 2 wavelet + part (0 real, 1 imaginary); bit i is bit i mod
// 64 of word i / 64. A mask bit of 1 means valid.
struct uvea_oracle_template {
    uint64_t code[UVEA_ORACLE_WORDS];
    uint64_t mask[UVEA_ORACLE_WORDS];
};

// Rotates by any number of columns; positive = right, toward higher columns. out may not alias in.
void uvea_oracle_rotate(const struct uvea_oracle_template *in, int columns,
                        struct uvea_oracle_template *out);

// Reflects the columns of each half (c -> 99 - c, c -> 299 - c) and inverts imaginary code bits,
// masked ones too; mask bits only move. Its own inverse. out may not alias in.
void uvea_oracle_mirror(const struct uvea_oracle_template *in, struct uvea_oracle_template *out);

// A query rotated right by -15..15 columns. 99,200 bytes: keep it off small stacks.
struct uvea_oracle_query {
    struct uvea_oracle_template at[UVEA_ORACLE_ROTATIONS];
};

void uvea_oracle_query_prepare(const struct uvea_oracle_template *in,
                               struct uvea_oracle_query *out);

// What two templates have in common, counted twice over by different bit expressions: the first two
// members feed the integer formula, the last three the rational one.
struct uvea_oracle_counts {
    int32_t code_dot;     // C, -12,800..12,800: products of coordinates in {-1, 0, 1}, summed
    int32_t mask_dot;     // M, 0..12,800: real bits valid in both, doubled
    uint32_t common;      // bits valid in both, 0..12,800
    uint32_t differing;   // of those, the ones whose code bits differ
    uint32_t common_real; // of those, the real ones, 0..6,400
};

// Without rotation; for rotation rho pass query->at[rho + 15] and the record.
void uvea_oracle_count(const struct uvea_oracle_template *a, const struct uvea_oracle_template *b,
                       struct uvea_oracle_counts *out);

struct uvea_oracle_verdict {
    bool anonymous; // nominal 0.375
    bool strict;    // nominal 0.345
};

// Equality accepts, and so does a pair with nothing in common. STATE when the integer and the
// rational formula disagree, or strict is passed without anonymous: the oracle is broken and gives
// no verdict (out is unchanged).
UVEA_MUST_USE enum uvea_error uvea_oracle_judge(const struct uvea_oracle_counts *counts,
                                                struct uvea_oracle_verdict *out,
                                                struct uvea_error_context *context);

// Smallest fractional Hamming distance, as clients and tools see it: differing / common.
struct uvea_oracle_distance {
    uint32_t differing;
    uint32_t common; // 0: no rotation has a common valid bit, and there is no distance
    int rotation;    // of the rotated template; positive = right
};

// Rotates `moved` by -15..15 against `fixed`; the first of equal distances wins.
void uvea_oracle_best_distance(const struct uvea_oracle_template *fixed,
                               const struct uvea_oracle_template *moved,
                               struct uvea_oracle_distance *out);

#endif
