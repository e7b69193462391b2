// Attacks on the ports of a real uvead that serves with two others, over TLS: each leaves one line
// in its log and no memory, and the three go on; at last they serve a request.
#include "tests/integration/ports.h"
#include "tests/integration/shell.h"
#include "tests/posix/target.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { LOG_LINE_BYTES_MAX = 4096, SILENT = 500 };

static struct pki pki;
static struct web_lines lines;
static char http_address[WEB_ADDRESS_BYTES];
static char mesh_address[WEB_ADDRESS_BYTES];

static void run(const char *command)
{
    const struct shell_result *result = shell("%s", command);

    if (result->status != 0) {
        fail_msg("%s: status %d: %s%s", command, result->status, result->out, result->err);
    }
}

// ---- the log's lines about refusals

static pthread_t reader;
static atomic_bool reader_ends;

static void take_log_line(const char *text)
{
    struct uvea_error_context why;

    if (strstr(text, "\"event\":\"refused\"") == NULL) {
        return;
    }
    const char *at = strstr(text, "\"why\":");
    (void)snprintf(why.text, sizeof(why.text), "%.500s", at != NULL ? at : text);
    web_lines_add(&lines, &why);
}

static void *read_log(void *arg)
{
    static char text[LOG_LINE_BYTES_MAX];
    const struct timespec pause = {.tv_nsec = 10000000};
    FILE *file = arg;
    size_t len = 0;

    while (!atomic_load(&reader_ends)) {
        const int c = fgetc(file);
        if (c == EOF) {
            clearerr(file);
            (void)nanosleep(&pause, NULL);
        } else if (c == '\n') {
            text[len] = '\0';
            take_log_line(text);
            len = 0;
        } else if (len < sizeof(text) - 1) {
            text[len++] = (char)c;
        }
    }
    (void)fclose(file);
    return NULL;
}

// ---- the cluster, and its roots for certificates that it would not issue

static void read_file(const char *path, struct uvea_buf *out)
{
    FILE *file = fopen(path, "r");
    uint8_t *bytes = uvea_buf_extend(out, 16384);

    assert_true(file != NULL && bytes != NULL);
    out->len = fread(bytes, 1, out->len, file);
    (void)fclose(file);
}

static void read_root(enum pki_root root, const char *name)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "pki/%s-root.pem", name);
    read_file(path, &pki.roots[root].certificate);
    (void)snprintf(path, sizeof(path), "pki/%s-root.key.pem", name);
    read_file(path, &pki.roots[root].key);
}

static void read_roots(void)
{
    const struct uvea_certs_plan plan = {.role = UVEA_CERTS_ROOT,
                                         .common_name = "uvea party 0 root",
                                         .window = {0, PKI_START + 20000 * PKI_DAY}};

    pki = (struct pki){.directory = "pki"};
    read_root(PKI_PARTY_0, "p0");
    read_root(PKI_PARTY_1, "p1");
    read_root(PKI_PARTY_2, "p2");
    read_root(PKI_CLIENTS, "client");
    assert_int_equal(uvea_certs_make(&plan, NULL, &pki.roots[PKI_STRANGER], NULL), UVEA_OK);
}

static int set_up(void **state)
{
    (void)state;
    shell_enter();
    const unsigned base = ports_reserve();
    assert_int_equal(setenv("UVEAD", UVEAD_BINARY, 1), 0);
    assert_int_equal(setenv("UVEA__LOG__REFUSALS_PER_MINUTE", "1000000", 1), 0);
    assert_int_equal(setenv("UVEA__HTTP__HANDSHAKE_MS", "2000", 1), 0);
    assert_int_equal(setenv("UVEA__MESH__HANDSHAKE_MS", "2000", 1), 0);
    assert_int_equal(shell("$UVEA cluster init . --port %u", base)->status, 0);
    run("$UVEA cluster start . --uvead $UVEAD && $UVEA cluster wait .");
    (void)snprintf(http_address, sizeof(http_address), "127.0.0.1:%u", base);
    (void)snprintf(mesh_address, sizeof(mesh_address), "127.0.0.1:%u", base + 10);
    read_roots();
    web_lines_init(&lines);
    FILE *log = fopen("p0/uvead.log", "r");
    assert_non_null(log);
    assert_int_equal(fseek(log, 0, SEEK_END), 0); // what came before is not about an attack
    return pthread_create(&reader, NULL, read_log, log);
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&reader_ends, true);
    (void)pthread_join(reader, NULL);
    web_lines_deinit(&lines);
    const int status = shell("$UVEA cluster stop .")->status;
    shell_leave();
    for (unsigned i = 0; i < PKI_ROOTS; i++) {
        uvea_certs_pem_deinit(&pki.roots[i]);
    }
    return status;
}

// ---- attacks

static void check(void)
{
    run("$UVEA cluster status .");
}

static struct target target_at(const char *address, const char *tells_timeout)
{
    struct target target = {
        .address = address,
        .pki = &pki,
        .lines = &lines,
        .check = check,
        .tells_timeout = tells_timeout,
        .today = (int)((time(NULL) - PKI_START) / PKI_DAY),
        .process = strtol(shell("cat p0/uvead.pid")->out, NULL, 10),
    };

    target_init(&target);
    return target;
}

static void meet_replay(struct target *target)
{
    static struct wiretap tap;
    static char answer[65536];
    struct attacker caller;

    wiretap_open(&tap, target->address, WIRETAP_NO_FLIP);
    attacker_open(&caller, tap.address, &pki, "client");
    attacker_say(&caller, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0);
    attacker_read_all(&caller, answer, sizeof(answer));
    assert_int_equal(web_status_of(answer), 200);
    attacker_close(&caller);
    wiretap_close(&tap);
    target_meets_bytes(target, tap.said, tap.said_bytes, "a record that is not authentic");
}

static void test_http(void **state)
{
    (void)state;
    struct target target = target_at(http_address, "no TLS handshake within 2000 ms");
    target_meets_wrong_certificates(&target);
    target_meets_what_is_not_tls(&target);
    target_meets_slow_hello(&target);
    meet_replay(&target);
    target_meets_bad_requests(&target, "client");
    target_meets_silent_ones(&target, SILENT, check);
}

// A client that says it is party 1.
static void meet_false_name(struct target *target)
{
    static const uint8_t hello[] = {0, 0, 0, 0, 0, 0, 0, 3, 'b', 'o', 'b'};
    struct attacker caller;
    char echo[16];

    attacker_open(&caller, target->address, &pki, "client");
    attacker_send(&caller, hello, sizeof(hello));
    attacker_read_all(&caller, echo, sizeof(echo));
    attacker_close(&caller);
    target_expect_line(target, "its certificate is not that of party 1");
}

static void test_mesh(void **state)
{
    (void)state;
    struct target target = target_at(mesh_address, "the deadline passed");
    target_meets_wrong_certificates(&target);
    meet_false_name(&target);
    target_meets_silent_ones(&target, SILENT, check);
}

static void test_a_request_afterwards(void **state)
{
    (void)state;
    run("$UVEA iris gen --seed 5 -o two.ndjson && $UVEA submit --target cluster.yaml "
        "--left two.ndjson --right two.ndjson --lines 1,2 --id first --wait");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http),
        cmocka_unit_test(test_mesh),
        cmocka_unit_test(test_a_request_afterwards),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
