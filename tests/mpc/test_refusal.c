// What a party does about peers that send another number of elements, or another ring, than the
// step expects: an error with a sentence, never a result.
#include "core/base/check.h"
#include "core/mpc/bits.h"
#include "core/mpc/inject.h"
#include "core/mpc/predicate.h"
#include "core/mpc/ring.h"
#include "core/mpc/round.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/trio.h"

#include <string.h>

// One party believes in another length.
struct odd_one {
    unsigned party;
    size_t usual;
    size_t odd;
};

static size_t length_of(const struct odd_one *odd, unsigned party)
{
    return party == odd->party ? odd->odd : odd->usual;
}

static enum uvea_error odd_refresh(struct uvea_session *session, unsigned party, void *arg)
{
    static const uint16_t zeros[200];
    struct uvea_share16 out;
    enum uvea_error error = uvea_mpc_refresh(session, zeros, length_of(arg, party), &out);
    if (error != UVEA_OK && (out.a != NULL || out.b != NULL || out.count != 0)) {
        return UVEA_ERR_STATE;
    }
    uvea_share16_deinit(&out);
    return error;
}

static enum uvea_error odd_and(struct uvea_session *session, unsigned party, void *arg)
{
    uint64_t words[4][200] = {0};
    size_t count = length_of(arg, party);
    struct uvea_planes x = {words[0], words[1], 1, count};
    struct uvea_planes out = {words[2], words[3], 1, count};
    return uvea_mpc_and(session, &x, &x, &out);
}

static enum uvea_error odd_reveal_bits(struct uvea_session *session, unsigned party, void *arg)
{
    uint64_t words[3][200] = {0};
    size_t lanes = length_of(arg, party);
    struct uvea_planes x = {words[0], words[1], 1, uvea_words_for(lanes)};
    return uvea_mpc_reveal_bits(session, &x, lanes, words[2]);
}

static enum uvea_error odd_reveal_u32(struct uvea_session *session, unsigned party, void *arg)
{
    uint32_t words[3][200] = {0};
    struct uvea_share32 x = {words[0], words[1], length_of(arg, party)};
    return uvea_mpc_reveal_u32(session, &x, words[2]);
}

static enum uvea_error odd_inject(struct uvea_session *session, unsigned party, void *arg)
{
    uint64_t words[2][200] = {0};
    uint32_t halves[2][200];
    size_t lanes = length_of(arg, party);
    struct uvea_planes x = {words[0], words[1], 1, uvea_words_for(lanes)};
    struct uvea_share32 out = {halves[0], halves[1], lanes};
    return uvea_mpc_inject_u32(session, &x, lanes, &out);
}

static void wrong_counts_are_refused(void **state)
{
    (void)state;
    static trio_fn *const ops[] = {odd_refresh, odd_and, odd_reveal_bits, odd_reveal_u32,
                                   odd_inject};
    static const size_t lengths[][2] = {{3, 2}, {2, 3}, {1, 2}, {2, 1}, {64, 65}, {128, 64}};
    for (size_t op = 0; op < UVEA_COUNT_OF(ops); op++) {
        for (size_t i = 0; i < UVEA_COUNT_OF(lengths); i++) {
            struct trio trio;
            struct odd_one odd = {(unsigned)i % 3, lengths[i][0], lengths[i][1]};
            trio_open(&trio, UVEA_PRF_AES128, 0);
            trio_try(&trio, ops[op], &odd);
            unsigned next = (odd.party + 1) % 3;
            // Next refuses the odd one's message, and the odd one refuses prev's; with bit
            // injection one of them may already be told that the other is gone.
            bool next_refuses = trio.party[next].error == UVEA_ERR_PEER;
            bool odd_refuses = trio.party[odd.party].error == UVEA_ERR_PEER;
            assert_true(next_refuses || odd_refuses);
            assert_int_not_equal(trio.party[next].error, UVEA_OK);
            assert_int_not_equal(trio.party[odd.party].error, UVEA_OK);
            const struct uvea_session *refusing =
                &trio.party[next_refuses ? next : odd.party].session;
            assert_int_not_equal(strlen(refusing->error.text), 0);
            trio_close(&trio);
        }
    }
}

// A vector of the right length in another ring.
static enum uvea_error odd_ring(struct uvea_session *session, unsigned party, void *arg)
{
    (void)arg;
    uint32_t words[3][5] = {0};
    uint64_t wide[2][5] = {0};
    if (party == 0) {
        UVEA_TRY(uvea_mpc_send_u64(session, UVEA_PEER_NEXT, wide[0], 5));
        return uvea_mpc_recv_u64(session, UVEA_PEER_PREV, wide[1], 5);
    }
    struct uvea_share32 x = {words[0], words[1], 5};
    return uvea_mpc_reveal_u32(session, &x, words[2]);
}

static void another_ring_is_refused(void **state)
{
    (void)state;
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 0);
    trio_try(&trio, odd_ring, NULL);
    assert_int_equal(trio.party[0].error, UVEA_ERR_PEER);
    assert_int_equal(trio.party[1].error, UVEA_ERR_PEER);
    assert_int_equal(trio.party[2].error, UVEA_OK);
    trio_close(&trio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_counts_are_refused),
        cmocka_unit_test(another_ring_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
