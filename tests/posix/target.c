#include "tests/posix/target.h"

#include "core/base/check.h"
#include "tests/support/descriptors.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif

enum { GROWTH_BYTES_MAX = 64 << 20 };

static size_t resident_bytes(const struct target *target)
{
    unsigned long all = 0;
    unsigned long resident = 0;
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%ld/statm",
                   target->process != 0 ? target->process : (long)getpid());
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &all, &resident), 2);
    (void)fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

void target_init(struct target *target)
{
    target->seen = web_lines_count(target->lines);
    target->resident_bytes = resident_bytes(target);
}

void target_expect_lines(struct target *target, unsigned count)
{
    web_lines_wait(target->lines, target->seen + count);
    target->check();
    assert_int_equal(web_lines_count(target->lines), target->seen + count);
    target->seen += count;
#ifndef UNDER_SANITIZER
    assert_true(resident_bytes(target) < target->resident_bytes + GROWTH_BYTES_MAX);
#endif
}

void target_expect_line(struct target *target, const char *says)
{
    web_lines_wait(target->lines, target->seen + 1);
    if (strstr(target->lines->text[target->seen], says) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", target->lines->text[target->seen], says);
    }
    target_expect_lines(target, 1);
}

// ---- certificates

void target_meets_stem(struct target *target, const char *stem, const char *says)
{
    struct attacker attacker;
    char text[256];

    attacker_open(&attacker, target->address, target->pki, stem);
    attacker_say(&attacker, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 0);
    attacker_read_all(&attacker, text, sizeof(text));
    assert_string_equal(text, "");
    attacker_close(&attacker);
    target_expect_line(target, says);
}

static void meet_leaf(struct target *target, const struct pki_leaf *leaf, const char *says)
{
    pki_write_leaf(target->pki, "attacker", leaf);
    target_meets_stem(target, "attacker", says);
}

static void meet_old_version(struct target *target)
{
    const struct pki_leaf good = {PKI_PARTY_0, "127.0.0.1", 0, target->today + 9};
    struct attacker attacker;

    pki_write_leaf(target->pki, "attacker", &good);
    attacker_open(&attacker, target->address, target->pki, "attacker");
    assert_int_equal(SSL_set_max_proto_version(attacker.ssl, TLS1_2_VERSION), 1);
    attacker_say(&attacker, "", 0);
    attacker_close(&attacker);
    target_expect_line(target, "protocol version");
}

void target_meets_wrong_certificates(struct target *target)
{
    const int today = target->today;

    meet_leaf(target, &(struct pki_leaf){PKI_STRANGER, "127.0.0.1", 0, today + 9},
              "certificate from another root");
    meet_leaf(target, &(struct pki_leaf){PKI_STRANGER, NULL, 0, today + 9},
              "certificate from another root");
    meet_leaf(target, &(struct pki_leaf){PKI_PARTY_0, "127.0.0.1", 0, today - 1},
              "certificate has expired");
    meet_leaf(target, &(struct pki_leaf){PKI_CLIENTS, NULL, today + 2, today + 9},
              "certificate is not yet valid");
    target_meets_stem(target, NULL, "no certificate");
    meet_old_version(target);
}

// ---- requests of those it knows

void target_meets_request(struct target *target, const char *stem,
                          const struct target_request *request)
{
    static char answer[65536];
    struct attacker attacker;

    attacker_open(&attacker, target->address, target->pki, stem);
    attacker_say(&attacker, request->text, request->filler);
    attacker_read_all(&attacker, answer, sizeof(answer));
    if (request->status != 0) {
        assert_int_equal(web_status_of(answer), request->status);
    }
    attacker_close(&attacker);
    target_expect_line(target, request->says);
}

void target_meets_bad_requests(struct target *target, const char *stem)
{
    static const struct target_request requests[] = {
        {"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", 0, 405, "405: only GET"},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\n\r\n", 1000, 413, "413: "},
        {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n", 8 << 20, 0, "413: "},
        {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 10, 411, "411: "},
        {"GET / HTTP/1.1\r\nHost: x\r\nX: ", 8 << 20, 0, "no whole HTTP request"},
        {"GET /", 8 << 20, 0, "no whole HTTP request"},
        {"\r\n\r\n\r\n\r\n?\r\n\r\n", 0, 0, "no whole HTTP request"},
    };

    for (size_t i = 0; i < UVEA_COUNT_OF(requests); i++) {
        target_meets_request(target, stem, &requests[i]);
    }
}

// ---- bytes

void target_meets_bytes(struct target *target, const void *bytes, size_t len, const char *says)
{
    char text[256];
    const int fd = web_dial(target->address);

    web_send(fd, bytes, len);
    (void)web_read_all(fd, text, sizeof(text));
    (void)close(fd);
    target_expect_line(target, says);
}

void target_meets_what_is_not_tls(struct target *target)
{
    static const char http[] = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    static const uint8_t long_record[] = {0x16, 3, 1, 0xff, 0xff, 1, 0, 0, 0, 3, 3};
    static const uint8_t long_hello[] = {0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff, 3, 3};
    static const uint8_t zeros[1 << 20];

    target_meets_bytes(target, http, sizeof(http) - 1, "not TLS but HTTP in the clear");
    target_meets_bytes(target, zeros, sizeof(zeros), "not TLS");
    target_meets_bytes(target, long_record, sizeof(long_record), "");
    target_meets_bytes(target, long_hello, sizeof(long_hello), ""); // and then nothing
}

// ---- time

void target_meets_slow_hello(struct target *target)
{
    static uint8_t hello[4096];
    const struct timespec pause = {.tv_nsec = 100000000};
    const size_t len = attacker_hello(hello, sizeof(hello));
    const int fd = web_dial(target->address);

    for (size_t i = 0; i < len && web_lines_count(target->lines) == target->seen; i++) {
        web_send(fd, hello + i, 1);
        (void)nanosleep(&pause, NULL);
    }
    (void)close(fd);
    target_expect_line(target, target->tells_timeout);
}

void target_meets_silent_ones(struct target *target, unsigned count, void (*meanwhile)(void))
{
    need_connections(count);
    int *fds = calloc(count, sizeof(*fds));
    assert_non_null(fds);
    for (unsigned i = 0; i < count; i++) {
        fds[i] = web_dial(target->address);
    }
    meanwhile();
    web_lines_wait(target->lines, target->seen + count);
    for (unsigned i = 0; i < count; i++) {
        const char *line = target->lines->text[target->seen + i];
        if (strstr(line, "gave way") == NULL && strstr(line, target->tells_timeout) == NULL) {
            fail_msg("\"%s\" says something else of a silent one", line);
        }
        (void)close(fds[i]);
    }
    free(fds);
    target_expect_lines(target, count);
}
