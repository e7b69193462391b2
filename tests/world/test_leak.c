// A share on its way to somebody else is seen wherever it starts; what goes to its owner, or comes
// from a client, is nobody's business.
#include "core/base/mem.h"
#include "sim/world/leak.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum { NOISE_BYTES = 4096 };

struct rig {
    struct uvea_leak leak;
    struct uvea_iris_upload *uploads; // one per party, all values different
    uint8_t noise[NOISE_BYTES];
};

static uint16_t value_of(unsigned party, unsigned eye, unsigned plane, size_t at)
{
    const uint64_t mixed =
        (((uint64_t)party * 2 + eye) * 2 + plane) * 1000003 + at * 7919 + UINT64_C(0x5bd1e995);
    return (uint16_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

static int set_up(void **state)
{
    struct rig *rig = uvea_mem_alloc(1, sizeof(*rig));
    assert_non_null(rig);
    rig->uploads = uvea_mem_alloc(3, sizeof(*rig->uploads));
    assert_non_null(rig->uploads);
    for (unsigned party = 0; party < 3; party++) {
        for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at++) {
                rig->uploads[party].eye[eye].code[at] = value_of(party, eye, 0, at);
                rig->uploads[party].eye[eye].mask[at] = value_of(party, eye, 1, at);
            }
        }
        assert_int_equal(uvea_leak_know(&rig->leak, party, &rig->uploads[party]), UVEA_OK);
    }
    for (size_t i = 0; i < NOISE_BYTES; i++) {
        rig->noise[i] = (uint8_t)(i * 37 + i / 256);
    }
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    uvea_leak_deinit(&rig->leak);
    uvea_mem_free(rig->uploads);
    uvea_mem_free(rig);
    return 0;
}

// 72 bytes of a share behind some noise.
static void send_piece(struct rig *rig, const uint16_t *values, size_t odd, unsigned from,
                       unsigned to)
{
    uint8_t bytes[512];
    memcpy(bytes, rig->noise, sizeof(bytes));
    memcpy(bytes + 100 + odd, values, 72);
    uvea_leak_watch(&rig->leak, from, to, bytes, sizeof(bytes));
}

static void test_found_wherever_it_starts(void **state)
{
    struct rig *rig = *state;
    for (size_t at = 0; at + 36 <= UVEA_MASK_COEFFICIENTS; at += 61) {
        const uint64_t before = rig->leak.found;
        send_piece(rig, &rig->uploads[1].eye[1].code[at], at % 7, 1, 2);
        assert_true(rig->leak.found > before);
        send_piece(rig, &rig->uploads[1].eye[0].mask[at], at % 5, 0, 2);
        assert_true(rig->leak.found > before + 1);
    }
    assert_int_equal(rig->leak.from, 1);
    assert_int_equal(rig->leak.to, 2);
    assert_int_equal(rig->leak.owner, 1);
}

static void test_not_found_where_it_belongs(void **state)
{
    struct rig *rig = *state;
    send_piece(rig, rig->uploads[2].eye[0].code, 3, 0, 2); // to its owner
    send_piece(rig, rig->uploads[2].eye[0].code, 3, 3, 1); // from a client
    send_piece(rig, (const uint16_t *)(const void *)rig->noise, 3, 0, 1);
    uvea_leak_watch(&rig->leak, 0, 1, (const uint8_t *)rig->uploads[0].eye[0].code, 7);
    assert_int_equal(rig->leak.found, 0);
}

static void test_nothing_known(void **state)
{
    struct rig *rig = *state;
    struct uvea_leak nothing = {.count = 0};
    uvea_leak_watch(&nothing, 0, 1, rig->noise, NOISE_BYTES);
    assert_int_equal(nothing.found, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found_wherever_it_starts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_found_where_it_belongs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_known, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
