// The fault proxy between two ends of the posix runtime: what it does to TCP, and that TLS turns
// every flipped bit into the end of a connection and never into other bytes.
#include "core/base/check.h"
#include "core/posix/posix.h"
#include "core/tls/tls.h"
#include "sim/live/certs.h"
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 300000, PIECE_BYTES = 10000 };

static uint8_t message[MESSAGE_BYTES];
static uint8_t received[MESSAGE_BYTES];
static struct uvea_error_context context;

// ---- the proxy

static pid_t proxy;
static char dial_address[32];
static char listen_address[32];

static unsigned free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    close(fd);
    return ntohs(at.sin_port);
}

static void write_conditions(const char *conditions)
{
    FILE *file = fopen("proxy.yaml", "w");
    assert_non_null(file);
    (void)fprintf(file, "seed: 7\nlinks: [{name: a, listen: \"%s\", dial: \"%s\"%s}]\n",
                  dial_address, listen_address, conditions);
    assert_int_equal(fclose(file), 0);
}

// Until the proxy has said so; it is at most seconds on a busy machine.
static void await_word(const char *word)
{
    for (unsigned i = 0; i < 3000; i++) {
        if (shell("grep -q '%s' out", word)->status == 0) {
            return;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("the proxy never said '%s'", word);
}

static void start_proxy(const char *conditions)
{
    (void)snprintf(dial_address, sizeof(dial_address), "127.0.0.1:%u", free_port());
    (void)snprintf(listen_address, sizeof(listen_address), "127.0.0.1:%u", free_port());
    write_conditions(conditions);
    const int out = open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(out >= 0);
    proxy = fork();
    if (proxy == 0) {
        (void)dup2(out, 1);
        (void)execl(UVEA_BINARY, "uvea", "proxy", "proxy.yaml", NULL);
        _exit(127);
    }
    close(out);
    await_word("ready, 1 links");
}

// Its last line is left in `out`.
static void end_proxy(void)
{
    int status;
    assert_int_equal(kill(proxy, SIGTERM), 0);
    assert_int_equal(waitpid(proxy, &status, 0), proxy);
    assert_int_equal(status, 0);
}

static unsigned long long tally(const char *name)
{
    const struct shell_result *r = shell("grep -o ' %s=[0-9]*' out | cut -d = -f 2", name);
    return strtoull(r->out, NULL, 10);
}

// ---- two ends: what is written at one comes back from the other

struct ends {
    struct uvea_tls *tls[2];
    struct uvea_rt *rt[2]; // listener, dialler
    struct uvea_listener *listener;
    struct uvea_task *task;
};

static void echo(void *arg)
{
    struct ends *ends = arg;
    struct uvea_rt *rt = ends->rt[0];
    const uint64_t deadline_ns = uvea_rt_deadline_ns(rt, 60 * UVEA_SECOND);
    struct uvea_stream *stream;
    if (uvea_rt_accept(rt, ends->listener, &stream, deadline_ns) != UVEA_OK) {
        return;
    }
    static uint8_t bytes[PIECE_BYTES];
    size_t got = 0;
    while (uvea_rt_read(rt, stream, bytes, sizeof(bytes), &got, deadline_ns) == UVEA_OK &&
           got > 0 && uvea_rt_write(rt, stream, bytes, got, deadline_ns) == UVEA_OK) {
    }
    uvea_rt_stream_shut(rt, stream);
    uvea_rt_stream_close(rt, stream);
}

static struct uvea_tls *open_tls(int party)
{
    char key[32];
    char certificate[32];
    struct uvea_tls *tls = NULL;
    (void)snprintf(key, sizeof(key), "pki/p%d.key.pem", party);
    (void)snprintf(certificate, sizeof(certificate), "pki/p%d.pem", party);
    const struct uvea_tls_config config = {
        .key_file = key,
        .certificate_file = certificate,
        .party_root_files = {"pki/p0-root.pem", "pki/p1-root.pem", "pki/p2-root.pem"},
        .own_party = party,
    };
    assert_int_equal(uvea_tls_open(&config, &tls, &context), UVEA_OK);
    return tls;
}

static void open_ends(struct ends *ends, bool with_tls)
{
    *ends = (struct ends){.task = NULL};
    for (int i = 0; i < 2; i++) {
        struct uvea_posix_config config = uvea_posix_config_default();
        ends->tls[i] = with_tls ? open_tls(i) : NULL;
        config.tls = ends->tls[i];
        assert_int_equal(uvea_posix_open(&config, &ends->rt[i], &context), UVEA_OK);
    }
    assert_int_equal(uvea_rt_listen(ends->rt[0], listen_address, &ends->listener), UVEA_OK);
    assert_int_equal(uvea_rt_spawn(ends->rt[0], "echo", echo, ends, &ends->task), UVEA_OK);
}

static void close_ends(struct ends *ends)
{
    uvea_rt_listener_shut(ends->rt[0], ends->listener);
    uvea_rt_join(ends->rt[0], ends->task);
    uvea_rt_listener_close(ends->rt[0], ends->listener);
    for (int i = 0; i < 2; i++) {
        uvea_posix_close(ends->rt[i]);
        uvea_tls_close(ends->tls[i]);
    }
}

// Sends piece after piece and reads each one back. Returns how it ended; *got bytes came back.
static enum uvea_error converse(struct ends *ends, size_t *got)
{
    struct uvea_rt *rt = ends->rt[1];
    struct uvea_stream *stream;
    const uint64_t deadline_ns = uvea_rt_deadline_ns(rt, 60 * UVEA_SECOND);
    enum uvea_error error = uvea_rt_dial(rt, dial_address, &stream, deadline_ns);
    assert_int_equal(error, UVEA_OK);
    *got = 0;
    for (size_t sent = 0; sent < MESSAGE_BYTES && error == UVEA_OK; sent += PIECE_BYTES) {
        error = uvea_rt_write(rt, stream, message + sent, PIECE_BYTES, deadline_ns);
        while (error == UVEA_OK && *got < sent + PIECE_BYTES) {
            size_t more = 0;
            error =
                uvea_rt_read(rt, stream, received + *got, MESSAGE_BYTES - *got, &more, deadline_ns);
            error = error == UVEA_OK && more == 0 ? UVEA_ERR_CLOSED : error;
            *got += more;
        }
    }
    uvea_rt_stream_shut(rt, stream);
    uvea_rt_stream_close(rt, stream);
    return error;
}

static enum uvea_error through_proxy(const char *conditions, bool with_tls, size_t *got,
                                     double *seconds)
{
    struct ends ends;
    struct timespec times[2];
    start_proxy(conditions);
    open_ends(&ends, with_tls);
    (void)clock_gettime(CLOCK_MONOTONIC, &times[0]);
    const enum uvea_error error = converse(&ends, got);
    (void)clock_gettime(CLOCK_MONOTONIC, &times[1]);
    close_ends(&ends);
    end_proxy();
    *seconds = (double)(times[1].tv_sec - times[0].tv_sec) +
               (double)(times[1].tv_nsec - times[0].tv_nsec) / 1e9;
    return error;
}

// ---- tests

static void bytes_pass_and_are_counted(void **state)
{
    (void)state;
    size_t got;
    double seconds;
    assert_int_equal(through_proxy("", true, &got, &seconds), UVEA_OK);
    assert_int_equal(got, MESSAGE_BYTES);
    assert_memory_equal(received, message, MESSAGE_BYTES);
    assert_int_equal(tally("connections"), 1);
    assert_true(tally("bytes") > 2 * (unsigned long long)MESSAGE_BYTES);
    assert_int_equal(tally("corrupted") + tally("cut") + tally("half_closed"), 0);
}

// Lower bounds only: a busy machine may take longer.
static void delay_and_throttle_take_their_time(void **state)
{
    (void)state;
    size_t got;
    double seconds;
    // Thirty times there and back, 4 ms each way.
    assert_int_equal(through_proxy(", delay_ms: 4", false, &got, &seconds), UVEA_OK);
    assert_memory_equal(received, message, MESSAGE_BYTES);
    assert_true(seconds >= 0.24);
    // 300,000 bytes at a million a second; those on their way back may overlap with them.
    assert_int_equal(through_proxy(", bytes_per_s: 1000000, jitter_ms: 1", false, &got, &seconds),
                     UVEA_OK);
    assert_memory_equal(received, message, MESSAGE_BYTES);
    assert_true(seconds >= 0.28);
}

static void a_cut_resets_and_nothing_comes_after_it(void **state)
{
    (void)state;
    size_t got;
    double seconds;
    assert_int_not_equal(through_proxy(", cut_after_bytes: 150000", true, &got, &seconds), UVEA_OK);
    assert_true(got < 100000);
    assert_memory_equal(received, message, got);
    assert_int_equal(tally("cut"), 1);
}

// An end without close_notify is no end of data: both sides say so.
static void a_half_closed_connection_is_an_error(void **state)
{
    (void)state;
    size_t got;
    double seconds;
    assert_int_equal(through_proxy(", half_close_after_bytes: 50000", true, &got, &seconds),
                     UVEA_ERR_RESET);
    assert_memory_equal(received, message, got);
    assert_true(got < 50000);
    assert_int_equal(tally("half_closed"), 1);
}

static void flipped_bits_arrive_in_the_clear(void **state)
{
    (void)state;
    size_t got;
    double seconds;
    unsigned differing = 0;
    assert_int_equal(through_proxy(", corrupt_per_million: 100", false, &got, &seconds), UVEA_OK);
    for (size_t i = 0; i < MESSAGE_BYTES; i++) {
        differing += received[i] != message[i];
    }
    assert_true(differing > 0 && differing <= tally("corrupted"));
}

// From the first byte of a handshake to the last record, thousands of places and seeds of their
// own: whatever is hit, what was read before is right.
static void under_tls_a_flipped_bit_only_ends_the_connection(void **state)
{
    (void)state;
    struct ends ends;
    unsigned long long ended = 0;
    start_proxy(", corrupt_per_million: 20");
    for (unsigned round = 0; round < 12; round++) {
        size_t got;
        open_ends(&ends, true);
        const enum uvea_error error = converse(&ends, &got);
        close_ends(&ends);
        assert_memory_equal(received, message, got);
        assert_true(error == UVEA_OK || error == UVEA_ERR_PEER || error == UVEA_ERR_RESET ||
                    error == UVEA_ERR_CLOSED);
        assert_true((error == UVEA_OK) == (got == MESSAGE_BYTES));
        ended += error != UVEA_OK;
    }
    end_proxy();
    assert_true(ended > 0 && ended <= tally("corrupted"));
}

static void conditions_change_while_it_runs(void **state)
{
    (void)state;
    struct ends ends;
    size_t got;
    start_proxy(", cut_after_bytes: 1");
    open_ends(&ends, false);
    assert_int_not_equal(converse(&ends, &got), UVEA_OK);
    close_ends(&ends);
    write_conditions("");
    assert_int_equal(kill(proxy, SIGHUP), 0);
    await_word("new conditions");
    open_ends(&ends, false);
    assert_int_equal(converse(&ends, &got), UVEA_OK);
    close_ends(&ends);
    write_conditions(", cut: 1");
    assert_int_equal(kill(proxy, SIGHUP), 0);
    await_word("conditions stay: proxy.yaml:2: links.0..cut: no such key");
    end_proxy();
    // What is to happen tomorrow does not happen today.
    assert_int_equal(
        through_proxy(", from_ms: 86400000, cut_after_bytes: 1", false, &got, &(double){0}),
        UVEA_OK);
}

static void used_wrongly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *err;
    } cases[] = {
        {"a: 1\n", "f:1: a: no such key"},
        {"seed: 1\n", "f:1: links is missing"},
        {"seed: -1\nlinks: []\n", "f:1: seed: '-1' is no number from 0 to 18446744073709551615"},
        {"links: []\n", "f:1: links: 1 to 64 elements are wanted, 0 are there"},
        {"links: [{name: a, listen: \"h:1\"}]\n", "f:1: links[0]: dial is missing"},
        {"links:\n- name: a b\n  listen: \"h:1\"\n  dial: \"h:2\"\n",
         "f:2: links[0]: name: letters, digits, - and _ are wanted"},
        {"links:\n- name: a\n  listen: \"h:1\"\n  dial: h\n",
         "f:4: links[0]: dial: 'h' is not host:port"},
        {"links:\n- {name: a, listen: \"127.0.0.1:0\", dial: \"h:2\"}\n- {name: a, listen: "
         "\"h:1\", "
         "dial: \"h:2\"}\n",
         "f:3: links[1]: name: a is there already"},
        {"links:\n- {name: a, listen: \"h:1\", dial: \"h:2\", delay_ms: 60001}\n",
         "f:2: links[0].delay_ms: '60001' is no number from 0 to 60000"},
        {"links:\n- {name: a, listen: \"192.0.2.1:1\", dial: \"h:2\"}\n",
         "link a: 192.0.2.1:1: Cannot assign requested address"},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        FILE *file = fopen("f", "w");
        assert_non_null(file);
        assert_true(fputs(cases[i].text, file) >= 0);
        assert_int_equal(fclose(file), 0);
        const struct shell_result *r = shell("\"$UVEA\" proxy f");
        if (strstr(r->err, cases[i].err) == NULL || r->out[0] != '\0' || r->status == 0) {
            fail_msg("%s: status %d, %s", cases[i].text, r->status, r->err);
        }
    }
    const struct shell_result *r = shell("\"$UVEA\" proxy none");
    assert_string_equal(r->err, "uvea proxy: none: No such file or directory\n");
    assert_int_equal(r->status, 2);
}

static int enter(void **state)
{
    (void)state;
    const char *name = "127.0.0.1";
    const int64_t now_s = time(NULL);
    const struct uvea_certs_window window = {now_s - 60, now_s + 86400};
    shell_enter();
    for (size_t i = 0; i < MESSAGE_BYTES; i++) {
        message[i] = (uint8_t)(i * i >> 5);
    }
    assert_int_equal(uvea_certs_init("pki", &window, false, &context), UVEA_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(
            uvea_certs_issue_party("pki", uvea_party_at(i), &name, 1, &window, false, &context),
            UVEA_OK);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_pass_and_are_counted),
        cmocka_unit_test(delay_and_throttle_take_their_time),
        cmocka_unit_test(a_cut_resets_and_nothing_comes_after_it),
        cmocka_unit_test(a_half_closed_connection_is_an_error),
        cmocka_unit_test(flipped_bits_arrive_in_the_clear),
        cmocka_unit_test(under_tls_a_flipped_bit_only_ends_the_connection),
        cmocka_unit_test(conditions_change_while_it_runs),
        cmocka_unit_test(used_wrongly),
    };
    return cmocka_run_group_tests(tests, enter, shell_tear_down);
}
