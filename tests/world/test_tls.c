// Parties under TLS in the simulator: the seed decides every byte of it, and answers do not change.
#include "tests/world/desk.h"

#define STORY                                                                                      \
    SMALL "database: {records: 3}\nclient: {pause_ms: 1500}\n"                                     \
          "faults:\n  - {kind: crash, from: p1, at_ms: 2500}\n"                                    \
          "requests:\n  - {type: mix, repeat: 5, enrolments: 2}\n"

static struct uvea_world_result run_good(const char *text)
{
    struct uvea_world_result result = run(text);
    assert_string_equal(result.reason, "");
    assert_int_equal(result.verdict, UVEA_VERDICT_PASS);
    return result;
}

static void test_one_seed_one_hash_under_tls(void **state)
{
    (void)state;
    struct uvea_world_result bare = run_good(STORY);
    struct uvea_world_result one = run_good(STORY "network: {tls: on}\n");
    struct uvea_world_result two = run_good(STORY "network: {tls: on}\n");
    assert_memory_equal(one.hash, two.hash, sizeof(one.hash));
    assert_memory_not_equal(one.hash, bare.hash, sizeof(one.hash));
    assert_memory_equal(one.answers_hash, bare.answers_hash, sizeof(one.answers_hash));
    struct uvea_world_result again = run_good(STORY);
    assert_memory_equal(again.hash, bare.hash, sizeof(bare.hash));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_true(one.bytes_sent[i] > bare.bytes_sent[i]);
    }
}

// Allocations that fail inside a handshake or a record end a connection, never a run.
static void test_short_memory_under_tls(void **state)
{
    (void)state;
    static const char *const seeds[] = {"seed: 1\n", "seed: 2\n"};
    for (unsigned i = 0; i < 2; i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), "%s%s", seeds[i],
                       SMALL "network: {tls: on}\ndatabase: {records: 2}\n" PAIR_OF_REQUESTS
                             "swarm: {faults: on, faults_s: 20, network: on, http: off, process: "
                             "on, storage: off, clock: on, memory: on, malformed: off, hostile: "
                             "off}\n");
        (void)run_good(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_seed_one_hash_under_tls),
        cmocka_unit_test(test_short_memory_under_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
