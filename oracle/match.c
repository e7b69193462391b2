#include "oracle/match.h"

#include <string.h>

enum {
    ROWS = 16,
    COLUMNS = 200,
    COLUMN_BITS = 4, // wavelet x part
    COLUMNS_PER_WORD = 64 / COLUMN_BITS,
    WORDS_PER_RUN = 25, // at most 25 * 8 = 200 per byte lane
};

_Static_assert(UVEA_ORACLE_WORDS * 64 == 12800 && (ROWS * COLUMNS) * COLUMN_BITS == 12800,
               "bits of a template");
_Static_assert(UVEA_ORACLE_WORDS % WORDS_PER_RUN == 0, "runs cover the template");
_Static_assert(WORDS_PER_RUN * 8 <= 255, "byte lanes do not overflow within a run");

static const uint64_t real_bits = 0x5555555555555555u;
static const unsigned imaginary_of_column = 0xau;

static unsigned column_get(const uint64_t *plane, unsigned row, unsigned column)
{
    unsigned at = row * COLUMNS + column;
    return (unsigned)(plane[at / COLUMNS_PER_WORD] >> (at % COLUMNS_PER_WORD * COLUMN_BITS)) & 0xfu;
}

static void column_or(uint64_t *plane, unsigned row, unsigned column, unsigned bits)
{
    unsigned at = row * COLUMNS + column;
    plane[at / COLUMNS_PER_WORD] |= (uint64_t)bits << (at % COLUMNS_PER_WORD * COLUMN_BITS);
}

void uvea_oracle_rotate(const struct uvea_oracle_template *in, int columns,
                        struct uvea_oracle_template *out)
{
    unsigned shift = (unsigned)((columns % COLUMNS + COLUMNS) % COLUMNS);
    memset(out, 0, sizeof(*out));
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned column = 0; column < COLUMNS; column++) {
            unsigned to = (column + shift) % COLUMNS;
            column_or(out->code, row, to, column_get(in->code, row, column));
            column_or(out->mask, row, to, column_get(in->mask, row, column));
        }
    }
}

void uvea_oracle_mirror(const struct uvea_oracle_template *in, struct uvea_oracle_template *out)
{
    memset(out, 0, sizeof(*out));
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned column = 0; column < COLUMNS; column++) {
            unsigned to = (column < COLUMNS / 2 ? 99 : 299) - column;
            unsigned code = column_get(in->code, row, column) ^ imaginary_of_column;
            column_or(out->code, row, to, code);
            column_or(out->mask, row, to, column_get(in->mask, row, column));
        }
    }
}

void uvea_oracle_query_prepare(const struct uvea_oracle_template *in, struct uvea_oracle_query *out)
{
    for (int i = 0; i < UVEA_ORACLE_ROTATIONS; i++) {
        uvea_oracle_rotate(in, i - UVEA_ORACLE_ROTATION_MAX, &out->at[i]);
    }
}

// Bits set per byte, each in its own byte.
static uint64_t byte_counts(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

static uint32_t byte_sum(uint64_t x)
{
    uint64_t pairs = (x & 0x00ff00ff00ff00ffu) + ((x >> 8) & 0x00ff00ff00ff00ffu);
    return (uint32_t)((pairs * 0x0001000100010001u) >> 48);
}

// One run of words. C and M are counted from the planes of +1 and -1 coordinates, the Hamming
// figures from the exclusive or: the two share nothing but the words read.
static void count_run(const uint64_t *code_a, const uint64_t *mask_a, const uint64_t *code_b,
                      const uint64_t *mask_b, struct uvea_oracle_counts *sum)
{
    uint64_t product_plus = 0;
    uint64_t product_minus = 0;
    uint64_t product_real = 0;
    uint64_t both_real = 0;
    uint64_t common = 0;
    uint64_t differing = 0;
    for (unsigned i = 0; i < WORDS_PER_RUN; i++) {
        uint64_t plus_a = mask_a[i] & ~code_a[i];
        uint64_t minus_a = mask_a[i] & code_a[i];
        uint64_t plus_b = mask_b[i] & ~code_b[i];
        uint64_t minus_b = mask_b[i] & code_b[i];
        uint64_t plus = (plus_a & plus_b) | (minus_a & minus_b);
        uint64_t minus = (plus_a & minus_b) | (minus_a & plus_b);
        product_plus += byte_counts(plus);
        product_minus += byte_counts(minus);
        product_real += byte_counts((plus | minus) & real_bits);

        uint64_t both = mask_a[i] & mask_b[i];
        both_real += byte_counts(both & real_bits);
        common += byte_counts(both);
        differing += byte_counts((code_a[i] ^ code_b[i]) & both);
    }
    sum->code_dot += (int32_t)byte_sum(product_plus) - (int32_t)byte_sum(product_minus);
    sum->mask_dot += 2 * (int32_t)byte_sum(product_real);
    sum->common += byte_sum(common);
    sum->differing += byte_sum(differing);
    sum->common_real += byte_sum(both_real);
}

void uvea_oracle_count(const struct uvea_oracle_template *a, const struct uvea_oracle_template *b,
                       struct uvea_oracle_counts *out)
{
    *out = (struct uvea_oracle_counts){0};
    for (unsigned at = 0; at < UVEA_ORACLE_WORDS; at += WORDS_PER_RUN) {
        count_run(a->code + at, a->mask + at, b->code + at, b->mask + at, out);
    }
}

// The distance as a fraction: differing bits over M. Where real and imaginary masks differ, M is
// not the number of common bits, and each bit that M counts in excess weighs one half; hence twice
// the numerator. Zero over zero counts as no distance at all.
static bool fraction_at_most(const struct uvea_oracle_counts *counts, int64_t limit_numerator,
                             int64_t limit_denominator)
{
    if (counts->common == 0 && counts->common_real == 0) {
        return true;
    }
    int64_t bits = 2 * (int64_t)counts->common_real;
    int64_t numerator_doubled = 2 * (int64_t)counts->differing + (bits - (int64_t)counts->common);
    return numerator_doubled * limit_denominator <= limit_numerator * (2 * bits);
}

static enum uvea_error fault(const char *what, const struct uvea_oracle_counts *counts,
                             struct uvea_error_context *context)
{
    return uvea_error_set(context, UVEA_ERR_STATE,
                          "oracle fault: %s for C=%d M=%d, %u of %u common bits differ, %u real",
                          what, counts->code_dot, counts->mask_dot, counts->differing,
                          counts->common, counts->common_real);
}

enum uvea_error uvea_oracle_judge(const struct uvea_oracle_counts *counts,
                                  struct uvea_oracle_verdict *out,
                                  struct uvea_error_context *context)
{
    int64_t c = counts->code_dot;
    int64_t m = counts->mask_dot;
    bool anonymous = 4 * c - m >= 0;
    bool strict = 65536 * c >= 20316 * m;
    if (anonymous != fraction_at_most(counts, 3, 8)) {
        return fault("the two formulas disagree on the anonymous threshold", counts, context);
    }
    // The limit (65536 - 20316) / 131072, written out: a mistyped constant must not be shared
    // either.
    if (strict != fraction_at_most(counts, 45220, 131072)) {
        return fault("the two formulas disagree on the strict threshold", counts, context);
    }
    if (strict && !anonymous) {
        return fault("strict is passed without anonymous", counts, context);
    }
    *out = (struct uvea_oracle_verdict){.anonymous = anonymous, .strict = strict};
    return UVEA_OK;
}

void uvea_oracle_best_distance(const struct uvea_oracle_template *fixed,
                               const struct uvea_oracle_template *moved,
                               struct uvea_oracle_distance *out)
{
    *out = (struct uvea_oracle_distance){0};
    for (int k = -UVEA_ORACLE_ROTATION_MAX; k <= UVEA_ORACLE_ROTATION_MAX; k++) {
        struct uvea_oracle_template turned;
        struct uvea_oracle_counts counts;
        uvea_oracle_rotate(moved, k, &turned);
        uvea_oracle_count(fixed, &turned, &counts);
        if (counts.common == 0) {
            continue;
        }
        if (out->common == 0 ||
            (uint64_t)counts.differing * out->common < (uint64_t)counts.common * out->differing) {
            *out = (struct uvea_oracle_distance){counts.differing, counts.common, k};
        }
    }
}
