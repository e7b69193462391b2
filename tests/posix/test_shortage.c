// A process that has no descriptor left: who calls then goes on waiting and is served later, one
// line says so, and what has ended gives back what it held though nobody else calls.
#include "core/base/check.h"
#include "core/net/mesh.h"
#include "tests/posix/web.h"

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    FILES_MAX = 256,
    SILENT = 60,
    POLL_MS = 10,
    PATIENCE_MS = 60000,
    MORE_TRIES_MS = 600, // in which a listener tries again more than once
};

static const uint64_t handshake_ns = 2 * UVEA_SECOND;

static void pause_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&pause, NULL);
}

// ---- descriptors

static int taken[FILES_MAX];
static size_t taken_count;

static void give_back(size_t count)
{
    while (count-- > 0) {
        assert_true(taken_count > 0);
        assert_int_equal(close(taken[--taken_count]), 0);
    }
}

// Takes all but so many.
static void leave_free(size_t count)
{
    for (int fd = dup(STDERR_FILENO); fd >= 0; fd = dup(STDERR_FILENO)) {
        taken[taken_count++] = fd;
    }
    give_back(count);
}

static unsigned in_use(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(directory);
    while (readdir(directory) != NULL) {
        count++;
    }
    (void)closedir(directory);
    return count;
}

static void await_in_use(unsigned count)
{
    for (unsigned i = 0; in_use() != count; i++) {
        if (i == PATIENCE_MS / POLL_MS) {
            fail_msg("%u descriptors are in use, not %u", in_use(), count);
        }
        pause_ms(POLL_MS);
    }
}

static void lower_limit(void)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = FILES_MAX;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

// ---- a line

static void expect_line(struct web_lines *lines, unsigned number, const char *says)
{
    web_lines_wait(lines, number);
    if (strstr(lines->text[number - 1], says) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", lines->text[number - 1], says);
    }
}

// Calls when so many are free beside the caller's own, of which a listener needs two.
static int call_without(struct web_lines *lines, unsigned number, const char *address, size_t free)
{
    leave_free(free + 1);
    const int fd = web_dial(address);
    expect_line(lines, number, "no descriptor left to take a connection");
    pause_ms(MORE_TRIES_MS);
    assert_int_equal(web_lines_count(lines), number);
    give_back(taken_count);
    return fd;
}

// ---- HTTP

static void test_http(void **state)
{
    (void)state;
    static struct web web;
    char answer[512];
    const struct uvea_posix_config config = web_config(&web);
    web_open(&web, &config, &config);
    const unsigned files = in_use();
    lower_limit();
    for (unsigned free = 0; free < 2; free++) {
        await_in_use(files); // what is left of the one before is gone
        const int fd = call_without(&web.lines, free + 1, web.address, free);
        web_say(fd, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        (void)web_read_all(fd, answer, sizeof(answer));
        assert_int_equal(web_status_of(answer), 200);
        (void)close(fd);
    }
    assert_int_equal(uvea_posix_counters(web.server_rt).http_refused, 2);
    web_close(&web);
}

// ---- what each takes, as told in core/posix/posix.h

static void test_a_connection(void **state)
{
    (void)state;
    static struct web web;
    web = (struct web){0};
    const struct uvea_posix_config config = web_config(&web);
    web_open(&web, &config, &config);
    const unsigned files = in_use();
    const int fd = web_dial(web.address);
    web_say(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    web_wait_asked(&web, 1);
    await_in_use(files + 1 + UVEA_POSIX_HTTP_DESCRIPTORS);
    (void)close(fd);
    web_close(&web);
}

static void test_a_stream(void **state)
{
    (void)state;
    const struct uvea_posix_config config = uvea_posix_config_default();
    char address[WEB_ADDRESS_BYTES];
    struct uvea_error_context context;
    struct uvea_listener *listener;
    struct uvea_stream *stream;
    struct uvea_rt *rt;
    web_free_address(address);
    assert_int_equal(uvea_posix_open(&config, &rt, &context), UVEA_OK);
    assert_int_equal(uvea_rt_listen(rt, address, &listener), UVEA_OK);
    const unsigned files = in_use();
    const int fd = web_dial(address);
    assert_int_equal(uvea_rt_accept(rt, listener, &stream, UVEA_NEVER), UVEA_OK);
    assert_int_equal(in_use(), files + 1 + UVEA_POSIX_STREAM_DESCRIPTORS);
    (void)close(fd);
    uvea_rt_stream_close(rt, stream);
    uvea_rt_listener_close(rt, listener);
    uvea_posix_close(rt);
}

// ---- the mesh

struct listening {
    struct uvea_rt *rt;
    struct uvea_mesh *mesh;
    struct web_lines lines;
    char address[WEB_ADDRESS_BYTES];
};

static void note_refused(void *arg, enum uvea_error error, const struct uvea_error_context *why)
{
    (void)error;
    web_lines_add(arg, why);
}

static int listen_in(void **state)
{
    static struct listening listening;
    struct uvea_posix_config posix = uvea_posix_config_default();
    struct uvea_mesh_config config = uvea_mesh_config_default(uvea_party_at(0));
    struct uvea_error_context context;

    web_lines_init(&listening.lines);
    web_free_address(listening.address);
    posix.drain_ns_max = 100 * UVEA_MS;
    assert_int_equal(uvea_posix_open(&posix, &listening.rt, &context), UVEA_OK);
    config.listen_address = listening.address;
    config.handshake_ns_max = handshake_ns;
    config.refused = note_refused;
    config.refused_arg = &listening.lines;
    assert_int_equal(uvea_mesh_open(listening.rt, &config, &listening.mesh, &context), UVEA_OK);
    *state = &listening;
    return 0;
}

static int close_it(void **state)
{
    struct listening *listening = *state;

    uvea_mesh_close(listening->mesh);
    uvea_posix_close(listening->rt);
    web_lines_deinit(&listening->lines);
    return 0;
}

static void test_mesh(void **state)
{
    struct listening *listening = *state;
    struct web_lines *lines = &listening->lines;
    const unsigned files = in_use();
    lower_limit();
    for (unsigned free = 0; free < 2; free++) {
        await_in_use(files); // what is left of the one before is gone
        const unsigned before = 2 * free;
        const int fd = call_without(lines, before + 1, listening->address, free);
        web_send(fd, "\0\0\0\0\0\0\0\7mallory", 15);
        expect_line(lines, before + 2, "unknown identity \"mallory\"");
        (void)close(fd);
    }
    assert_int_equal(uvea_mesh_counters(listening->mesh).refused, 4);
}

// The first two time out, and then there is room for the third.
static void test_mesh_heals(void **state)
{
    struct listening *listening = *state;
    struct web_lines *lines = &listening->lines;
    int fds[3];
    lower_limit();
    leave_free(UVEA_COUNT_OF(fds) + 2 * 2 + 1);
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        fds[i] = web_dial(listening->address);
    }
    expect_line(lines, 1, "no descriptor left to take a connection");
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        expect_line(lines, 2 + i, "the deadline passed");
    }
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        (void)close(fds[i]);
    }
    give_back(taken_count);
}

static void test_mesh_gives_back(void **state)
{
    struct listening *listening = *state;
    const unsigned files = in_use();
    int fds[SILENT];
    for (unsigned i = 0; i < SILENT; i++) {
        fds[i] = web_dial(listening->address);
    }
    web_lines_wait(&listening->lines, SILENT);
    for (unsigned i = 0; i < SILENT; i++) {
        (void)close(fds[i]);
    }
    await_in_use(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http),
        cmocka_unit_test(test_a_connection),
        cmocka_unit_test(test_a_stream),
        cmocka_unit_test_setup_teardown(test_mesh, listen_in, close_it),
        cmocka_unit_test_setup_teardown(test_mesh_heals, listen_in, close_it),
        cmocka_unit_test_setup_teardown(test_mesh_gives_back, listen_in, close_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
