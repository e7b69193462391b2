// Both forms of the predicate in the field, as circuits in the clear, for every pair of inputs.
// 64 pairs at a time: one u (or y), 64 consecutive v (or z), their bits in 16 planes. What is right
// comes from tables over the integer sum, 0..2p - 2, made with % and >=.
#include "core/mpc/field_threshold.h"
#include "proofs/claim.h"

#include <string.h>

enum {
    P = 52201,
    BITS = 16,
    BLOCKS = (P + 63) / 64,
    SUMS = 2 * P, // room for every sum
};

static uint64_t bit_planes[BLOCKS][BITS]; // of 64 b + 0..63
static uint64_t accepted[SUMS / 64 + 2];  // [sum mod p >= 32768]
static uint64_t valid[SUMS / 64 + 2];     // [768 <= sum mod p <= 51968]

static void set_bit(uint64_t *bits, uint32_t at, bool value)
{
    bits[at / 64] |= (uint64_t)value << at % 64;
}

static void make_tables(void)
{
    for (uint32_t v = 0; v < BLOCKS * 64; v++) {
        for (unsigned k = 0; k < BITS; k++) {
            bit_planes[v / 64][k] |= (uint64_t)(v >> k & 1) << v % 64;
        }
    }
    for (uint32_t sum = 0; sum < SUMS; sum++) {
        set_bit(accepted, sum, sum % P >= 32768);
        set_bit(valid, sum, sum % P >= 768 && sum % P <= 51968);
    }
}

// 64 bits from place `at`.
static uint64_t bits_at(const uint64_t *bits, uint32_t at)
{
    uint64_t low = bits[at / 64] >> at % 64;
    return at % 64 == 0 ? low : low | bits[at / 64 + 1] << (64 - at % 64);
}

// The lanes of a block that are below p.
static uint64_t lanes_of(uint32_t block)
{
    return block + 1 < BLOCKS ? UINT64_MAX : (UINT64_C(1) << P % 64) - 1;
}

static uint64_t spread(uint32_t value, unsigned bit)
{
    return -(uint64_t)(value >> bit & 1);
}

static uint64_t majority(uint64_t x, uint64_t y, uint64_t carry)
{
    return ((x ^ carry) & (y ^ carry)) ^ carry;
}

// ---- the full form: 16 gates of the sum, the comparison from bit 1 on, one choice

static uint64_t full_circuit(const uint64_t u[BITS], const uint64_t v[BITS], uint32_t limit)
{
    uint64_t carry = 0;
    uint64_t least = 0;
    uint64_t sum = 0;
    for (unsigned k = 0; k < BITS; k++) {
        sum = u[k] ^ v[k] ^ carry;
        if (k == 0) {
            least = sum; // bit 0 of the limit is 1
        } else if (k < UVEA_FIELD_Y_LIMIT_BITS) {
            uint64_t gate = sum & least;
            least = (limit >> k & 1) != 0 ? gate : least ^ sum ^ gate;
        }
        carry = majority(u[k], v[k], carry);
    }
    return sum ^ (least & (sum ^ carry));
}

static bool full_form_holds(uint32_t limit)
{
    for (uint32_t u = 0; u < P; u++) {
        uint64_t planes[BITS];
        for (unsigned k = 0; k < BITS; k++) {
            planes[k] = spread(u, k);
        }
        for (uint32_t block = 0; block < BLOCKS; block++) {
            uint64_t got = full_circuit(planes, bit_planes[block], limit);
            uint64_t want = bits_at(accepted, u + 64 * block);
            if (((got ^ want) & lanes_of(block)) != 0) {
                return false;
            }
        }
    }
    return true;
}

// ---- the valid-range form: two comparisons and a bit known beside them

// The carry out of z + not bound + 1, over `bits` bits from `shift` on: [z >> shift >= bound].
static inline uint64_t at_least(const uint64_t z[BITS], uint32_t bound, unsigned shift)
{
    uint64_t carry = UINT64_MAX;
    for (unsigned k = shift; k < BITS; k++) {
        carry = majority(z[k], ~spread(bound, k - shift), carry);
    }
    return carry;
}

struct range_form {
    struct uvea_field_bounds (*bounds)(uint16_t y);
    const uint64_t *cases; // which Y are looked at
    unsigned shift;
};

// pairs: how many were looked at.
static bool range_form_holds(const struct range_form *form, uint64_t *pairs)
{
    *pairs = 0;
    for (uint32_t y = 0; y < P; y++) {
        struct uvea_field_bounds bounds = form->bounds((uint16_t)y);
        uint64_t above = spread(bounds.a_above_b, 0);
        for (uint32_t block = 0; block < BLOCKS; block++) {
            const uint64_t *z = bit_planes[block];
            uint64_t got = at_least(z, bounds.a, 0) ^ above ^
                           at_least(z, bounds.b >> form->shift, form->shift);
            uint64_t want = bits_at(accepted, y + 64 * block);
            uint64_t cases = bits_at(form->cases, y + 64 * block) & lanes_of(block);
            if (((got ^ want) & cases) != 0) {
                return false;
            }
            *pairs += (uint64_t)__builtin_popcountll(cases);
        }
    }
    return true;
}

static struct uvea_field_bounds with_a_one_higher(uint16_t y)
{
    return (struct uvea_field_bounds){uvea_field_bounds_of(y).a + 1, uvea_field_bounds_of(y).b,
                                      uvea_field_bounds_of(y).a_above_b};
}

// The gap taken to begin at Y = 51968, which a score can give.
static struct uvea_field_bounds with_an_early_gap(uint16_t y)
{
    uint32_t a = uvea_field_sub(32768, y);
    uint32_t b = (uvea_field_sub(51968, y) + 511u) / 512 * 512;
    return (struct uvea_field_bounds){(uint16_t)a, (uint16_t)b, a > b};
}

// Bounds at multiples of 1024: the gap does not always hold one.
static struct uvea_field_bounds with_coarser_steps(uint16_t y)
{
    uint32_t a = uvea_field_sub(32768, y);
    uint32_t b = (uvea_field_sub(51969, y) + 1023u) / 1024 * 1024;
    return (struct uvea_field_bounds){(uint16_t)a, (uint16_t)b, a > b};
}

static struct uvea_field_bounds with_the_known_bit_gone(uint16_t y)
{
    struct uvea_field_bounds bounds = uvea_field_bounds_of(y);
    bounds.a_above_b = 0;
    return bounds;
}

// The upper bound is a multiple of 512 that 7 bits hold, and either stands where Y is impossible or
// is never reached, with all Y up to the end of the z below it.
static bool bounds_fit(uint32_t y_min)
{
    for (uint32_t y = 0; y < P; y++) {
        struct uvea_field_bounds bounds = uvea_field_bounds_of((uint16_t)y);
        uint32_t b_as_y = (y + bounds.b) % P;
        bool in_gap = b_as_y >= 51969 || b_as_y <= y_min;
        if (bounds.a >= P || bounds.b % 512 != 0 || bounds.b / 512 >= 128 || !in_gap ||
            bounds.a_above_b != (bounds.a > bounds.b)) {
            return false;
        }
    }
    return true;
}

static void full_form(void)
{
    claim_proved("full form: 31 gates give [Y >= 32768] for every pair (u, v)",
                 full_form_holds(UVEA_FIELD_Y_LIMIT), (uint64_t)P * P);
    claim_refuted("... with 19431 for 19433", full_form_holds(19431));
    claim_refuted("... with 19435 for 19433", full_form_holds(19435));
}

static void range_form(void)
{
    static uint64_t all[SUMS / 64 + 2];
    struct range_form form = {uvea_field_bounds_of, valid, UVEA_FIELD_Y_COARSE_SHIFT};
    uint64_t pairs;
    claim_proved(
        "valid-range form: upper bounds are multiples of 512 of 7 bits, outside 768..51968",
        bounds_fit(768), P);
    claim_refuted("... outside 278..51968", bounds_fit(278));
    bool holds = range_form_holds(&form, &pairs);
    claim_proved("valid-range form: 23 gates give [Y >= 32768] for every pair with Y in 768..51968",
                 holds && pairs == (uint64_t)P * 51201, pairs);
    form.bounds = with_a_one_higher;
    claim_refuted("... with the lower bound one higher", range_form_holds(&form, &pairs));
    form.bounds = with_an_early_gap;
    claim_refuted("... with a gap from 51968 on", range_form_holds(&form, &pairs));
    form.bounds = with_the_known_bit_gone;
    claim_refuted("... without [a > b]", range_form_holds(&form, &pairs));
    form.bounds = with_coarser_steps;
    form.shift = 10;
    claim_refuted("... with multiples of 1024", range_form_holds(&form, &pairs));
    memset(all, 0xFF, sizeof(all));
    form = (struct range_form){uvea_field_bounds_of, all, UVEA_FIELD_Y_COARSE_SHIFT};
    claim_refuted("... for every Y, not only the valid ones", range_form_holds(&form, &pairs));
}

int main(void)
{
    make_tables();
    full_form();
    range_form();
    return claim_status();
}
