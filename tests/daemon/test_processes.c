// Real processes: uvead alone with everything that ends it early, then three of them on loopback
// over TLS, one of which is killed. The files are those of `uvea cluster init`.
#include "tests/integration/ports.h"
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"
#include "tests/support/descriptors.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_S = 60, // for something that takes a second or two
    POLL_MS = 50,
};

// ---- waiting

static void assert_status(const struct shell_result *result, int status)
{
    if (result->status != status) {
        fail_msg("status %d, wanted %d: %s%s", result->status, status, result->out, result->err);
    }
}

// Until a shell command succeeds.
static void await(const char *command)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};

    for (int i = 0; i < PATIENCE_S * 1000 / POLL_MS; i++) {
        if (shell("%s", command)->status == 0) {
            return;
        }
        (void)nanosleep(&pause, NULL);
    }
    fail_msg("in vain: %s: %s", command, shell("tail -n 5 p*.log")->out);
}

static void await_line(unsigned party, const char *pattern)
{
    char command[256];

    (void)snprintf(command, sizeof(command), "grep -q '%s' p%u.log", pattern, party);
    await(command);
}

// The exit status, once there is one.
static int await_exit(unsigned party)
{
    char command[64];

    (void)snprintf(command, sizeof(command), "test -s p%u.status", party);
    await(command);
    return (int)strtol(shell("cat p%u.status", party)->out, NULL, 10);
}

static void assert_exit(unsigned party, int status)
{
    const int ended = await_exit(party);

    if (ended != status) {
        fail_msg("party %u ended with %d, wanted %d: %s", party, ended, status,
                 shell("tail -n 3 p%u.log", party)->out);
    }
}

// ---- processes

static void make_cluster(void)
{
    assert_status(shell("$UVEA cluster init . --port %u", ports_reserve()), 0);
}

static void launch(unsigned party, const char *variables)
{
    assert_status(
        shell("rm -f p%u.status; : >p%u.log; (sh -c 'echo $$ >p%u.pid; umask 022; exec env %s "
              "$UVEAD --config p%u/uvead.yaml 2>>p%u.log'; echo $? >p%u.status) "
              ">/dev/null 2>&1 &",
              party, party, party, variables, party, party, party),
        0);
}

static void start(unsigned party, const char *variables)
{
    launch(party, variables);
    await_line(party, "\"event\":\"starting\"");
}

static void send_signal(unsigned party, const char *name)
{
    assert_status(shell("kill -%s $(cat p%u.pid)", name, party), 0);
}

static int enter(void **state)
{
    (void)state;
    shell_enter();
    make_cluster();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    (void)shell("for p in 0 1 2; do test -s p$p.status || ! test -s p$p.pid || "
                "kill -9 $(cat p$p.pid); done");
    shell_leave();
    return 0;
}

// ---- one

static void test_check_config(void **state)
{
    const struct shell_result *result = shell("$UVEAD --config p0/uvead.yaml --check-config");

    (void)state;
    assert_status(result, 0);
    assert_string_equal(result->out, "configuration is good\n");
    // File names are printed as they are opened, from here.
    assert_status(shell("$UVEAD --config p0/uvead.yaml --print-config >printed.yaml && "
                        "$UVEAD --config printed.yaml --check-config && "
                        "$UVEAD --config printed.yaml --print-config | cmp - printed.yaml"),
                  0);
}

static void test_all_that_is_wrong_is_said(void **state)
{
    const struct shell_result *result;

    (void)state;
    result = shell("chmod 644 p0/share.key; UVEA__SCAN__CPUS=1023 "
                   "UVEA__TLS__ROOTS=../pki/p1-root.pem,../pki/p0-root.pem,../pki/p2-root.pem "
                   "$UVEAD --config=p0/uvead.yaml --check-config");
    assert_status(result, 2);
    assert_non_null(strstr(result->err, "keys.share_key: p0/share.key: its mode is 644"));
    assert_non_null(strstr(result->err, "UVEA__SCAN__CPUS: processor 1023 is not there"));
    assert_non_null(strstr(result->err, "p0.pem"));
    assert_string_equal(result->out, "");
    assert_status(shell("$UVEAD --nonsense"), 2);
    result = shell("$UVEAD --config");
    assert_status(result, 2);
    assert_non_null(strstr(result->err, "uvead: --config: the name of a file is missing\n"));
    assert_status(shell("$UVEAD --version | grep -q '^uvead '"), 0);
    assert_status(shell("$UVEAD --help | grep -q 'exit status'"), 0);
}

// Each file with where the configuration names it.
static void test_files_are_named_with_their_keys(void **state)
{
    static const char *const sentences[] = {
        "p0/uvead.yaml:%s: tls.key: p0/../pki/p0.key.pem: No such file or directory\n",
        "UVEA__TLS__CERTIFICATE: no.pem: No such file or directory\n",
        ("p0/uvead.yaml:%s: tls.roots: p0/../pki/p1-root.pem: no root: a certificate that may not "
         "sign others\n"),
        "p0/uvead.yaml:%s: tls.client_root: p0/../pki/client-root.pem: empty\n",
        "p0/uvead.yaml:%s: keys.share_key: p0/share.key: No such file or directory\n",
    };
    const struct shell_result *result;

    (void)state;
    assert_status(shell("rm pki/p0.key.pem p0/share.key; cp pki/p1.pem pki/p1-root.pem; "
                        ": >pki/client-root.pem; "
                        "! UVEA__TLS__CERTIFICATE=$PWD/no.pem $UVEAD --config p0/uvead.yaml "
                        "--check-config 2>said; "
                        "sed -i \"s|uvead.yaml:[0-9]*|uvead.yaml:%%s|; s|$PWD/||\" said"),
                  0);
    result = shell("cat said");
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
        if (strstr(result->out, sentences[i]) == NULL) {
            fail_msg("wanted: %s got: %s", sentences[i], result->out);
        }
    }
    assert_int_equal(strtol(shell("wc -l <said")->out, NULL, 10), 5);
    // The start says the same.
    assert_status(shell("UVEA__TLS__CERTIFICATE=$PWD/no.pem $UVEAD --config p0/uvead.yaml "
                        "2>p0.log"),
                  2);
    assert_status(shell("test $(grep -c '\"event\":\"configuration\"' p0.log) = 5"), 0);
}

static void test_full_output(void **state)
{
    static const char *const options[] = {"--print-config", "--check-config", "--version",
                                          "--help"};

    (void)state;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const struct shell_result *result =
            shell("$UVEAD --config p0/uvead.yaml %s >/dev/full", options[i]);

        assert_status(result, 1);
        assert_string_equal(result->err, "uvead: standard output: No space left on device\n");
    }
}

// Each end has its status and one line that says why.
static void test_early_ends(void **state)
{
    static const struct {
        const char *variables;
        int status;
        const char *line;
    } cases[] = {
        {"UVEA__MESH__LISTN=x", 2,
         "environment: no such key: UVEA__MESH__LISTN; is UVEA__MESH__LISTEN meant?"},
        {"UVEA__TLS__KEY=../pki/p1.key.pem", 2, "p0.pem"},
        {"UVEA__SCAN__MEMORY_BYTES_MAX=1000000", 3,
         "0 records take [0-9]* bytes of memory, and scan.memory_bytes_max is 1000000"},
        {"UVEA__STORE__SQLITE=/no/such/folder/store.db", 4, "/no/such/folder/store.db"},
        {"UVEA__HTTP__LISTEN=192.0.2.1:80", 1,
         "HTTP cannot be served at 192.0.2.1:80: no address of this machine"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_status(shell("%s $UVEAD --config p0/uvead.yaml 2>p0.log", cases[i].variables),
                      cases[i].status);
        assert_status(shell("grep '\"level\":\"error\"' p0.log | grep -q '%s'", cases[i].line), 0);
    }
}

// One that ends early has raised the soft limit to the hard one by then.
static void test_few_descriptors(void **state)
{
    static const char run[] = "UVEA__STORE__SQLITE=/no/such/folder/store.db "
                              "$UVEAD --config p0/uvead.yaml 2>p0.log";

    (void)state;
    need_descriptors(1856);
    assert_status(shell("ulimit -n 1855; %s", run), 4);
    assert_status(shell("grep '\"level\":\"warn\",\"event\":\"descriptors\"' p0.log | grep -q "
                        "'1856 descriptors may be in use at once, .* is 1855\"'"),
                  0);
    assert_status(shell("ulimit -Sn 300 && ulimit -Hn 1856; %s", run), 4);
    assert_status(shell("! grep -q descriptors p0.log"), 0);
}

static void test_stop_before_the_others_are_there(void **state)
{
    (void)state;
    start(0, "");
    await_line(0, "\"what\":\"http\"");
    send_signal(0, "TERM");
    assert_exit(0, 0);
    await_line(0, "\"event\":\"stopped\",\"message\":\"SIGTERM\"");
}

// The address sanitizer wants to be loaded first, and may be second here.
#define PRELOAD "ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD=" EARLY_SIGNALS

// Before there is a log, a task or even a configuration.
static void test_signals_before_main(void **state)
{
    (void)state;
    assert_status(shell(PRELOAD " $UVEAD --config p0/uvead.yaml 2>p0.log"), 0);
    await_line(0, "\"event\":\"stopping\",\"message\":\"SIGTERM\"");
    await_line(0, "\"event\":\"stopped\",\"message\":\"SIGTERM\"");
    // A command is ended by them as any other.
    assert_status(shell("exec env " PRELOAD " $UVEAD --version"), 128 + SIGHUP);
}

// Whatever it is at: reading its files, opening its store, asking the others.
static void test_signals_at_any_time(void **state)
{
    enum { STARTS = 20, STEP_MS = 4 };

    (void)state;
    for (unsigned i = 0; i < STARTS; i++) {
        const struct timespec delay = {.tv_nsec = (long)(i * STEP_MS) * 1000000L};

        launch(0, "");
        await("grep -q '^SigBlk:.*[1-9]' /proc/$(cat p0.pid)/status && "
              "grep -q uvead /proc/$(cat p0.pid)/comm");
        (void)nanosleep(&delay, NULL);
        send_signal(0, "HUP");
        send_signal(0, "TERM");
        assert_exit(0, 0);
        await_line(0, "\"event\":\"stopped\",\"message\":\"SIGTERM\"");
    }
}

// Takes connections and never says a word.
static int open_silent_peer(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(made >= 0);
    assert_int_equal(bind(made, (const struct sockaddr *)&address, bytes), 0);
    assert_int_equal(listen(made, 1), 0);
    assert_int_equal(getsockname(made, (struct sockaddr *)&address, &bytes), 0);
    *port = ntohs(address.sin_port);
    return made;
}

static void test_occupied_port(void **state)
{
    unsigned port;
    const int occupant = open_silent_peer(&port);

    (void)state;
    assert_status(
        shell("UVEA__HTTP__LISTEN=127.0.0.1:%u $UVEAD --config p0/uvead.yaml 2>p0.log", port), 1);
    assert_status(shell("grep -q '\"error\":\"IN_USE\",\"message\":\"HTTP cannot be served at "
                        "127.0.0.1:%u: address already in use\",\"status\":1' p0.log",
                        port),
                  0);
    (void)close(occupant);
}

static void test_second_signal_ends_at_once(void **state)
{
    char variables[256];
    unsigned port;
    const int peer = open_silent_peer(&port);

    (void)state;
    (void)snprintf(variables, sizeof(variables),
                   "UVEA__COORDINATION__ATTEMPT_MS=600000 "
                   "UVEA__HTTP__PEERS=127.0.0.1:%u,127.0.0.1:%u,127.0.0.1:%u",
                   port, port, port);
    start(0, variables);
    await_line(0, "\"what\":\"http\"");
    const int asked = accept(peer, NULL, NULL); // it waits for an answer now
    send_signal(0, "TERM");
    await_line(0, "\"event\":\"stopping\",\"message\":\"SIGTERM\"");
    send_signal(0, "INT");
    assert_exit(0, 130);
    (void)close(asked);
    (void)close(peer);
}

// ---- three

static void start_all(void)
{
    for (unsigned party = 0; party < 3; party++) {
        start(party, "UVEA__LOG__LEVEL=debug");
    }
    for (unsigned party = 0; party < 3; party++) {
        await_line(party, "\"event\":\"ready\"");
    }
}

static void reload(void)
{
    send_signal(0, "HUP");
    await_line(0, "\"event\":\"certificates reloaded\",\"not_after\":\"20..-");
    assert_status(shell("cp pki/p0.pem good.pem; echo damaged >pki/p0.pem"), 0);
    send_signal(0, "HUP");
    await_line(0, "\"event\":\"certificates kept\".*p0.pem");
    assert_status(shell("cp good.pem pki/p0.pem"), 0);
}

// A request goes through all three, and each says so; a repeated one is the same.
static void submit(void)
{
    static const char line[] =
        "\"event\":\"batch\",\"batch\":1,\"requests\":1,\"first_sequence\":1,\"inserted\":1,"
        "\"updated\":0,\"unchanged\":0,\"error\":0,\"comparisons\":";

    assert_status(shell("$UVEA iris gen --seed 5 -o two.ndjson && "
                        "$UVEA submit --target cluster.yaml --left two.ndjson --right two.ndjson "
                        "--lines 1,2 --id first --wait"),
                  0);
    for (unsigned party = 0; party < 3; party++) {
        await_line(party, line);
    }
}

// Nothing of a key is in any log, at its most talkative; and nothing that could be a share, which
// is longer than the fingerprint of a certificate.
static void check_logs(void)
{
    assert_status(shell("for p in 0 1 2; do test -s p$p/share.key && "
                        "! grep -F -f p$p/share.key p?.log && "
                        "! grep -v -e ---- pki/p$p.key.pem | grep -F -f - p?.log || exit 1; done"),
                  0);
    assert_status(shell("! grep -E '[A-Za-z0-9+/=]{65}' p?.log"), 0);
}

static void test_three(void **state)
{
    (void)state;
    start_all();
    // Whatever the umask is that they are started with.
    assert_status(shell("test \"$(stat -c %%a p?/store.db* | sort -u)\" = 600"), 0);
    submit();
    reload();
    send_signal(1, "KILL");
    assert_exit(1, 137);
    // Each notices the loss and fails, or that the other one is going, and goes too.
    assert_in_range(await_exit(0), 0, 1);
    assert_in_range(await_exit(2), 0, 1);
    await_line(0, "\"event\":\"stopped\",.*party [12]");
    await_line(2, "\"event\":\"stopped\",.*party [01]");
    check_logs();
    start_all();
    send_signal(2, "TERM");
    for (unsigned party = 0; party < 3; party++) {
        assert_exit(party, 0);
    }
    await_line(0, "\"event\":\"stopped\",\"message\":\"party [12] is shutting down\"");
    check_logs();
}

// The url holds a password.
static void test_url_is_not_logged(void **state)
{
    (void)state;
    assert_status(shell("UVEA__STORE__SQLITE= UVEA__STORE__POSTGRES_URL="
                        "postgres://user:hunter2@127.0.0.1:1/none "
                        "$UVEAD --config p0/uvead.yaml >p0.log 2>&1"),
                  4);
    assert_status(shell("grep -q '\"event\":\"store\"' p0.log && ! grep hunter2 p0.log"), 0);
    // What libpq says on several lines is on one, with nothing that the log has to replace.
    assert_status(shell("grep -q 'failed: Connection refused Is the server' p0.log"), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_check_config),
        IN_FOLDER(test_all_that_is_wrong_is_said),
        IN_FOLDER(test_files_are_named_with_their_keys),
        IN_FOLDER(test_full_output),
        IN_FOLDER(test_early_ends),
        IN_FOLDER(test_few_descriptors),
        IN_FOLDER(test_stop_before_the_others_are_there),
        IN_FOLDER(test_signals_before_main),
        IN_FOLDER(test_signals_at_any_time),
        IN_FOLDER(test_occupied_port),
        IN_FOLDER(test_second_signal_ends_at_once),
        IN_FOLDER(test_three),
        IN_FOLDER(test_url_is_not_logged),
    };

    (void)setenv("UVEAD", UVEAD_BINARY, 1);
#ifdef __SANITIZE_ADDRESS__
    // The search for leaks looks at the process as a debugger does.
    (void)setenv("UVEA__PROCESS__CORE_DUMPS", "true", 1);
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
