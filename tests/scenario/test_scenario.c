#include "sim/scenario/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static enum uvea_error parse(const char *text, const char *override, struct uvea_scenario *scenario,
                             struct uvea_error_context *context)
{
    return uvea_scenario_parse("dir/a.yaml", (const uint8_t *)text, strlen(text), &override,
                               override != NULL, scenario, context);
}

// ---- what is accepted

static void test_empty_is_all_defaults(void **state)
{
    (void)state;
    struct uvea_scenario scenario;
    assert_int_equal(parse("", NULL, &scenario, NULL), UVEA_OK);
    for (unsigned which = 0; which < UVEA_OPTION_COUNT; which++) {
        char text[64];
        uvea_option_format((enum uvea_option)which, scenario.options[which], text);
        assert_string_equal(text, uvea_option_info((enum uvea_option)which)->value);
    }
    assert_int_equal(scenario.request_count, 0);
    assert_string_equal(scenario.template_directory, "dir");
    uvea_scenario_deinit(&scenario);
}

// Every default lies within its own bounds, and every option is found by its own key.
static void test_option_table(void **state)
{
    (void)state;
    for (unsigned which = 0; which < UVEA_OPTION_COUNT; which++) {
        char key[64];
        uint64_t value;
        uvea_option_key((enum uvea_option)which, key);
        assert_int_equal(uvea_option_find(key, strlen(key)), which);
        assert_int_equal(uvea_option_parse((enum uvea_option)which,
                                           uvea_option_info((enum uvea_option)which)->value, &value,
                                           NULL),
                         UVEA_OK);
    }
    assert_int_equal(uvea_option_find("network", 7), UVEA_OPTION_COUNT);
}

static void test_options_are_read(void **state)
{
    (void)state;
    static const char text[] = "seed: 18446744073709551615\n"
                               "prf: chacha8\n"
                               "network:\n"
                               "  latency_us: 7\n"
                               "  value_bytes_max: 4294967295\n"
                               "templates: {pairing: pairs, files: [x, y], directory: /d}\n";
    struct uvea_scenario scenario;
    assert_int_equal(parse(text, NULL, &scenario, NULL), UVEA_OK);
    assert_true(scenario.options[UVEA_OPTION_root_seed] == UINT64_MAX);
    assert_int_equal(scenario.options[UVEA_OPTION_root_prf], 1);
    assert_int_equal(scenario.options[UVEA_OPTION_network_latency_us], 7);
    assert_int_equal(scenario.options[UVEA_OPTION_network_value_bytes_max], UINT32_MAX);
    assert_int_equal(scenario.options[UVEA_OPTION_templates_pairing], 1);
    assert_int_equal(scenario.template_file_count, 2);
    assert_string_equal(scenario.template_files[1], "y");
    assert_string_equal(scenario.template_directory, "/d");
    uvea_scenario_deinit(&scenario);
}

static void test_requests_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "requests:\n"
        "  - {kind: rotated, of: 3, by: -200, repeat: 2, expect: {match: true, matched: [3, 9]}}\n"
        "  - {kind: flipped, bits: 12800, eyes: right, mirror_detection: false}\n"
        "  - {kind: threshold, threshold: anonymous, place: above, skip_persistence: true,\n"
        "     or_rule: [4294967295]}\n";
    struct uvea_scenario scenario;
    assert_int_equal(parse(text, NULL, &scenario, NULL), UVEA_OK);
    assert_int_equal(scenario.request_count, 4);
    const struct uvea_request_plan *plan = scenario.requests;
    assert_int_equal(plan[1].kind, UVEA_PLAN_ROTATED);
    assert_int_equal(plan[1].by, -200);
    assert_int_equal(plan[1].of, 3);
    assert_true(plan[1].mirror_detection);
    assert_true(plan[1].expect.has_match && plan[1].expect.match);
    assert_false(plan[1].expect.has_serial);
    assert_int_equal(plan[1].expect.matched.count, 2);
    assert_int_equal(plan[1].expect.matched.serials[1], 9);
    assert_int_equal(plan[2].bits, 12800);
    assert_int_equal(plan[2].eyes, UVEA_PLAN_RIGHT);
    assert_false(plan[2].mirror_detection);
    assert_int_equal(plan[3].threshold, UVEA_PLAN_ANONYMOUS);
    assert_int_equal(plan[3].place, UVEA_PLAN_ABOVE);
    assert_true(plan[3].skip_persistence);
    assert_int_equal(plan[3].or_rule.serials[0], UINT32_MAX);
    uvea_scenario_deinit(&scenario);
}

static void test_faults_are_read(void **state)
{
    (void)state;
    static const char text[] = "faults:\n"
                               "  - {kind: reset, from: p0, to: p2, at_byte: 0}\n"
                               "  - {kind: stall, from: client, to: p1, at_ms: 5, for_ms: 6}\n"
                               "  - {kind: partition, from: p1, at_ms: 7, for_ms: 8}\n";
    struct uvea_scenario scenario;
    assert_int_equal(parse(text, NULL, &scenario, NULL), UVEA_OK);
    assert_int_equal(scenario.fault_count, 3);
    assert_int_equal(scenario.faults[1].kind, UVEA_FAULT_STALL);
    assert_int_equal(scenario.faults[1].from, 3);
    assert_int_equal(scenario.faults[1].to, 1);
    assert_int_equal(scenario.faults[2].for_ms, 8);
    uvea_scenario_deinit(&scenario);
}

// For sentences: the line of `of`, else that of the entry.
static void test_requests_know_their_lines(void **state)
{
    (void)state;
    static const char text[] = "requests:\n"
                               "  - {kind: duplicate, of: 3, repeat: 2}\n"
                               "  - kind: rotated\n"
                               "    by: 7\n"
                               "    of: 4\n"
                               "\n"
                               "  - kind: new\n"
                               "    or_rule: [1]\n";
    static const unsigned lines[] = {2, 2, 5, 7};
    struct uvea_scenario scenario;
    assert_int_equal(parse(text, NULL, &scenario, NULL), UVEA_OK);
    assert_int_equal(scenario.request_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(scenario.requests[i].line, lines[i]);
    }
    uvea_scenario_deinit(&scenario);
}

// Sixteen unless there are fewer sessions.
static void test_no_more_connections_than_sessions(void **state)
{
    (void)state;
    struct uvea_scenario scenario;
    assert_int_equal(parse("sessions: 8", NULL, &scenario, NULL), UVEA_OK);
    assert_int_equal(scenario.options[UVEA_OPTION_root_connections], 8);
    uvea_scenario_deinit(&scenario);
    assert_int_equal(parse("sessions: 16\nconnections: 16", NULL, &scenario, NULL), UVEA_OK);
    assert_int_equal(scenario.options[UVEA_OPTION_root_connections], 16);
    uvea_scenario_deinit(&scenario);
}

// What is written reads back as what was written: the second text equals the first.
static void test_written_and_read_again(void **state)
{
    (void)state;
    static const char text[] =
        "seed: 9\nclass: hostile\nscan: ntt\nservice: {batch_requests_max: 4}\nswarm: {faults: on, "
        "hostile: off}\n"
        "templates: {files: [\"it's.ndjson\", b], pairing: pairs, directory: /d}\n"
        "requests:\n"
        "  - {kind: rotated, of: 3, by: -7, or_rule: [1, 2], skip_persistence: true}\n"
        "  - {kind: flipped, bits: 12, eyes: left, mirror_detection: false,\n"
        "     expect: {match: true, matched: [], anonymous: [4, 5], serial: 0}}\n"
        "  - {kind: threshold, threshold: anonymous, place: above, bad_share: p1}\n"
        "  - {type: reauth, kind: new, serial: 0, use_or_rule: true, expect: {success: false}}\n"
        "  - {type: deletion, expect: {error: \"it's\"}}\n"
        "  - {type: recovery-update, kind: template, index: 2, serial: 4294967295}\n"
        "  - {type: malformed, how: duplicate}\n"
        "  - {type: mix, repeat: 3, enrolments: 2}\n"
        "  - {type: restart, how: kill, party: p2}\n"
        "faults:\n"
        "  - {kind: reset, from: p0, to: p2, at_byte: 0}\n"
        "  - {kind: crash-at-point, from: p1, at_ms: 3, point: size-agreed, nth: 2}\n"
        "  - {kind: http, from: p2, at_ms: 1, for_ms: 2, amount: 500, what: lost-answer}\n"
        "  - {kind: disk-stale, from: p0, at_ms: 9, for_ms: 10}\n";
    struct uvea_scenario scenario;
    struct uvea_error_context context = {.text = ""};
    struct uvea_buf once = {0};
    struct uvea_buf twice = {0};
    assert_int_equal(parse(text, NULL, &scenario, &context), UVEA_OK);
    assert_int_equal(scenario.request_count, 11);
    assert_int_equal(uvea_scenario_write(&scenario, &once), UVEA_OK);
    uvea_scenario_deinit(&scenario);
    assert_int_equal(uvea_buf_append(&once, "", 1), UVEA_OK);
    if (parse((const char *)once.data, NULL, &scenario, &context) != UVEA_OK) {
        fail_msg("%s\n%s", context.text, (const char *)once.data);
    }
    assert_int_equal(scenario.request_count, 11);
    assert_int_equal(scenario.requests[3].type, UVEA_PLAN_REAUTH);
    assert_true(scenario.requests[3].has_serial);
    assert_int_equal(scenario.requests[6].how, UVEA_PLAN_DUPLICATE_MEMBER);
    assert_true(scenario.requests[8].enrols);
    assert_false(scenario.requests[9].enrols);
    assert_int_equal(scenario.requests[10].party, 2);
    assert_int_equal(scenario.fault_count, 4);
    assert_int_equal(scenario.faults[1].point, UVEA_POINT_SIZE_AGREED);
    assert_int_equal(scenario.faults[2].what, 3);
    assert_int_equal(uvea_scenario_write(&scenario, &twice), UVEA_OK);
    assert_int_equal(twice.len, once.len - 1);
    assert_memory_equal(twice.data, once.data, twice.len);
    uvea_buf_deinit(&once);
    uvea_buf_deinit(&twice);
    uvea_scenario_deinit(&scenario);
}

static void test_override(void **state)
{
    (void)state;
    struct uvea_scenario scenario;
    assert_int_equal(parse("seed: 4", "database.records=12", &scenario, NULL), UVEA_OK);
    assert_int_equal(scenario.options[UVEA_OPTION_database_records], 12);
    assert_int_equal(scenario.options[UVEA_OPTION_root_seed], 4);
    uvea_scenario_deinit(&scenario);
    assert_int_equal(parse("", "templates.directory=/t", &scenario, NULL), UVEA_OK);
    assert_string_equal(scenario.template_directory, "/t");
    uvea_scenario_deinit(&scenario);
}

// ---- what is refused, and the sentence

struct refusal {
    const char *text;
    const char *override;
    const char *sentence;
};

static const struct refusal refusals[] = {
    {"seed: -4", NULL, "dir/a.yaml:1: seed: '-4' is not a whole number from 0 to"},
    {"\nseed: 12abc", NULL, "dir/a.yaml:2: seed: '12abc'"},
    {"seed: 0x10", NULL, "dir/a.yaml:1: seed: '0x10'"},
    {"seed: 1.5", NULL, "seed: '1.5'"},
    {"seed:", NULL, "dir/a.yaml:1: seed: ''"},
    {"seed: 18446744073709551616", NULL, "seed: '18446744073709551616'"},
    {"seed: 1\n\n\nseed: 2", NULL, "dir/a.yaml:4: Mapping field already seen: seed"},
    {"seed: 1\n---\nfoo: 1", NULL, "dir/a.yaml:2: a second document; a scenario is one"},
    {"seed: 1\nnetwork:\n  <<: {latency_us: 1}", NULL, "dir/a.yaml:3: a merge key (<<)"},
    {"seed: 1\nsessions: *a", NULL, "dir/a.yaml:2: an alias (*)"},
    {"seed: 1\nrequests: &all\n  - kind: new", NULL, "dir/a.yaml:2: an anchor (&)"},
    {"seed: 1\nnetwork: &n {latency_us: 1}", NULL, "dir/a.yaml:2: an anchor (&)"},
    {"seed: 1\ntemplates: {files: [\"a\\0b\"]}", NULL, "dir/a.yaml:2: a NUL in a text"},
    {"\"seed\\0x\": 1", NULL, "dir/a.yaml:1: a NUL in a text"},
    {"seed: [1]", NULL, "dir/a.yaml:1: seed: Expecting STRING"},
    {"seed: 1\nsede: 2", NULL, "dir/a.yaml:2: Unexpected key: sede; is seed meant?"},
    {"seed: 1\nnetwrk: {latency_us: 1}", NULL,
     "dir/a.yaml:2: Unexpected key: netwrk; is network meant?"},
    {"service:\n  lokback: 1", NULL, "dir/a.yaml:2: Unexpected key: lokback; is lookback meant?"},
    {"requests:\n  - kind: new\n    repaet: 2", NULL,
     "dir/a.yaml:3: Unexpected key: repaet; is repeat meant?"},
    {"requests:\n  - kind: new\n  - kind: new\n    expect: {macth: true}", NULL,
     "dir/a.yaml:4: Unexpected key: macth; is match meant?"},
    {"faults:\n  - {kind: crash, form: p0}", NULL, "Unexpected key: form; is from meant?"},
    {"templates: {fils: [x]}", NULL, "Unexpected key: fils; is files meant?"},
    {"- kind: new", NULL, "dir/a.yaml:1: Expecting MAPPING"},
    {"\n# a list\n[[[[]]]]", NULL, "dir/a.yaml:3: Expecting MAPPING"},
    {"\nword", NULL, "dir/a.yaml:2: Expecting MAPPING"},
    {"prf: aes256", NULL, "dir/a.yaml:1: prf: 'aes256' is not one of: aes128 chacha8"},
    {"prf: AES128", NULL, "prf: 'AES128' is not one of"},
    {"sessions: 12", NULL, "dir/a.yaml:1: sessions: not a multiple of 8"},
    {"network:\n  latency_us: 1\n  jitter: 3", NULL, "dir/a.yaml:3: Unexpected key: jitter"},
    {"network:\n  latency_us: 1\n  latency_us: 3", NULL,
     "dir/a.yaml:3: Mapping field already seen: latency_us"},
    {"network:\n  piece_bytes_max: 16385", NULL, "dir/a.yaml:2: network.piece_bytes_max: '16385'"},
    {"requests:\n  - {kind: new, repeat: 100000}\n  - kind: new", NULL,
     "dir/a.yaml:3: requests[1].repeat: more than 100000 requests in all"},
    {"network: 3", NULL, "dir/a.yaml:1: network: Expecting MAPPING"},
    {"network: [3]", NULL, "dir/a.yaml:1: network: Expecting MAPPING"},
    {"service:\n  partial_results: yes", NULL,
     "service.partial_results: 'yes' is not one of: false true"},
    {"database:\n  records: 20\nservice: {record_limit: 19}", NULL,
     "dir/a.yaml:2: database.records: more than service.record_limit"},
    {"database: {source: templates}", NULL, "templates.files names no file"},
    {"requests:\n  - kind: new\n  - kind: old", NULL,
     "dir/a.yaml:3: requests[1].kind: 'old' is not one of: new duplicate"},
    {"requests:\n  - of: 3", NULL, "a request of type 'uniqueness' needs 'kind'"},
    {"requests:\n  - kind: new\n    of: 3", NULL,
     "dir/a.yaml:3: requests[0].of: a request of kind 'new' has no such field"},
    {"requests:\n  - kind: rotated\n    of: 3", NULL,
     "dir/a.yaml:2: requests[0]: a request of kind 'rotated' needs 'by'"},
    {"requests:\n  - kind: rotated\n    by: 201", NULL,
     "dir/a.yaml:3: requests[0].by: '201' is not a whole number from -200 to 200"},
    {"requests:\n  - kind: rotated\n    by: --1", NULL, "requests[0].by: '--1'"},
    {"requests:\n  - kind: threshold\n    place: at", NULL, "needs 'threshold'"},
    {"requests:\n  - kind: flipped\n    bits: 12801", NULL, "requests[0].bits: '12801'"},
    {"requests:\n  - kind: duplicate\n    of: 0", NULL, "requests[0].of: '0'"},
    {"requests:\n  - kind: new\n    repeat: 0", NULL, "requests[0].repeat: '0'"},
    {"requests:\n  - {kind: new, repeat: 99999}\n  - {kind: new, repeat: 2}", NULL,
     "dir/a.yaml:3: requests[1].repeat: more than 100000 requests in all"},
    {"requests:\n  - kind: new\n    or_rule: [1, 0]", NULL,
     "dir/a.yaml:3: requests[0].or_rule[1]: '0'"},
    {"requests:\n  - kind: new\n    expect:\n      match: maybe", NULL,
     "dir/a.yaml:4: requests[0].expect.match: 'maybe'"},
    {"requests:\n  - kind: new\n    expect: {serials: 3}", NULL,
     "Unexpected key: serials; is serial meant?"},
    {"requests:\n  - {type: deletion, kind: new}", NULL,
     "requests[0].kind: a request of type 'deletion' has no such field"},
    {"requests:\n  - {type: reset-check, kind: new, serial: 4}", NULL,
     "requests[0].serial: a request of type 'reset-check' has no such field"},
    {"requests:\n  - {type: mix, repeat: 3, enrolments: 4}", NULL, "requests[0].enrolments: '4'"},
    {"requests:\n  - {type: malformed, how: kill}", NULL, "requests[0].how: 'kill'"},
    {"faults:\n  - {kind: crash-at-point, from: p0, at_ms: 1, point: nowhere}", NULL,
     "faults[0].point: there is no point 'nowhere'"},
    {"faults:\n  - {kind: crash, from: p0, at_ms: 1, amount: 2}", NULL,
     "faults[0].amount: a fault of kind 'crash' has no such field"},
    {"faults:\n  - {kind: crash, from: client, at_ms: 1}", NULL,
     "dir/a.yaml:2: faults[0].from: a fault of kind 'crash' befalls parties only"},
    {"faults:\n  - {kind: http, from: p0, at_ms: 1, for_ms: 1, amount: 1000001, what: stale}", NULL,
     "dir/a.yaml:2: faults[0].amount: more than 1,000,000"},
    {"faults:\n  - kind: flood", NULL, "faults[0].kind: there is no fault 'flood'"},
    {"faults:\n  - {kind: reset, from: p0, to: p1}", NULL,
     "dir/a.yaml:2: faults[0]: a fault of kind 'reset' needs 'at_byte'"},
    {"faults:\n  - {kind: stall, from: p0, to: p0, at_ms: 1, for_ms: 1}", NULL,
     "faults[0].to: needs two different nodes"},
    {"faults:\n  - {kind: partition, from: p3, at_ms: 1, for_ms: 1}", NULL,
     "faults[0].from: 'p3' is not one of"},
    {"faults:\n  - {kind: crash, from: p0, at_ms: 1}\n  - {kind: disk-rot, from: p0, at_ms: 1}",
     NULL, "dir/a.yaml:3: faults[1]: a fault of kind 'disk-rot' needs 'class: hostile'"},
    {"class: hostile\nfaults:\n  - {kind: disk-wiped, from: p0, at_ms: 1}", "class=recoverable",
     "dir/a.yaml:3: faults[0]: a fault of kind 'disk-wiped' needs 'class: hostile'"},
    {"sessions: 8\nconnections: 9", NULL,
     "dir/a.yaml:2: connections: 9, but 8 sessions use no more than one each"},
    {"sessions: 8", "connections=256", "connections: 256, but 8 sessions"},
    {"connections: 24", "sessions=16", "dir/a.yaml:1: connections: 24, but 16 sessions"},
    {"seed: [1", NULL, "dir/a.yaml:"},
    {"\tseed: 1", NULL, "dir/a.yaml"},
    {"\nseed: &a 1\nsessions: *a", NULL, "dir/a.yaml:2: an anchor (&)"},
    {"", "seed", "--set seed: not of the form key=value"},
    {"", "sead=1", "--set sead=1: there is no option 'sead'"},
    {"", "network.latency_us=x", "--set network.latency_us: 'x' is not a whole number"},
    {"", "sessions=9", "sessions: not a multiple of 8"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct uvea_scenario scenario;
        struct uvea_error_context context = {.text = ""};
        enum uvea_error error = parse(refusals[i].text, refusals[i].override, &scenario, &context);
        const char *suggestion = strstr(context.text, "; is ");
        if (error == UVEA_OK || strstr(context.text, refusals[i].sentence) == NULL) {
            fail_msg("for <%s>: wanted <%s>, got <%s>", refusals[i].text, refusals[i].sentence,
                     error == UVEA_OK ? "no error" : context.text);
        }
        if (suggestion != NULL && strstr(refusals[i].sentence, suggestion) == NULL) {
            fail_msg("for <%s>: suggests <%s>", refusals[i].text, suggestion);
        }
    }
}

static void test_file_errors(void **state)
{
    (void)state;
    struct uvea_scenario scenario;
    struct uvea_error_context context = {.text = ""};
    assert_int_equal(uvea_scenario_load("no/such.yaml", NULL, 0, &scenario, &context),
                     UVEA_ERR_USAGE);
    assert_non_null(strstr(context.text, "no/such.yaml: No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_is_all_defaults),
        cmocka_unit_test(test_option_table),
        cmocka_unit_test(test_options_are_read),
        cmocka_unit_test(test_requests_are_read),
        cmocka_unit_test(test_requests_know_their_lines),
        cmocka_unit_test(test_no_more_connections_than_sessions),
        cmocka_unit_test(test_faults_are_read),
        cmocka_unit_test(test_written_and_read_again),
        cmocka_unit_test(test_override),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_file_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
