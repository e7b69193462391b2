// Three uvead as processes, reached as a user reaches them: `uvea cluster`, `uvea submit`, and the
// fault proxy between the parties, which may cost time and connections but never an answer.
#include "core/base/check.h"
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <string.h>

#define SUBMIT                                                                                     \
    "\"$UVEA\" submit --target c/cluster.yaml --left pair --right pair --lines 1,2 --wait "

static void expect_good(const struct shell_result *r)
{
    if (r->status != 0) {
        print_error("status %d: %s%s\n", r->status, r->out, r->err);
        fail_msg("%s", shell("tail -n 5 c/p*/uvead.log")->out);
    }
}

static void expect_answers(const char *part)
{
    const struct shell_result *r = shell(SUBMIT);
    expect_good(r);
    if (strstr(r->out, part) == NULL || strstr(r->out, "\nagree: yes\n") == NULL) {
        fail_msg("no '%s' in: %s", part, r->out);
    }
}

// All links of the MPC flip so many bits from now on.
static void corrupt(unsigned per_million)
{
    expect_good(shell("grep -c 'new conditions' c/proxy.log >before; "
                      "sed 's/\\(-mpc,.*\\)}/\\1, corrupt_per_million: %u}/' clean.yaml "
                      ">c/proxy.yaml; kill -HUP $(cut -d ' ' -f 1 c/proxy.pid); "
                      "until [ $(grep -c 'new conditions' c/proxy.log) != $(cat before) ]; do "
                      "sleep 0.02; done",
                      per_million));
}

// Parties take each other with them when one ends; some later than others.
static void bring_up(void)
{
    expect_good(shell("for i in 1 2 3 4 5 6 7 8; do \"$UVEA\" cluster start c --uvead \"%s\"; "
                      "\"$UVEA\" cluster wait c --seconds 60 >/dev/null 2>&1 && break; done; "
                      "\"$UVEA\" cluster status c",
                      UVEAD_BINARY));
}

static void flipped_bits_cost_connections_and_no_answer(void **state)
{
    (void)state;
    expect_good(shell("\"$UVEA\" iris gen --seed 7 -o pair; \"$UVEA\" cluster init c --uvead "
                      "\"%s\" --port 25700 --through-proxy --set sessions=8 --set connections=2 && "
                      "cp c/proxy.yaml clean.yaml",
                      UVEAD_BINARY));
    bring_up();
    expect_answers("\"serial_id\":1,\"is_match\":false");
    corrupt(500);
    for (unsigned i = 0; i < 2; i++) {
        const struct shell_result *r = shell(SUBMIT "--seconds 2");
        // Late, not reached, or right; not another answer.
        assert_int_not_equal(r->status, 10);
        assert_null(strstr(r->out, "\"is_match\":false"));
        (void)shell("\"$UVEA\" cluster start c --uvead \"%s\"", UVEAD_BINARY);
    }
    corrupt(0);
    // What was flipped before may still be on its way, and end a party that is ready.
    expect_good(shell("for i in 0 1 2; do \"$UVEA\" cluster kill c $i || exit; done"));
    bring_up();
    expect_answers("\"matched_serial_ids\":[1]");
    expect_good(shell("\"$UVEA\" cluster stop c; grep 'mpc: .*corrupted=[1-9]' c/proxy.log"));
}

static void expect_submit(const char *options, int status, const char *out, const char *err)
{
    const struct shell_result *r =
        shell("timeout 6 \"$UVEA\" submit --target c/cluster.yaml %s", options);
    if (r->status != status || strstr(r->out, out) == NULL || strstr(r->err, err) == NULL) {
        fail_msg("%s: status %d: %s%s", options, r->status, r->out, r->err);
    }
}

static void submit_says_what_is_missing(void **state)
{
    (void)state;
    static const char hung[] = "no answer\nagree: not known\n";
    bring_up();
    expect_submit("--left pair --right pair --id one", 0, "sequence ", "");
    expect_submit("--left pair --right pair --id one --lines 2,2", 2, "",
                  "party 0 has shares for 'one' already, and other ones: that id was used before");
    expect_good(shell("kill -STOP $(cut -d ' ' -f 1 c/p1/uvead.pid)"));
    expect_submit("--type identity_deletion --serial 1 --wait --seconds 3", 11, hung,
                  "uvea submit: party ");
    expect_submit("--left pair --right pair --seconds 3", 11, "",
                  "party 1 at 127.0.0.1:25701: PUT");
    expect_good(shell("\"$UVEA\" cluster kill c"));
    expect_submit("--left pair --right pair --seconds 3", 11, "", "nobody listens there");
}

static void submit_used_wrongly(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *err;
    } cases[] = {
        {"", "--target is missing"},
        {"--target none.yaml --left pair --right pair", "none.yaml: No such file or directory"},
        {"--target c/cluster.yaml", "--left is missing"},
        {"--target c/cluster.yaml --left pair", "--right is missing"},
        {"--target c/cluster.yaml --left none --right pair", "none: No such file or directory"},
        {"--target c/cluster.yaml --left pair --right pair --lines 1,3", "pair has no line 3"},
        {"--target c/cluster.yaml --type magic", "--type: 'magic' is none (see: uvea help submit)"},
        {"--target c/cluster.yaml --type identity_deletion",
         "--serial is missing: identity_deletion names a record"},
        {"--target c/cluster.yaml --type identity_deletion --serial 1 --left pair",
         "--left: identity_deletion sends no templates"},
        {"--target c/cluster.yaml --type identity_deletion --serial 0",
         "--serial: 0 is not in 1..4294967295"},
        {"--target c/cluster.yaml --serial 1", "--serial: uniqueness names no record"},
        {"--target c/cluster.yaml --left pair --right pair --seconds 0",
         "--seconds: 0 is not in 1..86400"},
        {"--target c/cluster.yaml --left pair --right pair --id a/b",
         "--id: 1 to 128 letters, digits, - and _ are wanted"},
        {"--target c/cluster.yaml --left pair --right pair",
         "party 0 at 127.0.0.1:25700: PUT /v1/shares/"},
    };
    expect_good(shell("\"$UVEA\" iris gen -o pair; [ -d c ] || \"$UVEA\" cluster init c --uvead "
                      "/bin/true --port 25700; \"$UVEA\" cluster kill c"));
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        const struct shell_result *r = shell("\"$UVEA\" submit %s", cases[i].line);
        if (strstr(r->err, cases[i].err) == NULL || r->out[0] != '\0' || r->status == 0) {
            fail_msg("%s: status %d, %s", cases[i].line, r->status, r->err);
        }
    }
    assert_int_equal(shell("\"$UVEA\" cluster status c")->status, 11);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flipped_bits_cost_connections_and_no_answer),
        cmocka_unit_test(submit_says_what_is_missing),
        cmocka_unit_test(submit_used_wrongly),
    };
    return cmocka_run_group_tests(tests, shell_set_up, leave);
}
