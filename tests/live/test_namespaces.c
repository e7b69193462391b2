// Three parties and a client on four machines, which are network namespaces, 20 ms apart, where one
// packet in a hundred is lost: requests of a mix are answered as the oracle says. A few requests
// here; UVEA_NAMESPACES_SCENARIO names another scenario, such as scenarios/mixed-40.yaml.
#include "core/base/check.h"
#include "tests/integration/shell.h"
#include "tests/live/wire.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MACHINES = 4, CLIENT = 3 };

static char prefix[32];
static char scenario[4096];

static void expect_good(const struct shell_result *r)
{
    if (r->status != 0) {
        fail_msg("status %d: %s%s", r->status, r->out, r->err);
    }
}

static void write_scenario(void)
{
    const char *given = getenv("UVEA_NAMESPACES_SCENARIO");
    if (given != NULL) {
        (void)snprintf(scenario, sizeof(scenario), "%s", given);
        return;
    }
    FILE *file = fopen("s.yaml", "w");
    assert_non_null(file);
    assert_true(fputs("sessions: 8\nconnections: 2\ndatabase: {records: 0}\n"
                      "requests: [{type: mix, repeat: 4, enrolments: 2}]\n",
                      file) >= 0);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(scenario, sizeof(scenario), "s.yaml");
}

static void a_mix_is_answered_over_a_slow_and_lossy_network(void **state)
{
    (void)state;
    write_scenario();
    expect_good(shell("\"$UVEA\" cluster init c --uvead \"%s\" --scenario \"%s\" --port 25600 "
                      "--hosts 10.77.0.1,10.77.0.2,10.77.0.3",
                      UVEAD_BINARY, scenario));
    for (unsigned party = 0; party < CLIENT; party++) {
        expect_good(shell("ip netns exec %s%u \"$UVEA\" cluster start c %u --uvead \"%s\"", prefix,
                          party, party, UVEAD_BINARY));
    }
    expect_good(shell("ip netns exec %s%d \"$UVEA\" cluster wait c --seconds 120", prefix, CLIENT));
    // The commands of the cluster file would start parties on the client's machine.
    expect_good(shell("grep -v '^    \\(start\\|stop\\|kill\\):' c/cluster.yaml >c/remote.yaml"));
    const struct shell_result *r = shell("ip netns exec %s%d \"$UVEA\" replay \"%s\" --target "
                                         "c/remote.yaml",
                                         prefix, CLIENT, scenario);
    expect_good(r);
    const char *verdict = strstr(r->out, "verdict: pass ");
    assert_non_null(verdict);
    print_message("%s", verdict);
    expect_good(shell("\"$UVEA\" cluster stop c"));
}

static int leave(void **state)
{
    (void)state;
    (void)shell("\"$UVEA\" cluster kill c");
    shell_leave();
    return 0;
}

int main(void)
{
    const struct wire_config config = {
        .machines = MACHINES, .delay_ms = 20, .lost_per_million = 10000, .seed = 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mix_is_answered_over_a_slow_and_lossy_network),
    };
    (void)snprintf(prefix, sizeof(prefix), "uvea-%d-", (int)getpid());
    const char *why = wire_up(prefix, &config);
    if (why != NULL) {
        (void)fprintf(stderr, "skipped: %s\n", why);
        return 77;
    }
    const int failures = cmocka_run_group_tests(tests, shell_set_up, leave);
    const struct wire_tally tally = wire_down();
    print_message("%llu packets carried, %llu lost\n", (unsigned long long)tally.carried,
                  (unsigned long long)tally.lost);
    return failures > 0 || tally.lost == 0 ? 1 : 0;
}
