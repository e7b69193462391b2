// `uvea sweep` as a user calls it.
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL "sessions: 8\nconnections: 2\ndatabase: {records: 4}\n"
#define COLD "--allow-cold all"

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
    write_file("two.yaml", SMALL "requests: [{kind: new}, {kind: duplicate, of: 5}]\n");
    write_file("bad.yaml", SMALL "requests: [{kind: new, expect: {match: true}}]\n");
    write_file("long.yaml", "sessions: 8\nconnections: 2\ndatabase: {records: 1000000}\n"
                            "requests: [{kind: new}]\n");
    write_file("none.yaml", SMALL "templates: {files: [none.ndjson]}\nrequests: [{kind: new}]\n");
}

// The figures of the last line.
static void expect_figures(const struct shell_result *r, const char *verdict, unsigned runs,
                           unsigned failed, unsigned skipped, unsigned recorded)
{
    unsigned found[5];
    char word[32];
    const char *line = strstr(r->out, "\nverdict: ");
    assert_non_null(line);
    assert_int_equal(sscanf(line,
                            "\nverdict: %31s runs=%u failed=%u skipped=%u cold=%*u twice=%u "
                            "recorded=%u\n",
                            word, &found[0], &found[1], &found[2], &found[3], &found[4]),
                     6);
    assert_string_equal(word, verdict);
    assert_int_equal(found[0], runs);
    assert_int_equal(found[1], failed);
    assert_int_equal(found[2], skipped);
    assert_int_equal(found[4], recorded);
}

static void every_pair_runs(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA\" sweep good.yaml two.yaml --seeds 7..9 --jobs 3 --twice-percent 100 " COLD);
    assert_int_equal(r->status, 0);
    assert_string_equal(r->err, "");
    expect_figures(r, "pass", 6, 0, 0, 0);
    assert_non_null(strstr(r->out, "\n  pass            6\n"));
    assert_non_null(strstr(r->out, "\nrun twice      6, hashes equal\n"));
    assert_non_null(strstr(r->out, "\nrequests 9, responses 27,"));
    assert_non_null(strstr(r->out, "\nslowest:\n"));
    assert_non_null(strstr(r->out, "  uvea run two.yaml --seed "));
    assert_non_null(strstr(r->out, " simulated seconds per second of a run\n"));
}

static void a_failure_is_a_command(void **state)
{
    (void)state;
    const struct shell_result *r = shell(
        "\"$UVEA\" sweep good.yaml bad.yaml --seeds 1..2 --set prf=chacha8 --junit j.xml " COLD);
    assert_int_equal(r->status, 10);
    expect_figures(r, "wrong", 4, 2, 0, 0);
    assert_non_null(
        strstr(r->err, "bad.yaml seed 2: wrong: message-1 (uniqueness): expected match"));
    assert_non_null(strstr(r->out, "\nuvea run bad.yaml --seed 1 --set prf=chacha8  # wrong: mes"));
    write_file("failures", r->out);
    r = shell("uvea() { \"$UVEA\" \"$@\"; }; eval \"$(grep '^uvea run .*# wrong' failures | tail "
              "-1)\"");
    assert_int_equal(r->status, 10);
    assert_non_null(strstr(r->out, "seed 2"));
    r = shell("grep -c '<testcase ' j.xml; grep -c '<failure type=\"wrong\" message=\"message-1' "
              "j.xml; grep -c 'failures=\"2\"' j.xml; grep -c '</testsuite>' j.xml");
    assert_string_equal(r->out, "4\n2\n1\n2\n");
}

static void what_is_skipped_is_named(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA\" sweep good.yaml none.yaml --seeds 1..2 --junit j.xml " COLD);
    assert_int_equal(r->status, 14);
    expect_figures(r, "skipped", 4, 0, 2, 0);
    assert_non_null(strstr(r->out, "\nskipped, more than one in a hundred:\n  2 of none.yaml: "));
    r = shell("grep -c '<skipped message=.*none.ndjson' j.xml");
    assert_string_equal(r->out, "2\n");
    r = shell("\"$UVEA\" sweep bad.yaml none.yaml --seeds 1..1 " COLD);
    assert_int_equal(r->status, 10); // the worst counts
}

static void cold_marks_fail(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" sweep good.yaml --seeds 1..1");
    assert_int_equal(r->status, 16);
    expect_figures(r, "cold", 1, 0, 0, 0);
    assert_non_null(strstr(r->out, "\nCOLD:\n"));
    assert_non_null(strstr(r->out, " mirror-attack"));
    r = shell("\"$UVEA\" sweep good.yaml --seeds 1..1 --allow-cold mirror-attack");
    assert_int_equal(r->status, 16);
    assert_non_null(strstr(r->out, "\ncold, as is allowed:\n  mirror-attack\n"));
}

// Every run ends well, and each is another one: the process that dies is started again.
static void steps_are_runs(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA\" sweep good.yaml --seeds 7..7 --each-step p1 --stride 150 --jobs 2");
    unsigned runs = 0;
    unsigned last = 0;
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "\ncrashes of p1 at steps 1 to "));
    assert_int_equal(
        sscanf(strstr(r->out, "\ncrashes of p1"), "\ncrashes of p1 at steps 1 to %u", &last), 1);
    assert_int_equal(sscanf(strstr(r->out, "\nverdict: "), "\nverdict: pass runs=%u", &runs), 1);
    assert_true(runs >= 3);
    assert_int_equal(last, 1 + 150 * (runs - 1));
    assert_null(strstr(r->out, "restarts 0\n"));
    // Each of them is in the table of faults, in the column of processes.
    unsigned deaths = 0;
    assert_int_equal(sscanf(strstr(r->out, "\n  all "), "\n  all %*s %*s %u", &deaths), 1);
    assert_int_equal(deaths, runs);
    assert_non_null(strstr(r->out, "  uvea run good.yaml --seed 7 --set crash.p1_step=151\n"));
    r = shell("\"$UVEA\" run good.yaml --seed 7 --set crash.p1_step=151 --json");
    assert_int_equal(r->status, 0);
    r = shell("\"$UVEA\" sweep bad.yaml --seeds 7..7 --each-step p1 --stride 300");
    assert_int_equal(r->status, 2);
    assert_non_null(strstr(r->err, "without a crash it must pass"));
}

static void steps_need_one_run(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "good.yaml --seeds 1..2 --each-step p1",
        "good.yaml two.yaml --seeds 1..1 --each-step p1",
        "good.yaml --seeds 1..1 --each-step p3",
        "good.yaml --seeds 1..1 --each-step p1 --stride 0",
        "good.yaml --seeds 1..1 --stride 2",
        "good.yaml --seeds 1..1 --each-step p1 --db x.sqlite",
        "good.yaml --seeds 1..1 --each-step p1 --shard 0/2",
        "good.yaml --seeds 1..1 --each-step p1 --junit x.xml",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(shell("\"$UVEA\" sweep %s", wrong[i])->status, 2);
    }
}

// ---- with a database

static void recorded_runs_are_not_repeated(const char *db)
{
    const struct shell_result *r = shell(
        "\"$UVEA\" sweep two.yaml good.yaml --seeds 1..4 --twice-percent 0 --db %s " COLD, db);
    expect_figures(r, "pass", 8, 0, 0, 0);
    r = shell("\"$UVEA\" sweep good.yaml bad.yaml --seeds 3..6 --twice-percent 0 --db %s " COLD,
              db);
    assert_int_equal(r->status, 10);
    expect_figures(r, "wrong", 8, 4, 0, 2);
    // Failures count as they did, sentences and figures included.
    r = shell("\"$UVEA\" sweep good.yaml bad.yaml --seeds 3..6 --twice-percent 0 --db %s " COLD,
              db);
    assert_int_equal(r->status, 10);
    expect_figures(r, "wrong", 8, 4, 0, 8);
    assert_non_null(
        strstr(r->out, "uvea run bad.yaml --seed 6  # wrong: message-1 (uniqueness): exp"));
    assert_non_null(strstr(r->out, "\nrequests 8, responses "));
    // Other overrides, other contents, more repetition: other runs.
    r = shell("\"$UVEA\" sweep good.yaml --seeds 1..4 --set prf=chacha8 --db %s " COLD, db);
    expect_figures(r, "pass", 4, 0, 0, 0);
    r = shell("\"$UVEA\" sweep good.yaml --seeds 1..4 --twice-percent 100 --db %s " COLD, db);
    expect_figures(r, "pass", 4, 0, 0, 0);
    r = shell("\"$UVEA\" sweep good.yaml --seeds 1..4 --db %s " COLD, db);
    expect_figures(r, "pass", 4, 0, 0, 4);
    r = shell("echo >>good.yaml; \"$UVEA\" sweep good.yaml --seeds 1..4 --db %s " COLD, db);
    expect_figures(r, "pass", 4, 0, 0, 0);
    write_scenarios();
}

// Three at the same time, one table; then all of it.
static void shards_share(const char *db)
{
    const struct shell_result *r =
        shell("for i in 0 1 2; do \"$UVEA\" sweep good.yaml --seeds 11..20 --shard $i/3 --jobs 1 "
              "--db %s " COLD " >shard$i 2>&1 & done; wait; cat shard0 shard1 shard2 | "
              "grep '^verdict: ' | sed 's/ failed.*//'",
              db);
    // 11..20 are 12 15 18, 13 16 19 and 11 14 17 20.
    assert_string_equal(r->out, "verdict: pass runs=3\nverdict: pass runs=3\nverdict: pass "
                                "runs=4\n");
    r = shell("\"$UVEA\" sweep good.yaml --seeds 11..20 --db %s " COLD, db);
    expect_figures(r, "pass", 10, 0, 0, 10);
}

static void a_killed_sweep_goes_on(const char *db)
{
    const struct shell_result *r =
        shell("timeout -s KILL 2 \"$UVEA\" sweep two.yaml --seeds 101..106 --jobs 2 --db %s " COLD
              " >/dev/null 2>&1; \"$UVEA\" sweep two.yaml --seeds 101..106 --db %s " COLD,
              db, db);
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "\nverdict: pass runs=6 failed=0 "));
}

static void with_sqlite(void **state)
{
    (void)state;
    recorded_runs_are_not_repeated("runs.sqlite");
    shards_share("runs.sqlite");
    a_killed_sweep_goes_on("runs.sqlite");
    const struct shell_result *r = shell(
        "echo nonsense, and more of it >text; \"$UVEA\" sweep good.yaml --seeds 1..1 --db text");
    assert_int_equal(r->status, 1);
    assert_non_null(strstr(r->err, "text: file is not a database"));
}

// A server of its own; PostgreSQL does not run as root.
#define POSTGRES                                                                                   \
    "bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1); "                     \
    "as() { if [ \"$(id -u)\" = 0 ]; then "                                                        \
    "setpriv --reuid=postgres --regid=postgres --clear-groups \"$@\"; else \"$@\"; fi; }; "

static void with_postgres(void **state)
{
    (void)state;
    const struct shell_result *r = shell(
        POSTGRES
        "[ -n \"$bin\" ] || exit 77; chmod 711 .; mkdir pg; "
        "[ \"$(id -u)\" != 0 ] || chown postgres pg; cd pg; "
        "as \"$bin/initdb\" -D data -U uvea -A trust -E UTF8 --locale=C --no-sync >/dev/null && "
        "as \"$bin/pg_ctl\" -D data -o \"-k $PWD -c listen_addresses= -c fsync=off\" "
        "-l log -w -s start");
    if (r->status == 77) {
        skip();
    }
    assert_int_equal(r->status, 0);
    recorded_runs_are_not_repeated("\"postgres:///postgres?user=uvea&host=$PWD/pg\"");
    shards_share("\"postgres:///postgres?user=uvea&host=$PWD/pg\"");
    a_killed_sweep_goes_on("\"postgresql:///postgres?user=uvea&host=$PWD/pg\"");
    r = shell(POSTGRES "cd pg && as \"$bin/pg_ctl\" -D data -m immediate -w -s stop");
    assert_int_equal(r->status, 0);
    r = shell("\"$UVEA\" sweep good.yaml --seeds 1..1 --db \"postgres:///x?host=$PWD/pg\"");
    assert_int_equal(r->status, 1);
    assert_non_null(strstr(r->err, "uvea sweep: the sweep's database: connection to server"));
}

// ---- what stops it

static void runs_that_do_not_end(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA\" sweep long.yaml --seeds 1..1 --limit 1 " COLD);
    assert_int_equal(r->status, 13);
    assert_non_null(strstr(r->out, "# resource-limit: no result after 1 s of real time\n"));
}

struct status_case {
    const char *arguments;
    int status;
    const char *sentence;
};

static const struct status_case cases[] = {
    {"good.yaml", 2, "--seeds is missing"},
    {"--seeds 1..2", 2, "FILE is missing"},
    {"nofile.yaml --seeds 1..2", 2, "nofile.yaml: No such file"},
    {"good.yaml --seeds 2..1", 2, "--seeds 2..1"},
    {"good.yaml --seeds 1..9223372036854775808", 2, "--seeds"},
    {"good.yaml --seeds 1..2 --shard 2/2", 2, "--shard 2/2"},
    {"good.yaml --seeds 1..2 --shard 0/0", 2, "--shard 0/0"},
    {"good.yaml --seeds 1..2 --jobs 0", 2, "--jobs"},
    {"good.yaml --seeds 1..2 --twice-percent 101", 2, "--twice-percent"},
    {"good.yaml --seeds 1..2 --allow-cold frob", 2, "--allow-cold frob"},
    {"good.yaml --seeds 1..2 --set no.such=1", 2, "there is no option 'no.such'"},
    {"good.yaml --seeds 1..1 --db no/such/place", 1, "no/such/place: unable to open"},
    {"good.yaml --seeds 1..1 --junit no/such/place", 1, "no/such/place: No such file"},
    {"long.yaml --seeds 1..1 --junit no/such/place", 1, "no/such/place: No such file"},
    {"long.yaml --seeds 1..1 --junit good.yaml/j.xml", 1, "good.yaml/j.xml: Not a directory"},
    {"long.yaml --seeds 1..1 --junit .", 1, ".: Is a directory"},
    {"good.yaml two.yaml ./good.yaml --seeds 1..1", 2,
     "./good.yaml is given twice, or is the same"},
};

static void statuses_and_sentences(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct shell_result *r = shell("\"$UVEA\" sweep %s", cases[i].arguments);
        if (r->status != cases[i].status || strstr(r->err, cases[i].sentence) == NULL) {
            fail_msg("case %zu: status %d, err <%s>", i, r->status, r->err);
        }
    }
    write_file("later.yaml", SMALL "requests: [{kind: zero-overlap}, {kind: duplicate, of: 5}]\n");
    const struct shell_result *r = shell("\"$UVEA\" sweep later.yaml --seeds 4..4 " COLD);
    assert_int_equal(r->status, 2); // found in the middle of a run
    assert_non_null(strstr(r->err, "later.yaml, seed 4: line 4, requests[1] (request-2): "));
    assert_non_null(
        strstr(r->out, "\nNOT COMPLETED: 0 of 1 runs; stopped by: later.yaml, seed 4: "));
    expect_figures(r, "not-completed", 0, 0, 0, 0);
}

// The second run has no end: the signal comes once the first one has failed.
static void expect_interruption(const char *name, int number, const char *text)
{
    char line[120];
    const struct shell_result *r = shell(
        "rm -f i.sqlite; env --default-signal=%s \"$UVEA\" sweep bad.yaml long.yaml --seeds 1..1 "
        "--jobs 1 --junit j.xml --db i.sqlite " COLD " >o 2>e & "
        "until grep -q '^bad.yaml seed 1' e; do sleep 0.05; done; "
        "kill -%s $!; wait $!; s=$?; cat o; exit $s",
        name, name);
    assert_int_equal(r->status, 128 + number);
    expect_figures(r, "interrupted", 1, 1, 0, 0);
    (void)snprintf(line, sizeof(line),
                   "\nNOT COMPLETED: 1 of 2 runs; interrupted by signal %d (%s)\n", number, text);
    assert_non_null(strstr(r->out, line));
    r = shell("grep -c '<failure type=\"wrong\"' j.xml; "
              "grep -c '<error message=\"interrupted by signal' j.xml; grep -c '<testcase ' j.xml");
    assert_string_equal(r->out, "1\n1\n2\n");
    // What was recorded is not run again.
    r = shell("\"$UVEA\" sweep bad.yaml --seeds 1..1 --db i.sqlite " COLD);
    expect_figures(r, "wrong", 1, 1, 0, 1);
}

static void an_interrupted_sweep_says_so(void **state)
{
    (void)state;
    expect_interruption("TERM", 15, "Terminated");
    expect_interruption("INT", 2, "Interrupt");
}

static void what_is_done_before_bad_input_is_told(void **state)
{
    (void)state;
    write_file("later.yaml", SMALL "requests: [{kind: zero-overlap}, {kind: duplicate, of: 5}]\n");
    const struct shell_result *r =
        shell("\"$UVEA\" sweep good.yaml later.yaml --seeds 1..3 --jobs 1 --junit j.xml " COLD);
    assert_int_equal(r->status, 2);
    expect_figures(r, "not-completed", 1, 0, 0, 0);
    assert_non_null(
        strstr(r->out, "\nNOT COMPLETED: 1 of 6 runs; stopped by: later.yaml, seed 1: "));
    r = shell("grep -c '<testcase ' j.xml; grep -c '<error message=\"stopped by: later.y' j.xml");
    assert_string_equal(r->out, "2\n1\n");
}

static void an_empty_shard_is_none_that_passes(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA\" sweep good.yaml --seeds 1..3 --shard 7/9 --junit j.xml " COLD);
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->out, "\nshard is empty: no seed s of these has s mod 9 = 7\n"));
    expect_figures(r, "empty", 0, 0, 0, 0);
    r = shell("\"$UVEA\" sweep good.yaml --seeds 1..3 --shard 7/9");
    assert_int_equal(r->status, 16);
}

// The alarm build's fault that makes a process's second run unlike its first.
static void runs_that_differ(void **state)
{
    (void)state;
    const struct shell_result *r = shell("\"$UVEA_ALARM\" sweep two.yaml --seeds 3..3 "
                                         "--twice-percent 100 --plant unsteady " COLD);
    assert_int_equal(r->status, 15);
    assert_non_null(strstr(r->out, ", hashes DIFFER\n"));
    assert_non_null(
        strstr(r->out, "\nuvea run two.yaml --seed 3 --twice --plant unsteady  # differs: "));
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
        cmocka_unit_test(every_pair_runs),
        cmocka_unit_test(a_failure_is_a_command),
        cmocka_unit_test(what_is_skipped_is_named),
        cmocka_unit_test(cold_marks_fail),
        cmocka_unit_test(steps_are_runs),
        cmocka_unit_test(steps_need_one_run),
        cmocka_unit_test(with_sqlite),
        cmocka_unit_test(with_postgres),
        cmocka_unit_test(runs_that_do_not_end),
        cmocka_unit_test(statuses_and_sentences),
        cmocka_unit_test(an_interrupted_sweep_says_so),
        cmocka_unit_test(what_is_done_before_bad_input_is_told),
        cmocka_unit_test(an_empty_shard_is_none_that_passes),
        cmocka_unit_test(runs_that_differ),
    };
    return cmocka_run_group_tests(tests, enter, shell_tear_down);
}
