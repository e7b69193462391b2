#include "core/base/check.h"
#include "sim/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void load(const char *text, struct uvea_scenario *scenario)
{
    struct uvea_error_context context = {.text = ""};
    enum uvea_error error = uvea_scenario_parse("world.yaml", (const uint8_t *)text, strlen(text),
                                                NULL, 0, scenario, &context);
    if (error != UVEA_OK) {
        fail_msg("%s", context.text);
    }
}

static struct uvea_world_result run_with(const char *text, const struct uvea_world_options *options)
{
    struct uvea_scenario scenario;
    struct uvea_world_result result = {.requests = 0};
    struct uvea_error_context context = {.text = ""};
    load(text, &scenario);
    enum uvea_error error = uvea_world_run(&scenario, options, &result, &context);
    uvea_scenario_deinit(&scenario);
    if (error != UVEA_OK) {
        fail_msg("%s: %s", uvea_error_text(error), context.text);
    }
    return result;
}

static struct uvea_world_result run(const char *text)
{
    const struct uvea_world_options options = {.trace = NULL};
    return run_with(text, &options);
}

static void assert_verdict(const char *text, enum uvea_verdict verdict, const char *sentence)
{
    struct uvea_world_result result = run(text);
    if (result.verdict != verdict || strstr(result.reason, sentence) == NULL) {
        fail_msg("wanted %s with <%s>, got %s: %s", uvea_verdict_text(verdict), sentence,
                 uvea_verdict_text(result.verdict), result.reason);
    }
}

#define SMALL "sessions: 8\nconnections: 2\n"
#define PAIR_OF_REQUESTS "requests:\n  - {kind: new}\n  - {kind: duplicate, of: 1}\n"

// ---- answers

static void test_sizes_pass(void **state)
{
    (void)state;
    static const unsigned sizes[] = {0, 1, 2, 3, 9};
    static const char *const paths[] = {"ring", "ntt"};
    for (size_t i = 0; i < UVEA_COUNT_OF(sizes) * UVEA_COUNT_OF(paths); i++) {
        unsigned records = sizes[i / UVEA_COUNT_OF(paths)];
        char text[256];
        (void)snprintf(text, sizeof(text),
                       SMALL
                       "scan: %s\nchunk_records: 4\ndatabase: {records: %u}\n" PAIR_OF_REQUESTS,
                       paths[i % UVEA_COUNT_OF(paths)], records);
        struct uvea_world_result result = run(text);
        assert_string_equal(result.reason, "");
        assert_int_equal(result.verdict, UVEA_VERDICT_PASS);
        assert_int_equal(result.responses, 6);
        assert_int_equal(result.records, records + 1);
    }
}

static void test_no_requests(void **state)
{
    (void)state;
    struct uvea_world_result result = run(SMALL "database: {records: 2}\n");
    assert_int_equal(result.verdict, UVEA_VERDICT_PASS);
    assert_int_equal(result.responses, 0);
}

static void test_wrong_expectation_is_reported(void **state)
{
    (void)state;
    assert_verdict(SMALL "database: {records: 3}\n"
                         "requests:\n  - {kind: duplicate, of: 2, expect: {matched: [3]}}\n",
                   UVEA_VERDICT_WRONG, "request-1: expected list matched lacks serial 2");
    assert_verdict(SMALL "database: {records: 3}\n"
                         "requests:\n  - {kind: new, expect: {match: true}}\n",
                   UVEA_VERDICT_WRONG, "request-1: expected match true");
    assert_verdict(SMALL "database: {records: 3}\n"
                         "requests:\n  - {kind: new, expect: {serial: 3}}\n",
                   UVEA_VERDICT_WRONG, "expected serial 3, the oracle gives 4");
}

static void test_impossible_plans_are_bad_input(void **state)
{
    (void)state;
    static const char *const plans[] = {
        "database: {records: 3}\nrequests: [{kind: duplicate, of: 4}]\n",
        "database: {records: 0}\nrequests: [{kind: mirrored}]\n",
        "database: {records: 0}\nrequests: [{kind: template, index: 1}]\n",
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(plans); i++) {
        char text[256];
        struct uvea_scenario scenario;
        struct uvea_world_result result;
        struct uvea_error_context context = {.text = ""};
        const struct uvea_world_options options = {.trace = NULL};
        (void)snprintf(text, sizeof(text), SMALL "%s", plans[i]);
        load(text, &scenario);
        assert_int_equal(uvea_world_run(&scenario, &options, &result, &context), UVEA_ERR_FORMAT);
        assert_true(context.text[0] != '\0');
        uvea_scenario_deinit(&scenario);
    }
}

static void test_missing_template_file(void **state)
{
    (void)state;
    struct uvea_scenario scenario;
    struct uvea_world_result result;
    struct uvea_error_context context = {.text = ""};
    const struct uvea_world_options options = {.trace = NULL};
    load("database: {source: templates, records: 1}\n"
         "templates: {directory: /nonexistent, files: [a.ndjson]}\n",
         &scenario);
    assert_int_equal(uvea_world_run(&scenario, &options, &result, &context), UVEA_ERR_NOT_FOUND);
    assert_non_null(strstr(context.text, "/nonexistent/a.ndjson"));
    uvea_scenario_deinit(&scenario);
}

// ---- faults of the network: a run may stop, it never answers wrongly

static void test_reset_anywhere(void **state)
{
    (void)state;
    static const char *const nodes[] = {"p0", "p1", "p2"};
    unsigned stopped = 0;
    for (unsigned link = 0; link < 6; link++) {
        const char *from = nodes[link % 3];
        const char *to = nodes[(link % 3 + 1 + link / 3) % 3];
        for (unsigned at = 0; at < 40000; at = at < 40 ? at + 13 : at * 3 - 7) {
            char text[400];
            (void)snprintf(
                text, sizeof(text),
                SMALL "database: {records: 5}\n"
                      "faults: [{kind: reset, from: %s, to: %s, at_byte: %u}]\n" PAIR_OF_REQUESTS,
                from, to, at);
            struct uvea_world_result result = run(text);
            if (result.verdict != UVEA_VERDICT_PASS && result.verdict != UVEA_VERDICT_NO_PROGRESS) {
                fail_msg("%s to %s after %u bytes: %s: %s", from, to, at,
                         uvea_verdict_text(result.verdict), result.reason);
            }
            stopped += result.verdict == UVEA_VERDICT_NO_PROGRESS;
        }
    }
    assert_true(stopped >= 6);
}

static void test_short_stall_is_survived(void **state)
{
    (void)state;
    assert_verdict(
        SMALL
        "database: {records: 5}\n"
        "faults: [{kind: stall, from: p0, to: p1, at_ms: 6005, for_ms: 4000}]\n" PAIR_OF_REQUESTS,
        UVEA_VERDICT_PASS, "");
    assert_verdict(
        SMALL "database: {records: 5}\n"
              "faults: [{kind: partition, from: p2, at_ms: 100, for_ms: 5000}]\n" PAIR_OF_REQUESTS,
        UVEA_VERDICT_PASS, "");
}

static void test_long_stall_stops_the_parties(void **state)
{
    (void)state;
    assert_verdict(SMALL
                   "database: {records: 5}\nnetwork: {recv_timeout_ms: 2000, latency_us: 20000}\n"
                   "faults: [{kind: stall, from: p0, to: p1, at_ms: 8000, for_ms: 100000}]\n"
                   "requests: [{kind: new, repeat: 50}]\n",
                   UVEA_VERDICT_NO_PROGRESS, "party");
}

// ---- limits

static void test_limits(void **state)
{
    (void)state;
    assert_verdict(SMALL "limits: {steps: 50}\n" PAIR_OF_REQUESTS, UVEA_VERDICT_RESOURCE_LIMIT,
                   "50 steps");
    assert_verdict(SMALL "limits: {sim_s: 1}\n" PAIR_OF_REQUESTS, UVEA_VERDICT_RESOURCE_LIMIT,
                   "simulated ms");
    assert_verdict(
        SMALL
        "limits: {answer_s: 1}\ndatabase: {records: 5}\n"
        "faults: [{kind: stall, from: client, to: p1, at_ms: 5, for_ms: 60000}]\n" PAIR_OF_REQUESTS,
        UVEA_VERDICT_NO_PROGRESS, "");
}

// ---- determinism and shape

static void test_one_seed_one_hash(void **state)
{
    (void)state;
    static const char text[] = SMALL "database: {records: 5}\n" PAIR_OF_REQUESTS;
    struct uvea_sim_record_list first = {.count = 0};
    const struct uvea_world_options keep = {.keep = &first};
    const struct uvea_world_options compare = {.compare = &first};
    struct uvea_world_result one = run_with(text, &keep);
    struct uvea_world_result two = run_with(text, &compare);
    assert_false(two.difference.found);
    assert_memory_equal(one.hash, two.hash, sizeof(one.hash));
    struct uvea_world_result other =
        run_with("seed: 2\n" SMALL "database: {records: 5}\n" PAIR_OF_REQUESTS, &compare);
    assert_true(other.difference.found);
    assert_memory_not_equal(one.hash, other.hash, sizeof(one.hash));
    uvea_sim_record_list_deinit(&first);
}

// The hash of the answers is one for both paths and any timing, and another when an answer, or only
// a candidate, is another.
static void test_one_hash_of_answers(void **state)
{
    (void)state;
    static const char *const same[] = {
        "scan: ring\n",
        "scan: ntt\n",
        "scan: ntt\nfield_predicate: valid-range\n",
        "network: {latency_us: 7000}\n",
        "chunk_records: 2\n",
    };
    static const char *const requests[] = {
        "requests: [{kind: new}, {kind: duplicate, of: 2}]\n",
        "requests: [{kind: new}, {kind: duplicate, of: 3}]\n",
        // No match either way, with and without a candidate.
        "requests: [{kind: threshold, of: 2, threshold: anonymous, place: at}]\n",
        "requests: [{kind: threshold, of: 2, threshold: anonymous, place: above}]\n",
    };
    struct uvea_world_result first[UVEA_COUNT_OF(requests)];
    for (size_t r = 0; r < UVEA_COUNT_OF(requests); r++) {
        for (size_t i = 0; i < UVEA_COUNT_OF(same); i++) {
            char text[300];
            (void)snprintf(text, sizeof(text), SMALL "database: {records: 5}\n%s%s", same[i],
                           requests[r]);
            struct uvea_world_result result = run(text);
            assert_int_equal(result.verdict, UVEA_VERDICT_PASS);
            first[r] = i == 0 ? result : first[r];
            assert_memory_equal(result.answers_hash, first[r].answers_hash,
                                sizeof(result.answers_hash));
        }
        for (size_t other = 0; other < r; other++) {
            assert_memory_not_equal(first[r].answers_hash, first[other].answers_hash,
                                    sizeof(first[r].answers_hash));
        }
    }
}

// Two databases of other people, all else equal: whoever sees sizes, order and times of all
// messages sees the same. (Only the answers are equal too: nobody matches.)
static void test_shape_does_not_depend_on_templates(void **state)
{
    (void)state;
    static const char *const people[] = {"people: 11\n", "people: 12\n"};
    static const char *const forms[] = {
        "predicate: dense\n",
        "predicate: two-term\n",
        "scan: ntt\n",
        "scan: ntt\nfield_predicate: valid-range\n",
    };
    for (size_t form = 0; form < UVEA_COUNT_OF(forms); form++) {
        struct uvea_sim_record_list lists[2] = {{.count = 0}, {.count = 0}};
        for (unsigned i = 0; i < 2; i++) {
            char text[300];
            const struct uvea_world_options keep = {.keep = &lists[i]};
            (void)snprintf(text, sizeof(text),
                           SMALL "%s%schunk_records: 3\ndatabase: {records: 10}\n"
                                 "requests: [{kind: new, repeat: 2}]\n",
                           people[i], forms[form]);
            assert_int_equal(run_with(text, &keep).verdict, UVEA_VERDICT_PASS);
        }
        uint64_t differing_payloads = 0;
        assert_int_equal(lists[0].count, lists[1].count);
        for (size_t i = 0; i < lists[0].count; i++) {
            const struct uvea_sim_record *left = &lists[0].records[i];
            const struct uvea_sim_record *right = &lists[1].records[i];
            assert_int_equal(left->time_ns, right->time_ns);
            assert_int_equal(left->amount, right->amount);
            assert_int_equal(left->kind, right->kind);
            assert_int_equal(left->node, right->node);
            assert_int_equal(left->peer, right->peer);
            differing_payloads += left->digest != right->digest;
        }
        assert_true(differing_payloads > 0);
        uvea_sim_record_list_deinit(&lists[0]);
        uvea_sim_record_list_deinit(&lists[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_pass),
        cmocka_unit_test(test_no_requests),
        cmocka_unit_test(test_wrong_expectation_is_reported),
        cmocka_unit_test(test_impossible_plans_are_bad_input),
        cmocka_unit_test(test_missing_template_file),
        cmocka_unit_test(test_reset_anywhere),
        cmocka_unit_test(test_short_stall_is_survived),
        cmocka_unit_test(test_long_stall_stops_the_parties),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_one_seed_one_hash),
        cmocka_unit_test(test_one_hash_of_answers),
        cmocka_unit_test(test_shape_does_not_depend_on_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
