// The predicate in the field, both forms, against [(g + 32768) mod p >= 32768].
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/mpc/field_predicate.h"
#include "core/mpc/round.h"
#include "core/mpc/share.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/deal.h"
#include "tests/mpc/field_deal.h"
#include "tests/mpc/trio.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { P = 52201, FULL = UVEA_FIELD_PREDICATE_FULL, RANGE = UVEA_FIELD_PREDICATE_VALID_RANGE };

#define UNTOUCHED UINT64_C(0xA5A5A5A5A5A5A5A5)

// What the parties start from, and what each opened.
struct scan {
    unsigned form;
    size_t count;
    uint16_t *scores; // canonical
    uint16_t *part[UVEA_PARTY_COUNT];
    uint64_t *opened[UVEA_PARTY_COUNT];
};

static void *take(size_t count, size_t size)
{
    void *memory = uvea_mem_alloc(count, size);
    assert_non_null(memory);
    return memory;
}

static void scan_open(struct scan *scan, unsigned form, size_t count)
{
    *scan = (struct scan){.form = form, .count = count};
    scan->scores = take(count, sizeof(*scan->scores));
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        scan->part[p] = take(count, sizeof(**scan->part));
        scan->opened[p] = take(uvea_words_for(count) + 1, sizeof(**scan->opened));
        for (size_t i = 0; i <= uvea_words_for(count); i++) {
            scan->opened[p][i] = UNTOUCHED;
        }
    }
}

static void scan_close(struct scan *scan)
{
    uvea_mem_free(scan->scores);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_mem_free(scan->part[p]);
        uvea_mem_free(scan->opened[p]);
    }
}

static void scan_share(struct scan *scan, struct uvea_chacha *rng)
{
    field_deal_sum(rng, scan->scores, scan->count, scan->part);
}

// Scores that the form is right for: with the valid range Y lies in 768..51968.
static void scan_fill_random(struct scan *scan, struct uvea_chacha *rng)
{
    for (size_t i = 0; i < scan->count; i++) {
        uint32_t word = uvea_chacha_next_u32(rng);
        scan->scores[i] =
            (uint16_t)(scan->form == FULL ? word % P : (word % 51201 + P - 32000) % P);
    }
    scan_share(scan, rng);
}

static bool accepts(uint16_t score)
{
    return ((uint32_t)score + 32768) % P >= 32768;
}

static void assert_opened(const struct scan *scan)
{
    size_t words = uvea_words_for(scan->count);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        for (size_t i = 0; i < scan->count; i++) {
            bool got = scan->opened[p][i / 64] >> i % 64 & 1;
            if (got != accepts(scan->scores[i])) {
                fail_msg("form %u, party %u, comparison %zu of %zu: score %u opens %d", scan->form,
                         p, i, scan->count, scan->scores[i], got);
            }
        }
        if (scan->count % 64 != 0) {
            assert_int_equal(scan->opened[p][words - 1] >> scan->count % 64, 0);
        }
        assert_int_equal(scan->opened[p][words], UNTOUCHED);
    }
}

static enum uvea_error match(struct uvea_session *session, unsigned party, void *arg)
{
    const struct scan *scan = arg;
    return uvea_mpc_field_match(session, scan->form, scan->part[party], scan->count,
                                scan->opened[party]);
}

static void run_scan(struct trio *trio, struct scan *scan)
{
    trio_mark(trio);
    trio_run(trio, match, scan);
    assert_opened(scan);
    trio_assert_in_step(trio);
}

// ---- answers

// Every representative of g with the full form, every valid one with the other.
static void scan_fill_all(struct scan *scan, struct uvea_chacha *rng)
{
    for (size_t i = 0; i < scan->count; i++) {
        scan->scores[i] = (uint16_t)(scan->form == FULL ? i : (i + P - 32000) % P);
    }
    scan_share(scan, rng);
}

static void every_representative(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 3; id++) {
        struct uvea_chacha rng;
        struct trio trio;
        uvea_chacha_init_seeded(&rng, id);
        trio_open(&trio, id == 2 ? UVEA_PRF_CHACHA8 : UVEA_PRF_AES128, id);
        for (unsigned form = FULL; form <= RANGE; form++) {
            struct scan scan;
            scan_open(&scan, form, form == FULL ? P : 51201);
            for (unsigned repeat = 0; repeat < 2; repeat++) {
                scan_fill_all(&scan, &rng);
                run_scan(&trio, &scan);
            }
            scan_close(&scan);
        }
        trio_close(&trio);
    }
}

// Shares at their ends: the same scores, most of them carried by one party alone.
static void lopsided_sharings(void **state)
{
    (void)state;
    static const uint16_t ends[] = {0,     1,     767,   768,   19432, 19433,
                                    26100, 32767, 32768, 51969, P - 1};
    enum { COUNT = UVEA_COUNT_OF(ends) * UVEA_COUNT_OF(ends) * UVEA_COUNT_OF(ends) };
    for (uint32_t id = 0; id < 3; id++) {
        struct trio trio;
        struct scan scan;
        trio_open(&trio, UVEA_PRF_AES128, id);
        scan_open(&scan, FULL, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            scan.part[0][i] = ends[i % UVEA_COUNT_OF(ends)];
            scan.part[1][i] = ends[i / UVEA_COUNT_OF(ends) % UVEA_COUNT_OF(ends)];
            scan.part[2][i] = ends[i / UVEA_COUNT_OF(ends) / UVEA_COUNT_OF(ends)];
            scan.scores[i] =
                (uint16_t)(((uint32_t)scan.part[0][i] + scan.part[1][i] + scan.part[2][i]) % P);
        }
        run_scan(&trio, &scan);
        scan_close(&scan);
        trio_close(&trio);
    }
}

// Both ends of the valid range and of the answer, each under so many sharings that every remainder
// modulo 512 occurs.
static void ends_of_the_range_under_many_sharings(void **state)
{
    (void)state;
    static const uint16_t ends[] = {19200, 19199, P - 32000, P - 31999, 0, 1, P - 1};
    enum { EACH = 6000 };
    for (uint32_t id = 0; id < 3; id++) {
        struct uvea_chacha rng;
        struct trio trio;
        uvea_chacha_init_seeded(&rng, 30 + id);
        trio_open(&trio, UVEA_PRF_AES128, id);
        for (unsigned form = FULL; form <= RANGE; form++) {
            struct scan scan;
            scan_open(&scan, form, EACH * UVEA_COUNT_OF(ends));
            for (size_t i = 0; i < scan.count; i++) {
                scan.scores[i] = ends[i / EACH];
            }
            scan_share(&scan, &rng);
            run_scan(&trio, &scan);
            scan_close(&scan);
        }
        trio_close(&trio);
    }
}

static void every_length_role_and_generator(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 3; id++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            struct uvea_chacha rng;
            struct trio trio;
            uvea_chacha_init_seeded(&rng, id);
            trio_open(&trio, kind, id);
            // Up, and down again with the buffers of the largest.
            for (size_t step = 0; step < 2 * UVEA_COUNT_OF(test_lengths); step++) {
                size_t i = step < UVEA_COUNT_OF(test_lengths)
                               ? step
                               : 2 * UVEA_COUNT_OF(test_lengths) - 1 - step;
                for (unsigned form = FULL; form <= RANGE; form++) {
                    struct scan scan;
                    scan_open(&scan, form, test_lengths[i]);
                    scan_fill_random(&scan, &rng);
                    run_scan(&trio, &scan);
                    scan_close(&scan);
                }
            }
            trio_close(&trio);
        }
    }
}

static void the_only_match_is_in_the_last_lane(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 7, 8, 9, 63, 64, 65, 128, 513};
    struct uvea_chacha rng;
    struct trio trio;
    uvea_chacha_init_seeded(&rng, 4);
    trio_open(&trio, UVEA_PRF_AES128, 1);
    for (size_t c = 0; c < 2 * UVEA_COUNT_OF(counts); c++) {
        struct scan scan;
        scan_open(&scan, c % 2, counts[c / 2]);
        for (size_t i = 0; i < scan.count; i++) {
            scan.scores[i] = i + 1 == scan.count ? 0 : P - 1; // g = 0, g = -1
        }
        scan_share(&scan, &rng);
        run_scan(&trio, &scan);
        assert_int_equal(scan.opened[0][(scan.count - 1) / 64], UINT64_C(1)
                                                                    << (scan.count - 1) % 64);
        scan_close(&scan);
    }
    trio_close(&trio);
}

// ---- figures

// role = (party + session id) mod 3: the pieces of the split are n/3, (n - n/3)/2 and the rest.
static uint64_t full_bytes(uint64_t n, unsigned role)
{
    uint64_t words = uvea_words_for(n);
    uint64_t first = n / 3;
    uint64_t second = (n - first) / 2;
    uint64_t pieces[] = {first, second, n - first - second};
    return field_vector_bytes(n, 2) + field_vector_bytes(pieces[role], 2) +
           3 * field_words_bytes(words) + 14 * field_words_bytes(2 * words) + field_bits_bytes(n);
}

// turn = party - session id mod 3: 0 is the holder.
static uint64_t range_bytes(uint64_t n, unsigned turn)
{
    uint64_t words = uvea_words_for(n);
    uint64_t conversion = turn == 0 ? field_words_bytes(16 * words) : field_vector_bytes(n, 2);
    return conversion + 7 * field_words_bytes(2 * words) + 9 * field_words_bytes(words) +
           field_bits_bytes(n);
}

static void check_traffic(const struct trio *trio, unsigned party, unsigned form, size_t n)
{
    const struct uvea_session *session = &trio->party[party].session;
    uint64_t bytes = form == FULL ? full_bytes(n, (party + session->id) % 3)
                                  : range_bytes(n, (party + 3 - session->id % 3) % 3);
    uint64_t messages = form == FULL ? 1 + 1 + 17 + 1 : 1 + 16 + 1;
    uint64_t ands = (form == FULL ? 31 : 23) * uvea_words_for(n);
    if (n == 0) {
        bytes = messages = 0;
    }
    if (session->traffic.messages != messages || session->traffic.value_bytes != bytes ||
        session->traffic.and_words != ands || trio->party[party].log.len != bytes) {
        fail_msg("form %u, n = %zu, party %u: %lu messages (%lu), %lu bytes (%lu), %lu ANDs (%lu)",
                 form, n, party, session->traffic.messages, messages, session->traffic.value_bytes,
                 bytes, session->traffic.and_words, ands);
    }
    assert_int_equal(trio->party[party].rt.charges, messages);
    assert_true(trio->party[party].rt.charged_words >= ands);
    assert_int_equal(trio->party[party].rt.charged_words, trio->party[0].rt.charged_words);
}

static void traffic_is_as_stated(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 4; id++) {
        struct uvea_chacha rng;
        struct trio trio;
        uvea_chacha_init_seeded(&rng, 50 + id);
        trio_open(&trio, UVEA_PRF_AES128, id);
        for (size_t i = 0; i < 2 * UVEA_COUNT_OF(test_lengths); i++) {
            struct scan scan;
            scan_open(&scan, i % 2, test_lengths[i / 2]);
            scan_fill_random(&scan, &rng);
            run_scan(&trio, &scan);
            for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
                check_traffic(&trio, p, scan.form, scan.count);
            }
            scan_close(&scan);
        }
        trio_close(&trio);
    }
}

// 53.33 and 40 bits per comparison, on average over the parties, but for the framing of 20 or 18
// messages (5 bytes each).
static void bits_per_comparison(void **state)
{
    (void)state;
    enum { COUNT = 3 * 64 * 100 };
    static const uint64_t bits_of_three[] = {160, 120};
    struct uvea_chacha rng;
    struct trio trio;
    uvea_chacha_init_seeded(&rng, 60);
    trio_open(&trio, UVEA_PRF_AES128, 2);
    for (unsigned form = FULL; form <= RANGE; form++) {
        struct scan scan;
        uint64_t bytes = 0;
        scan_open(&scan, form, COUNT);
        scan_fill_random(&scan, &rng);
        run_scan(&trio, &scan);
        for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
            const struct uvea_traffic *traffic = &trio.party[p].session.traffic;
            bytes += traffic->value_bytes - 5 * traffic->messages;
        }
        assert_int_equal(8 * bytes, bits_of_three[form] * COUNT);
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
    enum { COUNT = 64 * 64 };
    for (uint32_t id = 0; id < 3; id++) {
        for (unsigned form = FULL; form <= RANGE; form++) {
            struct trio trio;
            struct scan scan;
            trio_open(&trio, UVEA_PRF_AES128, id);
            scan_open(&scan, form, COUNT);
            run_scan(&trio, &scan);
            for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
                struct uvea_buf *log = &trio.party[p].log;
                size_t blocks = log->len / 64;
                qsort(log->data, blocks, 64, compare_blocks);
                for (size_t i = 1; i < blocks; i++) {
                    assert_memory_not_equal(log->data + 64 * i, log->data + 64 * (i - 1), 64);
                }
            }
            scan_close(&scan);
            trio_close(&trio);
        }
    }
}

// ---- peers that do something else

// Fails with at least one party refusing its peer with a sentence, and nobody given a result.
static void assert_refused(const struct trio *trio, const struct scan *scan)
{
    unsigned refused = 0;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        enum uvea_error error = trio->party[p].error;
        assert_true(error == UVEA_ERR_PEER || error == UVEA_ERR_CLOSED);
        assert_int_not_equal(strlen(trio->party[p].session.error.text), 0);
        refused += error == UVEA_ERR_PEER;
        assert_int_equal(scan->opened[p][0], UNTOUCHED);
    }
    assert_true(refused > 0);
}

static enum uvea_error one_short(struct uvea_session *session, unsigned party, void *arg)
{
    struct scan scan = *(const struct scan *)arg;
    scan.count -= party == 1 ? 1 : 0;
    return match(session, party, &scan);
}

static void a_wrong_count_leaves_no_result(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 3; id++) {
        for (unsigned form = FULL; form <= RANGE; form++) {
            struct uvea_chacha rng;
            struct trio trio;
            struct scan scan;
            uvea_chacha_init_seeded(&rng, 70);
            trio_open(&trio, UVEA_PRF_AES128, id);
            scan_open(&scan, form, 65);
            scan_fill_random(&scan, &rng);
            trio_try(&trio, one_short, &scan);
            assert_refused(&trio, &scan);
            scan_close(&scan);
            trio_close(&trio);
        }
    }
}

// Party 1 answers the first message with numbers that are not below p. In the full form everybody
// sends to next; in the other the two that do not hold z tell each other.
static enum uvea_error beyond_the_field(struct uvea_session *session, unsigned party, void *arg)
{
    const struct scan *scan = arg;
    if (party != 1) {
        return match(session, party, arg);
    }
    static const uint16_t beyond[65] = {1, P, 0, 65535};
    bool to_prev = scan->form == RANGE && session->id % 3 == 2;
    enum uvea_peer peer = to_prev ? UVEA_PEER_PREV : UVEA_PEER_NEXT;
    UVEA_TRY(uvea_mpc_send_vec_u16(session, peer, beyond, scan->count));
    return uvea_error_set(&session->error, UVEA_ERR_CLOSED, "has done its harm");
}

static void numbers_beyond_the_field_are_refused(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 3; id++) {
        for (unsigned form = FULL; form <= RANGE; form++) {
            if (form == RANGE && id == 1) {
                continue; // party 1 is the holder: it sends bits, which may be any
            }
            struct uvea_chacha rng;
            struct trio trio;
            struct scan scan;
            uvea_chacha_init_seeded(&rng, 80);
            trio_open(&trio, UVEA_PRF_AES128, id);
            scan_open(&scan, form, 65);
            scan_fill_random(&scan, &rng);
            trio_try(&trio, beyond_the_field, &scan);
            unsigned victim = form == RANGE && id == 2 ? 0 : 2;
            assert_refused(&trio, &scan);
            assert_int_equal(trio.party[victim].error, UVEA_ERR_PEER);
            assert_non_null(strstr(trio.party[victim].session.error.text, "2 of 65"));
            scan_close(&scan);
            trio_close(&trio);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_representative),
        cmocka_unit_test(lopsided_sharings),
        cmocka_unit_test(ends_of_the_range_under_many_sharings),
        cmocka_unit_test(every_length_role_and_generator),
        cmocka_unit_test(the_only_match_is_in_the_last_lane),
        cmocka_unit_test(traffic_is_as_stated),
        cmocka_unit_test(bits_per_comparison),
        cmocka_unit_test(masks_cover_everything_sent),
        cmocka_unit_test(a_wrong_count_leaves_no_result),
        cmocka_unit_test(numbers_beyond_the_field_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
