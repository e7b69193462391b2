// One run after the other without faults: answers, verdicts, hashes, and what an onlooker of the
// network can learn.
#include "core/base/check.h"
#include "tests/world/desk.h"

// ---- answers

static void test_sizes_pass(void **state)
{
    (void)state;
    static const unsigned sizes[] = {0, 1, 9};
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
                   UVEA_VERDICT_WRONG,
                   "message-1 (uniqueness): expected list matched lacks serial 2");
    assert_verdict(SMALL "database: {records: 3}\n"
                         "requests:\n  - {kind: new, expect: {match: true}}\n",
                   UVEA_VERDICT_WRONG, "message-1 (uniqueness): expected match true");
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

// ---- limits

static void test_limits(void **state)
{
    (void)state;
    assert_verdict(SMALL "limits: {steps: 50}\ndatabase: {records: 0}\n" PAIR_OF_REQUESTS,
                   UVEA_VERDICT_RESOURCE_LIMIT, "50 steps");
    assert_verdict(SMALL "limits: {sim_s: 1}\ndatabase: {records: 0}\n" PAIR_OF_REQUESTS,
                   UVEA_VERDICT_RESOURCE_LIMIT, "simulated ms");
    assert_verdict(SMALL "swarm: {recovery_s: 2}\ndatabase: {records: 0}\n" PAIR_OF_REQUESTS,
                   UVEA_VERDICT_NO_PROGRESS, "not answered by all parties");
}

// A run that cannot be made on this machine is no failure of the service.
static void test_absent_kernels(void **state)
{
    (void)state;
    static const char *const kernels[] = {"avx512", "neon"}; // no processor has both
    unsigned absent = 0;
    for (size_t i = 0; i < UVEA_COUNT_OF(kernels); i++) {
        char text[200];
        struct uvea_scenario scenario;
        struct uvea_world_result result;
        struct uvea_error_context context = {.text = ""};
        const struct uvea_world_options options = {.trace = NULL};
        (void)snprintf(text, sizeof(text),
                       SMALL "kernels: {p1: %s}\ndatabase: {records: 0}\n" PAIR_OF_REQUESTS,
                       kernels[i]);
        load(text, &scenario);
        if (uvea_world_run(&scenario, &options, &result, &context) != UVEA_OK) {
            assert_non_null(strstr(context.text, kernels[i]));
            absent++;
        }
        uvea_scenario_deinit(&scenario);
    }
    assert_true(absent > 0);
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
        "scan: ntt\nfield_predicate: valid-range\n",
        "chunk_records: 2\nnetwork: {latency_us: 7000}\n",
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
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_absent_kernels),
        cmocka_unit_test(test_one_seed_one_hash),
        cmocka_unit_test(test_one_hash_of_answers),
        cmocka_unit_test(test_shape_does_not_depend_on_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
