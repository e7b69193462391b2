// `uvea shrink` as a user calls it.
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL "sessions: 8\nconnections: 1\ndatabase: {records: 4}\n"

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void write_scenarios(void)
{
    write_file("good.yaml", SMALL "requests: [{kind: new}]\n");
    write_file("bad.yaml",
               SMALL "client: {window: 3}\n"
                     "requests:\n"
                     "  - {kind: duplicate, of: 2}\n"
                     "  - {type: deletion, serial: 1}\n"
                     "  - {kind: new, expect: {match: true}}\n"
                     "  - {kind: new, repeat: 2}\n"
                     "faults:\n"
                     "  - {kind: slow, from: p1, at_ms: 10, for_ms: 50, amount: 300}\n");
    write_file("drawn.yaml", SMALL "swarm: {faults: on, network: on, clock: on, hostile: off,\n"
                                   "  process: off, storage: off, memory: off, faults_s: 10}\n"
                                   "requests:\n"
                                   "  - {type: mix, repeat: 4, enrolments: 2}\n"
                                   "  - {kind: new, expect: {match: true}}\n");
}

static void expect_refusal(const char *arguments, int status, const char *says)
{
    const struct shell_result *r = shell("\"$UVEA\" shrink %s", arguments);
    if (r->status != status || strstr(r->err, says) == NULL) {
        fail_msg("shrink %s: status %d, said: %s", arguments, r->status, r->err);
    }
    assert_string_equal(r->out, "");
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    expect_refusal("", 2, "FILE");
    expect_refusal("bad.yaml", 2, "-o FILE is missing");
    expect_refusal("bad.yaml good.yaml -o s.yaml", 2, "good.yaml");
    expect_refusal("bad.yaml -o s.yaml --tries many", 2, "--tries");
    expect_refusal("bad.yaml -o s.yaml --sead 1", 2, "--sead");
    expect_refusal("bad.yaml -o s.yaml --set sessions=7", 2, "sessions");
    expect_refusal("absent.yaml -o s.yaml", 2, "absent.yaml");
    assert_int_equal(shell("test -e s.yaml")->status, 1);
}

static void what_passes_is_refused(void **state)
{
    (void)state;
    expect_refusal("good.yaml -o s.yaml", 2, "seed 1: pass, nothing to shrink");
    expect_refusal("good.yaml --seed 9 -o s.yaml", 2, "seed 9: pass, nothing to shrink");
    assert_int_equal(shell("test -e s.yaml")->status, 1);
}

static void only_what_fails_is_left(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" shrink bad.yaml --seed 3 -o s.yaml");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "shrink: 1 requests, 0 faults, 0 records left after "));
    assert_non_null(strstr(r->out, ": wrong: message-1 (uniqueness): expected match"));
    assert_non_null(strstr(r->err, "shrink: fails with \"wrong: message-3 (uniqueness): expected"));
    assert_non_null(strstr(r->err, "shrink: keeps \"wrong: message-# (uniqueness): expected"));
    r = shell("grep -c '^  - ' s.yaml; grep 'kind: new' s.yaml; grep -c seed s.yaml");
    assert_non_null(
        strstr(r->out, "1\n  - {type: uniqueness, kind: new, expect: {match: true}}\n"));
    assert_non_null(strstr(r->out, "\n1\n")); // the seed it was found with
    r = shell("\"$UVEA\" run s.yaml | tail -1");
    assert_non_null(strstr(r->out, "verdict: wrong requests=1 "));
}

static void what_the_seed_drew_is_written_out(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA\" shrink drawn.yaml --seed 2 --tries 0 -o s.yaml");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "shrink: 5 requests, "));
    r = shell("grep -c 'type: mix' s.yaml; grep -c swarm s.yaml; "
              "grep -c 'expect: {match: true' s.yaml; grep -c '^  - {kind: ' s.yaml");
    assert_true(strncmp(r->out, "0\n0\n1\n", 6) == 0);
    assert_true(strtoul(r->out + 6, NULL, 10) > 0);
    // What was written fails by itself, and shrinks on from there.
    assert_int_equal(shell("\"$UVEA\" run s.yaml")->status, 10);
    r = shell("\"$UVEA\" shrink s.yaml -o t.yaml");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "shrink: 1 requests, 0 faults, 0 records left after "));
    assert_int_equal(shell("\"$UVEA\" run t.yaml")->status, 10);
}

static void tries_are_bounded(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" shrink bad.yaml --tries 3 -o s.yaml");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, " left after 3 runs: wrong: "));
    assert_int_equal(shell("\"$UVEA\" run s.yaml")->status, 10);
}

static void output_that_cannot_be_written_is_a_failure(void **state)
{
    (void)state;
    // Before anything is run: seconds pass before the first line of a shrink.
    expect_refusal("bad.yaml --tries 0 -o absent/s.yaml", 1,
                   "uvea shrink: absent/s.yaml: No such file or directory\n");
    expect_refusal("good.yaml -o .", 1, "uvea shrink: .: Is a directory\n");
    assert_null(strstr(shell("\"$UVEA\" shrink bad.yaml -o absent/s.yaml")->err, "fails with"));
}

// The planted fault needs a deletion and an enrolment after it, of ten requests.
static void a_planted_fault_shrinks_to_its_cause(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA_ALARM\" shrink '%s/scenarios/alarm-service.yaml' --plant serial-reused "
              "-o s.yaml",
              UVEA_SOURCE_DIR);
    unsigned long requests = 0;
    unsigned long faults = 1;
    unsigned long records = 0;
    assert_int_equal(r->status, 0);
    assert_int_equal(sscanf(r->out, "shrink: %lu requests, %lu faults, %lu records left", &requests,
                            &faults, &records),
                     3);
    assert_in_range(requests, 1, 3);
    assert_int_equal(faults, 0);
    assert_in_range(records, 0, 2);
    assert_int_equal(shell("\"$UVEA_ALARM\" run s.yaml --plant serial-reused")->status, 10);
    assert_int_equal(shell("\"$UVEA\" run s.yaml")->status, 0);
}

static int enter(void **state)
{
    (void)state;
    shell_enter();
    write_scenarios();
    return setenv("UVEA_ALARM", UVEA_ALARM_BINARY, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_calls_are_refused, enter, shell_tear_down),
        cmocka_unit_test_setup_teardown(what_passes_is_refused, enter, shell_tear_down),
        cmocka_unit_test_setup_teardown(only_what_fails_is_left, enter, shell_tear_down),
        cmocka_unit_test_setup_teardown(what_the_seed_drew_is_written_out, enter, shell_tear_down),
        cmocka_unit_test_setup_teardown(tries_are_bounded, enter, shell_tear_down),
        cmocka_unit_test_setup_teardown(output_that_cannot_be_written_is_a_failure, enter,
                                        shell_tear_down),
        cmocka_unit_test_setup_teardown(a_planted_fault_shrinks_to_its_cause, enter,
                                        shell_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
