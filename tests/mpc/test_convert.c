// Private conversion: what any two parties hold afterwards is the coordinate, for valid templates,
// and something else, without notice, for values that no template has.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/field/share.h"
#include "core/mpc/convert.h"
#include "core/mpc/round.h"
#include "core/mpc/share.h"
#include "core/ring/galois.h"
#include "tests/iris/sample.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/field_deal.h"
#include "tests/mpc/trio.h"

#include <stdlib.h>
#include <string.h>

enum { P = 52201, CODE = UVEA_FIELD_CODE_VALUES, EYE = UVEA_FIELD_EYE_VALUES };

// Coordinates in share order, mod 2^16.
struct plain_eye {
    uint16_t values[EYE];
};

struct conversion {
    size_t count;
    struct plain_eye *plain;
    struct plain_eye *share[UVEA_PARTY_COUNT]; // monomial coefficients, codes then masks
    struct uvea_field_eye *out[UVEA_PARTY_COUNT];
};

static void *take(size_t count, size_t size)
{
    void *memory = uvea_mem_alloc(count, size);
    assert_non_null(memory);
    return memory;
}

static void conversion_open(struct conversion *conversion, size_t count)
{
    *conversion =
        (struct conversion){.count = count, .plain = take(count, sizeof(struct plain_eye))};
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        conversion->share[p] = take(count, sizeof(struct plain_eye));
        conversion->out[p] = take(count, sizeof(struct uvea_field_eye));
        memset(conversion->out[p], 0xA5, count * sizeof(struct uvea_field_eye));
    }
}

static void conversion_close(struct conversion *conversion)
{
    uvea_mem_free(conversion->plain);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_mem_free(conversion->share[p]);
        uvea_mem_free(conversion->out[p]);
    }
}

static void share_eye(struct conversion *conversion, size_t eye, struct sample_rng *rng)
{
    for (size_t i = 0; i < EYE; i += UVEA_GALOIS_DEGREE) {
        struct uvea_galois mask;
        struct uvea_galois secret = uvea_galois_from_block(conversion->plain[eye].values + i);
        for (unsigned c = 0; c < UVEA_GALOIS_DEGREE; c++) {
            mask.c[c] = sample_draw(rng);
        }
        for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
            struct uvea_galois share = uvea_galois_share(uvea_party_at(p), secret, mask);
            memcpy(conversion->share[p][eye].values + i, share.c, sizeof(share.c));
        }
    }
}

static void share_all(struct conversion *conversion, struct sample_rng *rng)
{
    for (size_t eye = 0; eye < conversion->count; eye++) {
        share_eye(conversion, eye, rng);
    }
}

// Masks of 0 and 1, codes 0 where the mask is 0 and else -1 or 1; real and imaginary alike.
static void random_eye(struct plain_eye *eye, struct sample_rng *rng)
{
    for (size_t i = 0; i < CODE / 2; i++) {
        uint16_t mask = sample_next(rng) % 8 != 0;
        eye->values[CODE + i] = mask;
        for (size_t half = 0; half < 2; half++) {
            eye->values[half * CODE / 2 + i] = (uint16_t)(sample_next(rng) % 2 == 0 ? mask : -mask);
        }
    }
}

static void constant_eye(struct plain_eye *eye, uint16_t code, uint16_t mask)
{
    for (size_t i = 0; i < EYE; i++) {
        eye->values[i] = i < CODE ? code : mask;
    }
}

static enum uvea_error convert(struct uvea_session *session, unsigned party, void *arg)
{
    struct conversion *conversion = arg;
    struct uvea_convert_source *sources =
        uvea_mem_alloc(conversion->count, sizeof(struct uvea_convert_source));
    if (sources == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t eye = 0; eye < conversion->count; eye++) {
        sources[eye].code = conversion->share[party][eye].values;
        sources[eye].mask = conversion->share[party][eye].values + CODE;
    }
    enum uvea_error error =
        uvea_mpc_convert_eyes(session, sources, conversion->count, conversion->out[party]);
    uvea_mem_free(sources);
    return error;
}

// What parties a and a + 1 make of one coordinate.
static uint32_t joined(const struct conversion *conversion, size_t eye, size_t i, unsigned a)
{
    struct uvea_party first = uvea_party_at(a);
    struct uvea_party second = uvea_party_at(a + 1);
    uint32_t left = conversion->out[first.index][eye].values[i];
    uint32_t right = conversion->out[second.index][eye].values[i];
    assert_true(left < P && right < P);
    return (uint32_t)(((uint64_t)left * uvea_field_weight_two(first, second) +
                       (uint64_t)right * uvea_field_weight_two(second, first)) %
                      P);
}

static uint32_t as_element(uint16_t value)
{
    return (uint32_t)((int16_t)value + P) % P;
}

static void check_eyes(const struct conversion *conversion)
{
    for (size_t at = 0; at < conversion->count * EYE; at++) {
        size_t eye = at / EYE;
        size_t i = at % EYE;
        uint32_t want = as_element(conversion->plain[eye].values[i]);
        for (unsigned a = 0; a < UVEA_PARTY_COUNT; a++) {
            uint32_t got = joined(conversion, eye, i, a);
            if (got != want) {
                fail_msg("eye %zu of %zu, coordinate %zu, parties %u and %u: %u instead of %u", eye,
                         conversion->count, i, a, (a + 1) % 3, got, want);
            }
        }
    }
}

// Per batch of at most 16 eyes: a refresh, the sign of the codes (a third of the elements each,
// then 15, 13, 7, 3 and 1 AND planes), and the injection of low bits and signs.
static uint64_t batch_bytes(uint64_t eyes, unsigned role)
{
    static const uint64_t planes[] = {15, 13, 7, 3, 1};
    uint64_t codes = CODE * eyes;
    uint64_t first = codes / 3;
    uint64_t second = (codes - first) / 2;
    uint64_t pieces[] = {first, second, codes - first - second};
    uint64_t bytes = 2 * field_vector_bytes(EYE * eyes, 2) + field_vector_bytes(codes, 2) +
                     field_vector_bytes(pieces[role], 2);
    for (size_t i = 0; i < UVEA_COUNT_OF(planes); i++) {
        bytes += field_words_bytes(planes[i] * (codes / 64));
    }
    return bytes;
}

static void check_traffic(const struct trio *trio, size_t count)
{
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const struct uvea_session *session = &trio->party[p].session;
        uint64_t bytes = 0;
        for (size_t done = 0; done < count; done += 16) {
            bytes += batch_bytes(count - done < 16 ? count - done : 16, (p + session->id) % 3);
        }
        assert_int_equal(session->traffic.value_bytes, bytes);
        assert_int_equal(session->traffic.messages, 9 * ((count + 15) / 16));
        assert_int_equal(session->traffic.and_words, 39 * (CODE / 64) * count);
    }
}

static void run_conversion(struct trio *trio, struct conversion *conversion)
{
    trio_mark(trio);
    trio_run(trio, convert, conversion);
    check_eyes(conversion);
    check_traffic(trio, conversion->count);
    trio_assert_in_step(trio);
}

static void random_eyes_in_batches(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 17, 33, 2};
    for (uint32_t id = 0; id < 3; id++) {
        struct sample_rng rng = {id};
        struct trio trio;
        trio_open(&trio, id == 1 ? UVEA_PRF_CHACHA8 : UVEA_PRF_AES128, id);
        for (size_t c = 0; c < UVEA_COUNT_OF(counts); c++) {
            struct conversion conversion;
            conversion_open(&conversion, counts[c]);
            for (size_t eye = 0; eye < counts[c]; eye++) {
                random_eye(&conversion.plain[eye], &rng);
            }
            share_all(&conversion, &rng);
            run_conversion(&trio, &conversion);
            conversion_close(&conversion);
        }
        trio_close(&trio);
    }
}

static void extreme_eyes(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 3; id++) {
        struct sample_rng rng = {10 + id};
        struct trio trio;
        struct conversion conversion;
        trio_open(&trio, UVEA_PRF_AES128, id);
        conversion_open(&conversion, 4);
        constant_eye(&conversion.plain[0], 65535, 1);
        constant_eye(&conversion.plain[1], 0, 0);
        constant_eye(&conversion.plain[2], 1, 1);
        constant_eye(&conversion.plain[3], 65535, 0);
        share_all(&conversion, &rng);
        run_conversion(&trio, &conversion);
        conversion_close(&conversion);
        trio_close(&trio);
    }
}

// Shares as a client makes them, coordinates named by row, column, wavelet and part.
static void shares_of_a_template(void **state)
{
    (void)state;
    struct sample_rng rng = {20};
    struct uvea_template template;
    struct uvea_iris_share *shares = take(UVEA_PARTY_COUNT, sizeof(*shares));
    struct conversion conversion;
    struct trio trio;
    sample_template(&rng, &template);
    uvea_iris_split(&template, sample_draw, &rng, shares);
    conversion_open(&conversion, 1);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        memcpy(conversion.share[p][0].values, shares[p].code, CODE * sizeof(uint16_t));
        memcpy(conversion.share[p][0].values + CODE, shares[p].mask,
               (EYE - CODE) * sizeof(uint16_t));
    }
    for (size_t old = 0; old < CODE; old++) {
        size_t row = old / 800;
        size_t column = old / 4 % 200;
        size_t wavelet = old / 2 % 2;
        size_t part = old % 2;
        size_t at = 6400 * part + 3200 * wavelet + 800 * (row % 4) + 4 * column + row / 4;
        unsigned valid = sample_bit(template.mask, row, column, wavelet, part);
        unsigned set = sample_bit(template.code, row, column, wavelet, part);
        conversion.plain[0].values[at] = (uint16_t)(valid * (1 - 2 * set));
        if (part == 0) {
            conversion.plain[0].values[CODE + at] = (uint16_t)valid;
        }
    }
    trio_open(&trio, UVEA_PRF_AES128, 0);
    run_conversion(&trio, &conversion);
    trio_close(&trio);
    conversion_close(&conversion);
    uvea_mem_free(shares);
}

// A code value v becomes LSB(v) - 2 MSB(v) and a mask value its LSB. Values outside {-1, 0, 1} and
// {0, 1} therefore become others, nobody is told, and the values beside them are not touched.
static void other_values_convert_unnoticed(void **state)
{
    (void)state;
    static const struct {
        uint16_t value;
        int16_t code;
        int16_t mask;
    } cases[] = {
        {2, 0, 0},      {3, 1, 1},      {4, 0, 0},      {255, 1, 1},    {256, 0, 0},
        {32767, 1, 1},  {32768, -2, 0}, {32769, -1, 1}, {65533, -1, 1}, {65534, -2, 0},
        {65535, -1, 1}, {13335, 1, 1},  {52201, -1, 1},
    };
    struct sample_rng rng = {30};
    struct trio trio;
    struct conversion conversion;
    trio_open(&trio, UVEA_PRF_AES128, 2);
    conversion_open(&conversion, 1);
    random_eye(&conversion.plain[0], &rng);
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        conversion.plain[0].values[37 * i] = cases[i].value;
        conversion.plain[0].values[CODE + 37 * i] = cases[i].value;
    }
    share_all(&conversion, &rng);
    trio_run(&trio, convert, &conversion);
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        conversion.plain[0].values[37 * i] = (uint16_t)cases[i].code;
        conversion.plain[0].values[CODE + 37 * i] = (uint16_t)cases[i].mask;
    }
    check_eyes(&conversion);
    conversion_close(&conversion);
    trio_close(&trio);
}

static int compare_blocks(const void *left, const void *right)
{
    return memcmp(left, right, 64);
}

// All coordinates zero: were a mask missing or reused, two blocks of what is sent would be equal.
static void masks_cover_everything_sent(void **state)
{
    (void)state;
    struct trio trio;
    struct conversion conversion;
    trio_open(&trio, UVEA_PRF_AES128, 1);
    conversion_open(&conversion, 2); // shares of nothing but zero, with zero randomness
    run_conversion(&trio, &conversion);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct uvea_buf *log = &trio.party[p].log;
        size_t blocks = log->len / 64;
        qsort(log->data, blocks, 64, compare_blocks);
        for (size_t i = 1; i < blocks; i++) {
            assert_memory_not_equal(log->data + 64 * i, log->data + 64 * (i - 1), 64);
        }
    }
    conversion_close(&conversion);
    trio_close(&trio);
}

// One party believes in another number of eyes.
static enum uvea_error one_more(struct uvea_session *session, unsigned party, void *arg)
{
    struct conversion odd = *(const struct conversion *)arg;
    odd.count -= party == 1 ? 0 : 1;
    return convert(session, party, &odd);
}

static void a_wrong_count_leaves_nothing(void **state)
{
    (void)state;
    static const struct uvea_field_eye zero;
    for (uint32_t id = 0; id < 3; id++) {
        struct sample_rng rng = {40};
        struct trio trio;
        struct conversion conversion;
        unsigned refused = 0;
        trio_open(&trio, UVEA_PRF_AES128, id);
        conversion_open(&conversion, 3);
        share_all(&conversion, &rng);
        trio_try(&trio, one_more, &conversion);
        for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
            enum uvea_error error = trio.party[p].error;
            assert_true(error == UVEA_ERR_PEER || error == UVEA_ERR_CLOSED);
            assert_int_not_equal(strlen(trio.party[p].session.error.text), 0);
            assert_memory_equal(&conversion.out[p][0], &zero, sizeof(zero));
            assert_memory_equal(&conversion.out[p][1], &zero, sizeof(zero));
            refused += error == UVEA_ERR_PEER;
        }
        assert_true(refused > 0);
        conversion_close(&conversion);
        trio_close(&trio);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_eyes_in_batches),
        cmocka_unit_test(extreme_eyes),
        cmocka_unit_test(shares_of_a_template),
        cmocka_unit_test(other_values_convert_unnoticed),
        cmocka_unit_test(masks_cover_everything_sent),
        cmocka_unit_test(a_wrong_count_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
