// The bounds of the spectral kernels, core/kernel/bounds.h: that nothing they compute leaves its
// type, for any input. Every step is looked at over all values that the step before can give; sums
// of products are bounded by the largest product times their number.
#include "core/kernel/bounds.h"
#include "proofs/claim.h"

#include <stdlib.h>

enum { P = 52201, MAX = UVEA_FIELD_CENTRED_MAX, CHANNELS = UVEA_SPECTRUM_CHANNELS };

// ---- residues in two bytes

static bool splits_into_bytes(int32_t low_max, int32_t high_max)
{
    for (int32_t value = -MAX; value <= MAX; value++) {
        int32_t low = uvea_kernel_low_byte((int16_t)value);
        int32_t high = uvea_kernel_high_byte((int16_t)value);
        if (low + 256 * high != value || abs(low) > low_max || abs(high) > high_max) {
            return false;
        }
    }
    return true;
}

// By a mask and an arithmetic shift, as the kernels for 16-bit products do.
static bool splits_by_shift(int32_t low_max, int32_t high_max)
{
    for (int32_t value = -MAX; value <= MAX; value++) {
        int32_t low = value & 255;
        int32_t high = value >> 8;
        if (low + 256 * high != value || low > low_max || abs(high) > high_max) {
            return false;
        }
    }
    return true;
}

// ---- sums of products

// The largest |left * right| over all values up to the given sizes.
static int64_t largest_product(int32_t left_max, int32_t right_max)
{
    int64_t largest = 0;
    for (int64_t left = -left_max; left <= left_max; left++) {
        for (int64_t right = -right_max; right <= right_max; right++) {
            int64_t product = left * right;
            product = product < 0 ? -product : product;
            largest = product > largest ? product : largest;
        }
    }
    return largest;
}

struct sum {
    int64_t terms;
    int32_t left_max;
    int32_t right_max;
    int64_t beside; // added to the products
    int64_t bound;
    int64_t domain; // what the bound must not exceed
};

static bool sum_is_bounded(const struct sum *sum)
{
    int64_t largest = sum->terms * largest_product(sum->left_max, sum->right_max) + sum->beside;
    return largest <= sum->bound && sum->bound <= sum->domain;
}

// The pairs of factors that were multiplied.
static uint64_t pairs_of(const struct sum *sum)
{
    return (2 * (uint64_t)sum->left_max + 1) * (2 * (uint64_t)sum->right_max + 1);
}

static const struct sum channel_low = {
    CHANNELS, MAX, UVEA_BOUND_LOW_UNSIGNED, 0, UVEA_BOUND_CHANNEL_LOW, INT32_MAX};
static const struct sum channel_high = {
    CHANNELS, MAX, UVEA_BOUND_HIGH, 0, UVEA_BOUND_CHANNEL_HIGH, UVEA_BOUND_REDUCE};
static const struct sum inverse_low = {UVEA_BOUND_PAIRS,        MAX,
                                       UVEA_BOUND_LOW_UNSIGNED, UVEA_BOUND_ENDS,
                                       UVEA_BOUND_INVERSE_LOW,  INT32_MAX};
static const struct sum inverse_high = {
    UVEA_BOUND_PAIRS, MAX, UVEA_BOUND_HIGH, 0, UVEA_BOUND_INVERSE_HIGH, UVEA_BOUND_REDUCE};
static const struct sum bytes_low = {CHANNELS, UVEA_BOUND_LOW,       UVEA_BOUND_LOW,
                                     0,        UVEA_BOUND_BYTES_LOW, INT32_MAX};
static const struct sum bytes_mixed = {2 * CHANNELS,           UVEA_BOUND_LOW, UVEA_BOUND_HIGH, 0,
                                       UVEA_BOUND_BYTES_MIXED, INT32_MAX};
static const struct sum bytes_high = {CHANNELS, UVEA_BOUND_HIGH,       UVEA_BOUND_HIGH,
                                      0,        UVEA_BOUND_BYTES_HIGH, INT32_MAX};

static void sums_of_products(void)
{
    struct sum changed = channel_low;
    claim_proved("96 products of a residue and a low byte stay in 32 bits",
                 sum_is_bounded(&channel_low), pairs_of(&channel_low));
    changed.bound--;
    claim_refuted("... with the bound one smaller", sum_is_bounded(&changed));
    changed = (struct sum){CHANNELS, MAX, MAX, 0, INT32_MAX, INT32_MAX};
    claim_refuted("... with whole residues for low bytes", sum_is_bounded(&changed));
    claim_proved("96 products of a residue and a high byte stay where the reduction is right",
                 sum_is_bounded(&channel_high), pairs_of(&channel_high));
    changed = channel_high;
    changed.domain = 1 << 27;
    claim_refuted("... with 2^27 for 2^30", sum_is_bounded(&changed));
    claim_proved("the inverse's 99 low and high products and its ends stay there as well",
                 sum_is_bounded(&inverse_low) && sum_is_bounded(&inverse_high),
                 pairs_of(&inverse_low) + pairs_of(&inverse_high));
    changed = inverse_low;
    changed.beside++;
    claim_refuted("... with the ends one larger", sum_is_bounded(&changed));
    claim_proved("sums of 96 byte products: low, mixed and high",
                 sum_is_bounded(&bytes_low) && sum_is_bounded(&bytes_mixed) &&
                     sum_is_bounded(&bytes_high),
                 pairs_of(&bytes_low) + pairs_of(&bytes_mixed) + pairs_of(&bytes_high));
    changed = bytes_mixed;
    changed.right_max++;
    claim_refuted("... with high bytes up to 103", sum_is_bounded(&changed));
    changed = (struct sum){3, MAX, MAX, 0, INT32_MAX, INT32_MAX};
    claim_proved("three products of residues fit 32 bits", sum_is_bounded(&changed),
                 pairs_of(&changed));
    changed.terms++;
    claim_refuted("... four", sum_is_bounded(&changed));
}

// ---- reduction by a float reciprocal

// As the kernels do it: nearest float of x, one product, nearest integer (ties to even, which the
// sum with 1.5 * 2^23 does for anything below 2^22), x minus so many p.
static int32_t reduce(int32_t x, float reciprocal)
{
    const float to_integer = 12582912.0F;
    float scaled = (float)x * reciprocal;
    float whole = (scaled + to_integer) - to_integer;
    return x - (int32_t)whole * P;
}

// In pieces, so that the inner loop is one the compiler can vectorise.
static bool reduces(float reciprocal, int64_t domain, int32_t bound)
{
    enum { PIECE = 1 << 16 };
    int32_t residue = (int32_t)(((-domain) % P + P) % P);
    for (int64_t start = -domain; start <= domain; start += PIECE) {
        int32_t beyond = 0;
        int32_t other = 0;
        for (int32_t i = 0; i < PIECE; i++) {
            // What is past the end of the domain is the end once more.
            int64_t x = start + i <= domain ? start + i : domain;
            int32_t reduced = reduce((int32_t)x, reciprocal);
            // residue of start + i: residue + i less a multiple of p, of which there is at most
            // two.
            int32_t want = residue + (int32_t)(x - start);
            want -= want >= P ? P : 0;
            want -= want >= P ? P : 0;
            int32_t off = reduced - want;
            other |= (off != 0) & (off != -P) & (off != P);
            beyond |= (reduced > bound) | (reduced < -bound);
        }
        if (beyond != 0 || other != 0) {
            return false;
        }
        residue = (residue + PIECE) % P;
    }
    return true;
}

static void float_reduction(void)
{
    const float reciprocal = UVEA_KERNEL_RECIPROCAL;
    const int64_t domain = UVEA_BOUND_REDUCE;
    const uint64_t cases = 2 * (uint64_t)domain + 1;
    claim_proved("the float reduction of |x| <= 2^30 is congruent and at most 26,300 in size",
                 reduces(reciprocal, domain, UVEA_BOUND_REDUCED), cases);
    claim_refuted("... at most 26,100", reduces(reciprocal, domain, MAX));
    claim_refuted("... for 1/p off by one part in 2^20",
                  reduces(reciprocal * (1 + 1.0F / (1 << 20)), domain, UVEA_BOUND_REDUCED));
    claim_refuted("... with |x| up to 2^31 - 2^16",
                  reduces(reciprocal, INT32_MAX - (1 << 16), UVEA_BOUND_REDUCED));
}

// ---- small steps, over every value

static int32_t centre(int32_t x)
{
    x -= x > MAX ? P : 0;
    return x + (x < -MAX ? P : 0);
}

static bool centres_up_to(int32_t largest)
{
    for (int32_t x = -largest; x <= largest; x++) {
        int32_t centred = centre(x);
        int32_t canonical = centred + (centred < 0 ? P : 0);
        if (abs(centred) > MAX || (x - centred) % P != 0 || canonical < 0 || canonical >= P) {
            return false;
        }
    }
    return true;
}

// high reduced * 256 + low goes into the reduction again, in the three places there are, and so do
// the plain sum of the row without rotation and the upper half of the byte kernels.
static bool combinations_are_bounded(int64_t reduced)
{
    const int64_t domain = UVEA_BOUND_REDUCE;
    return 256 * reduced + UVEA_BOUND_CHANNEL_LOW <= UVEA_BOUND_COMBINED &&
           UVEA_BOUND_COMBINED <= domain &&
           256 * reduced + UVEA_BOUND_INVERSE_LOW <= UVEA_BOUND_INVERSE_COMBINED &&
           UVEA_BOUND_INVERSE_COMBINED <= domain &&
           256 * reduced + UVEA_BOUND_BYTES_LOW <= domain &&
           UVEA_BOUND_BYTES_MIXED + 256 * (int64_t)UVEA_BOUND_BYTES_HIGH <=
               UVEA_BOUND_BYTES_UPPER &&
           UVEA_BOUND_BYTES_UPPER <= domain && UVEA_BOUND_PAIRS * MAX + 2 * reduced <= domain;
}

// The portable kernel sums in 64 bits and adds 2^shift p before an unsigned reduction.
static bool portable_is_bounded(unsigned shift)
{
    int64_t channels = UVEA_BOUND_CHANNEL_LOW + 256 * (int64_t)UVEA_BOUND_CHANNEL_HIGH;
    int64_t inverse = (int64_t)UVEA_BOUND_PAIRS * MAX * MAX;
    int64_t added = (int64_t)P << shift;
    return channels <= added && inverse <= added;
}

static void small_steps(void)
{
    claim_proved("a residue is low + 256 high with |low| <= 128 and |high| <= 102",
                 splits_into_bytes(UVEA_BOUND_LOW, UVEA_BOUND_HIGH), P);
    claim_refuted("... |low| <= 127", splits_into_bytes(UVEA_BOUND_LOW - 1, UVEA_BOUND_HIGH));
    claim_refuted("... |high| <= 101", splits_into_bytes(UVEA_BOUND_LOW, UVEA_BOUND_HIGH - 1));
    claim_proved("by a mask and a shift, low + 256 high with 0 <= low <= 255 and |high| <= 102",
                 splits_by_shift(UVEA_BOUND_LOW_UNSIGNED, UVEA_BOUND_HIGH), P);
    claim_refuted("... low <= 254", splits_by_shift(UVEA_BOUND_LOW_UNSIGNED - 1, UVEA_BOUND_HIGH));
    claim_proved("adding or subtracting p once centres sums of two reduced values",
                 centres_up_to(2 * UVEA_BOUND_REDUCED), 4 * UVEA_BOUND_REDUCED + 1);
    claim_refuted("... of three", centres_up_to(3 * UVEA_BOUND_REDUCED));
    claim_proved("reduced values fit 16 bits, and no combination of sums leaves the domain",
                 UVEA_BOUND_REDUCED <= INT16_MAX && combinations_are_bounded(UVEA_BOUND_REDUCED),
                 6);
    claim_refuted("... with reduced values up to p", combinations_are_bounded(P));
    claim_proved("in portable code 2^21 p makes every sum non-negative", portable_is_bounded(21),
                 2);
    claim_refuted("... 2^20 p", portable_is_bounded(20));
}

int main(void)
{
    small_steps();
    sums_of_products();
    float_reduction();
    return claim_status();
}
