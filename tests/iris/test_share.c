// Shares: layout, golden randomness, opening by any two parties, mirroring.
#include "core/base/chacha.h"
#include "core/base/mem.h"
#include "core/iris/share.h"
#include "core/ring/galois.h"
#include "tests/iris/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct shared {
    struct uvea_template template;
    struct uvea_iris_share party[UVEA_PARTY_COUNT];
};

// What join gives back: the code bits under a mask of 0 were never shared.
static struct uvea_template visible(const struct uvea_template *template)
{
    struct uvea_template out = *template;
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        out.code[i] &= out.mask[i];
    }
    return out;
}

static struct shared *share_sample(uint64_t seed)
{
    struct shared *shared = uvea_mem_alloc(1, sizeof(*shared));
    assert_non_null(shared);
    struct sample_rng rng = {seed};
    sample_template(&rng, &shared->template);
    uvea_iris_split(&shared->template, sample_draw, &rng, shared->party);
    return shared;
}

static void assert_opens_to(const struct uvea_iris_share party[UVEA_PARTY_COUNT],
                            const struct uvea_template *want)
{
    for (unsigned first = 0; first < UVEA_PARTY_COUNT; first++) {
        for (unsigned step = 1; step < UVEA_PARTY_COUNT; step++) {
            unsigned second = (first + step) % UVEA_PARTY_COUNT;
            struct uvea_template found;
            struct uvea_error_context context = {{0}};
            enum uvea_error error =
                uvea_iris_join(uvea_party_at(first), &party[first], uvea_party_at(second),
                               &party[second], &found, &context);
            assert_string_equal(context.text, "");
            assert_int_equal(error, UVEA_OK);
            assert_memory_equal(&found, want, sizeof(found));
        }
    }
}

static void test_any_two_parties_open(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct shared *shared = share_sample(seed);
        struct uvea_template want = visible(&shared->template);
        assert_opens_to(shared->party, &want);
        uvea_mem_free(shared);
    }
}

static uint16_t draw_zero(void *arg)
{
    (*(unsigned *)arg)++;
    return 0;
}

// Without randomness a share is the secret itself, which shows where each bit is placed.
static void test_layout(void **unused)
{
    (void)unused;
    struct shared *shared = share_sample(4);
    unsigned draws = 0;
    uvea_iris_split(&shared->template, draw_zero, &draws, shared->party);
    assert_int_equal(draws, 2 * 12800);
    for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at += 4) {
        struct uvea_galois element;
        memcpy(element.c, shared->party[2].code + at, sizeof(element.c));
        uvea_galois_to_block(element, shared->party[2].code + at);
        memcpy(element.c, shared->party[2].mask + at, sizeof(element.c));
        uvea_galois_to_block(element, shared->party[2].mask + at);
    }
    for (size_t i = 0; i < UVEA_IRIS_BITS; i++) {
        size_t row = i / 800;
        size_t column = i / 4 % 200;
        size_t wavelet = i / 2 % 2;
        size_t part = i % 2;
        unsigned code = sample_bit(shared->template.code, row, column, wavelet, part);
        unsigned mask = sample_bit(shared->template.mask, row, column, wavelet, part);
        uint16_t symbol = (uint16_t)(mask == 0 ? 0 : code == 0 ? 1 : -1);
        size_t at = 6400 * part + 3200 * wavelet + 800 * (row % 4) + 4 * column + row / 4;
        assert_int_equal(shared->party[2].code[at], symbol);
        assert_int_equal(shared->party[2].mask[at], mask);
    }
    uvea_mem_free(shared);
}

// Draws number k is k, so that the order of the draws shows in party 0's share: secret + mask.
static uint16_t draw_counter(void *arg)
{
    return (uint16_t)(*(unsigned *)arg)++;
}

static void test_order_of_draws(void **unused)
{
    (void)unused;
    struct shared *shared = uvea_mem_alloc(1, sizeof(*shared));
    assert_non_null(shared);
    unsigned counter = 0; // the empty template: all secrets are zero
    uvea_iris_split(&shared->template, draw_counter, &counter, shared->party);
    for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at++) {
        assert_int_equal(shared->party[0].code[at], at);
        assert_int_equal(shared->party[0].mask[at], UVEA_SHARE_COEFFICIENTS + at);
    }
    uvea_mem_free(shared);
}

static void test_deletion_dummy(void **unused)
{
    (void)unused;
    static const uint16_t golden[UVEA_PARTY_COUNT][4] = {
        {28544, 8853, 47241, 27113}, {31893, 52982, 36544, 22224}, {60436, 3752, 63547, 54116}};
    struct shared *shared = uvea_mem_alloc(1, sizeof(*shared));
    assert_non_null(shared);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_iris_deletion_dummy(uvea_party_at(i), &shared->party[i]);
        assert_memory_equal(shared->party[i].code, golden[i], sizeof(golden[i]));
    }
    memset(shared->template.mask, 0xFF, sizeof(shared->template.mask));
    assert_opens_to(shared->party, &shared->template);
    uvea_mem_free(shared);
}

static uint16_t draw_chacha(void *arg)
{
    return (uint16_t)uvea_chacha_next_u32(arg);
}

// The dummy is what split makes of its template with the reference's generator.
static void test_deletion_dummy_is_a_split(void **unused)
{
    (void)unused;
    struct shared *shared = uvea_mem_alloc(1, sizeof(*shared));
    struct uvea_iris_share *dummy = uvea_mem_alloc(1, sizeof(*dummy));
    assert_non_null(shared);
    assert_non_null(dummy);
    memset(shared->template.mask, 0xFF, sizeof(shared->template.mask));
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 0);
    uvea_iris_split(&shared->template, draw_chacha, &rng, shared->party);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_iris_deletion_dummy(uvea_party_at(i), dummy);
        assert_memory_equal(dummy, &shared->party[i], sizeof(*dummy));
    }
    uvea_mem_free(dummy);
    uvea_mem_free(shared);
}

// Mirroring a code of zeros leaves the share of zero in the imaginary half.
static void test_share_of_zero(void **unused)
{
    (void)unused;
    static const uint16_t golden[UVEA_PARTY_COUNT][4] = {
        {28543, 16306, 27003, 31892}, {31892, 60435, 16306, 27003}, {60435, 11205, 43309, 58895}};
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 0);
    struct uvea_galois mask;
    for (size_t i = 0; i < 4; i++) {
        mask.c[i] = draw_chacha(&rng);
    }
    uint16_t *code = uvea_mem_alloc(UVEA_SHARE_COEFFICIENTS, sizeof(*code));
    assert_non_null(code);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct uvea_galois share =
            uvea_galois_share(uvea_party_at(party), (struct uvea_galois){{0}}, mask);
        assert_memory_equal(share.c, golden[party], sizeof(share.c));
        memset(code, 0, UVEA_SHARE_COEFFICIENTS * sizeof(*code));
        uvea_iris_mirror_code(uvea_party_at(party), code);
        for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at++) {
            assert_int_equal(code[at], at < 6400 ? 0 : golden[party][at % 4]);
        }
    }
    uvea_mem_free(code);
}

// Both halves of the mask by the function for the retained half, so that join can be used.
static void mirror_shares(struct uvea_iris_share party[UVEA_PARTY_COUNT])
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_iris_mirror_code(uvea_party_at(i), party[i].code);
        uvea_iris_mirror_mask(party[i].mask);
        uvea_iris_mirror_mask(party[i].mask + UVEA_MASK_COEFFICIENTS);
    }
}

static void test_mirror_on_shares(void **unused)
{
    (void)unused;
    struct shared *shared = share_sample(5);
    struct shared *before = share_sample(5);
    struct uvea_template mirrored;
    uvea_iris_mirror(&shared->template, &mirrored);
    struct uvea_template want = visible(&mirrored);
    mirror_shares(shared->party);
    assert_opens_to(shared->party, &want);
    mirror_shares(shared->party);
    assert_memory_equal(shared->party, before->party, sizeof(shared->party));
    uvea_mem_free(before);
    uvea_mem_free(shared);
}

static void assert_join_fails(const struct uvea_iris_share *first,
                              const struct uvea_iris_share *second, const char *sentence)
{
    struct uvea_template found;
    memset(&found, 0x5A, sizeof(found));
    struct uvea_template before = found;
    struct uvea_error_context context = {{0}};
    assert_int_equal(
        uvea_iris_join(uvea_party_at(0), first, uvea_party_at(1), second, &found, &context),
        UVEA_ERR_FORMAT);
    assert_memory_equal(&found, &before, sizeof(found));
    if (sentence != NULL) {
        assert_string_equal(context.text, sentence);
    } else {
        assert_memory_equal(context.text, "the shares do not belong together: ", 35);
    }
}

// Adds the same ring element to the secret: Shamir with a mask of zero.
static void add_to_secret(uint16_t *first, uint16_t *second, const uint16_t block[4])
{
    struct uvea_galois element = uvea_galois_from_block(block);
    for (size_t i = 0; i < 4; i++) {
        first[i] = (uint16_t)(first[i] + element.c[i]);
        second[i] = (uint16_t)(second[i] + element.c[i]);
    }
}

static void test_join_refuses_strangers(void **unused)
{
    (void)unused;
    struct shared *shared = share_sample(6);
    struct shared *other = share_sample(7);
    assert_join_fails(&shared->party[0], &other->party[1], NULL);
    assert_join_fails(&shared->party[0], &shared->party[0], NULL); // the same share twice
    assert_join_fails(&shared->party[0], &shared->party[2], NULL); // another party's share
    assert_join_fails(&shared->party[1], &shared->party[0], NULL); // exchanged
    uvea_mem_free(other);
    uvea_mem_free(shared);
}

static void test_join_names_the_bit(void **unused)
{
    (void)unused;
    struct shared *shared = uvea_mem_alloc(1, sizeof(*shared));
    assert_non_null(shared);
    memset(shared->template.mask, 0xFF, sizeof(shared->template.mask));
    struct sample_rng rng = {8};
    uvea_iris_split(&shared->template, sample_draw, &rng, shared->party);
    uint16_t *first = shared->party[0].code + 12796; // rows 3, 7, 11, 15 of the last column
    uint16_t *second = shared->party[1].code + 12796;
    add_to_secret(first, second, (const uint16_t[]){0, 1, 0, 0});
    assert_join_fails(&shared->party[0], &shared->party[1],
                      "the shares do not belong together: code bit 6399 is not -1, 0 or 1");
    add_to_secret(first, second, (const uint16_t[]){0, 65534, 0, 0});
    assert_join_fails(&shared->party[0], &shared->party[1],
                      "the shares do not belong together: code and mask disagree at bit 6399");
    add_to_secret(first, second, (const uint16_t[]){0, 1, 0, 0});
    assert_opens_to(shared->party, &shared->template);
    add_to_secret(shared->party[0].mask, shared->party[1].mask, (const uint16_t[]){0, 0, 1, 0});
    assert_join_fails(&shared->party[0], &shared->party[1],
                      "the shares do not belong together: mask bit 6400 is not 0 or 1");
    add_to_secret(shared->party[0].mask, shared->party[1].mask, (const uint16_t[]){0, 0, 65534, 0});
    assert_join_fails(&shared->party[0], &shared->party[1],
                      "the shares do not belong together: code and mask disagree at bit 6400");
    uvea_mem_free(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_two_parties_open),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_order_of_draws),
        cmocka_unit_test(test_deletion_dummy),
        cmocka_unit_test(test_deletion_dummy_is_a_split),
        cmocka_unit_test(test_share_of_zero),
        cmocka_unit_test(test_mirror_on_shares),
        cmocka_unit_test(test_join_refuses_strangers),
        cmocka_unit_test(test_join_names_the_bit),
    };
    return cmocka_run_group_tests_name("iris_share", tests, NULL, NULL);
}
