#include "sim/runtime/random.h"
#include "tests/sim/chatter.h"

#include <stdlib.h>
#include <unistd.h>

// Of seed 1. The same on every compiler, optimisation level and run; it changes only with the
// simulator's own behaviour, and then on purpose.
static const char golden_hash[] =
    "d2957a3e43f0a5692d0983cc5fef87f6eb67f32d843fd294455565852733b196";

static void hex(const uint8_t *bytes, size_t count, char *text)
{
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
}

static struct uvea_sim_outcome run_chatter(uint64_t seed, struct uvea_sim_record_list *keep,
                                           const struct uvea_sim_record_list *expected,
                                           struct uvea_sim_difference *difference)
{
    struct uvea_sim_config config = chatter_config(seed);
    struct uvea_sim *sim = open_sim(&config);
    struct uvea_sim_trace *trace = uvea_sim_trace(sim);
    struct chatter chatter;
    if (keep != NULL) {
        uvea_sim_trace_keep(trace, keep);
    }
    if (expected != NULL) {
        uvea_sim_trace_compare(trace, expected);
    }
    chatter_start(&chatter, sim);
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_FINISHED);
    unsigned timeouts = 0;
    for (unsigned i = 0; i < CHATTER_PARTIES; i++) {
        assert_int_equal(chatter.parties[i].rounds, CHATTER_ROUNDS);
        timeouts += chatter.parties[i].timeouts;
    }
    assert_true(timeouts > 0);
    assert_true(chatter.parties[2].dials > 1);
    if (difference != NULL) {
        uvea_sim_trace_difference(trace, difference);
    }
    uvea_sim_close(sim);
    return outcome;
}

static void test_golden_hash(void **state)
{
    (void)state;
    char text[2 * UVEA_SIM_HASH_BYTES + 1];
    struct uvea_sim_outcome outcome = run_chatter(1, NULL, NULL, NULL);
    hex(outcome.hash, sizeof(outcome.hash), text);
    assert_string_equal(text, golden_hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
