// `uvea bench service` with a small database: that it measures uvead at all, and right answers
// only; what it measures is not judged.
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <string.h>

// With the least there is of everything but requests.
#define BENCH(requests, port)                                                                      \
    "\"$UVEA\" bench service --records 20 --sessions 8 --connections 1 --requests " #requests      \
    " --port " #port " "
#define SHORT BENCH(17, 28600)
#define LONG BENCH(100, 28600)

// Processes started with the configurations of directory d; not the one that looks for them.
#define RUNNING "grep -las \"$PWD/d/p./[u]vead.yaml\" /proc/[0-9]*/cmdline"

static void expect_status(const struct shell_result *r, int status)
{
    if (r->status != status) {
        fail_msg("status %d: %s%s", r->status, r->out, r->err);
    }
}

static void expect_part(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in: %s", part, text);
    }
}

static void expect_nothing_runs(void)
{
    expect_status(shell("for i in 1 2 3 4 5 6 7 8 9 10; do " RUNNING
                        " >/dev/null || exit 0; sleep 0.5; done; false"),
                  0);
}

// ---- what is good

static void the_service_is_measured_on_both_paths(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "{\"records\": 256, \"requests\": 18, \"in_flight\": 1, \"runs\": [",
        "{\"path\": \"ntt\", \"tls\": true, \"comparisons_per_s\": ",
        "{\"path\": \"ntt\", \"tls\": false, \"comparisons_per_s\": ",
        "{\"path\": \"ring\", \"tls\": true, \"comparisons_per_s\": ",
        "{\"path\": \"ring\", \"tls\": false, \"comparisons_per_s\": ",
        "\"stage_ms\": {\"idle\": ",
    };
    const struct shell_result *r = shell("mkdir tmp; TMPDIR=$PWD/tmp \"$UVEA\" bench service "
                                         "--records 256 --requests 18 --port 28600 --json");
    expect_status(r, 0);
    expect_part(r->err, "stores of 256 records filled");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        expect_part(r->out, parts[i]);
    }
    assert_null(strstr(r->out, "nan"));
    assert_null(strstr(r->out, "inf"));
    expect_status(shell("rmdir tmp"), 0);
}

// Its stores are used again, whatever else is new; and no one else's are touched.
static void a_directory_is_used_again(void **state)
{
    (void)state;
    expect_status(shell(SHORT "--directory d --tls off --scan ring --in-flight 4"), 0);
    expect_status(shell("cat d/RECORDS; grep -q '\"event\":\"ready\"' d/p0/uvead.log && "
                        "grep -q '\"tls\":false' d/p1/uvead.log"),
                  0);
    const struct shell_result *r =
        shell(BENCH(17, 28700) "--directory d --tls on --scan ring --json");
    expect_status(r, 0);
    expect_part(r->err, "stores of 20 records filled in 0.0 s");
    expect_nothing_runs();
    expect_status(shell("rm d/RECORDS"), 0);
    r = shell(SHORT "--directory d");
    expect_status(r, 2);
    expect_part(r->err, "is there already");
}

// ---- what is not

static void wrong_arguments_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"--records 0", "--records 0: want 1 to 1048576"},
        {"--requests 16", "--requests 16: want 17 to 1000"},
        {"--sessions 12", "--sessions: want a multiple of 8"},
        {"--scan fast", "--scan fast: want ring or ntt"},
        {"--tls maybe", "--tls maybe: want on or off"},
        {"--directory /nowhere/at/all", "/nowhere/at/all: No such file or directory"},
        {"--uvead /nowhere/uvead", "/nowhere/uvead: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct shell_result *r = shell("\"$UVEA\" bench service %s", wrong[i][0]);
        assert_int_not_equal(r->status, 0);
        expect_part(r->err, wrong[i][1]);
    }
}

static void what_is_no_uvead_is_named(void **state)
{
    (void)state;
    const struct shell_result *r = shell(SHORT "--uvead /bin/false");
    expect_status(r, 1);
    expect_part(r->err, "/bin/false ended with status 1: it said nothing");
}

// The last complaint of its log is shown.
static void a_party_that_fails_is_quoted(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("UVEA__SCAN__MEMORY_BYTES_MAX=1000 " SHORT "--directory d --tls off --scan ring");
    expect_status(r, 1);
    expect_part(r->err, "ended with status 3: ");
    expect_part(r->err, "scan.memory_bytes_max is 1000");
    expect_nothing_runs();
}

// A run that goes on for long enough; $pid is the command's.
#define START                                                                                      \
    LONG "--directory d --tls on --scan ring >out 2>err & "                                        \
         "pid=$!; i=0; "                                                                           \
         "until grep -qs '\"event\":\"batch\",\"batch\":3' d/p1/uvead.log || [ $i = 600 ]; do "    \
         "i=$((i + 1)); sleep 0.1; done; "

static void a_party_that_is_killed_is_named(void **state)
{
    (void)state;
    expect_status(shell(START "victim=$(grep -las \"$PWD/d/p1/[u]vead.yaml\" "
                              "/proc/[0-9]*/cmdline); victim=${victim#/proc/}; "
                              "kill -9 ${victim%%/cmdline}; wait $pid; "
                              "status=$?; cat err; exit $status"),
                  1);
    expect_status(shell("grep 'party 1: .*uvead was ended by signal 9 (Killed)' err"), 0);
    expect_nothing_runs();
}

static void an_interrupt_leaves_nothing(void **state)
{
    (void)state;
    expect_status(shell("mkdir tmp; TMPDIR=$PWD/tmp env --default-signal=INT " LONG
                        "2>err & pid=$!; i=0; "
                        "until grep -qs '\"event\":\"batch\"' tmp/*/p2/uvead.log || "
                        "[ $i = 600 ]; do i=$((i + 1)); sleep 0.1; done; "
                        "kill -INT $pid; wait $pid"),
                  130);
    expect_status(shell("grep 'interrupted by signal 2 (Interrupt)' err && rmdir tmp"), 0);
    expect_status(shell("! grep -las \"$PWD/tmp/.*/p./[u]vead.yaml\" /proc/[0-9]*/cmdline"), 0);
}

static void a_killed_command_takes_its_parties_along(void **state)
{
    (void)state;
    expect_status(shell(START "kill -9 $pid; wait $pid"), 137);
    expect_nothing_runs();
}

// Parties that cannot open the shares answer fast, and alike.
static void fast_answers_that_are_wrong_are_no_measurement(void **state)
{
    (void)state;
    const struct shell_result *r =
        shell("\"$UVEA\" keys new other.key >/dev/null && "
              "UVEA__KEYS__SHARE_KEY=$PWD/other.key " SHORT "--tls off --scan ring");
    expect_status(r, 10);
    expect_part(r->err, "request 1 is of somebody who is enrolled; the answer is is_match false, "
                        "error failed_to_process_iris_shares");
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, shell_set_up, shell_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALONE(wrong_arguments_are_refused_by_name),
        ALONE(what_is_no_uvead_is_named),
        ALONE(a_party_that_fails_is_quoted),
        ALONE(the_service_is_measured_on_both_paths),
        ALONE(a_directory_is_used_again),
        ALONE(fast_answers_that_are_wrong_are_no_measurement),
        ALONE(a_party_that_is_killed_is_named),
        ALONE(an_interrupt_leaves_nothing),
        ALONE(a_killed_command_takes_its_parties_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
