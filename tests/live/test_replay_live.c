// uvea replay and uvea diff against three uvead on this machine.
#include "tests/integration/ports.h"
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

static int leave(void **state)
{
    (void)state;
    (void)shell("\"$UVEA\" cluster kill c");
    shell_leave();
    return 0;
}

static void write_scenario(const char *requests)
{
    FILE *file = fopen("s.yaml", "w");
    assert_non_null(file);
    (void)fprintf(file,
                  "seed: 3\nsessions: 8\nconnections: 2\ndatabase: {records: 2}\nrequests:\n%s",
                  requests);
    assert_int_equal(fclose(file), 0);
}

static void start_cluster(void)
{
    const struct shell_result *r =
        shell("\"$UVEA\" cluster init c --scenario s.yaml --port %u --uvead " UVEAD_BINARY
              " && \"$UVEA\" cluster start c --uvead " UVEAD_BINARY,
              ports_reserve());
    if (r->status != 0) {
        fail_msg("%s%s", r->out, r->err);
    }
}

static void expect(int status, const char *says, const char *line)
{
    const struct shell_result *r = shell("%s", line);
    if (r->status != status || (strstr(r->out, says) == NULL && strstr(r->err, says) == NULL)) {
        print_error("%s\nstatus %d, not %d with '%s':\n%s%s\n", line, r->status, status, says,
                    r->out, r->err);
        fail_msg("%s", shell("tail -n 5 c/p*/uvead.log")->out);
    }
}

static void replay_passes_over_a_kill(void **state)
{
    (void)state;
    write_scenario("  - {type: mix, repeat: 4, enrolments: 1}\n"
                   "  - {type: restart, how: kill, party: p1}\n"
                   "  - {kind: duplicate, of: 2, skip_persistence: true}\n");
    start_cluster();
    expect(0, "verdict: pass requests=5 responses=15 disagreements=0 mismatches=0",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml --report r.html >out; status=$?; "
           "cat out; test $status != 0 || grep -q 'ledger: the three stores hold' out && "
           "grep -q '</svg>' r.html || exit 99; exit $status");
    expect(2, "party 0 is configured with scan_path \"ring\", the scenario asks for \"ntt\"",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml --set scan=ntt");
    expect(2, "the cluster is not empty", "\"$UVEA\" replay s.yaml --target c/cluster.yaml");
}

// At its end the cluster is ready for whoever comes next.
static void kills_from_outside_are_healed(void **state)
{
    (void)state;
    write_scenario("  - {type: mix, repeat: 16, enrolments: 2}\n");
    start_cluster();
    // One killed after the last answer would have nobody to start it.
    expect(0, "verdict: pass requests=16 responses=48 disagreements=0 mismatches=0",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml --pace 1 & replay=$!; "
           "for party in 1 0 2 1; do sleep 3; \"$UVEA\" cluster kill c $party; done; "
           "kill -0 $replay || exit 97; "
           "wait $replay || exit; \"$UVEA\" cluster status c >/dev/null || exit 98");
}

static void signals_end_it_in_order(void **state)
{
    (void)state;
    write_scenario("  - {type: mix, repeat: 30, enrolments: 2}\n");
    start_cluster();
    expect(143, "verdict: interrupted requests=30 ",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml --pace 1 --progress --report r.html "
           ">out 2>err & replay=$!; until grep -q 'answered [1-9][0-9]* of 30' err; do sleep 0.1; "
           "done; kill $replay; wait $replay; status=$?; cat out err; "
           "grep -q '^interrupted: 2 of 2 records were enrolled, ' out && "
           "grep -q '^before the next replay: .*dev cluster down and up' out && "
           "grep -q 'enrolled: 2 of 2 records by requests in [0-9]' out && "
           "grep -q '<b>interrupted</b>' r.html || exit 99; exit $status");
    expect(2, "another directory for uvea cluster init",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml");
    expect(0, "", "\"$UVEA\" cluster status c && \"$UVEA\" cluster stop c");
    expect(11, "party 0 at 127.0.0.1:",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml >out 2>err; status=$?; "
           "grep 'does not answer GET /startup-sync: nobody listens' err; exit $status");
}

static void live_and_simulated_answers_are_the_same(void **state)
{
    (void)state;
    write_scenario("  - {type: mix, repeat: 6, enrolments: 2}\n"
                   "  - {type: malformed, how: bad-json}\n"
                   "  - {kind: new, bad_share: p2}\n");
    start_cluster();
    expect(0, "live: pass\nsim:  pass\n0 of 8 requests are answered differently\n",
           "\"$UVEA\" diff s.yaml --target c/cluster.yaml");
}

static void files_and_options_are_named(void **state)
{
    (void)state;
    write_scenario("  - {kind: new}\n");
    expect(2, "--target is missing", "\"$UVEA\" replay s.yaml");
    expect(2, "--target is missing", "\"$UVEA\" diff s.yaml");
    expect(2, "none.yaml", "\"$UVEA\" replay s.yaml --target none.yaml");
    expect(2, "none.yaml", "\"$UVEA\" diff none.yaml --target c/cluster.yaml");
    assert_int_equal(shell("\"$UVEA\" cluster init c --scenario s.yaml --uvead /bin/true")->status,
                     0);
    expect(2, "--pace 0: want requests per second",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml --pace 0");
    expect(2, "--pace 5x: want requests per second",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml --pace 5x");
    expect(2, "only the simulator can do what the scenario asks for: swarm.faults",
           "\"$UVEA\" replay s.yaml --target c/cluster.yaml --set swarm.faults=on");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replay_passes_over_a_kill, shell_set_up, leave),
        cmocka_unit_test_setup_teardown(kills_from_outside_are_healed, shell_set_up, leave),
        cmocka_unit_test_setup_teardown(signals_end_it_in_order, shell_set_up, leave),
        cmocka_unit_test_setup_teardown(live_and_simulated_answers_are_the_same, shell_set_up,
                                        leave),
        cmocka_unit_test_setup_teardown(files_and_options_are_named, shell_set_up, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
