// Seed exchange, shared seed, drift check, state check (wire.md 4, 6.15).
#include "core/base/check.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/trio.h"

#include <string.h>

static enum uvea_error exchange(struct uvea_session *session, unsigned party, void *arg)
{
    (void)arg;
    struct uvea_session fresh;
    UVEA_TRY(uvea_session_init(&fresh, session->rt, session->link, uvea_party_at(party), 0,
                               UVEA_PRF_CHACHA8));
    enum uvea_error error = UVEA_OK;
    if (uvea_prg_next_u64(fresh.prf.my) != uvea_prg_next_u64(session->prf.my) ||
        uvea_prg_next_u64(fresh.prf.prev) != uvea_prg_next_u64(session->prf.prev) ||
        fresh.traffic.messages != 1 || fresh.traffic.value_bytes != 17) {
        error = UVEA_ERR_STATE;
    }
    uvea_session_deinit(&fresh);
    return error;
}

static void seeds_go_to_next(void **state)
{
    (void)state;
    struct trio trio;
    trio_open(&trio, UVEA_PRF_CHACHA8, 0);
    trio_run(&trio, exchange, NULL);
    trio_close(&trio);
}

static enum uvea_error shared_seed(struct uvea_session *session, unsigned party, void *arg)
{
    uint8_t(*seeds)[UVEA_PRF_SEED_BYTES] = arg;
    return uvea_session_shared_seed(session, seeds[party]);
}

static void shared_seed_is_the_xor(void **state)
{
    (void)state;
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 0);
    uint8_t seeds[UVEA_PARTY_COUNT][UVEA_PRF_SEED_BYTES];
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio.party[i].rt.entropy = 0x10U << i;
    }
    trio_run(&trio, shared_seed, seeds);
    const uint8_t want[UVEA_PRF_SEED_BYTES] = {0x70};
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_memory_equal(seeds[i], want, sizeof(want));
        assert_int_equal(trio.party[i].session.traffic.messages, 2);
    }
    trio_close(&trio);
}

static enum uvea_error check_drift(struct uvea_session *session, unsigned party, void *arg)
{
    (void)party;
    (void)arg;
    return uvea_session_check_drift(session);
}

static void drift_check_golden(void **state)
{
    (void)state;
    static const uint8_t want[UVEA_PARTY_COUNT][17] = {
        {0x0b, 0x64, 0xd5, 0xef, 0xe5, 0x69, 0x5a, 0x43, 0x87, 0x37, 0x45, 0x35, 0x62, 0xf1, 0x89,
         0x31, 0xa6},
        {0x0b, 0x6f, 0xf5, 0x63, 0x02, 0xda, 0xf2, 0x8f, 0x4f, 0xb8, 0x7b, 0x13, 0x33, 0xde, 0x38,
         0xec, 0x58},
        {0x0b, 0x2d, 0x35, 0xac, 0x17, 0xbc, 0xb2, 0x2c, 0x29, 0x10, 0x3f, 0xb7, 0x6a, 0x30, 0x3d,
         0xe2, 0x00},
    };
    struct trio trio;
    trio_open(&trio, UVEA_PRF_CHACHA8, 0);
    trio_run(&trio, check_drift, NULL);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(trio.party[i].log.len, 34);
        assert_memory_equal(trio.party[i].log.data, want[i], 17);
        assert_memory_equal(trio.party[i].log.data + 17, want[i], 17);
    }
    trio_assert_in_step(&trio);
    trio_close(&trio);
}

static void drift_is_noticed_by_all(void **state)
{
    (void)state;
    for (unsigned culprit = 0; culprit < UVEA_PARTY_COUNT; culprit++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            struct trio trio;
            trio_open(&trio, kind, 0);
            trio_run(&trio, check_drift, NULL);
            (void)uvea_prg_next_u32(trio.party[culprit].session.prf.my);
            trio_try(&trio, check_drift, NULL);
            for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
                assert_int_equal(trio.party[i].error, UVEA_ERR_DRIFT);
                assert_non_null(strstr(trio.party[i].session.error.text, "zero shares"));
            }
            trio_close(&trio);
        }
    }
}

struct state_of {
    uint64_t irises[UVEA_PARTY_COUNT];
    uint64_t graph[UVEA_PARTY_COUNT];
};

static enum uvea_error check_state(struct uvea_session *session, unsigned party, void *arg)
{
    const struct state_of *of = arg;
    return uvea_session_check_state(session, of->irises[party], of->graph[party]);
}

static void states_are_compared(void **state)
{
    (void)state;
    static const struct {
        struct state_of of;
        enum uvea_error want;
    } cases[] = {
        {{{1, 1, 1}, {2, 2, 2}}, UVEA_OK},
        {{{1, 1, 9}, {2, 2, 2}}, UVEA_ERR_STATE},
        {{{1, 1, 1}, {9, 2, 2}}, UVEA_ERR_STATE},
        {{{1, 2, 3}, {4, 5, 6}}, UVEA_ERR_STATE},
    };
    for (size_t c = 0; c < UVEA_COUNT_OF(cases); c++) {
        struct trio trio;
        trio_open(&trio, UVEA_PRF_AES128, 0);
        struct state_of of = cases[c].of;
        trio_try(&trio, check_state, &of);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_int_equal(trio.party[i].error, cases[c].want);
            assert_int_equal(trio.party[i].session.traffic.value_bytes, 34);
        }
        trio_close(&trio);
    }
}

// Party 2 sends a state checksum where a seed is expected.
static enum uvea_error wrong_kind(struct uvea_session *session, unsigned party, void *arg)
{
    struct uvea_session *fresh = (struct uvea_session *)arg + party;
    if (party == 2) {
        return uvea_session_check_state(session, 1, 2);
    }
    return uvea_session_init(fresh, session->rt, session->link, uvea_party_at(party), 3,
                             UVEA_PRF_AES128);
}

static void a_wrong_value_is_refused_with_a_sentence(void **state)
{
    (void)state;
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 3);
    struct uvea_session fresh[UVEA_PARTY_COUNT];
    memset(fresh, 0xA5, sizeof(fresh));
    trio_try(&trio, wrong_kind, fresh);
    assert_int_equal(trio.party[0].error, UVEA_ERR_PEER);
    assert_int_not_equal(strlen(fresh[0].error.text), 0);
    assert_null(fresh[0].prf.my);
    assert_null(fresh[0].link);
    assert_int_not_equal(trio.party[2].error, UVEA_OK);
    uvea_session_deinit(&fresh[1]);
    trio_close(&trio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_go_to_next),
        cmocka_unit_test(shared_seed_is_the_xor),
        cmocka_unit_test(drift_check_golden),
        cmocka_unit_test(drift_is_noticed_by_all),
        cmocka_unit_test(states_are_compared),
        cmocka_unit_test(a_wrong_value_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
