// Bits into the field: every length and role, what is sent, and peers that send something else.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/mpc/field_inject.h"
#include "core/mpc/round.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/deal.h"
#include "tests/mpc/field_deal.h"
#include "tests/mpc/trio.h"

#include <string.h>

enum { P = 52201, PLANES_MAX = 3 };

// planes of `lanes` lanes, shared as components; out as the parties hold it.
struct injection {
    size_t plane_count;
    size_t lanes;
    struct dealt bits; // words of one plane after the other
    struct uvea_share16 out[UVEA_PARTY_COUNT];
};

static void injection_open(struct injection *injection, size_t planes, size_t lanes, uint64_t seed)
{
    *injection = (struct injection){.plane_count = planes, .lanes = lanes};
    deal_random(&injection->bits, planes * uvea_words_for(lanes), seed);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(uvea_share16_init(&injection->out[p], planes * lanes), UVEA_OK);
    }
}

static void injection_close(struct injection *injection)
{
    deal_free(&injection->bits);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_share16_deinit(&injection->out[p]);
    }
}

static enum uvea_error inject(struct uvea_session *session, unsigned party, void *arg)
{
    struct injection *injection = arg;
    const struct uvea_planes planes = {injection->bits.part[party],
                                       injection->bits.part[prev_of(party)], injection->plane_count,
                                       uvea_words_for(injection->lanes)};
    return uvea_mpc_inject_field(session, &planes, injection->lanes, &injection->out[party]);
}

static void check_element(const struct injection *injection, size_t plane, size_t lane)
{
    size_t at = plane * injection->lanes + lane;
    size_t word = plane * uvea_words_for(injection->lanes) + lane / 64;
    uint32_t sum = 0;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uint16_t component = injection->out[p].a[at];
        assert_true(component < P);
        assert_int_equal(component, injection->out[(p + 1) % UVEA_PARTY_COUNT].b[at]);
        sum += component;
    }
    assert_int_equal(sum % P, dealt_xor(&injection->bits, word) >> lane % 64 & 1);
}

static void run_injection(struct trio *trio, size_t planes, size_t lanes, uint64_t seed)
{
    struct injection injection;
    injection_open(&injection, planes, lanes, seed);
    trio_mark(trio);
    trio_run(trio, inject, &injection);
    for (size_t i = 0; i < planes * lanes; i++) {
        check_element(&injection, i / lanes, i % lanes);
    }
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const struct uvea_traffic *traffic = &trio->party[p].session.traffic;
        assert_int_equal(traffic->messages, lanes > 0);
        assert_int_equal(traffic->value_bytes,
                         lanes > 0 ? field_vector_bytes(planes * lanes, 2) : 0);
        assert_int_equal(traffic->and_words, 0);
        assert_int_equal(trio->party[p].rt.charges, lanes > 0);
    }
    trio_assert_in_step(trio);
    injection_close(&injection);
}

static void every_length_role_and_generator(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 4; id++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            struct trio trio;
            trio_open(&trio, kind, id);
            for (size_t i = 0; i < UVEA_COUNT_OF(test_lengths); i++) {
                for (size_t planes = 1; planes <= PLANES_MAX; planes++) {
                    run_injection(&trio, planes, test_lengths[i], 10 * i + planes);
                }
            }
            trio_close(&trio);
        }
    }
}

enum { ODD_LANES = 5 };

// Party 1 sends numbers that are not below p, or too few.
struct odd_party {
    struct injection injection;
    size_t sent;
};

static enum uvea_error inject_oddly(struct uvea_session *session, unsigned party, void *arg)
{
    static const uint16_t beyond[ODD_LANES] = {1, P, 0, 65535, 2};
    struct odd_party *odd = arg;
    if (party != 1) {
        return inject(session, party, &odd->injection);
    }
    UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, beyond, odd->sent));
    return UVEA_OK;
}

static void other_vectors_are_refused(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 3; id++) {
        for (size_t sent = ODD_LANES - 1; sent <= ODD_LANES; sent++) {
            struct trio trio;
            struct odd_party odd = {.sent = sent};
            injection_open(&odd.injection, 1, ODD_LANES, id);
            trio_open(&trio, UVEA_PRF_AES128, id);
            trio_try(&trio, inject_oddly, &odd);
            assert_int_equal(trio.party[2].error, UVEA_ERR_PEER);
            const char *said = trio.party[2].session.error.text;
            assert_non_null(strstr(said, sent == ODD_LANES ? "2 of 5" : ""));
            assert_int_not_equal(strlen(said), 0);
            injection_close(&odd.injection);
            trio_close(&trio);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_role_and_generator),
        cmocka_unit_test(other_vectors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
