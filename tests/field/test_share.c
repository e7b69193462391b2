// The weights of Shamir sharing over F_p, by what they must do.
#include "core/base/chacha.h"
#include "core/field/share.h"
#include "tests/support/cmocka.h"

enum { P = 52201 };

static void weights_are_the_published_ones(void **state)
{
    (void)state;
    assert_int_equal(uvea_field_weight_three(uvea_party_at(0)), 3);
    assert_int_equal(uvea_field_weight_three(uvea_party_at(1)), P - 3);
    assert_int_equal(uvea_field_weight_three(uvea_party_at(2)), 1);
    assert_int_equal(uvea_field_weight_two(uvea_party_at(0), uvea_party_at(1)), 2);
    assert_int_equal(uvea_field_weight_two(uvea_party_at(1), uvea_party_at(0)), P - 1);
}

static uint32_t random_element(struct uvea_chacha *rng)
{
    return (uint32_t)(uvea_chacha_next_u64(rng) % P);
}

// c0 + c1 z + c2 z^2 at the party's point.
static uint64_t polynomial_at(const uint32_t c[3], unsigned party)
{
    uint64_t z = party + 1;
    return (c[0] + c[1] * z + c[2] * z * z) % P;
}

static void any_two_parties_know_a_line(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 1);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t line[3] = {random_element(&rng), random_element(&rng), 0};
        for (unsigned a = 0; a < 3; a++) {
            unsigned b = (a + 1) % 3;
            uint64_t weight_a = uvea_field_weight_two(uvea_party_at(a), uvea_party_at(b));
            uint64_t weight_b = uvea_field_weight_two(uvea_party_at(b), uvea_party_at(a));
            uint64_t sum = polynomial_at(line, a) * weight_a + polynomial_at(line, b) * weight_b;
            assert_int_equal(sum % P, line[0]);
        }
    }
}

static void all_three_know_a_product(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 2);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t parabola[3] = {random_element(&rng), random_element(&rng), random_element(&rng)};
        uint64_t sum = 0;
        for (unsigned p = 0; p < 3; p++) {
            sum += polynomial_at(parabola, p) * uvea_field_weight_three(uvea_party_at(p));
        }
        assert_int_equal(sum % P, parabola[0]);
    }
}

// A component becomes a share that the party lacking it holds as zero.
static void components_become_lines(void **state)
{
    (void)state;
    for (unsigned lacking = 0; lacking < 3; lacking++) {
        struct uvea_party zero = uvea_party_at(lacking);
        assert_int_equal(uvea_field_weight_component(zero, zero), 0);
        for (unsigned a = 0; a < 3; a++) {
            struct uvea_party mine = uvea_party_at(a);
            struct uvea_party other = uvea_party_at(a + 1);
            uint64_t at_zero = (uint64_t)uvea_field_weight_component(mine, zero) *
                                   uvea_field_weight_two(mine, other) +
                               (uint64_t)uvea_field_weight_component(other, zero) *
                                   uvea_field_weight_two(other, mine);
            assert_int_equal(at_zero % P, 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_the_published_ones),
        cmocka_unit_test(any_two_parties_know_a_line),
        cmocka_unit_test(all_three_know_a_product),
        cmocka_unit_test(components_become_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
