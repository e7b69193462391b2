// Arithmetic in F_52201 against % on wider integers. The reductions' whole ranges are looked at in
// proofs/; here their ends and a dense sample.
#include "core/base/chacha.h"
#include "core/base/check.h"
#include "core/field/field.h"
#include "tests/support/cmocka.h"

#include <stdbool.h>

enum { P = 52201 };

static void constants_are_the_published_ones(void **state)
{
    (void)state;
    assert_int_equal(UVEA_FIELD_PRIME, 52201);
    assert_int_equal(UVEA_FIELD_ROOT, 43061);
    assert_int_equal(UVEA_FIELD_ROOT_ORDER, 200);
    assert_int_equal(UVEA_FIELD_CENTRED_MAX, 26100);
}

// Operands at both ends, around the middle, powers of two and their neighbours.
static const uint16_t chosen[] = {0,     1,     2,     3,     127,   128,   255,   256,
                                  257,   19432, 19433, 26099, 26100, 26101, 32767, 32768,
                                  32769, 43061, 51199, 51968, 51969, 52198, 52199, 52200};

static void check_pair(uint32_t left, uint32_t right)
{
    uint16_t l = (uint16_t)left;
    uint16_t r = (uint16_t)right;
    if (uvea_field_add(l, r) != (left + right) % P ||
        uvea_field_sub(l, r) != (left + P - right) % P ||
        uvea_field_mul(l, r) != (uint64_t)left * right % P) {
        fail_msg("%u and %u: sum %u, difference %u, product %u", left, right, uvea_field_add(l, r),
                 uvea_field_sub(l, r), uvea_field_mul(l, r));
    }
}

static void operations_on_all_representatives(void **state)
{
    (void)state;
    for (uint32_t x = 0; x < P; x++) {
        for (size_t i = 0; i < UVEA_COUNT_OF(chosen); i++) {
            check_pair(x, chosen[i]);
            check_pair(chosen[i], x);
        }
        check_pair(x, x);
        check_pair(x, P - 1 - x);
        assert_int_equal(uvea_field_neg((uint16_t)x), (P - x) % P);
    }
}

static void operations_on_random_pairs(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 1);
    for (unsigned i = 0; i < 2000000; i++) {
        uint32_t word = uvea_chacha_next_u32(&rng);
        check_pair((word & 0xFFFF) % P, (word >> 16) % P);
    }
}

static void check_reductions(uint64_t x)
{
    uint32_t low = (uint32_t)x;
    int64_t as_signed = (int32_t)low;
    if (uvea_field_reduce_u64(x) != x % P || uvea_field_reduce_u32(low) != low % P ||
        uvea_field_reduce_i32((int32_t)low) != (as_signed % P + P) % P) {
        fail_msg("%lu: %u; its low word: unsigned %u, signed %u", x, uvea_field_reduce_u64(x),
                 uvea_field_reduce_u32(low), uvea_field_reduce_i32((int32_t)low));
    }
}

// Around every power of two, every end of a type and large multiples of p.
static void reductions_at_their_ends(void **state)
{
    (void)state;
    static const uint64_t multiples[] = {0,       1,        2,          41138,
                                         82276,   P,        P - 1,      UINT32_MAX / P,
                                         1 << 21, 1u << 31, UINT32_MAX, UINT64_MAX / P};
    for (int64_t step = -300; step <= 300; step++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            check_reductions((UINT64_C(1) << bit) + (uint64_t)step);
            check_reductions(-(UINT64_C(1) << bit) + (uint64_t)step);
        }
        for (size_t i = 0; i < UVEA_COUNT_OF(multiples); i++) {
            check_reductions(multiples[i] * P + (uint64_t)step);
            check_reductions(-multiples[i] * P + (uint64_t)step);
        }
    }
}

static void reductions_on_a_dense_sample(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 2);
    for (uint64_t x = 0; x < UINT64_C(1) << 32; x += 997) {
        check_reductions(x);
        check_reductions(x << 32 | (x ^ 0x9E3779B9));
    }
    for (unsigned i = 0; i < 2000000; i++) {
        check_reductions(uvea_chacha_next_u64(&rng));
    }
}

static void powers_and_inverses(void **state)
{
    (void)state;
    assert_int_equal(uvea_field_inverse(0), 0);
    assert_int_equal(uvea_field_inverse(1), 1);
    assert_int_equal(uvea_field_inverse(2), 26101);
    assert_int_equal(uvea_field_inverse(3), 34801);
    assert_int_equal(uvea_field_pow(0, 0), 1);
    assert_int_equal(uvea_field_pow(0, 7), 0);
    for (uint32_t x = 1; x < P; x++) {
        uint32_t inverse = uvea_field_inverse((uint16_t)x);
        assert_true(inverse < P);
        assert_int_equal((uint64_t)inverse * x % P, 1);
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(chosen); i++) {
        uint64_t power = 1;
        for (uint32_t exponent = 0; exponent < 500; exponent++) {
            assert_int_equal(uvea_field_pow(chosen[i], exponent), power);
            power = power * chosen[i] % P;
        }
        assert_int_equal(uvea_field_pow(chosen[i], P), chosen[i]);
    }
}

static void centring_is_a_bijection(void **state)
{
    (void)state;
    for (int32_t x = 0; x < P; x++) {
        int32_t centred = uvea_field_to_centred((uint16_t)x);
        assert_int_equal(centred, x > 26100 ? x - P : x);
        assert_int_equal(uvea_field_from_centred((int16_t)centred), x);
        assert_true(uvea_field_is_canonical((uint16_t)x));
    }
    for (uint32_t x = P; x <= UINT16_MAX; x++) {
        assert_false(uvea_field_is_canonical((uint16_t)x));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_the_published_ones),
        cmocka_unit_test(operations_on_all_representatives),
        cmocka_unit_test(operations_on_random_pairs),
        cmocka_unit_test(reductions_at_their_ends),
        cmocka_unit_test(reductions_on_a_dense_sample),
        cmocka_unit_test(powers_and_inverses),
        cmocka_unit_test(centring_is_a_bijection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
