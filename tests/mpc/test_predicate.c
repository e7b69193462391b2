// The predicates of the scan against the integer formulas of service.md 2.3.
#include "core/base/chacha.h"
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/mpc/bits.h"
#include "core/mpc/predicate.h"
#include "core/mpc/ring.h"
#include "core/mpc/temp.h"
#include "core/mpc/threshold.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/deal.h"
#include "tests/mpc/trio.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// A comparison in the clear: C = code, M = 2 half.
struct comparison {
    int32_t code;
    int32_t half;
};

static bool anonymous_passes(struct comparison of)
{
    return 4 * of.code - 2 * of.half >= 0;
}

static bool strict_passes(struct comparison of)
{
    return INT64_C(65536) * of.code >= INT64_C(20316) * 2 * of.half;
}

// What the three parties start from and what each opened.
struct scan {
    const struct comparison *of;
    size_t count;
    struct dealt dealt; // interleaved (C, half)
    enum uvea_predicate_form form;
    uint64_t *opened[UVEA_PARTY_COUNT];
};

static void scan_open(struct scan *scan, const struct comparison *of, size_t count, uint64_t seed)
{
    uint64_t *flat = uvea_mem_alloc(2 * count, sizeof(*flat));
    for (size_t i = 0; i < count; i++) {
        flat[2 * i] = (uint64_t)of[i].code;
        flat[2 * i + 1] = (uint64_t)of[i].half;
    }
    *scan = (struct scan){.of = of, .count = count};
    deal_sum(&scan->dealt, flat, 2 * count, seed);
    uvea_mem_free(flat);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        scan->opened[p] = uvea_mem_alloc(uvea_words_for(count) + 1, sizeof(uint64_t));
        memset(scan->opened[p], 0xA5, (uvea_words_for(count) + 1) * sizeof(uint64_t));
    }
}

static void scan_close(struct scan *scan)
{
    deal_free(&scan->dealt);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_mem_free(scan->opened[p]);
    }
}

static void assert_opened(const struct scan *scan, bool (*passes)(struct comparison))
{
    size_t words = uvea_words_for(scan->count);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        for (size_t i = 0; i < scan->count; i++) {
            bool got = scan->opened[p][i / 64] >> i % 64 & 1;
            if (got != passes(scan->of[i])) {
                fail_msg("party %u, comparison %zu of %zu: C = %d, M = %d opens %d", p, i,
                         scan->count, scan->of[i].code, 2 * scan->of[i].half, got);
            }
        }
        if (scan->count % 64 != 0) {
            assert_int_equal(scan->opened[p][words - 1] >> scan->count % 64, 0);
        }
        assert_int_equal(scan->opened[p][words], 0xA5A5A5A5A5A5A5A5);
    }
}

static enum uvea_error take_contributions(struct uvea_session *session, unsigned party,
                                          const struct scan *scan, uint16_t **contributions)
{
    UVEA_TRY(uvea_mpc_take_u16(session, 2 * scan->count, contributions));
    for (size_t i = 0; i < 2 * scan->count; i++) {
        (*contributions)[i] = (uint16_t)scan->dealt.part[party][i];
    }
    return UVEA_OK;
}

static enum uvea_error anonymous(struct uvea_session *session, unsigned party, void *arg)
{
    const struct scan *scan = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    uint16_t *contributions;
    UVEA_TRY(take_contributions(session, party, scan, &contributions));
    UVEA_TRY(uvea_mpc_anonymous_match(session, scan->form, contributions, scan->count,
                                      scan->opened[party], NULL));
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

// Splits refreshed pairs into codes and masks.
static enum uvea_error take_codes_and_masks(struct uvea_session *session,
                                            const struct uvea_share16 *pairs,
                                            struct uvea_share16 *codes, struct uvea_share16 *masks)
{
    UVEA_TRY(uvea_mpc_take_share16(session, pairs->count / 2, codes));
    UVEA_TRY(uvea_mpc_take_share16(session, pairs->count / 2, masks));
    for (size_t i = 0; i < codes->count; i++) {
        codes->a[i] = pairs->a[2 * i];
        codes->b[i] = pairs->b[2 * i];
        masks->a[i] = pairs->a[2 * i + 1];
        masks->b[i] = pairs->b[2 * i + 1];
    }
    return UVEA_OK;
}

// As the scan does it: prefilter, then lift the masks of the kept pairs, then the strict threshold
// (here on all of them).
static enum uvea_error strict_of_pairs(struct uvea_session *session,
                                       const struct uvea_share16 *pairs, uint64_t *opened)
{
    struct uvea_share16 codes;
    struct uvea_share16 masks;
    struct uvea_share32 lifted;
    UVEA_TRY(take_codes_and_masks(session, pairs, &codes, &masks));
    UVEA_TRY(uvea_mpc_lift_u32(session, &masks, &lifted));
    enum uvea_error error = uvea_mpc_strict_match(session, &codes, &lifted, opened);
    uvea_share32_deinit(&lifted);
    return error;
}

static enum uvea_error strict(struct uvea_session *session, unsigned party, void *arg)
{
    const struct scan *scan = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    uint16_t *contributions;
    struct uvea_share16 pairs;
    UVEA_TRY(take_contributions(session, party, scan, &contributions));
    UVEA_TRY(uvea_mpc_anonymous_match(session, UVEA_PREDICATE_DENSE, contributions, scan->count,
                                      scan->opened[party], &pairs));
    enum uvea_error error = strict_of_pairs(session, &pairs, scan->opened[party]);
    uvea_share16_deinit(&pairs);
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

// The lifted form of the reference, at either threshold.
static enum uvea_error strict_lifted(struct uvea_session *session, unsigned party, void *arg)
{
    const struct scan *scan = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    struct uvea_share32 codes;
    struct uvea_share32 masks;
    struct uvea_planes above;
    UVEA_TRY(uvea_mpc_take_share32(session, scan->count, &codes));
    UVEA_TRY(uvea_mpc_take_share32(session, scan->count, &masks));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, uvea_words_for(scan->count), &above));
    for (size_t i = 0; i < scan->count; i++) {
        codes.a[i] = (uint32_t)scan->dealt.part[party][2 * i];
        codes.b[i] = (uint32_t)scan->dealt.part[prev_of(party)][2 * i];
        masks.a[i] = 2 * (uint32_t)scan->dealt.part[party][2 * i + 1];
        masks.b[i] = 2 * (uint32_t)scan->dealt.part[prev_of(party)][2 * i + 1];
    }
    UVEA_TRY(uvea_mpc_fhd_greater(session, &codes, &masks, UVEA_STRICT_THRESHOLD, &above));
    uvea_mpc_not(&above, &above);
    UVEA_TRY(uvea_mpc_reveal_bits(session, &above, scan->count, scan->opened[party]));
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

static void run_scan(struct trio *trio, const struct comparison *of, size_t count, uint64_t seed)
{
    struct scan scan;
    for (unsigned form = 0; form < 2; form++) {
        scan_open(&scan, of, count, seed);
        scan.form = form == 0 ? UVEA_PREDICATE_DENSE : UVEA_PREDICATE_TWO_TERM;
        trio_run(trio, anonymous, &scan);
        assert_opened(&scan, anonymous_passes);
        scan_close(&scan);
    }
    scan_open(&scan, of, count, seed);
    trio_run(trio, strict, &scan);
    assert_opened(&scan, strict_passes);
    trio_run(trio, strict_lifted, &scan);
    assert_opened(&scan, strict_passes);
    scan_close(&scan);
    trio_assert_in_step(trio);
}

// Around both thresholds at every kind of mask size, and the extremes.
enum { BOUNDARY_MAX = 512 };

static size_t boundary_comparisons(struct comparison *out)
{
    static const int32_t halves[] = {0,    1,    2,    3,    4,    6,    7,    8,    63,
                                     64,   100,  1000, 1606, 1639, 3199, 3200, 3201, 5000,
                                     6143, 6144, 6395, 6396, 6397, 6398, 6399, 6400};
    static const struct comparison extremes[] = {
        {12800, 6400}, {-12800, 6400}, {12799, 6400}, {-12799, 6400}, {12800, 0},  {-12800, 0},
        {1, 0},        {-1, 0},        {0, 0},        {0, 6400},      {3968, 6400}};
    size_t count = 0;
    for (size_t i = 0; i < UVEA_COUNT_OF(halves); i++) {
        int32_t anonymous_at = halves[i] / 2;
        int32_t strict_at = (int32_t)(INT64_C(20316) * 2 * halves[i] / 65536);
        for (int32_t step = -2; step <= 2; step++) {
            out[count++] = (struct comparison){anonymous_at + step, halves[i]};
            out[count++] = (struct comparison){strict_at + step, halves[i]};
        }
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(extremes); i++) {
        out[count++] = extremes[i];
    }
    assert_true(count <= BOUNDARY_MAX);
    return count;
}

static void boundaries(void **state)
{
    (void)state;
    struct comparison of[BOUNDARY_MAX];
    size_t count = boundary_comparisons(of);
    for (uint32_t id = 0; id < 3; id++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            struct trio trio;
            trio_open(&trio, kind, id);
            for (uint64_t seed = 0; seed < 4; seed++) {
                run_scan(&trio, of, count, seed);
            }
            trio_close(&trio);
        }
    }
}

// Full masks: the last matching and the first missing number of disagreeing bits of 12,800.
static void counts_of_disagreeing_bits(void **state)
{
    (void)state;
    assert_true(anonymous_passes((struct comparison){12800 - 2 * 4799, 6400}));
    assert_true(anonymous_passes((struct comparison){12800 - 2 * 4800, 6400}));
    assert_false(anonymous_passes((struct comparison){12800 - 2 * 4801, 6400}));
    assert_true(strict_passes((struct comparison){12800 - 2 * 4415, 6400}));
    assert_true(strict_passes((struct comparison){12800 - 2 * 4416, 6400}));
    assert_false(strict_passes((struct comparison){12800 - 2 * 4417, 6400}));
    struct comparison of[7];
    static const int32_t disagree[7] = {4799, 4800, 4801, 4415, 4416, 4417, 4418};
    for (size_t i = 0; i < 7; i++) {
        of[i] = (struct comparison){12800 - 2 * disagree[i], 6400};
    }
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 0);
    run_scan(&trio, of, 7, 5);
    trio_close(&trio);
}

static void random_comparisons(struct comparison *of, size_t count, uint64_t seed)
{
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, seed);
    for (size_t i = 0; i < count; i++) {
        int32_t half = (int32_t)(uvea_chacha_next_u32(&rng) % 6401);
        int32_t code = (int32_t)(uvea_chacha_next_u32(&rng) % (4 * (uint32_t)half + 1)) - 2 * half;
        of[i] = (struct comparison){code, half};
    }
}

static void every_length_and_role(void **state)
{
    (void)state;
    static struct comparison of[4093];
    for (uint32_t id = 0; id < 3; id++) {
        struct trio trio;
        trio_open(&trio, id == 1 ? UVEA_PRF_CHACHA8 : UVEA_PRF_AES128, id);
        for (size_t i = 0; i < UVEA_COUNT_OF(test_lengths); i++) {
            random_comparisons(of, test_lengths[i], UINT64_C(10) * id + i);
            run_scan(&trio, of, test_lengths[i], i);
        }
        // And down again with the buffers of the largest.
        for (size_t i = UVEA_COUNT_OF(test_lengths); i-- > 0;) {
            run_scan(&trio, of, test_lengths[i], 50 + i);
        }
        trio_close(&trio);
    }
}

static void the_only_match_is_in_the_last_lane(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 63, 64, 65, 128, 512, 513};
    static struct comparison of[513];
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 2);
    for (size_t c = 0; c < UVEA_COUNT_OF(counts); c++) {
        for (size_t i = 0; i < counts[c]; i++) {
            of[i] = (struct comparison){-100, 5000};
        }
        of[counts[c] - 1] = (struct comparison){9000, 5000};
        run_scan(&trio, of, counts[c], c);
    }
    trio_close(&trio);
}

static void forms_agree_on_many_pairs(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    struct comparison *of = uvea_mem_alloc(COUNT, sizeof(*of));
    assert_non_null(of);
    for (uint32_t id = 0; id < 3; id++) {
        struct trio trio;
        trio_open(&trio, UVEA_PRF_AES128, id);
        random_comparisons(of, COUNT, 1000 + id);
        run_scan(&trio, of, COUNT, id);
        trio_close(&trio);
    }
    uvea_mem_free(of);
}

// The 18-bit form is the sign of (C 2^16 - M 2^14) mod 2^32 for all values of 16 bits, not only for
// those a comparison can have.
static enum uvea_error any_pairs(struct uvea_session *session, unsigned party, void *arg)
{
    const struct dealt *dealt = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    size_t count = dealt->count / 2;
    struct uvea_share16 pairs;
    struct uvea_planes above;
    uint64_t *open;
    UVEA_TRY(uvea_mpc_take_share16(session, dealt->count, &pairs));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, uvea_words_for(count), &above));
    UVEA_TRY(uvea_mpc_take_u64(session, above.words, &open));
    for (size_t i = 0; i < dealt->count; i++) {
        pairs.a[i] = (uint16_t)dealt->part[party][i];
        pairs.b[i] = (uint16_t)dealt->part[prev_of(party)][i];
    }
    UVEA_TRY(uvea_mpc_anonymous_above(session, &pairs, &above));
    UVEA_TRY(uvea_mpc_reveal_bits(session, &above, count, open));
    for (size_t i = 0; i < count; i++) {
        uint32_t code = (uint16_t)dealt_sum(dealt, 2 * i);
        uint32_t mask = (uint16_t)dealt_sum(dealt, 2 * i + 1);
        uint32_t want = ((code << 16) - (mask << 14)) >> 31;
        UVEA_TRY(same_u64("18-bit sign", i, open[i / 64] >> i % 64 & 1, want));
    }
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

static void dense_form_takes_all_values(void **state)
{
    (void)state;
    struct dealt dealt;
    struct trio trio;
    deal_random(&dealt, 20000, 77);
    trio_open(&trio, UVEA_PRF_AES128, 0);
    trio_run(&trio, any_pairs, &dealt);
    trio_close(&trio);
    deal_free(&dealt);
}

// What the dense form keeps is (C, M); what the two-term form leaves can be refreshed to the same.
static enum uvea_error distances(struct uvea_session *session, unsigned party, void *arg)
{
    const struct scan *scan = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    uint16_t *contributions;
    uint16_t *open;
    struct uvea_share16 pairs = {0};
    UVEA_TRY(take_contributions(session, party, scan, &contributions));
    UVEA_TRY(uvea_mpc_take_u16(session, 2 * scan->count, &open));
    UVEA_TRY(uvea_mpc_anonymous_match(session, scan->form, contributions, scan->count,
                                      scan->opened[party], &pairs));
    if (scan->form == UVEA_PREDICATE_TWO_TERM) {
        if (pairs.a != NULL || pairs.count != 0) {
            return UVEA_ERR_STATE;
        }
        for (size_t i = 0; i < scan->count; i++) {
            contributions[2 * i + 1] = (uint16_t)(2 * contributions[2 * i + 1]);
        }
        UVEA_TRY(uvea_mpc_refresh(session, contributions, 2 * scan->count, &pairs));
    }
    enum uvea_error error = uvea_mpc_reveal_u16(session, &pairs, open);
    uvea_share16_deinit(&pairs);
    for (size_t i = 0; error == UVEA_OK && i < scan->count; i++) {
        error = same_u64("C", i, open[2 * i], (uint16_t)scan->of[i].code);
        if (error == UVEA_OK) {
            error = same_u64("M", i, open[2 * i + 1], (uint16_t)(2 * scan->of[i].half));
        }
    }
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

static void distances_are_kept(void **state)
{
    (void)state;
    struct comparison of[BOUNDARY_MAX];
    size_t count = boundary_comparisons(of);
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 1);
    for (unsigned form = 0; form < 2; form++) {
        struct scan scan;
        scan_open(&scan, of, count, form);
        scan.form = form == 0 ? UVEA_PREDICATE_DENSE : UVEA_PREDICATE_TWO_TERM;
        trio_run(&trio, distances, &scan);
        assert_opened(&scan, anonymous_passes);
        scan_close(&scan);
    }
    trio_close(&trio);
}

static int compare_blocks(const void *left, const void *right)
{
    return memcmp(left, right, 64);
}

// All contributions zero: were a mask missing or reused, two blocks of the traffic would be equal.
static void masks_cover_everything_sent(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 31, 33, 4093};
    static const struct comparison zero[4093];
    for (size_t c = 0; c < UVEA_COUNT_OF(counts); c++) {
        for (unsigned form = 0; form < 2; form++) {
            struct trio trio;
            struct scan scan;
            trio_open(&trio, UVEA_PRF_AES128, 0);
            scan_open(&scan, zero, counts[c], 0);
            scan.form = form == 0 ? UVEA_PREDICATE_DENSE : UVEA_PREDICATE_TWO_TERM;
            for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
                memset(scan.dealt.part[p], 0, 2 * counts[c] * sizeof(uint64_t));
            }
            trio_run(&trio, anonymous, &scan);
            for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
                struct uvea_buf *log = &trio.party[p].log;
                qsort(log->data, log->len / 64, 64, compare_blocks);
                for (size_t i = 64; i + 64 <= log->len / 64 * 64; i += 64) {
                    assert_memory_not_equal(log->data + i, log->data + i - 64, 64);
                }
            }
            scan_close(&scan);
            trio_close(&trio);
        }
    }
}

// A party that believes in another number of comparisons: nobody gets a result from it.
static enum uvea_error one_short(struct uvea_session *session, unsigned party, void *arg)
{
    struct scan short_scan = *(const struct scan *)arg;
    short_scan.count -= party == 1 ? 1 : 0;
    struct uvea_share16 pairs;
    uint16_t *contributions;
    UVEA_TRY(take_contributions(session, party, &short_scan, &contributions));
    enum uvea_error error =
        uvea_mpc_anonymous_match(session, short_scan.form, contributions, short_scan.count,
                                 short_scan.opened[party], &pairs);
    return error != UVEA_OK && pairs.a != NULL ? UVEA_ERR_STATE : error;
}

static void a_wrong_count_leaves_no_result(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2; form++) {
        for (uint32_t id = 0; id < 3; id++) {
            struct comparison of[65];
            struct trio trio;
            struct scan scan;
            random_comparisons(of, 65, 3);
            trio_open(&trio, UVEA_PRF_AES128, id);
            scan_open(&scan, of, 65, 3);
            scan.form = form == 0 ? UVEA_PREDICATE_DENSE : UVEA_PREDICATE_TWO_TERM;
            trio_try(&trio, one_short, &scan);
            unsigned refused = 0;
            for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
                assert_true(trio.party[p].error == UVEA_ERR_PEER ||
                            trio.party[p].error == UVEA_ERR_CLOSED);
                refused += trio.party[p].error == UVEA_ERR_PEER;
                assert_int_not_equal(strlen(trio.party[p].session.error.text), 0);
                assert_int_equal(scan.opened[p][0], 0xA5A5A5A5A5A5A5A5);
            }
            assert_true(refused > 0);
            scan_close(&scan);
            trio_close(&trio);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries),
        cmocka_unit_test(counts_of_disagreeing_bits),
        cmocka_unit_test(every_length_and_role),
        cmocka_unit_test(the_only_match_is_in_the_last_lane),
        cmocka_unit_test(forms_agree_on_many_pairs),
        cmocka_unit_test(dense_form_takes_all_values),
        cmocka_unit_test(distances_are_kept),
        cmocka_unit_test(masks_cover_everything_sent),
        cmocka_unit_test(a_wrong_count_leaves_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
