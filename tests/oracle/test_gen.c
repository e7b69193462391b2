// Synthetic templates have the statistics that they claim, by the oracle's count.

#include "core/base/check.h"
#include "oracle/match.h"
#include "sim/gen/template.h"
#include "tests/support/cmocka.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { TEMPLATES = 40 };

static struct uvea_template templates[TEMPLATES];

static int make_templates(void **state)
{
    (void)state;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "test/gen");
    for (unsigned i = 0; i < TEMPLATES; i++) {
        uvea_gen_template(&random, &templates[i]);
    }
    return 0;
}

static struct uvea_oracle_template to_oracle(const struct uvea_template *in)
{
    struct uvea_oracle_template out;
    memcpy(out.code, in->code, sizeof(out.code));
    memcpy(out.mask, in->mask, sizeof(out.mask));
    return out;
}

static struct uvea_oracle_counts counts_of(const struct uvea_template *a,
                                           const struct uvea_template *b)
{
    struct uvea_oracle_template first = to_oracle(a);
    struct uvea_oracle_template second = to_oracle(b);
    struct uvea_oracle_counts counts;
    uvea_oracle_count(&first, &second, &counts);
    return counts;
}

static void assert_between(double value, double low, double high)
{
    if (value < low || value > high) {
        fail_msg("%f is not in %f..%f", value, low, high);
    }
}

static void strangers_are_as_far_apart_as_published_ones(void **state)
{
    (void)state;
    double sum = 0;
    for (unsigned i = 0; i < TEMPLATES; i++) {
        for (unsigned j = 0; j < i; j++) {
            struct uvea_oracle_template fixed = to_oracle(&templates[i]);
            struct uvea_oracle_template moved = to_oracle(&templates[j]);
            struct uvea_oracle_distance best;
            uvea_oracle_best_distance(&fixed, &moved, &best);
            double distance = (double)best.differing / best.common;
            assert_between(distance, 0.456, 0.494);
            sum += distance;
        }
    }
    assert_between(sum / (TEMPLATES * (TEMPLATES - 1) / 2.0), 0.47, 0.482);
}

static void shifted_columns_decorrelate_as_in_published_ones(void **state)
{
    (void)state;
    static const struct {
        int columns;
        double low;
        double high;
    } cases[] = {{1, 0.24, 0.33}, {2, 0.36, 0.41}, {6, 0.46, 0.53}, {-1, 0.24, 0.33}};
    for (unsigned i = 0; i < TEMPLATES; i++) {
        struct uvea_oracle_template still = to_oracle(&templates[i]);
        for (size_t n = 0; n < UVEA_COUNT_OF(cases); n++) {
            struct uvea_oracle_template moved;
            struct uvea_oracle_counts counts;
            uvea_oracle_rotate(&still, cases[n].columns, &moved);
            uvea_oracle_count(&still, &moved, &counts);
            assert_between((double)counts.differing / counts.common, cases[n].low, cases[n].high);
        }
    }
}

static bool is_valid(const struct uvea_template *t, unsigned row, unsigned column, unsigned bit)
{
    unsigned i = 800 * row + 4 * (column % 200) + bit;
    return (t->mask[i / 64] >> (i % 64) & 1) != 0;
}

// Few borders between valid and hidden for the many places that are hidden.
static void masks_are_eyelids_and_not_noise(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TEMPLATES; i++) {
        const struct uvea_template *t = &templates[i];
        assert_between(uvea_gen_common_bits(t, t) / 12800.0, 0.80, 0.96);
        unsigned borders = 0;
        for (unsigned row = 0; row < 16; row++) {
            for (unsigned column = 0; column < 200; column++) {
                for (unsigned wavelet = 0; wavelet < 2; wavelet++) {
                    bool valid = is_valid(t, row, column, 2 * wavelet);
                    assert_int_equal(valid, is_valid(t, row, column, 2 * wavelet + 1));
                    borders += valid != is_valid(t, row, column + 1, 2 * wavelet);
                }
            }
        }
        assert_true(borders > 0);
        assert_true(borders <= 2 * (2 * 2 * 8 + 2 * 3));
    }
}

static void code_bits_are_balanced(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TEMPLATES; i++) {
        unsigned ones = 0;
        for (unsigned word = 0; word < UVEA_IRIS_WORDS; word++) {
            ones += (unsigned)__builtin_popcountll(templates[i].code[word]);
        }
        assert_between(ones / 12800.0, 0.46, 0.54);
    }
}

static void seed_1_gives_the_same_bytes_everywhere(void **state)
{
    (void)state;
    struct uvea_sim_random random;
    struct uvea_template_pair pair;
    uvea_sim_random_init(&random, 1, "iris/gen");
    uvea_gen_pair(&random, &pair);
    uint8_t bytes[2 * 1600];
    for (unsigned i = 0; i < UVEA_IRIS_WORDS; i++) {
        for (unsigned k = 0; k < 8; k++) {
            bytes[8 * i + k] = (uint8_t)(pair.eye[UVEA_EYE_LEFT].code[i] >> (8 * k));
            bytes[1600 + 8 * i + k] = (uint8_t)(pair.eye[UVEA_EYE_LEFT].mask[i] >> (8 * k));
        }
    }
    uint8_t digest[32];
    assert_int_equal(EVP_Digest(bytes, sizeof(bytes), digest, NULL, EVP_sha256(), NULL), 1);
    static const char golden[] = "3fee7b9b6e291af7b58b0f6092fe48a4ba177c619b15b8c1946de15506c32c47";
    char text[65];
    for (size_t i = 0; i < 32; i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
    }
    assert_string_equal(text, golden);
}

static void flips_are_counted_exactly(void **state)
{
    (void)state;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 2, "test/gen");
    for (unsigned full = 0; full < 2; full++) {
        struct uvea_template base = templates[0];
        if (full == 1) {
            uvea_gen_fill_mask(&base, true);
        }
        unsigned valid = uvea_gen_common_bits(&base, &base);
        const unsigned wanted[] = {0, 1, 4415, 4416, 4799, 4800, 4801, valid - 1, valid};
        for (size_t n = 0; n < UVEA_COUNT_OF(wanted); n++) {
            struct uvea_template copy;
            assert_int_equal(uvea_gen_flip(&random, &base, wanted[n], &copy), UVEA_OK);
            struct uvea_oracle_counts counts = counts_of(&base, &copy);
            assert_int_equal(counts.differing, wanted[n]);
            assert_int_equal(counts.common, valid);
            assert_memory_equal(copy.mask, base.mask, sizeof(base.mask));
        }
        struct uvea_template untouched = templates[1];
        assert_int_equal(uvea_gen_flip(&random, &base, valid + 1, &untouched), UVEA_ERR_LIMIT);
        assert_memory_equal(&untouched, &templates[1], sizeof(untouched));
    }
}

static void masked_bits_are_never_flipped(void **state)
{
    (void)state;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 3, "test/gen");
    struct uvea_template copy = templates[2];
    assert_int_equal(uvea_gen_flip(&random, &copy, 3000, &copy), UVEA_OK);
    for (unsigned i = 0; i < UVEA_IRIS_WORDS; i++) {
        assert_int_equal((copy.code[i] ^ templates[2].code[i]) & ~copy.mask[i], 0);
    }
    uvea_gen_fill_mask(&copy, false);
    assert_int_equal(uvea_gen_common_bits(&copy, &templates[2]), 0);
    assert_int_equal(uvea_gen_flip(&random, &copy, 1, &copy), UVEA_ERR_LIMIT);
}

static void another_capture_has_another_mask_and_the_distance_asked_for(void **state)
{
    (void)state;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 4, "test/gen");
    for (unsigned n = 0; n < 10; n++) {
        struct uvea_template copy;
        assert_int_equal(uvea_gen_noisy(&random, &templates[n], 100 * n, &copy), UVEA_OK);
        struct uvea_oracle_counts counts = counts_of(&templates[n], &copy);
        assert_int_equal(counts.differing, 100 * n);
        assert_int_equal(counts.common, uvea_gen_common_bits(&templates[n], &copy));
        assert_memory_not_equal(copy.mask, templates[n].mask, sizeof(copy.mask));
    }
    struct uvea_template untouched = templates[1];
    assert_int_equal(uvea_gen_noisy(&random, &templates[0], 12801, &untouched), UVEA_ERR_LIMIT);
    assert_memory_equal(&untouched, &templates[1], sizeof(untouched));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_are_as_far_apart_as_published_ones),
        cmocka_unit_test(shifted_columns_decorrelate_as_in_published_ones),
        cmocka_unit_test(masks_are_eyelids_and_not_noise),
        cmocka_unit_test(code_bits_are_balanced),
        cmocka_unit_test(seed_1_gives_the_same_bytes_everywhere),
        cmocka_unit_test(flips_are_counted_exactly),
        cmocka_unit_test(masked_bits_are_never_flipped),
        cmocka_unit_test(another_capture_has_another_mask_and_the_distance_asked_for),
    };
    return cmocka_run_group_tests(tests, make_templates, NULL);
}
