#include "core/field/transform.h"

#include "core/base/mem.h"
#include "uvea_field_tables.h"

#include <string.h>

_Static_assert((int)GENERATED_PRIME == (int)UVEA_FIELD_PRIME, "tables are for this prime");
_Static_assert((int)GENERATED_ROOT == (int)UVEA_FIELD_ROOT, "tables are for this root");

enum { RADIX_MAX = 5 };
static const unsigned radices[] = {2, 2, 2, 5, 5};

// omega^(sign * exponent), exponent < 200.
static uint16_t root(unsigned exponent, int sign)
{
    unsigned index = sign > 0 ? exponent : (UVEA_TRANSFORM_POINTS - exponent) % 200u;
    return powers[index];
}

// One butterfly: out[k] = twiddle^k * sum_j in[j] w_radix^(jk); twiddle is omega^(step).
static void butterfly(const uint16_t in[RADIX_MAX], unsigned radix, unsigned step, int sign,
                      uint16_t out[RADIX_MAX])
{
    for (unsigned k = 0; k < radix; k++) {
        uint64_t sum = 0;
        for (unsigned j = 0; j < radix; j++) {
            unsigned exponent = UVEA_TRANSFORM_POINTS / radix * (j * k % radix);
            sum += (uint64_t)in[j] * root(exponent, sign);
        }
        out[k] = uvea_field_mul(uvea_field_reduce_u64(sum), root(step * k % 200u, sign));
    }
}

// One pass of the self-sorting (Stockham) form: `length` points remain to be transformed, in
// `stride` interleaved sequences.
static void pass(const uint16_t *from, uint16_t *to, unsigned radix, unsigned length,
                 unsigned stride, int sign)
{
    unsigned part = length / radix;
    for (unsigned p = 0; p < part; p++) {
        for (unsigned q = 0; q < stride; q++) {
            uint16_t in[RADIX_MAX];
            uint16_t out[RADIX_MAX];
            for (unsigned j = 0; j < radix; j++) {
                in[j] = from[q + stride * (p + part * j)];
            }
            butterfly(in, radix, UVEA_TRANSFORM_POINTS / length * p, sign, out);
            for (unsigned k = 0; k < radix; k++) {
                to[q + stride * (radix * p + k)] = out[k];
            }
        }
    }
}

static void transform(const uint16_t in[UVEA_TRANSFORM_POINTS], uint16_t out[UVEA_TRANSFORM_POINTS],
                      int sign)
{
    uint16_t buffers[2][UVEA_TRANSFORM_POINTS];
    unsigned at = 0;
    unsigned length = UVEA_TRANSFORM_POINTS;
    unsigned stride = 1;
    memcpy(buffers[0], in, sizeof(buffers[0]));
    for (unsigned i = 0; i < sizeof(radices) / sizeof(radices[0]); i++) {
        pass(buffers[at], buffers[1 - at], radices[i], length, stride, sign);
        at = 1 - at;
        length /= radices[i];
        stride *= radices[i];
    }
    memcpy(out, buffers[at], sizeof(buffers[at]));
    uvea_mem_wipe(buffers, sizeof(buffers));
}

void uvea_transform_forward(const uint16_t in[UVEA_TRANSFORM_POINTS],
                            uint16_t out[UVEA_TRANSFORM_POINTS])
{
    transform(in, out, 1);
}

void uvea_transform_inverse(const uint16_t in[UVEA_TRANSFORM_POINTS],
                            uint16_t out[UVEA_TRANSFORM_POINTS])
{
    uint16_t scale = uvea_field_inverse(UVEA_TRANSFORM_POINTS);
    transform(in, out, -1);
    for (unsigned t = 0; t < UVEA_TRANSFORM_POINTS; t++) {
        out[t] = uvea_field_mul(out[t], scale);
    }
}

enum { PAIRS = 99 };
#define WEIGHTED_SUM_MAX (INT64_C(99) * UVEA_FIELD_CENTRED_MAX * UVEA_FIELD_CENTRED_MAX)
#define WEIGHTED_SUM_OFFSET ((int64_t)UVEA_FIELD_PRIME << 21)
_Static_assert(WEIGHTED_SUM_MAX < WEIGHTED_SUM_OFFSET, "the offset exceeds every sum");

// Centred values as low + 256 high with signed bytes: sums of 99 products with a centred table then
// stay in 32 bits (99 * 26100 * 128 < 2^29), which compilers vectorise.
struct halves {
    int16_t low[PAIRS];
    int16_t high[PAIRS];
};

static void split(int16_t centred, unsigned k, struct halves *out)
{
    out->low[k] = (int8_t)(uint8_t)centred;
    out->high[k] = (int16_t)((centred - out->low[k]) / 256);
}

static int32_t dot(const int16_t bytes[PAIRS], const int16_t table[PAIRS])
{
    int32_t sum = 0;
    for (unsigned k = 0; k < PAIRS; k++) {
        sum += bytes[k] * table[k];
    }
    return sum;
}

// sum_k values[k] table[k], all centred.
static uint16_t weighted_sum(const struct halves *values, const int16_t table[PAIRS])
{
    int64_t sum = dot(values->low, table) + 256 * (int64_t)dot(values->high, table);
    // A multiple of p that makes it non-negative.
    return uvea_field_reduce_u64((uint64_t)(sum + WEIGHTED_SUM_OFFSET));
}

// Centred, for |value| <= p.
static int16_t centre(int32_t value)
{
    value -= UVEA_FIELD_PRIME & ((UVEA_FIELD_CENTRED_MAX - value) >> 31);
    value += UVEA_FIELD_PRIME & ((value + UVEA_FIELD_CENTRED_MAX) >> 31);
    return (int16_t)value;
}

void uvea_transform_selected_inverse(const uint16_t in[UVEA_TRANSFORM_POINTS],
                                     uint16_t out[UVEA_TRANSFORM_ROTATIONS])
{
    struct halves sums;
    struct halves differences;
    int32_t total = in[0] + in[100];
    for (unsigned k = 1; k <= PAIRS; k++) {
        int16_t sum = centre(in[k] + in[UVEA_TRANSFORM_POINTS - k] - UVEA_FIELD_PRIME);
        split(sum, k - 1, &sums);
        split(centre(in[k] - in[UVEA_TRANSFORM_POINTS - k]), k - 1, &differences);
        total += sum;
    }
    out[15] = uvea_field_reduce_i32(total);
    for (unsigned r = 1; r <= 15; r++) {
        uint16_t ends =
            r % 2 == 0 ? uvea_field_add(in[0], in[100]) : uvea_field_sub(in[0], in[100]);
        uint16_t even = uvea_field_add(ends, weighted_sum(&sums, uvea_transform_cosine[r - 1]));
        uint16_t odd = weighted_sum(&differences, uvea_transform_sine[r - 1]);
        out[15 + r] = uvea_field_add(even, odd);
        out[15 - r] = uvea_field_sub(even, odd);
    }
}
