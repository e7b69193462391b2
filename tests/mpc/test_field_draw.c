// Uniform field elements from a stream: which words are kept, that both holders keep the same, and
// that the residues are spread evenly; field elements from a peer.
#include "core/base/mem.h"
#include "core/field/field.h"
#include "core/mpc/field_draw.h"
#include "core/mpc/round.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/trio.h"

#include <string.h>

enum { P = 52201, DRAWS = 1 << 20 };

static const uint8_t seed[UVEA_PRF_SEED_BYTES] = {7, 1};

// floor(2^32 / p) p = 82277 p
static const uint32_t limit = 4294941677;

static void words_around_the_limit(void **state)
{
    (void)state;
    assert_int_equal(limit % P, 0);
    assert_true(UINT64_C(4294967296) - limit < P);
    assert_true(uvea_prg_field_accepts(0));
    assert_true(uvea_prg_field_accepts(limit - 1));
    assert_false(uvea_prg_field_accepts(limit));
    assert_false(uvea_prg_field_accepts(limit + 1));
    assert_false(uvea_prg_field_accepts(UINT32_MAX));
}

static struct uvea_prg *open_prg(enum uvea_prf_kind kind)
{
    struct uvea_prg *prg;
    assert_int_equal(uvea_prg_open(kind, seed, &prg), UVEA_OK);
    return prg;
}

// The next element by the rule, with %; counts what it rejects.
static uint32_t draw_by_rule(struct uvea_prg *prg, size_t *rejected)
{
    uint32_t word = uvea_prg_next_u32(prg);
    for (; word >= limit; (*rejected)++) {
        word = uvea_prg_next_u32(prg);
    }
    return word % P;
}

// Two holders of one stream, one of which draws in small pieces, the other by the rule.
static void holders_stay_in_step(void **state)
{
    (void)state;
    static uint16_t drawn[997];
    for (unsigned kind = 0; kind < 2; kind++) {
        struct uvea_prg *mine = open_prg(kind);
        struct uvea_prg *theirs = open_prg(kind);
        size_t rejected = 0;
        for (size_t done = 0; done < DRAWS;) {
            size_t count = done % 998;
            uvea_prg_fill_field(mine, drawn, count);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(drawn[i], draw_by_rule(theirs, &rejected));
            }
            assert_int_equal(uvea_prg_bytes_drawn(mine), uvea_prg_bytes_drawn(theirs));
            done += count + 1;
        }
        assert_true(rejected > 0); // else the rule was not exercised
        uvea_prg_close(mine);
        uvea_prg_close(theirs);
    }
}

// sum (observed - expected)^2 / expected over `cells` equal cells.
static double chi_square(const uint16_t *drawn, uint32_t cells)
{
    uint32_t *counts = uvea_mem_alloc(cells, sizeof(*counts));
    double *expected = uvea_mem_alloc(cells, sizeof(*expected));
    assert_non_null(counts);
    assert_non_null(expected);
    for (uint32_t value = 0; value < P; value++) {
        expected[(uint64_t)value * cells / P] += (double)DRAWS / P;
    }
    for (size_t i = 0; i < DRAWS; i++) {
        counts[(uint64_t)drawn[i] * cells / P]++;
    }
    double sum = 0;
    for (uint32_t i = 0; i < cells; i++) {
        double off = counts[i] - expected[i];
        sum += off * off / expected[i];
    }
    uvea_mem_free(counts);
    uvea_mem_free(expected);
    return sum;
}

// The statistic has mean c - 1 and variance 2 (c - 1): the bounds are five deviations off.
static void residues_are_spread_evenly(void **state)
{
    (void)state;
    uint16_t *drawn = uvea_mem_alloc(DRAWS, sizeof(*drawn));
    assert_non_null(drawn);
    for (unsigned kind = 0; kind < 2; kind++) {
        struct uvea_prg *prg = open_prg(kind);
        uvea_prg_fill_field(prg, drawn, DRAWS);
        double all = chi_square(drawn, P);
        assert_true(all > 52200 - 5 * 324 && all < 52200 + 5 * 324);
        double few = chi_square(drawn, 33);
        assert_true(few > 0.5 && few < 32 + 5 * 8);
        uvea_prg_close(prg);
    }
    uvea_mem_free(drawn);
}

// What the odd party sends instead of canonical elements.
struct odd_vector {
    size_t sent;
    uint16_t values[5];
};

static enum uvea_error receive_field(struct uvea_session *session, unsigned party, void *arg)
{
    static const uint16_t good[5] = {0, 1, 2, P - 1, 5};
    const struct odd_vector *odd = arg;
    uint16_t got[5];
    if (party == 0) {
        UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, odd->values, odd->sent));
    } else {
        UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, good, 5));
    }
    return uvea_mpc_recv_field(session, UVEA_PEER_PREV, got, 5);
}

static void other_vectors_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct odd_vector odd;
        const char *said;
    } cases[] = {
        {{5, {P, 0, 0, 0, 0}}, "1 of 5"},     {{5, {0, 0, 0, 0, 65535}}, "1 of 5"},
        {{5, {P, P, P + 1, P, P}}, "5 of 5"}, {{5, {1, P, 2, 60000, 3}}, "2 of 5"},
        {{4, {0, 0, 0, 0, 0}}, ""},           {{0, {0, 0, 0, 0, 0}}, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct trio trio;
        struct odd_vector odd = cases[i].odd;
        trio_open(&trio, UVEA_PRF_AES128, 0);
        trio_try(&trio, receive_field, &odd);
        assert_int_equal(trio.party[0].error, UVEA_OK);
        assert_int_equal(trio.party[1].error, UVEA_ERR_PEER);
        assert_int_equal(trio.party[2].error, UVEA_OK);
        const char *text = trio.party[1].session.error.text;
        assert_int_not_equal(strlen(text), 0);
        assert_non_null(strstr(text, cases[i].said));
        trio_close(&trio);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_around_the_limit),
        cmocka_unit_test(holders_stay_in_step),
        cmocka_unit_test(residues_are_spread_evenly),
        cmocka_unit_test(other_vectors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
