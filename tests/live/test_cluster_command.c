// `uvea cluster` as a user meets it. A script stands in for uvead: what is tested is what is made
// for it and what becomes of the process.
#include "core/base/check.h"
#include "core/daemon/config.h"
#include "core/daemon/file.h"
#include "sim/live/cluster.h"
#include "sim/live/share_key.h"
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

// ---- what init makes

// Reads a party's configuration as uvead does, and looks at what must be right together.
static void expect_good(const char *file, unsigned party, const struct uvea_cluster_party *told)
{
    char *const environment[] = {NULL};
    struct uvea_config config = {0};
    struct uvea_complaints complaints = {.count = 0};
    struct uvea_share_key_pair pair;
    struct uvea_error_context context;
    uvea_config_read(file, environment, &config, &complaints);
    if (complaints.count > 0) {
        fail_msg("%s: %.*s", file, (int)complaints.text.len, (const char *)complaints.text.data);
    }
    assert_int_equal(uvea_config_number(&config, UVEA_KEY_root_party), party);
    assert_int_equal(uvea_config_number(&config, UVEA_KEY_service_batch_requests_max), 7);
    assert_int_equal(uvea_config_number(&config, UVEA_KEY_scan_path), 1);
    assert_int_equal(uvea_config_number(&config, UVEA_KEY_root_prf), 1);
    assert_string_equal(uvea_config_text(&config, UVEA_KEY_http_listen), told->http);
    assert_string_equal(uvea_config_text(&config, UVEA_KEY_store_sqlite), told->store);
    assert_int_equal(uvea_file_read_share_key(uvea_config_text(&config, UVEA_KEY_keys_share_key),
                                              &pair, &context),
                     UVEA_OK);
    assert_memory_equal(pair.public_key, told->share_public_key, UVEA_SHARE_KEY_BYTES);
    uvea_config_deinit(&config);
    uvea_complaints_deinit(&complaints);
}

static void uvead_and_clients_take_what_is_made(void **state)
{
    (void)state;
    struct uvea_error_context context;
    struct uvea_cluster cluster;
    shell_expect("\"$UVEA\" cluster init c --uvead /bin/true --port 25100 --set scan=ntt "
                 "--set service.batch_requests_max=7 --set prf=chacha8",
                 0, "", "");
    assert_int_equal(uvea_cluster_load("c/cluster.yaml", &cluster, &context), UVEA_OK);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        char file[32];
        (void)snprintf(file, sizeof(file), "c/p%u/uvead.yaml", i);
        expect_good(file, i, &cluster.parties[i]);
    }
    assert_string_equal(cluster.parties[2].http, "127.0.0.1:25102");
    assert_string_equal(cluster.parties[1].store, "c/p1/store.db");
    uvea_cluster_deinit(&cluster);
    shell_expect(
        "\"$UVEA\" cluster init c --uvead /bin/true", 2, "",
        "uvea cluster init: c/pki/p0-root.pem: is there already, and is not overwritten unless "
        "told\n");
    shell_expect("\"$UVEA\" cluster init c --uvead /bin/true --overwrite", 0, "", "");
    shell_expect("find c -type f -perm /077 ! -name '*.pem' ! -name '*.yaml'", 0, "", "");
    shell_expect("stat -c %a c/p?; chmod 755 c/p1; umask 0; \"$UVEA\" cluster init c --uvead "
                 "/bin/true --overwrite; stat -c %a c/p?",
                 0, "700\n700\n700\n700\n700\n700\n", "");
}

// Every address that is dialled is one the proxy listens at, and the proxy dials what is listened
// at.
static void with_a_proxy_every_link_has_an_address(void **state)
{
    (void)state;
    shell_expect(
        "\"$UVEA\" cluster init x --uvead /bin/true --through-proxy --port 25000 && "
        "sed -n 's/.*listen: \"\\(.*\\)\", dial.*/\\1/p' x/proxy.yaml | sort >listened; "
        "grep -h 'dial:\\|peers:' x/p?/uvead.yaml | grep -o '[0-9.]*:25[0-9]*' | "
        "grep -v ':250[01]' | sort | cmp - listened; wc -l <listened; "
        "sed -n 's/.*dial: \"\\(.*\\)\".*/\\1/p' x/proxy.yaml | sort -u >dialled; "
        "grep -h '  listen:' x/p?/uvead.yaml | grep -o '[0-9.]*:25[0-9]*' | sort | cmp - dialled",
        0, "12\n", "");
}

static void a_store_behind_a_url_is_kept_private(void **state)
{
    (void)state;
    shell_expect("\"$UVEA\" cluster init g --uvead /bin/true --store postgres --url "
                 "'postgres://u:p\"w@h/d' && stat -c %a g/p0/uvead.yaml g/cluster.yaml; "
                 "grep -h 'postgres\\|schema\\|store:' g/p2/uvead.yaml g/cluster.yaml | tail -4",
                 0,
                 "600\n600\n    store: \"postgres://u:p\\\"w@h/d\"\n    schema: p1\n    store: "
                 "\"postgres://u:p\\\"w@h/d\"\n    schema: p2\n",
                 "");
}

// ---- processes

// Says that it runs and what it was given; ends at SIGTERM.
#define FAKE                                                                                       \
    "printf '%s\\n' '#!/bin/sh' 'trap \"echo ended; exit 0\" TERM' 'echo \"began $2\"' "           \
    "'while :; do sleep 0.02; done' >fake; chmod +x fake; "

static void processes_are_started_once_and_known_again(void **state)
{
    (void)state;
    shell_expect(FAKE
                 "\"$UVEA\" cluster init r --uvead ./fake && \"$UVEA\" cluster start r --uvead "
                 "./fake",
                 0, "", "");
    const struct shell_result *r = shell("\"$UVEA\" cluster start r 1 --uvead ./fake");
    assert_int_equal(r->status, 2);
    assert_int_equal(strncmp(r->err, "uvea cluster start: p1: runs already, process ", 46), 0);
    // Each leads a session of its own.
    shell_expect(
        "cat r/p?/uvead.pid | while read p rest; do cut -d ' ' -f 6 /proc/$p/stat | grep -c "
        "\"^$p$\"; done",
        0, "1\n1\n1\n", "");
    // A second party's process is not touched by what happens to the first.
    shell_expect(
        "until grep -q began r/p0/uvead.log; do sleep 0.02; done; "
        "\"$UVEA\" cluster kill r 0 && \"$UVEA\" cluster kill r 0; kill -0 $(cut -d ' ' -f 1 "
        "r/p1/uvead.pid)",
        0, "", "");
    shell_expect("\"$UVEA\" cluster wait r 2>&1 >/dev/null | sed \"s|$PWD|here|\"", 0,
                 "uvea cluster wait: p0 does not run; see here/r/p0/uvead.log\n", "");
    // By the command that cluster.yaml has for it.
    shell_expect(
        "(cd r; eval \"$(sed -n 's/^    start: \"\\(.*\\)\"/\\1/p' cluster.yaml | head -1)\"); "
        "for p in 0 1 2; do until tail -1 r/p$p/uvead.log | grep -q began; do sleep 0.02; done; "
        "done; until [ $(wc -l <r/p0/uvead.log) = 2 ]; do sleep 0.02; done; "
        "\"$UVEA\" cluster stop r; sed \"s|$PWD|here|\" r/p0/uvead.log; tail -1 r/p1/uvead.log",
        0, "began here/r/p0/uvead.yaml\nbegan here/r/p0/uvead.yaml\nended\nended\n", "");
    shell_expect("\"$UVEA\" cluster stop r; \"$UVEA\" cluster kill r", 0, "", "");
}

// A process id that somebody else has by now is left alone.
static void a_strangers_process_is_left_alone(void **state)
{
    (void)state;
    shell_expect("\"$UVEA\" cluster init s --uvead /bin/true; sleep 60 & p=$!; echo $p 12345 "
                 ">s/p0/uvead.pid; \"$UVEA\" cluster kill s 0; kill -0 $p && echo lives; echo x "
                 ">s/p1/uvead.pid; \"$UVEA\" cluster kill s; kill $p",
                 0, "lives\n", "");
}

static void used_wrongly(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *err;
    } cases[] = {
        {"", ": which subcommand? known are init, start, stop, kill, status, wait"},
        {"init", " init: DIR is missing"},
        {"init n --uvead /none", " init: /none: No such file or directory"},
        {"init n --port 0 --uvead /bin/true", " init: --port: 0 is not in 1..65471"},
        {"init n --store mysql", " init: --store: 'mysql' is not sqlite or postgres"},
        {"init n --store postgres", " init: --url goes with --store postgres"},
        {"init n --url postgres://h/d", " init: --url goes with --store postgres"},
        {"init n --hosts a,b", " init: --hosts: 'a,b' is not H0,H1,H2"},
        {"init n --hosts a,b,c --through-proxy",
         " init: --hosts and --through-proxy exclude each other"},
        {"init n --hosts a,b:1,c --uvead /bin/true",
         " init: n/pki/p1.pem: 'b:1' is no DNS name and no IP address (no port, no brackets)"},
        {"init n --set sessions=7 --uvead /bin/true", " init: --set sessions: '7' is not"},
        {"init n --scenario none.yaml --uvead /bin/true", " init: none.yaml: "},
        {"init n --set service.record_limit=100000000 --uvead /bin/true",
         " init: service.record_limit: 100000000; uvead has room for 64000000 at most"},
        {"init none/n --uvead /bin/true", " init: none/n: No such file or directory"},
        {"start none", " start: none: No such file or directory"},
        {"start .", ": no cluster is here; make one with uvea cluster init"},
        {"stop c 3", " stop: '3' is not 0, 1, 2 or proxy"},
        {"stop c --seconds 0", " stop: --seconds: 0 is not in 1..86400"},
        {"start c 0 --uvead f", " start: "},
    };
    shell_expect("\"$UVEA\" cluster init c --overwrite --uvead /bin/true; echo x >f", 0, "", "");
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        const struct shell_result *r = shell("\"$UVEA\" cluster %s", cases[i].line);
        if (strstr(r->err, cases[i].err) == NULL || r->out[0] != '\0' ||
            (r->status != 2 && r->status != 1)) {
            fail_msg("%s: status %d, %s", cases[i].line, r->status, r->err);
        }
    }
}

static int leave(void **state)
{
    (void)state;
    (void)shell("for d in c r s; do \"$UVEA\" cluster kill $d; done");
    shell_leave();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uvead_and_clients_take_what_is_made),
        cmocka_unit_test(with_a_proxy_every_link_has_an_address),
        cmocka_unit_test(a_store_behind_a_url_is_kept_private),
        cmocka_unit_test(processes_are_started_once_and_known_again),
        cmocka_unit_test(a_strangers_process_is_left_alone),
        cmocka_unit_test(used_wrongly),
    };
    return cmocka_run_group_tests(tests, shell_set_up, leave);
}
