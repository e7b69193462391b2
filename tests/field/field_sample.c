#include "tests/field/field_sample.h"

#include "core/base/mem.h"
#include "tests/support/cmocka.h"

uint16_t field_sample_below(struct uvea_chacha *rng, uint32_t bound)
{
    return (uint16_t)(uvea_chacha_next_u64(rng) % bound);
}

void field_sample_fill(struct uvea_chacha *rng, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = field_sample_below(rng, UVEA_FIELD_PRIME);
    }
}

void field_sample_fill_extreme(struct uvea_chacha *rng, uint16_t *out, size_t count)
{
    static const uint16_t ends[] = {0, 1, UVEA_FIELD_PRIME - 1, UVEA_FIELD_CENTRED_MAX,
                                    UVEA_FIELD_CENTRED_MAX + 1};
    for (size_t i = 0; i < count; i++) {
        out[i] = ends[field_sample_below(rng, sizeof(ends) / sizeof(ends[0]))];
    }
}

uint32_t field_sample_root(int exponent)
{
    int steps = (exponent % UVEA_TRANSFORM_POINTS + UVEA_TRANSFORM_POINTS) % UVEA_TRANSFORM_POINTS;
    uint64_t power = 1;
    for (int i = 0; i < steps; i++) {
        power = power * 43061 % 52201;
    }
    return (uint32_t)power;
}

void field_sample_eye(struct uvea_chacha *rng, struct uvea_field_eye *out)
{
    enum { HALF = UVEA_FIELD_CODE_VALUES / 2 };
    for (size_t i = 0; i < UVEA_FIELD_MASK_VALUES; i++) {
        uint16_t mask = field_sample_below(rng, 8) != 0;
        out->values[UVEA_FIELD_CODE_VALUES + i] = mask;
        for (size_t half = 0; half < 2; half++) {
            uint16_t sign = field_sample_below(rng, 2) == 0 ? 1 : UVEA_FIELD_PRIME - 1;
            out->values[half * HALF + i] = mask == 0 ? 0 : sign;
        }
    }
}

void field_sample_split(struct uvea_chacha *rng, const struct uvea_field_eye *eye,
                        struct uvea_field_eye out[UVEA_PARTY_COUNT])
{
    for (size_t i = 0; i < UVEA_FIELD_EYE_VALUES; i++) {
        uint32_t slope = field_sample_below(rng, UVEA_FIELD_PRIME);
        for (uint32_t p = 0; p < UVEA_PARTY_COUNT; p++) {
            out[p].values[i] = (uint16_t)((eye->values[i] + slope * (p + 1)) % UVEA_FIELD_PRIME);
        }
    }
}

// The sum over columns of one channel, as a number.
static int32_t correlate(const uint16_t *query, const uint16_t *record, int rotation)
{
    int32_t sum = 0;
    for (int t = 0; t < 200; t++) {
        int32_t left = query[(size_t)4 * (size_t)t];
        int32_t right = record[(size_t)4 * (size_t)((t + rotation + 200) % 200)];
        left = left > 1 ? left - UVEA_FIELD_PRIME : left;
        right = right > 1 ? right - UVEA_FIELD_PRIME : right;
        sum += left * right;
    }
    return sum;
}

int32_t field_sample_score(const struct uvea_field_eye *query, const struct uvea_field_eye *record,
                           int rotation)
{
    int32_t score = 0;
    for (size_t channel = 0; channel < 96; channel++) {
        size_t start = 800 * (channel / 4) + channel % 4;
        int32_t sum = correlate(query->values + start, record->values + start, rotation);
        score += channel < 64 ? 2 * sum : -sum;
    }
    return score;
}

void *field_sample_alloc(size_t count, size_t size)
{
    void *memory = uvea_mem_alloc(count, size);
    assert_non_null(memory);
    return memory;
}
