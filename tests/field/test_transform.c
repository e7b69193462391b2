// The 200-point transform against the direct sums that define it.
#include "core/field/transform.h"
#include "tests/field/field_sample.h"
#include "tests/support/cmocka.h"

#include <stdbool.h>

enum { P = 52201, N = 200 };

static uint32_t roots[N]; // omega^i

static int find_roots(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) {
        roots[i] = field_sample_root(i);
    }
    return 0;
}

// sum_t in[t] omega^(sign k t)
static uint16_t direct_sum(const uint16_t in[N], int k, int sign)
{
    uint64_t sum = 0;
    for (int t = 0; t < N; t++) {
        sum += (uint64_t)in[t] * roots[(sign * k * t % N + N) % N];
    }
    return (uint16_t)(sum % P);
}

static void check_forward(const uint16_t in[N])
{
    uint16_t out[N];
    uvea_transform_forward(in, out);
    for (int k = 0; k < N; k++) {
        if (out[k] != direct_sum(in, k, 1)) {
            fail_msg("frequency %d: %u instead of %u", k, out[k], direct_sum(in, k, 1));
        }
    }
}

static void check_inverse(const uint16_t in[N])
{
    uint16_t out[N];
    uvea_transform_inverse(in, out);
    for (int t = 0; t < N; t++) {
        assert_int_equal((uint64_t)out[t] * N % P, direct_sum(in, t, -1));
    }
}

static void check_selected(const uint16_t in[N])
{
    uint16_t out[UVEA_TRANSFORM_ROTATIONS];
    uvea_transform_selected_inverse(in, out);
    for (int rotation = -15; rotation <= 15; rotation++) {
        uint16_t want = direct_sum(in, rotation, -1);
        if (out[rotation + 15] != want) {
            fail_msg("rotation %d: %u instead of %u", rotation, out[rotation + 15], want);
        }
    }
}

static void check_there_and_back(const uint16_t in[N])
{
    uint16_t spectrum[N];
    uint16_t back[N];
    uvea_transform_forward(in, spectrum);
    uvea_transform_inverse(spectrum, back);
    assert_memory_equal(back, in, sizeof(back));
    uvea_transform_inverse(in, spectrum);
    uvea_transform_forward(spectrum, back);
    assert_memory_equal(back, in, sizeof(back));
}

static void check_all(const uint16_t in[N])
{
    check_forward(in);
    check_inverse(in);
    check_selected(in);
    check_there_and_back(in);
}

// The transform is linear, so that the impulses determine it; scaled ones exercise the products.
static void impulses(void **state)
{
    (void)state;
    static const uint16_t heights[] = {1, P - 1, 26100, 26101};
    for (unsigned t = 0; t < N; t++) {
        for (unsigned h = 0; h < 4; h++) {
            uint16_t in[N] = {0};
            in[t] = heights[h];
            check_all(in);
        }
    }
}

static void constants_and_extremes(void **state)
{
    (void)state;
    static const uint16_t values[] = {0, 1, P - 1, 26100, 26101};
    uint16_t in[N];
    for (unsigned v = 0; v < 5; v++) {
        for (unsigned t = 0; t < N; t++) {
            in[t] = values[v];
        }
        check_all(in);
    }
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 1);
    for (unsigned i = 0; i < 200; i++) {
        field_sample_fill_extreme(&rng, in, N);
        check_all(in);
    }
}

static void random_values(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 2);
    for (unsigned i = 0; i < 300; i++) {
        uint16_t in[N];
        field_sample_fill(&rng, in, N);
        check_all(in);
    }
}

// The paired sums of the selected inverse at their largest: every product 26100 * 26100-ish of one
// sign. The value at k is chosen by the sign of the table.
static void selected_inverse_at_its_bound(void **state)
{
    (void)state;
    for (unsigned r = 0; r < 15; r++) {
        for (unsigned flip = 0; flip < 2; flip++) {
            uint16_t even[N] = {0};
            uint16_t odd[N] = {0};
            for (unsigned k = 1; k <= 99; k++) {
                bool up = (uvea_transform_cosine[r][k - 1] > 0) != (flip == 1);
                even[k] = up ? 26100 : 26101; // A = 26100 or -26100, B likewise
                up = (uvea_transform_sine[r][k - 1] > 0) != (flip == 1);
                odd[k] = up ? 26100 : 26101;
            }
            check_selected(even);
            check_selected(odd);
        }
    }
}

static void tables_are_their_definition(void **state)
{
    (void)state;
    const uint64_t half = 26101;
    for (int r = 1; r <= 15; r++) {
        for (int k = 1; k <= 99; k++) {
            uint64_t up = roots[r * k % N];
            uint64_t down = roots[(N - r * k % N) % N];
            int16_t cosine = uvea_transform_cosine[r - 1][k - 1];
            int16_t sine = uvea_transform_sine[r - 1][k - 1];
            assert_int_equal((cosine + P) % P, (up + down) * half % P);
            assert_int_equal((sine + P) % P, (down + P - up) * half % P);
            assert_true(cosine >= -26100 && cosine <= 26100 && sine >= -26100 && sine <= 26100);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impulses),
        cmocka_unit_test(constants_and_extremes),
        cmocka_unit_test(random_values),
        cmocka_unit_test(selected_inverse_at_its_bound),
        cmocka_unit_test(tables_are_their_definition),
    };
    return cmocka_run_group_tests(tests, find_roots, NULL);
}
