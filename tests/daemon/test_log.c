// Log lines: what they look like, what they cannot hold, and how many there may be.
#include "core/daemon/log.h"
#include "tests/support/cmocka.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pipes {
    struct uvea_log log;
    int ends[2];
};

static int open_log(void **state)
{
    struct pipes *pipes = calloc(1, sizeof(*pipes));

    assert_non_null(pipes);
    assert_int_equal(pipe(pipes->ends), 0);
    uvea_log_init(&pipes->log, pipes->ends[1]);
    *state = pipes;
    return 0;
}

static int close_log(void **state)
{
    struct pipes *pipes = *state;

    uvea_log_deinit(&pipes->log);
    (void)close(pipes->ends[0]);
    free(pipes);
    return 0;
}

// Everything written; the log can write no more.
static size_t written(struct pipes *pipes, char *text, size_t size)
{
    size_t bytes = 0;
    ssize_t got;

    (void)close(pipes->ends[1]);
    while ((got = read(pipes->ends[0], text + bytes, size - 1 - bytes)) > 0) {
        bytes += (size_t)got;
    }
    text[bytes] = '\0';
    return bytes;
}

static const char *field(json_t *line, const char *name)
{
    return json_string_value(json_object_get(line, name));
}

static void test_a_line(void **state)
{
    struct pipes *pipes = *state;
    struct uvea_log_line line;
    char text[8192];
    json_t *object;

    uvea_log_begin(&pipes->log, &line, UVEA_LOG_WARN, "event");
    uvea_log_text(&line, "name", "a \"quoted\" \\ \n\x1b[31m\xc3\xa9 text");
    uvea_log_number(&line, "number", UINT64_MAX);
    uvea_log_flag(&line, "flag", true);
    uvea_log_end(&line);
    const size_t bytes = written(pipes, text, sizeof(text));
    assert_int_equal(text[bytes - 1], '\n');
    assert_ptr_equal(strchr(text, '\n'), text + bytes - 1);
    assert_non_null(strstr(text, "\"number\":18446744073709551615,\"flag\":true}"));
    *strstr(text, "18446744073709551615") = ' '; // more than jansson's integers hold
    object = json_loads(text, 0, NULL);
    assert_non_null(object);
    assert_string_equal(field(object, "level"), "warn");
    assert_string_equal(field(object, "event"), "event");
    assert_string_equal(field(object, "name"), "a \"quoted\" \\ ??[31m?? text");
    assert_int_equal(strlen(field(object, "time")), strlen("2026-11-30T21:00:00.000Z"));
    json_decref(object);
}

static void test_levels(void **state)
{
    struct pipes *pipes = *state;
    char text[8192];

    uvea_log_say(&pipes->log, UVEA_LOG_DEBUG, "one", "x");
    uvea_log_say(&pipes->log, UVEA_LOG_INFO, "two", "x");
    uvea_log_set(&pipes->log, UVEA_LOG_ERROR, 1);
    uvea_log_say(&pipes->log, UVEA_LOG_WARN, "three", "x");
    uvea_log_say(&pipes->log, UVEA_LOG_ERROR, "four", "x");
    (void)written(pipes, text, sizeof(text));
    assert_null(strstr(text, "one"));
    assert_non_null(strstr(text, "two"));
    assert_null(strstr(text, "three"));
    assert_non_null(strstr(text, "four"));
}

// Too much for a line: fields are cut or left out, the line stays a whole one.
static void test_long_fields(void **state)
{
    struct pipes *pipes = *state;
    struct uvea_log_line line;
    char long_text[3000];
    char text[8192];
    json_t *object;

    memset(long_text, '"', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    uvea_log_begin(&pipes->log, &line, UVEA_LOG_INFO, "long");
    uvea_log_text(&line, "first", long_text);
    uvea_log_text(&line, "second", long_text);
    uvea_log_text(&line, "third", "fits");
    uvea_log_end(&line);
    assert_true(written(pipes, text, sizeof(text)) <= UVEA_LOG_LINE_BYTES_MAX);
    object = json_loads(text, 0, NULL);
    assert_non_null(object);
    assert_int_equal(strlen(field(object, "first")), 1024);
    assert_null(field(object, "second"));
    assert_string_equal(field(object, "third"), "fits");
    json_decref(object);
}

static unsigned count_lines(const char *text)
{
    unsigned lines = 0;

    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    return lines;
}

static void test_refusals_are_bounded(void **state)
{
    struct pipes *pipes = *state;
    char text[8192];

    uvea_log_set(&pipes->log, UVEA_LOG_INFO, 5);
    for (int i = 0; i < 1000; i++) {
        uvea_log_refusal(&pipes->log, UVEA_LOG_MESH, "no certificate");
    }
    uvea_log_refusal(&pipes->log, UVEA_LOG_HTTP, "another place"); // has lines of its own
    pipes->log.refusals[UVEA_LOG_MESH].lines = 1;                  // as if time had passed
    uvea_log_refusal(&pipes->log, UVEA_LOG_MESH, "no certificate");
    (void)written(pipes, text, sizeof(text));
    assert_in_range(count_lines(text), 7, 8);
    assert_non_null(
        strstr(text, "\"event\":\"refused\",\"where\":\"mesh\",\"why\":\"no certificate\""));
    assert_non_null(strstr(text, "\"where\":\"http\",\"why\":\"another place\"}"));
    assert_non_null(strstr(text, "\"suppressed\":99"));
}

// What was left out is told when anything else is written, as far as the bound allows, and at the
// end.
static void test_suppressed_refusals_are_told(void **state)
{
    struct pipes *pipes = *state;
    char text[8192];

    for (int i = 0; i < 4; i++) {
        uvea_log_refusal(&pipes->log, UVEA_LOG_HTTP, "why");
    }
    uvea_log_say(&pipes->log, UVEA_LOG_INFO, "early", "x");
    pipes->log.refusals[UVEA_LOG_HTTP].lines = 1;
    uvea_log_say(&pipes->log, UVEA_LOG_INFO, "late", "x");
    uvea_log_refusal(&pipes->log, UVEA_LOG_HTTP, "why");
    uvea_log_settle(&pipes->log);
    uvea_log_settle(&pipes->log);
    (void)written(pipes, text, sizeof(text));
    assert_int_equal(count_lines(text), 5);
    const char *late = strstr(text, "\"late\"");
    const char *three = strstr(text, "\"where\":\"http\",\"suppressed\":3}");
    const char *one = strstr(text, "\"where\":\"http\",\"suppressed\":1}");
    assert_true(late != NULL && three > late && one > three);
}

struct crowd {
    struct uvea_log *log;
    pthread_barrier_t start;
};

static void *refuse_often(void *arg)
{
    struct crowd *crowd = arg;

    (void)pthread_barrier_wait(&crowd->start);
    for (int i = 0; i < 20000; i++) {
        uvea_log_refusal(crowd->log, UVEA_LOG_HTTP, "flood");
    }
    return NULL;
}

// Threads that overtake each other on the way to the lock do not fill the bucket.
static void test_a_flood_from_many_threads(void **state)
{
    enum { THREADS = 8 };
    struct pipes *pipes = *state;
    struct crowd crowd = {.log = &pipes->log};
    pthread_t threads[THREADS];
    char text[8192];

    uvea_log_set(&pipes->log, UVEA_LOG_INFO, 10);
    assert_int_equal(pthread_barrier_init(&crowd.start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, refuse_often, &crowd), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    (void)pthread_barrier_destroy(&crowd.start);
    (void)written(pipes, text, sizeof(text));
    assert_in_range(count_lines(text), 10, 20); // one more every six seconds
}

#define WITH_LOG(test) cmocka_unit_test_setup_teardown(test, open_log, close_log)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LOG(test_a_line),
        WITH_LOG(test_levels),
        WITH_LOG(test_long_fields),
        WITH_LOG(test_refusals_are_bounded),
        WITH_LOG(test_suppressed_refusals_are_told),
        WITH_LOG(test_a_flood_from_many_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
