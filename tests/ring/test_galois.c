// The ring by its defining properties, and the golden values of wire.md 7.
#include "core/ring/galois.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TRIALS = 1000 };

static const struct uvea_galois one = {{1, 0, 0, 0}};
static const struct uvea_galois zero = {{0, 0, 0, 0}};

static uint64_t state;

static uint16_t draw(void)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint16_t)(state >> 40);
}

static struct uvea_galois draw_element(void)
{
    struct uvea_galois element;
    for (unsigned i = 0; i < 4; i++) {
        element.c[i] = draw();
    }
    return element;
}

static int reset(void **unused)
{
    (void)unused;
    state = 7;
    return 0;
}

static void assert_element(struct uvea_galois found, struct uvea_galois want)
{
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(found.c[i], want.c[i]);
    }
}

static uint16_t dot(const uint16_t left[4], const uint16_t right[4])
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        sum += (uint32_t)left[i] * right[i];
    }
    return (uint16_t)sum;
}

static struct uvea_galois unit_vector(unsigned i)
{
    struct uvea_galois out = zero;
    out.c[i] = 1;
    return out;
}

static void test_add_sub_wrap(void **unused)
{
    (void)unused;
    struct uvea_galois left = {{65535, 0, 40000, 1}};
    struct uvea_galois right = {{1, 1, 40000, 65535}};
    assert_element(uvea_galois_add(left, right), (struct uvea_galois){{0, 1, 14464, 0}});
    assert_element(uvea_galois_sub(left, right), (struct uvea_galois){{65534, 65535, 0, 2}});
}

// x * a by the reduction rule alone.
static struct uvea_galois times_x(struct uvea_galois a)
{
    return (struct uvea_galois){{a.c[3], (uint16_t)(a.c[0] + a.c[3]), a.c[1], a.c[2]}};
}

static struct uvea_galois naive_product(struct uvea_galois left, struct uvea_galois right)
{
    struct uvea_galois sum = zero;
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned j = 0; j < 4; j++) {
            sum.c[j] = (uint16_t)(sum.c[j] + (uint32_t)right.c[i] * left.c[j]);
        }
        left = times_x(left);
    }
    return sum;
}

static void test_product_is_polynomial_product(void **unused)
{
    (void)unused;
    const struct uvea_galois x = {{0, 1, 0, 0}};
    const struct uvea_galois x_cubed = {{0, 0, 0, 1}};
    assert_element(uvea_galois_mul(x, x_cubed), (struct uvea_galois){{1, 1, 0, 0}});
    assert_element(uvea_galois_mul(x_cubed, x_cubed), (struct uvea_galois){{0, 0, 1, 1}});
    const struct uvea_galois all = {{65535, 65535, 65535, 65535}};
    assert_element(uvea_galois_mul(all, all), naive_product(all, all));
    for (unsigned i = 0; i < TRIALS; i++) {
        struct uvea_galois a = draw_element();
        struct uvea_galois b = draw_element();
        struct uvea_galois ab = uvea_galois_mul(a, b);
        assert_element(ab, naive_product(a, b));
        assert_element(ab, uvea_galois_mul(b, a));
        struct uvea_galois c = draw_element();
        assert_element(uvea_galois_mul(ab, c), uvea_galois_mul(a, uvea_galois_mul(b, c)));
        assert_element(uvea_galois_mul(uvea_galois_add(a, b), c),
                       uvea_galois_add(uvea_galois_mul(a, c), uvea_galois_mul(b, c)));
    }
}

static void test_inverse_of_units(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < TRIALS; i++) {
        struct uvea_galois unit = draw_element();
        unit.c[draw() % 4] |= 1;
        assert_element(uvea_galois_mul(unit, uvea_galois_inverse(unit)), one);
    }
}

static void test_exceptional_differences_are_units(void **unused)
{
    (void)unused;
    assert_element(uvea_galois_exceptional(11), (struct uvea_galois){{1, 1, 0, 1}});
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned j = 0; j < 16; j++) {
            if (i != j) {
                struct uvea_galois difference =
                    uvea_galois_sub(uvea_galois_exceptional(i), uvea_galois_exceptional(j));
                assert_element(uvea_galois_mul(difference, uvea_galois_inverse(difference)), one);
            }
        }
    }
}

static void test_basis_change_and_back(void **unused)
{
    (void)unused;
    const uint16_t first[4] = {1, 0, 0, 0};
    assert_element(uvea_galois_from_block(first), (struct uvea_galois){{1, 58082, 60579, 17325}});
    for (unsigned i = 0; i < TRIALS; i++) {
        struct uvea_galois value = draw_element();
        uint16_t block[4];
        uvea_galois_to_block(value, block);
        assert_element(uvea_galois_from_block(block), value);
    }
}

static void test_dual_is_square_of_inverse_basis(void **unused)
{
    (void)unused;
    uint16_t columns[4][4]; // of S^-1
    for (unsigned j = 0; j < 4; j++) {
        uvea_galois_to_block(unit_vector(j), columns[j]);
    }
    for (unsigned j = 0; j < 4; j++) {
        struct uvea_galois column = uvea_galois_dual(unit_vector(j));
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(column.c[i], dot(columns[i], columns[j]));
        }
    }
}

static void test_constant_term_trick(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < TRIALS; i++) {
        struct uvea_galois u = draw_element();
        struct uvea_galois v = draw_element();
        struct uvea_galois u_monomial = uvea_galois_from_block(u.c);
        struct uvea_galois v_monomial = uvea_galois_from_block(v.c);
        uint16_t want = dot(u.c, v.c);
        assert_int_equal(dot(uvea_galois_dual(u_monomial).c, v_monomial.c), want);
        struct uvea_galois product = uvea_galois_mul(u_monomial, v_monomial);
        assert_int_equal(uvea_galois_dual(product).c[0], want);
    }
}

static struct uvea_galois point(unsigned party)
{
    return uvea_galois_exceptional(party + 1);
}

// The factor (0 - e_other) / (e_mine - e_other) of a Lagrange weight at zero.
static struct uvea_galois lagrange_factor(unsigned mine, unsigned other)
{
    struct uvea_galois distance = uvea_galois_sub(point(mine), point(other));
    return uvea_galois_mul(uvea_galois_sub(zero, point(other)), uvea_galois_inverse(distance));
}

static void test_weights(void **unused)
{
    (void)unused;
    static const struct uvea_galois three[3] = {
        {{1, 2, 2, 2}}, {{65535, 65534, 65534, 65534}}, {{1, 0, 0, 0}}};
    static const struct uvea_galois two[3][3] = {
        {{{0}}, {{1, 1, 1, 1}}, {{0, 0, 0, 1}}},
        {{{0, 65535, 65535, 65535}}, {{0}}, {{1, 1, 0, 0}}},
        {{{1, 0, 0, 65535}}, {{0, 65535, 0, 0}}, {{0}}},
    };
    for (unsigned mine = 0; mine < 3; mine++) {
        struct uvea_galois product = one;
        for (unsigned step = 1; step < 3; step++) {
            unsigned other = (mine + step) % 3;
            struct uvea_galois factor = lagrange_factor(mine, other);
            struct uvea_galois weight =
                uvea_galois_weight_two(uvea_party_at(mine), uvea_party_at(other));
            assert_element(weight, factor);
            assert_element(weight, two[mine][other]);
            product = uvea_galois_mul(product, factor);
        }
        assert_element(uvea_galois_weight_three(uvea_party_at(mine)), product);
        assert_element(uvea_galois_weight_three(uvea_party_at(mine)), three[mine]);
    }
}

static void test_golden_shares(void **unused)
{
    (void)unused;
    const uint16_t block[4] = {1, 0, 65535, 1};
    const struct uvea_galois mask = {{28543, 16306, 27003, 31892}};
    static const struct uvea_galois shares[3] = {{{28544, 8852, 22045, 57743}},
                                                 {{31893, 52981, 11348, 52854}},
                                                 {{60436, 3751, 38351, 19210}}};
    struct uvea_galois secret = uvea_galois_from_block(block);
    assert_element(secret, (struct uvea_galois){{1, 58082, 60578, 25851}});
    for (unsigned i = 0; i < 3; i++) {
        assert_element(uvea_galois_share(uvea_party_at(i), secret, mask), shares[i]);
    }
}

static void test_any_two_shares_open(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < TRIALS; i++) {
        struct uvea_galois secret = draw_element();
        struct uvea_galois mask = draw_element();
        for (unsigned mine = 0; mine < 3; mine++) {
            struct uvea_party first = uvea_party_at(mine);
            struct uvea_party second = uvea_party_at(mine + 1);
            struct uvea_galois left = uvea_galois_mul(uvea_galois_share(first, secret, mask),
                                                      uvea_galois_weight_two(first, second));
            struct uvea_galois right = uvea_galois_mul(uvea_galois_share(second, secret, mask),
                                                       uvea_galois_weight_two(second, first));
            assert_element(uvea_galois_add(left, right), secret);
        }
    }
}

// A product of two shared values is opened by the three degree-2 weights.
static void test_product_of_shares_opens(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < TRIALS; i++) {
        struct uvea_galois a = draw_element();
        struct uvea_galois b = draw_element();
        struct uvea_galois a_mask = draw_element();
        struct uvea_galois b_mask = draw_element();
        struct uvea_galois sum = zero;
        for (unsigned k = 0; k < 3; k++) {
            struct uvea_party party = uvea_party_at(k);
            struct uvea_galois product = uvea_galois_mul(uvea_galois_share(party, a, a_mask),
                                                         uvea_galois_share(party, b, b_mask));
            sum = uvea_galois_add(sum, uvea_galois_mul(product, uvea_galois_weight_three(party)));
        }
        assert_element(sum, uvea_galois_mul(a, b));
    }
}

static struct uvea_galois preprocess(unsigned party, struct uvea_galois element)
{
    return uvea_galois_dual(
        uvea_galois_mul(element, uvea_galois_weight_three(uvea_party_at(party))));
}

static void test_query_preprocessing(void **unused)
{
    (void)unused;
    // Anti-diagonals of the three matrices: entry (i, j) is element i + j.
    static const uint16_t lists[3][7] = {
        {41904, 38106, 46631, 46632, 14474, 19201, 27727},
        {23632, 27430, 18905, 18904, 51062, 46335, 37809},
        {16038, 45700, 28361, 37176, 61738, 8525, 1},
    };
    static const struct uvea_galois examples[3] = {{{51321, 1480, 63513, 47483}},
                                                   {{14215, 64056, 2023, 18053}},
                                                   {{13545, 2150, 59883, 55159}}};
    for (unsigned party = 0; party < 3; party++) {
        for (unsigned j = 0; j < 4; j++) {
            struct uvea_galois column = preprocess(party, unit_vector(j));
            for (unsigned i = 0; i < 4; i++) {
                assert_int_equal(column.c[i], lists[party][i + j]);
            }
        }
        assert_element(preprocess(party, (struct uvea_galois){{1, 2, 3, 4}}), examples[party]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_sub_wrap),
        cmocka_unit_test_setup(test_product_is_polynomial_product, reset),
        cmocka_unit_test_setup(test_inverse_of_units, reset),
        cmocka_unit_test(test_exceptional_differences_are_units),
        cmocka_unit_test_setup(test_basis_change_and_back, reset),
        cmocka_unit_test(test_dual_is_square_of_inverse_basis),
        cmocka_unit_test_setup(test_constant_term_trick, reset),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_golden_shares),
        cmocka_unit_test_setup(test_any_two_shares_open, reset),
        cmocka_unit_test_setup(test_product_of_shares_opens, reset),
        cmocka_unit_test(test_query_preprocessing),
    };
    return cmocka_run_group_tests_name("ring_galois", tests, NULL, NULL);
}
