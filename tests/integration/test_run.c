// `uvea run` as a user calls it: statuses, sentences, and what is printed where.
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

#define SMALL "sessions: 8\nconnections: 2\ndatabase: {records: 4}\n"

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void a_pass_says_so(void **state)
{
    (void)state;
    write_file("s.yaml", SMALL "requests: [{kind: new}, {kind: duplicate, of: 5}]\n");
    const struct shell_result *r = shell("\"$UVEA\" run s.yaml --twice");
    assert_int_equal(r->status, 0);
    assert_string_equal(r->err, "");
    assert_true(strncmp(r->out, "seed 1  build ", 14) == 0);
    assert_non_null(strstr(r->out, "\n  network.latency_us           500\n"));
    assert_non_null(strstr(r->out, "\nverdict: pass requests=2 responses=6 disagreements=0 "
                                   "mismatches=0 records=5 sim_ms="));
    r = shell("\"$UVEA\" run s.yaml --json | wc -l");
    assert_string_equal(r->out, "1\n");
    // The paths of the scan give other runs and the same answers.
    r = shell("for path in ring ntt; do \"$UVEA\" run s.yaml --set scan=$path --json | "
              "grep -o '\"hash\":\"[0-9a-f]*\"'; done | sort -u | wc -l; "
              "for path in ring ntt; do \"$UVEA\" run s.yaml --set scan=$path --json | "
              "grep -o '\"answers_hash\":\"[0-9a-f]*\"'; done | sort -u | wc -l");
    assert_string_equal(r->out, "2\n1\n");
    r = shell("\"$UVEA\" run s.yaml --seeds 3..5 | grep -c '^seed [345]: pass'");
    assert_string_equal(r->out, "3\n");
    r = shell("\"$UVEA\" run s.yaml --trace t.json | tail -1; tail -1 t.json | grep -c '\"kind\"'");
    assert_non_null(strstr(r->out, "verdict: pass"));
    assert_non_null(strstr(r->out, "\n1\n"));
}

// A wrong expectation stands for every wrong answer.
static void a_failure_is_explained(void **state)
{
    (void)state;
    write_file("s.yaml", SMALL "requests: [{kind: new, expect: {match: true}}]\n");
    const struct shell_result *r = shell("\"$UVEA\" run s.yaml --seed 9 --set prf=chacha8");
    assert_int_equal(r->status, 10);
    assert_non_null(strstr(r->err, "seconds | p0 "));
    assert_non_null(strstr(r->out, "seed 9: wrong: message-1 (uniqueness): expected match true"));
    assert_non_null(strstr(
        r->out, "to reproduce: uvea run s.yaml --seed 9 --set prf=chacha8\nverdict: wrong "));
    r = shell("\"$UVEA\" run s.yaml 2>&1 >/dev/null | grep -c 'deliver'");
    assert_true(r->out[0] != '0');
}

struct status_case {
    const char *scenario;
    const char *options;
    int status;
    const char *sentence; // on standard error for 2, else on standard output
};

static const struct status_case cases[] = {
    {SMALL "swarm: {recovery_s: 1}\nnetwork: {latency_us: 60000000}\nrequests: [{kind: new}]\n", "",
     11, "no-progress"},
    {SMALL "limits: {steps: 99}\nrequests: [{kind: new}]\n", "", 13, "resource-limit"},
    {SMALL "templates: {files: [none.ndjson]}\nrequests: [{kind: new}]\n", "", 14,
     "none.ndjson: No such file"},
    {SMALL, "", 2, "s.yaml: no requests: nothing would be checked"},
    {"", "", 2, "s.yaml: no requests"},
    {SMALL "requests: [{kind: duplicate, of: 5}]\n", "", 2,
     "s.yaml:4: requests[0].of: no more than 4 can be enrolled by then"},
    {SMALL "requests: [{kind: zero-overlap}, {kind: duplicate, of: 5}]\n", "", 2,
     "s.yaml: line 4, requests[1] (request-2): a request's target is serial 5 and only 4 are "
     "enrolled"},
    {SMALL "templates: {files: [s.yaml]}\nrequests: [{kind: template, index: 1}]\n", "", 2,
     "s.yaml:1: "},
    {SMALL "templates: {files: [.]}\nrequests: [{kind: template, index: 1}]\n", "", 2,
     "Is a directory"},
    {SMALL "sede: 1\n", "", 2, "s.yaml:4: Unexpected key: sede"},
    {SMALL, "--set seed", 2, "--set seed: not of the form key=value"},
    {SMALL, "--set no.such=1", 2, "there is no option 'no.such'"},
    {SMALL, "--seed 1 --seeds 1..2", 2, "--seed and --seeds exclude each other"},
    {SMALL, "--seeds 2..1", 2, "--seeds 2..1"},
    {SMALL, "--seeds 12", 2, "--seeds"},
    {SMALL, "--seed -1", 2, "--seed"},
    {SMALL, "--trace t --seeds 1..2", 2, "--trace goes with one seed"},
    {SMALL, "--frob", 2, "--frob"},
    {SMALL, "other.yaml", 2, "other.yaml"},
    {SMALL "requests: [{kind: new}]\n", "--trace no/such/place", 1, "no/such/place"},
};

static void statuses_and_sentences(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file("s.yaml", cases[i].scenario);
        const struct shell_result *r = shell("\"$UVEA\" run s.yaml %s", cases[i].options);
        const char *where = cases[i].status <= 2 ? r->err : r->out;
        if (r->status != cases[i].status || strstr(where, cases[i].sentence) == NULL) {
            fail_msg("case %zu: status %d, err <%s>", i, r->status, r->err);
        }
        // A plan that fails in the middle of a run is the one case that has printed its head.
        if (cases[i].status <= 2 && strstr(r->err, "request-2") == NULL) {
            assert_string_equal(r->out, "");
        }
    }
}

static void bad_files(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" run nofile.yaml");
    assert_int_equal(r->status, 2);
    assert_string_equal(r->err, "uvea run: nofile.yaml: No such file or directory\n");
    r = shell("\"$UVEA\" run .");
    assert_int_equal(r->status, 2);
    assert_string_equal(r->err, "uvea run: .: Is a directory\n");
    r = shell("\"$UVEA\" run");
    assert_int_equal(r->status, 2);
}

static void help_is_given(void **state)
{
    (void)state;
    assert_int_equal(shell("\"$UVEA\" run x --help | grep -q '^usage: uvea run'")->status, 0);
    assert_int_equal(shell("\"$UVEA\" iris gen -h | grep -q '^usage: uvea iris'")->status, 0);
    assert_int_equal(shell("\"$UVEA\" -h | grep -q '^usage: uvea COMMAND'")->status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_says_so),         cmocka_unit_test(a_failure_is_explained),
        cmocka_unit_test(statuses_and_sentences), cmocka_unit_test(bad_files),
        cmocka_unit_test(help_is_given),
    };
    return cmocka_run_group_tests(tests, shell_set_up, shell_tear_down);
}
