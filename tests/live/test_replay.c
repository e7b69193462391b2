// Scenarios replayed against simulated parties: what passes, what is refused, what is found. Built
// with planted faults, to have answers that are wrong.
#include "core/base/check.h"
#include "core/base/plant.h"
#include "core/iris/template.h"
#include "sim/gen/template.h"
#include "sim/live/report.h"
#include "sim/world/world.h"
#include "tests/live/stage.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIXED                                                                                      \
    STAGE_SMALL "seed: 5\ndatabase: {records: 4}\nrequests:\n"                                     \
                "  - {type: mix, repeat: 14, enrolments: 2}\n"                                     \
                "  - {type: restart, how: kill, party: p1}\n"                                      \
                "  - {kind: duplicate, of: 6, expect: {match: true, matched: [6]}}\n"              \
                "  - {type: restart, how: stop}\n"                                                 \
                "  - {kind: duplicate, of: 6, expect: {match: true, matched: [6]}}\n"              \
                "  - {kind: new, bad_share: p2}\n"                                                 \
                "  - {type: malformed, how: no-type}\n"
#define TWO                                                                                        \
    STAGE_SMALL "database: {records: 2}\nrequests:\n"                                              \
                "  - {kind: duplicate, of: 2}\n  - {kind: new}\n"

static const struct uvea_replay_result *run(struct stage *stage)
{
    stage_run(stage);
    if (stage->error != UVEA_OK) {
        fail_msg("%s: %s", uvea_error_text(stage->error), stage->context.text);
    }
    return &stage->result;
}

static void expect_error(struct stage *stage, enum uvea_error error, const char *says)
{
    stage_run(stage);
    if (stage->error != error || strstr(stage->context.text, says) == NULL) {
        fail_msg("%s: %s", uvea_error_text(stage->error), stage->context.text);
    }
    stage_close(stage);
}

// ---- what passes

static void differing(void *arg, const struct uvea_row_difference *difference)
{
    (void)arg;
    (void)fprintf(stderr, "%s differs\n",
                  difference->left != NULL ? difference->left->key : difference->right->key);
}

// The same requests, named alike, answered alike, as when the database was there from the start.
static void answers_are_those_of_a_simulated_run(void **state)
{
    (void)state;
    struct uvea_rows simulated = {.count = 0};
    struct uvea_world_result world;
    const struct uvea_world_options options = {.answer = uvea_rows_add, .answer_arg = &simulated};
    struct uvea_error_context context = {.text = ""};
    struct uvea_scenario scenario;
    stage_load(MIXED, &scenario);
    assert_int_equal(uvea_world_run(&scenario, &options, &world, &context), UVEA_OK);
    uvea_scenario_deinit(&scenario);
    struct stage *stage = stage_open(MIXED, MIXED);
    const struct uvea_replay_result *result = run(stage);
    if (result->verdict != UVEA_VERDICT_PASS) {
        fail_msg("%s", result->reason);
    }
    assert_int_equal(result->enrolments, 4);
    assert_int_equal(result->requests, 18);
    assert_int_equal(result->responses, 54);
    assert_int_equal(result->disagreements + result->mismatches, 0);
    assert_int_equal(result->latency_count, 18);
    assert_true(uvea_replay_latency_ns(result, 500) <= uvea_replay_latency_ns(result, 1000));
    assert_true(uvea_replay_latency_ns(result, 0) > 0);
    assert_true(result->bytes_sent > 18 * 10000 && result->bytes_received > 54 * 100);
    assert_true(result->ledger_checked);
    assert_string_equal(result->ledger, "the three stores hold what the oracle says");
    assert_int_equal(stage->acts[UVEA_REPLAY_KILL], 1);
    assert_int_equal(stage->acts[UVEA_REPLAY_STOP], 3 + 3); // the last three for the stores
    assert_int_equal(result->records, world.records);
    assert_memory_equal(result->answers_hash, world.answers_hash, sizeof(world.answers_hash));
    assert_int_equal(uvea_rows_compare(&simulated, &result->rows, differing, NULL), 0);
    uvea_rows_deinit(&simulated);
    stage_close(stage);
}

static void batches_pass_too(void **state)
{
    (void)state;
    static const char text[] =
        STAGE_SMALL "seed: 7\nscan: ntt\ndatabase: {records: 3}\nservice: {batch_requests_max: 4}\n"
                    "client: {window: 6}\nrequests:\n"
                    "  - {type: mix, repeat: 6, enrolments: 2}\n"
                    "  - {kind: duplicate, of: 1, repeat: 2}\n"
                    "  - {type: deletion, serial: 2, repeat: 2}\n"
                    "  - {type: malformed, how: unknown-type}\n";
    stage_expect_pass(text, text);
}

static void requests_keep_the_pace(void **state)
{
    (void)state;
    static const char text[] = STAGE_SMALL "client: {window: 4}\ndatabase: {records: 1}\n"
                                           "requests: [{kind: new, repeat: 5}]\n";
    struct stage *stage = stage_open(text, text);
    stage->config.pace_ns = 20 * UVEA_SECOND;
    const struct uvea_replay_result *result = run(stage);
    assert_int_equal(result->verdict, UVEA_VERDICT_PASS);
    assert_in_range(result->elapsed_ns, 80 * UVEA_SECOND, 85 * UVEA_SECOND);
    stage_close(stage);
}

static void stores_are_looked_at_where_they_can_be(void **state)
{
    (void)state;
    struct stage *stage = stage_open(TWO, TWO);
    stage->config.control.can[2] = 1u << UVEA_REPLAY_START;
    assert_int_equal(run(stage)->verdict, UVEA_VERDICT_PASS);
    assert_false(stage->result.ledger_checked);
    assert_string_equal(stage->result.ledger,
                        "skipped, the cluster file names no commands to stop and start each party");
    stage_close(stage);
    stage = stage_open(TWO, TWO);
    stage->config.control.open_store = NULL;
    assert_int_equal(run(stage)->verdict, UVEA_VERDICT_PASS);
    assert_string_equal(stage->result.ledger,
                        "skipped, the cluster file does not name the parties' stores");
    stage_close(stage);
}

// ---- parties that end by themselves

static void leave_alone(struct stage *stage)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        stage->machines[party].unsupervised = true;
    }
}

// Kills one after the other, whatever the replay is at.
static void kill_at_random(void *arg)
{
    struct stage *stage = arg;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, stage->kills_seed, "kills");
    while (stage->kills < 12 && !stage->over) {
        const uint64_t pause_ns = uvea_sim_random_below(&random, 6000) * UVEA_MS;
        assert_int_equal(uvea_rt_sleep_ns(stage->rt, pause_ns), UVEA_OK);
        stage->kills++;
        uvea_machine_kill(&stage->machines[uvea_sim_random_below(&random, UVEA_PARTY_COUNT)],
                          UVEA_MACHINE_UNHARMED);
    }
}

static void kills_at_any_time_are_healed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct stage *stage = stage_open(MIXED, MIXED);
        leave_alone(stage);
        stage->kills_seed = seed;
        stage->beside = kill_at_random;
        stage->config.pace_ns = 3 * UVEA_SECOND; // so that the kills come meanwhile
        const struct uvea_replay_result *result = run(stage);
        if (result->verdict != UVEA_VERDICT_PASS) {
            fail_msg("seed %u: %s", (unsigned)seed, result->reason);
        }
        assert_int_equal(stage->kills, 12);
        assert_true(result->ledger_checked);
        assert_string_equal(result->afterwards, "");
        stage_close(stage);
    }
}

// All three, between the check and the first request.
static void kill_all(void *arg)
{
    struct stage *stage = arg;
    while (stage->result.common_config.len == 0) {
        assert_int_equal(uvea_rt_sleep_ns(stage->rt, UVEA_MS), UVEA_OK);
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_machine_kill(&stage->machines[party], UVEA_MACHINE_UNHARMED);
    }
}

static void clusters_that_answered_once_are_started(void **state)
{
    (void)state;
    struct stage *stage = stage_open(TWO, TWO);
    leave_alone(stage);
    stage->after_ns = 20 * UVEA_SECOND; // all are ready, so that nothing is asked twice
    stage->beside = kill_all;
    assert_int_equal(run(stage)->verdict, UVEA_VERDICT_PASS);
    stage_close(stage);
}

// Party 1, once and again as soon as it is ready, so that nothing is ever answered.
static void kill_whenever_it_runs(void *arg)
{
    struct stage *stage = arg;
    while (!stage->over) {
        assert_int_equal(uvea_rt_sleep_ns(stage->rt, 500 * UVEA_MS), UVEA_OK);
        if (stage->machines[1].node != NULL) {
            uvea_machine_kill(&stage->machines[1], UVEA_MACHINE_UNHARMED);
        }
    }
}

static void expect_given_up(struct stage *stage, const char *says)
{
    leave_alone(stage);
    const uint64_t began_ns = uvea_rt_now_ns(stage->rt);
    const struct uvea_replay_result *result = run(stage);
    assert_int_equal(result->verdict, UVEA_VERDICT_NO_PROGRESS);
    if (strstr(result->reason, "the parties cannot be kept running") == NULL ||
        strstr(result->reason, says) == NULL) {
        fail_msg("%s", result->reason);
    }
    assert_in_range(uvea_rt_now_ns(stage->rt) - began_ns, 20 * UVEA_SECOND, 70 * UVEA_SECOND);
    stage_close(stage);
}

static void parties_that_cannot_be_kept_running_are_named(void **state)
{
    (void)state;
    struct stage *stage = stage_open(MIXED, MIXED);
    stage->beside = kill_whenever_it_runs;
    stage->config.control.logs[1] = "logs/p1";
    expect_given_up(stage, "party 1 10 times (see logs/p1)");
    stage = stage_open(MIXED, MIXED);
    stage->broken[1] = true;
    expect_given_up(stage, "party 1 10 times (no such program)");
}

static void clusters_that_stay_away_are_told_of(void **state)
{
    (void)state;
    struct stage *stage = stage_open(TWO, TWO);
    leave_alone(stage);
    stage->broken[2] = true;
    assert_int_equal(run(stage)->verdict, UVEA_VERDICT_PASS);
    assert_true(stage->result.ledger_checked);
    if (strstr(stage->result.afterwards, "party 2 10 times (no such program)") == NULL) {
        fail_msg("%s", stage->result.afterwards);
    }
    stage_close(stage);
}

static void parties_that_nobody_listens_for_are_not_started(void **state)
{
    (void)state;
    struct stage *stage = stage_open(TWO, TWO);
    leave_alone(stage);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        stage->config.addresses[party] = "nobody:1";
    }
    expect_error(stage, UVEA_ERR_TIMEOUT,
                 "party 0 at nobody:1 does not answer GET /startup-sync: nobody listens");
}

// ---- its end by a signal

static bool signalled;

static bool is_signalled(void)
{
    return signalled;
}

static void signal_later(void *arg)
{
    struct stage *stage = arg;
    assert_int_equal(uvea_rt_sleep_ns(stage->rt, 30 * UVEA_SECOND), UVEA_OK);
    signalled = true;
}

struct seen {
    unsigned calls;
    struct uvea_replay_progress last;
};

static void see(void *arg, const struct uvea_replay_progress *progress)
{
    struct seen *seen = arg;
    seen->calls++;
    assert_true(progress->enrolled >= seen->last.enrolled);
    assert_true(progress->answered >= seen->last.answered);
    assert_true(progress->answered == 0 || progress->enrolled == progress->enrolments);
    seen->last = *progress;
}

static void interrupted_replays_say_how_far_they_came(void **state)
{
    (void)state;
    struct seen seen = {.calls = 0};
    struct stage *stage = stage_open(MIXED, MIXED);
    signalled = false;
    stage->config.interrupted = is_signalled;
    stage->config.progress = see;
    stage->config.progress_arg = &seen;
    stage->config.pace_ns = 10 * UVEA_SECOND;
    stage->beside = signal_later;
    const struct uvea_replay_result *result = run(stage);
    assert_true(result->interrupted);
    assert_string_equal(uvea_replay_verdict_text(result), "interrupted");
    assert_string_equal(result->reason,
                        "4 of 4 records were enrolled, 3 of 18 requests sent, 3 answered by all "
                        "parties");
    assert_int_equal(result->responses, 9);
    assert_in_range(result->enrolling_ns, UVEA_MS, 10 * UVEA_SECOND);
    assert_true(seen.calls > 10);
    assert_int_equal(seen.last.answered, 3);
    assert_int_equal(seen.last.requests, 18);
    assert_string_equal(result->ledger, "skipped, not every request was answered by all parties");
    stage_close(stage);
    stage = stage_open(TWO, TWO);
    stage->config.interrupted = is_signalled;
    stage->config.addresses[0] = "nobody:1";
    expect_error(stage, UVEA_ERR_CLOSED, "interrupted");
}

// ---- what is refused

static void other_configurations_are_named(void **state)
{
    (void)state;
    expect_error(stage_open("scan: ntt\n" TWO, TWO), UVEA_ERR_USAGE,
                 "party 0 is configured with scan_path \"ntt\", the scenario asks for \"ring\"");
    expect_error(stage_open(TWO, "service: {lookback: 3}\n" TWO), UVEA_ERR_USAGE,
                 "party 0 is configured with luc_lookback_records 0, the scenario asks for 3");
}

static void clusters_must_be_empty(void **state)
{
    (void)state;
    struct stage *stage = stage_open(TWO, TWO);
    stage->replays = 2;
    expect_error(stage, UVEA_ERR_USAGE, "the cluster is not empty: party 0 ");
}

static void what_only_the_simulator_can_do_is_named(void **state)
{
    (void)state;
    static const char faults[] =
        TWO "faults: [{kind: pause, from: p0, at_ms: 1, for_ms: 1}, "
            "{kind: crash, from: p1, at_ms: 5}, {kind: crash, from: p2, at_ms: 9}]\n"
            "crash: {p2_step: 7}\n";
    expect_error(stage_open(TWO, faults), UVEA_ERR_USAGE,
                 "fault pause, fault crash, crash.p2_step; with --ignore-faults it is left out");
    expect_error(stage_open(TWO, TWO "swarm: {faults: on}\n"), UVEA_ERR_USAGE, "swarm.faults");
    expect_error(stage_open(TWO, TWO "class: hostile\n"), UVEA_ERR_USAGE, "class: hostile");
    struct stage *stage = stage_open(TWO, faults);
    stage->config.ignore_faults = true;
    assert_int_equal(run(stage)->verdict, UVEA_VERDICT_PASS);
    assert_string_equal(stage->result.ignored, "fault pause, fault crash, crash.p2_step");
    stage_close(stage);
}

static void restarts_need_commands(void **state)
{
    (void)state;
    static const char restarts[] = TWO "  - {type: restart, how: kill, party: p1}\n";
    struct stage *stage = stage_open(TWO, restarts);
    stage->config.control.can[1] = 1u << UVEA_REPLAY_START | 1u << UVEA_REPLAY_STOP;
    expect_error(stage, UVEA_ERR_USAGE,
                 "requests[2] restarts party 1, but the cluster file names no command to kill it "
                 "(parties[1].kill)");
    stage = stage_open(TWO, restarts);
    stage->config.control.can[0] = 0;
    expect_error(stage, UVEA_ERR_USAGE, "parties[0].start");
}

static void judges_of_results_are_not_for_hostile_runs(void **state)
{
    (void)state;
    struct uvea_scenario scenario;
    struct uvea_world_result result;
    struct uvea_error_context context = {.text = ""};
    const struct uvea_world_options options = {.judge = UVEA_JUDGE_BOTH};
    stage_load(TWO "class: hostile\n", &scenario);
    assert_int_equal(uvea_world_run(&scenario, &options, &result, &context), UVEA_ERR_USAGE);
    assert_string_equal(context.text, "class: hostile runs are judged by onlookers alone");
    uvea_scenario_deinit(&scenario);
}

// ---- what is found

static void wrong_answers_are_found(void **state)
{
    (void)state;
    static const char text[] = STAGE_SMALL "database: {records: 2}\nrequests:\n"
                                           "  - {kind: rotated, of: 2, by: 9}\n"
                                           "  - {kind: mirrored, of: 1}\n";
    static const struct {
        enum uvea_plant plant;
        const char *where;
        const char *what;
    } table[] = {
        {UVEA_PLANT_ROTATE_WRONG_WAY, "message-1 (uniqueness): the result read from party ",
         "is not the oracle's: member partial_match_rotation_indices_left"},
        {UVEA_PLANT_SWAP_EYES, "message-1 (uniqueness): the result read from party ",
         "is not the oracle's: member serial_id"},
        {UVEA_PLANT_MIRROR_MASK_AS_CODE, "message-2 (uniqueness): the result read from party ",
         "is not the oracle's: member serial_id"},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(table); i++) {
        struct stage *stage = stage_open(text, text);
        uvea_plant_set(table[i].plant);
        const struct uvea_replay_result *result = run(stage);
        uvea_plant_set(UVEA_PLANT_NONE);
        assert_int_equal(result->verdict, UVEA_VERDICT_WRONG);
        if (strstr(result->reason, table[i].where) != result->reason ||
            strstr(result->reason, table[i].what) == NULL) {
            fail_msg("%s", result->reason);
        }
        assert_true(result->mismatches > 0);
        assert_string_equal(result->ledger, "skipped, an answer is wrong");
        stage_close(stage);
    }
}

static void write_twins(const char *path)
{
    struct uvea_sim_random random;
    struct uvea_template template;
    struct uvea_buf lines = {.len = 0};
    uvea_sim_random_init(&random, 3, "twins");
    for (unsigned i = 0; i < 3; i++) { // the third is the second once more
        if (i < 2) {
            uvea_gen_template(&random, &template);
        }
        assert_int_equal(uvea_iris_encode_json(&template, &lines), UVEA_OK);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(lines.data, 1, lines.len, file), lines.len);
    assert_int_equal(fclose(file), 0);
    uvea_buf_deinit(&lines);
}

static void records_that_match_each_other_are_named(void **state)
{
    (void)state;
    char text[400];
    char path[] = "/tmp/uvea-twins-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    write_twins(path);
    (void)snprintf(text, sizeof(text),
                   STAGE_SMALL "database: {source: templates, records: 3}\n"
                               "templates: {directory: /tmp, files: [\"%s\"]}\n"
                               "requests: [{kind: new}]\n",
                   path + strlen("/tmp/"));
    struct stage *stage = stage_open(text, text);
    const struct uvea_replay_result *result = run(stage);
    assert_int_equal(result->verdict, UVEA_VERDICT_WRONG);
    assert_string_equal(result->reason,
                        "record 3 of the scenario's database matches one before it (record 2): a "
                        "database whose records match each other cannot be enrolled by requests");
    stage_close(stage);
    (void)unlink(path);
}

// ---- the report

static bool contains(const struct uvea_buf *html, const char *text)
{
    return memmem(html->data, html->len, text, strlen(text)) != NULL;
}

static void report_shows_and_escapes(void **state)
{
    (void)state;
    struct uvea_row row = {
        .key = "message-1",
        .kind = "uniqueness",
        .oracle = "{\"is_match\":true}",
        .party = {"{\"is_match\":true}", "<script>alert('1')</script>", ""},
        .latency_ns = 12 * UVEA_MS,
    };
    uint64_t latencies[] = {12 * UVEA_MS, 30 * UVEA_MS};
    const struct uvea_replay_result result = {
        .verdict = UVEA_VERDICT_WRONG,
        .reason = "a < b & c",
        .ledger = "skipped",
        .requests = 2,
        .latencies_ns = latencies,
        .latency_count = 2,
        .rows = {.at = &row, .count = 1},
        .common_config = {.data = (uint8_t *)"{\"scan\":\"ring\"}", .len = 15},
    };
    const struct uvea_report_head head = {"<i>.yaml", "c.yaml", 7, "b"};
    struct uvea_buf html = {.len = 0};
    assert_int_equal(uvea_report_html(&head, &result, &html), UVEA_OK);
    assert_true(contains(&html, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"));
    assert_true(contains(&html, "a &lt; b &amp; c"));
    assert_true(contains(&html, "<h1>&lt;i&gt;.yaml</h1>"));
    assert_true(contains(&html, "as the oracle"));
    assert_true(contains(&html, "no answer"));
    assert_true(contains(&html, "{&quot;scan&quot;:&quot;ring&quot;}"));
    assert_true(contains(&html, "<td>12.0 ms</td><td>30.0 ms</td>"));
    static const char *const never[] = {"<script", "<i>", "src=", "href=", "url(", "@import"};
    for (size_t i = 0; i < UVEA_COUNT_OF(never); i++) {
        assert_false(contains(&html, never[i]));
    }
    uvea_buf_deinit(&html);
}

// ---- rows

static void note_difference(void *arg, const struct uvea_row_difference *difference)
{
    char *text = arg;
    const size_t used = strlen(text);
    (void)snprintf(text + used, 100 - used, "%s/%s:%d ",
                   difference->left != NULL ? difference->left->key : "-",
                   difference->right != NULL ? difference->right->key : "-", difference->party);
}

static void differences_are_named(void **state)
{
    (void)state;
    struct uvea_row left[] = {{"a", "k", "1", {"1", "1", "1"}, 0},
                              {"b", "k", "1", {"1", "1", "1"}, 0},
                              {"c", "k", "1", {"1", "1", "1"}, 0},
                              {"d", "k", "1", {"1", "1", "1"}, 0}};
    struct uvea_row right[] = {{"b", "k", "1", {"1", "1", "2"}, 5},
                               {"a", "k", "1", {"1", "1", "1"}, 9},
                               {"c", "k", "2", {"1", "1", "1"}, 0},
                               {"e", "k", "1", {"1", "1", "1"}, 0}};
    const struct uvea_rows one = {.at = left, .count = 4};
    const struct uvea_rows other = {.at = right, .count = 4};
    char text[100] = "";
    assert_int_equal(uvea_rows_compare(&one, &other, note_difference, text), 4);
    assert_string_equal(text, "b/b:2 c/c:-1 d/-:-1 -/e:-1 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_a_simulated_run),
        cmocka_unit_test(batches_pass_too),
        cmocka_unit_test(requests_keep_the_pace),
        cmocka_unit_test(stores_are_looked_at_where_they_can_be),
        cmocka_unit_test(kills_at_any_time_are_healed),
        cmocka_unit_test(clusters_that_answered_once_are_started),
        cmocka_unit_test(parties_that_cannot_be_kept_running_are_named),
        cmocka_unit_test(clusters_that_stay_away_are_told_of),
        cmocka_unit_test(parties_that_nobody_listens_for_are_not_started),
        cmocka_unit_test(interrupted_replays_say_how_far_they_came),
        cmocka_unit_test(other_configurations_are_named),
        cmocka_unit_test(clusters_must_be_empty),
        cmocka_unit_test(what_only_the_simulator_can_do_is_named),
        cmocka_unit_test(restarts_need_commands),
        cmocka_unit_test(judges_of_results_are_not_for_hostile_runs),
        cmocka_unit_test(wrong_answers_are_found),
        cmocka_unit_test(records_that_match_each_other_are_named),
        cmocka_unit_test(report_shows_and_escapes),
        cmocka_unit_test(differences_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
