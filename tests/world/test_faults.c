// Faults of each kind are carried out and lived through; restarts, points and marks are counted;
// damage beyond repair leads to no wrong answer.
#include "core/base/check.h"
#include "tests/world/desk.h"

// Four enrolments and a match, over about fifteen seconds; parties are ready after six.
#define STORY                                                                                      \
    SMALL "database: {records: 2}\nclient: {pause_ms: 2500}\n"                                     \
          "requests: [{kind: new, repeat: 4}, {kind: duplicate, of: 1}]\n"

static uint64_t struck(const struct uvea_world_result *result, enum uvea_family family)
{
    uint64_t count = 0;
    for (unsigned phase = 0; phase < UVEA_PHASE_COUNT; phase++) {
        count += result->faults[family][phase];
    }
    return count;
}

struct fault_case {
    enum uvea_family family;
    unsigned count;
    unsigned restarts; // at least
    const char *faults;
};

#define SECOND_3 "at_ms: 3000"
#define SECOND_7 "at_ms: 7000"
#define SECOND_9 "at_ms: 9000"

static const struct fault_case fault_cases[] = {
    {UVEA_FAMILY_NETWORK, 2, 0,
     "{kind: stall, from: p0, to: p1, " SECOND_7 ", for_ms: 1000}, "
     "{kind: partition, from: client, " SECOND_9 ", for_ms: 1500}"},
    {UVEA_FAMILY_NETWORK, 1, 0, "{kind: partition-in, from: p1, " SECOND_3 ", for_ms: 5000}"},
    {UVEA_FAMILY_NETWORK, 1, 0, "{kind: partition-out, from: p2, " SECOND_7 ", for_ms: 1500}"},
    {UVEA_FAMILY_NETWORK, 1, 3, "{kind: disconnect, from: p1, to: p2, " SECOND_7 "}"},
    {UVEA_FAMILY_HTTP, 4, 0,
     "{kind: http, from: p0, " SECOND_3 ", for_ms: 6000, amount: 300000, what: lost-answer}, "
     "{kind: http, from: p0, " SECOND_3 ", for_ms: 6000, amount: 200000, what: stale}, "
     "{kind: http, from: p1, " SECOND_3 ", for_ms: 6000, amount: 300000, what: status-409}, "
     "{kind: http, from: p2, " SECOND_3 ", for_ms: 6000, amount: 300000, what: status-5xx}"},
    {UVEA_FAMILY_HTTP, 4, 0,
     "{kind: http, from: p0, " SECOND_3 ", for_ms: 6000, amount: 200000, what: truncated}, "
     "{kind: http, from: p1, " SECOND_3 ", for_ms: 6000, amount: 200000, what: empty}, "
     "{kind: http, from: p1, " SECOND_3 ", for_ms: 6000, amount: 100000, what: no-answer}, "
     "{kind: http, from: p2, " SECOND_3 ", for_ms: 6000, amount: 200000, what: reset}"},
    {UVEA_FAMILY_HTTP, 3, 0,
     "{kind: http, from: p0, " SECOND_3 ", for_ms: 6000, amount: 200000, what: wrong-type}, "
     "{kind: http, from: p1, " SECOND_3 ", for_ms: 6000, amount: 200000, what: duplicate}, "
     "{kind: http, from: p2, " SECOND_3 ", for_ms: 6000, amount: 200000, what: slow}"},
    {UVEA_FAMILY_PROCESS, 2, 3,
     "{kind: crash, from: p0, " SECOND_7 "}, "
     "{kind: slow, from: p1, " SECOND_7 ", for_ms: 2000, amount: 1000}"},
    {UVEA_FAMILY_PROCESS, 1, 3,
     "{kind: crash-at-point, from: p1, " SECOND_3 ", point: committed, nth: 1}"},
    {UVEA_FAMILY_PROCESS, 1, 4, "{kind: crash-at-point, from: p1, " SECOND_7 ", point: replayed}"},
    {UVEA_FAMILY_PROCESS, 1, 3, "{kind: crash-at-step, from: p2, " SECOND_7 ", amount: 40}"},
    {UVEA_FAMILY_PROCESS, 2, 3,
     "{kind: pause, from: p1, " SECOND_7 ", for_ms: 1000}, {kind: stop, from: p1, " SECOND_9 "}"},
    {UVEA_FAMILY_STORAGE, 1, 1, "{kind: crash-at-write, from: p0, " SECOND_7 ", amount: 3}"},
    {UVEA_FAMILY_STORAGE, 1, 1,
     "{kind: disk-error, from: p1, " SECOND_7 ", for_ms: 2000, amount: 300000}"},
    {UVEA_FAMILY_STORAGE, 1, 0, "{kind: disk-fail-nth, from: p2, " SECOND_7 ", amount: 3}"},
    {UVEA_FAMILY_STORAGE, 1, 1,
     "{kind: disk-full, from: p0, " SECOND_7 ", for_ms: 3000, amount: 1}"},
    {UVEA_FAMILY_STORAGE, 1, 0,
     "{kind: disk-stall, from: p1, " SECOND_7 ", for_ms: 4000, amount: 300}"},
    {UVEA_FAMILY_CLOCK, 3, 0,
     "{kind: clock-step, from: p0, " SECOND_7 ", amount: 5000000}, "
     "{kind: clock-back, from: p1, " SECOND_7 ", amount: 5000000}, "
     "{kind: clock-set, from: p2, " SECOND_7 ", amount: 4000000000}"},
    {UVEA_FAMILY_MEMORY, 1, 0, "{kind: memory, from: p1, " SECOND_7 ", amount: 9}"},
    {UVEA_FAMILY_MEMORY, 1, 1, "{kind: memory-all, from: p2, " SECOND_7 ", amount: 9}"},
};

static void test_faults_of_each_kind(void **state)
{
    (void)state;
    uint64_t restarts = 0;
    for (size_t i = 0; i < UVEA_COUNT_OF(fault_cases); i++) {
        const struct fault_case *one = &fault_cases[i];
        char text[800];
        (void)snprintf(text, sizeof(text), STORY "faults: [%s]\n", one->faults);
        const struct uvea_world_result result = run(text);
        assert_verdict_is(text, &result, UVEA_VERDICT_PASS, "");
        for (unsigned family = 0; family < UVEA_FAMILY_COUNT; family++) {
            const uint64_t want = family == one->family ? one->count : 0;
            const uint64_t got = struck(&result, (enum uvea_family)family);
            // What befalls the client alone has no victim that stands anywhere.
            if (got > want || got + (strstr(one->faults, "from: client") != NULL) < want) {
                fail_msg("%s: %d of family %s\n", text, (int)got,
                         uvea_family_text((enum uvea_family)family));
            }
        }
        if (result.restarts < one->restarts) {
            fail_msg("%s: %d restarts", text, (int)result.restarts);
        }
        assert_int_equal(result.responses, 3 * 5);
        assert_int_equal(result.records, 6);
        assert_false(result.hostile);
        restarts += result.restarts;
    }
    assert_true(restarts < 100);
}

// It is killed, or asked to stop, while a sync stands still for longer than its peers wait.
static void test_ends_in_the_middle_of_a_sync(void **state)
{
    (void)state;
    static const char *const ends[] = {"crash", "stop"};
    for (size_t i = 0; i < UVEA_COUNT_OF(ends); i++) {
        char text[500];
        (void)snprintf(text, sizeof(text),
                       STORY "faults: [{kind: disk-stall, from: p1, at_ms: 7000, for_ms: 4000, "
                             "amount: 20000}, {kind: %s, from: p1, at_ms: 12000}]\n",
                       ends[i]);
        const struct uvea_world_result result = run(text);
        assert_verdict_is(text, &result, UVEA_VERDICT_PASS, "");
        assert_int_equal(struck(&result, UVEA_FAMILY_STORAGE), 1);
        assert_true(result.restarts >= 3);
    }
}

// A link may break at any byte: the parties meet again, and all is answered.
static void test_reset_anywhere(void **state)
{
    (void)state;
    static const unsigned at[] = {0, 4000, 4000, 2500, 90, 700};
    uint64_t restarts = 0;
    for (unsigned link = 0; link < 6; link++) {
        char text[400];
        (void)snprintf(
            text, sizeof(text),
            SMALL "database: {records: 5}\n"
                  "faults: [{kind: reset, from: p%u, to: p%u, at_byte: %u}]\n" PAIR_OF_REQUESTS,
            link % 3, (link % 3 + 1 + link / 3) % 3, at[link]);
        const struct uvea_world_result result = run(text);
        assert_verdict_is(text, &result, UVEA_VERDICT_PASS, "");
        restarts += result.restarts;
    }
    assert_true(restarts > 0);
}

// ---- what is counted

static void test_quiet_run_passes_every_point(void **state)
{
    (void)state;
    const struct uvea_world_result result =
        run(SMALL "scan: ntt\ndatabase: {records: 2}\n"
                  "requests: [{kind: new}, {type: deletion}]\n");
    assert_int_equal(result.verdict, UVEA_VERDICT_PASS);
    assert_int_equal(result.restarts, 0);
    assert_int_equal(result.batches, 2);
    assert_int_equal(result.errors, 0);
    for (unsigned point = 0; point < UVEA_POINT_COUNT; point++) {
        if (result.points[point] == 0) {
            fail_msg("%s was never passed", uvea_point_text((enum uvea_point)point));
        }
    }
    assert_int_equal(result.points[UVEA_POINT_READY], 3);
    assert_int_equal(result.points[UVEA_POINT_COMMITTED], 6);
    assert_int_equal(result.points[UVEA_POINT_SEARCHED], 3);
    assert_int_equal(result.points[UVEA_POINT_SHARE_STORED], 3);
    for (unsigned mark = 0; mark < UVEA_MARK_COUNT; mark++) {
        const bool want = mark == UVEA_MARK_UPDATED || mark == UVEA_MARK_DELETED;
        if (mark != UVEA_MARK_LAG_409) {
            assert_int_equal(result.marks[mark], want);
        }
    }
}

// A death at a step is a fault like any other, where it struck.
static void test_planned_deaths_are_counted(void **state)
{
    (void)state;
    static const unsigned steps[] = {1, 300};
    for (size_t i = 0; i < UVEA_COUNT_OF(steps); i++) {
        char text[200];
        (void)snprintf(text, sizeof(text), SMALL "crash: {p1_step: %u}\n" PAIR_OF_REQUESTS,
                       steps[i]);
        const struct uvea_world_result result = run(text);
        assert_verdict_is(text, &result, UVEA_VERDICT_PASS, "");
        assert_true(result.restarts > 0);
        assert_int_equal(struck(&result, UVEA_FAMILY_PROCESS), 1);
        assert_int_equal(result.faults[UVEA_FAMILY_PROCESS][UVEA_PHASE_NONE], i == 0);
    }
    // A step it never takes.
    const struct uvea_world_result result =
        run(SMALL "crash: {p1_step: 1000000}\n" PAIR_OF_REQUESTS);
    assert_int_equal(struck(&result, UVEA_FAMILY_PROCESS), 0);
}

// One run in which everything happens that is marked.
static void test_marks(void **state)
{
    (void)state;
    const struct uvea_world_result result =
        run(SMALL "service: {batch_requests_max: 8}\ndatabase: {records: 6}\nclient: {window: 4}\n"
                  "requests:\n"
                  "  - {kind: zero-overlap, skip_persistence: true}\n"
                  "  - {type: malformed, how: bad-json}\n"
                  "  - {kind: new, bad_share: p1}\n"
                  "  - {type: reset-check, kind: zero-overlap}\n"
                  "  - {type: reauth, kind: duplicate, of: 1}\n"
                  "  - {type: recovery-update, kind: new, serial: 2}\n"
                  "  - {type: deletion, serial: 5}\n"
                  "  - {type: restart, party: all, how: kill}\n"
                  "  - {kind: mirrored, of: 3}\n"
                  "  - {kind: duplicate, of: 6}\n"
                  "faults:\n"
                  "  - {kind: crash-at-point, from: p2, at_ms: 100, point: applied}\n"
                  "  - {kind: http, from: p0, at_ms: 10, for_ms: 9000, amount: 300000, "
                  "what: lost-answer}\n");
    assert_string_equal(result.reason, "");
    assert_int_equal(result.verdict, UVEA_VERDICT_PASS);
    for (unsigned mark = 0; mark < UVEA_MARK_COUNT; mark++) {
        if (result.marks[mark] == 0) {
            fail_msg("no %s", uvea_mark_text((enum uvea_mark)mark));
        }
    }
    assert_int_equal(result.errors, 2);
    assert_int_equal(struck(&result, UVEA_FAMILY_MALFORMED), 2);
    assert_true(result.restarts >= 6);
}

static void test_restarts(void **state)
{
    (void)state;
    static const char *const restarts[] = {
        "{type: restart, party: p1, how: stop}",
        "{type: restart, party: p2, how: kill}",
        "{type: restart, party: all, how: stop}",
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(restarts); i++) {
        char text[300];
        (void)snprintf(text, sizeof(text),
                       SMALL "scan: %s\ndatabase: {records: 3}\n"
                             "requests: [{kind: new}, %s, {kind: duplicate, of: 4}]\n",
                       i == 0 ? "ntt" : "ring", restarts[i]);
        const struct uvea_world_result result = run(text);
        assert_verdict_is(text, &result, UVEA_VERDICT_PASS, "");
        assert_true(result.restarts >= 3); // when one leaves, so do the others
        assert_in_range(result.marks[UVEA_MARK_FLEET_RESTART], 1, result.restarts / 3);
        assert_int_equal(result.requests, 2);
        assert_int_equal(result.responses, 6);
    }
}

// ---- damage beyond repair

static void test_hostile_faults_make_no_wrong_answer(void **state)
{
    (void)state;
    static const char *const faults[] = {
        "{kind: disk-wiped, from: p1, at_ms: 9000}",
        "{kind: disk-foreign, from: p1, to: p2, at_ms: 9000}",
        "{kind: disk-stale, from: p1, at_ms: 7000, for_ms: 2000}",
        "{kind: disk-rot, from: p2, at_ms: 9000}",
        ("{kind: disk-lying, from: p2, at_ms: 3000, for_ms: 7000}, "
         "{kind: crash, from: p2, at_ms: 9500}"),
    };
    unsigned unanswered = 0;
    for (size_t i = 0; i < UVEA_COUNT_OF(faults); i++) {
        char text[600];
        (void)snprintf(text, sizeof(text),
                       "class: hostile\nswarm: {recovery_s: 30}\n" STORY "faults: [%s]\n",
                       faults[i]);
        const struct uvea_world_result result = run(text);
        assert_verdict_is(text, &result, UVEA_VERDICT_PASS, "");
        assert_true(result.hostile);
        assert_int_equal(struck(&result, UVEA_FAMILY_HOSTILE), 1);
        assert_true(result.restarts > 0);
        unanswered += result.responses < 15;
    }
    assert_true(unanswered > 0);
}

// The same faults where everything must be answered, which no scenario file may say.
static void test_damage_is_no_recoverable_fault(void **state)
{
    (void)state;
    static const char text[] = "class: hostile\nswarm: {recovery_s: 30}\n" STORY
                               "faults: [{kind: disk-wiped, from: p1, at_ms: 9000}]\n";
    const struct uvea_world_options options = {.trace = NULL};
    struct uvea_scenario scenario;
    struct uvea_world_result result;
    struct uvea_error_context context = {.text = ""};
    load(text, &scenario);
    scenario.options[UVEA_OPTION_root_class] = 0;
    assert_int_equal(uvea_world_run(&scenario, &options, &result, &context), UVEA_OK);
    uvea_scenario_deinit(&scenario);
    assert_int_not_equal(result.verdict, UVEA_VERDICT_PASS);
    assert_string_not_equal(result.reason, "");
}

// ---- drawn faults

static void test_one_seed_one_hash_under_faults(void **state)
{
    (void)state;
    static const char text[] =
        SMALL "seed: 3\nswarm: {faults: on, faults_s: 15, network: on, http: on, process: on, "
              "storage: on, clock: on, memory: on, malformed: on, hostile: off}\n"
              "database: {records: 3}\nclient: {pause_ms: 1000}\n"
              "requests: [{type: mix, repeat: 10, enrolments: 3}]\n";
    struct uvea_sim_record_list first = {.count = 0};
    const struct uvea_world_options keep = {.keep = &first};
    const struct uvea_world_options compare = {.compare = &first};
    const struct uvea_world_result one = run_with(text, &keep);
    const struct uvea_world_result two = run_with(text, &compare);
    assert_verdict_is(text, &one, UVEA_VERDICT_PASS, "");
    assert_false(two.difference.found);
    assert_memory_equal(one.hash, two.hash, sizeof(one.hash));
    assert_memory_equal(one.answers_hash, two.answers_hash, sizeof(one.answers_hash));
    assert_memory_equal(one.faults, two.faults, sizeof(one.faults));
    uint64_t faults = 0;
    for (unsigned family = 0; family < UVEA_FAMILY_COUNT; family++) {
        faults += struck(&one, (enum uvea_family)family);
    }
    assert_true(faults > 5);
    uvea_sim_record_list_deinit(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_of_each_kind),
        cmocka_unit_test(test_ends_in_the_middle_of_a_sync),
        cmocka_unit_test(test_reset_anywhere),
        cmocka_unit_test(test_quiet_run_passes_every_point),
        cmocka_unit_test(test_planned_deaths_are_counted),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_hostile_faults_make_no_wrong_answer),
        cmocka_unit_test(test_damage_is_no_recoverable_fault),
        cmocka_unit_test(test_one_seed_one_hash_under_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
