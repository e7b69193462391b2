// The numbers that keep the spectral kernels' arithmetic inside its types. Each bound is for every
// input whatsoever; proofs/ checks them again. Source: ntt.md 6.
#ifndef UVEA_CORE_KERNEL_BOUNDS_H
#define UVEA_CORE_KERNEL_BOUNDS_H

#include "core/field/spectrum.h"

#include <stdint.h>

enum {
    // Centred residues v, |v| <= 26100, as v = low + 256 high with signed bytes: the portable
    // kernel
    // and the stored form.
    UVEA_BOUND_LOW = 128,
    UVEA_BOUND_HIGH = 102,
    // The same with 0 <= low <= 255 and -102 <= high <= 101: the kernels that split a 16-bit value
    // by a mask and a shift.
    UVEA_BOUND_LOW_UNSIGNED = 255,

    // The sum over all channels of record * low byte of the query: 638,928,000; of record * high
    // byte: 255,571,200.
    UVEA_BOUND_CHANNEL_LOW =
        UVEA_SPECTRUM_CHANNELS * UVEA_FIELD_CENTRED_MAX * UVEA_BOUND_LOW_UNSIGNED,
    UVEA_BOUND_CHANNEL_HIGH = UVEA_SPECTRUM_CHANNELS * UVEA_FIELD_CENTRED_MAX * UVEA_BOUND_HIGH,

    // Both factors in bytes: low * low at most 1,572,864; the two mixed products together
    // 2,506,752; high * high 998,784, and with weight 256 next to the mixed ones 258,195,456.
    UVEA_BOUND_BYTES_LOW = UVEA_SPECTRUM_CHANNELS * UVEA_BOUND_LOW * UVEA_BOUND_LOW,
    UVEA_BOUND_BYTES_MIXED = 2 * UVEA_SPECTRUM_CHANNELS * UVEA_BOUND_LOW * UVEA_BOUND_HIGH,
    UVEA_BOUND_BYTES_HIGH = UVEA_SPECTRUM_CHANNELS * UVEA_BOUND_HIGH * UVEA_BOUND_HIGH,
    UVEA_BOUND_BYTES_UPPER = UVEA_BOUND_BYTES_MIXED + 256 * UVEA_BOUND_BYTES_HIGH,

    // Reduction by a float reciprocal, x - p * nearest(float(x) * float(1/p)), takes |x| <= 2^30:
    // the quotient is at most 20,570 and three roundings of 2^-24 each put it off by less than
    // 0.0037, so the result is at most p (0.5 + 0.0037) < 26,300. It is congruent to x, and nearly
    // centred.
    UVEA_BOUND_REDUCE = 1 << 30,
    UVEA_BOUND_REDUCED = 26300,
    // (high reduced) * 256 + low, before it is reduced itself.
    UVEA_BOUND_COMBINED = 256 * UVEA_BOUND_REDUCED + UVEA_BOUND_CHANNEL_LOW,

    // The paired inverse: sums and differences of two reduced values, at most 52,600, become
    // centred by adding or subtracting p once and are summed against the bytes of a centred table
    // over 99 pairs: 658,894,500 low, 263,557,800 high. The ends T[0] +- T[100] join the low sum.
    UVEA_BOUND_PAIRS = 99,
    UVEA_BOUND_ENDS = 2 * UVEA_BOUND_REDUCED,
    UVEA_BOUND_INVERSE_LOW =
        UVEA_BOUND_PAIRS * UVEA_FIELD_CENTRED_MAX * UVEA_BOUND_LOW_UNSIGNED + UVEA_BOUND_ENDS,
    UVEA_BOUND_INVERSE_HIGH = UVEA_BOUND_PAIRS * UVEA_FIELD_CENTRED_MAX * UVEA_BOUND_HIGH,
    UVEA_BOUND_INVERSE_COMBINED = 256 * UVEA_BOUND_REDUCED + UVEA_BOUND_INVERSE_LOW,
};

_Static_assert(256 * UVEA_BOUND_HIGH - UVEA_BOUND_LOW <= UVEA_FIELD_CENTRED_MAX &&
                   UVEA_FIELD_CENTRED_MAX <= 256 * UVEA_BOUND_HIGH + UVEA_BOUND_LOW - 1,
               "102 is the high byte of the largest residue, and no residue needs more");
_Static_assert(UVEA_FIELD_CENTRED_MAX / 256 < UVEA_BOUND_HIGH &&
                   (UVEA_FIELD_CENTRED_MAX + 255) / 256 <= UVEA_BOUND_HIGH,
               "nor does a shift by 8 give more, rounding up or down");
_Static_assert(UVEA_BOUND_CHANNEL_LOW == 638928000 && UVEA_BOUND_CHANNEL_HIGH == 255571200,
               "sums over the channels fit 32 bits");
_Static_assert(UVEA_BOUND_COMBINED <= UVEA_BOUND_REDUCE &&
                   UVEA_BOUND_BYTES_UPPER <= UVEA_BOUND_REDUCE &&
                   256 * UVEA_BOUND_REDUCED + UVEA_BOUND_BYTES_LOW <= UVEA_BOUND_REDUCE &&
                   UVEA_BOUND_INVERSE_HIGH <= UVEA_BOUND_REDUCE &&
                   UVEA_BOUND_INVERSE_COMBINED <= UVEA_BOUND_REDUCE,
               "every sum is in the domain of the reduction");
_Static_assert(2 * UVEA_BOUND_REDUCED <= UVEA_FIELD_PRIME + UVEA_FIELD_CENTRED_MAX,
               "adding or subtracting p once centres a sum of two reduced values");
_Static_assert(UVEA_BOUND_ENDS + UVEA_BOUND_PAIRS * UVEA_FIELD_CENTRED_MAX <= UVEA_BOUND_REDUCE,
               "the score without rotation is a plain sum");
_Static_assert(UVEA_BOUND_REDUCED <= INT16_MAX, "reduced values are kept in 16 bits");

#define UVEA_KERNEL_RECIPROCAL (1.0F / (float)UVEA_FIELD_PRIME)

// A centred residue in two signed bytes, kept as 16-bit factors.
static inline int16_t uvea_kernel_low_byte(int16_t centred)
{
    return (int8_t)(uint8_t)centred;
}

static inline int16_t uvea_kernel_high_byte(int16_t centred)
{
    return (int16_t)((centred - uvea_kernel_low_byte(centred)) / 256);
}

#endif
