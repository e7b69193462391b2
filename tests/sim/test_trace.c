#include "core/base/check.h"
#include "sim/runtime/trace.h"
#include "tests/support/cmocka.h"
#include "tests/support/hex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"p0", "p1", "p2"};

static struct uvea_sim_trace *open_trace(void)
{
    struct uvea_sim_trace *trace;
    assert_int_equal(uvea_sim_trace_open(names, 3, &trace), UVEA_OK);
    return trace;
}

static void deliver(struct uvea_sim_trace *trace, uint64_t time_ns, const char *first,
                    const char *second)
{
    struct uvea_sim_bytes a = {first, strlen(first)};
    struct uvea_sim_bytes b = {second, strlen(second)};
    uvea_sim_trace_bytes(trace, time_ns, UVEA_SIM_EVENT_DELIVER, 1, 0, a.bytes + b.bytes, a, b);
}

// Digests computed with an independent SHA-256 over the bytes that trace.h lists.
static void test_hash_covers_the_stated_bytes(void **state)
{
    (void)state;
    uint8_t hash[UVEA_SIM_HASH_BYTES];
    struct uvea_sim_trace *trace = open_trace();
    uvea_sim_trace_hash(trace, hash);
    uvea_test_assert_hex(hash, sizeof(hash),
                         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    uvea_sim_trace_event(trace, 0x0102030405060708, UVEA_SIM_EVENT_SLEEP, 2, UVEA_SIM_NO_PEER, 77,
                         "ignored");
    uvea_sim_trace_hash(trace, hash);
    uvea_test_assert_hex(hash, sizeof(hash),
                         "de501be6af2abc7b24e835817db91249976155a30107f41ae214b86a36078d77");
    deliver(trace, 1000, "abc", "def");
    uvea_sim_trace_words(trace, 2000, UVEA_SIM_EVENT_NOTE, 0, UVEA_SIM_NO_PEER, 0, "kind", "text");
    uvea_sim_trace_hash(trace, hash);
    uvea_test_assert_hex(hash, sizeof(hash),
                         "0b77430e764051ba93ba68283b059304afb8c1a1faf6a58d1581295220715e02");
    assert_int_equal(uvea_sim_trace_count(trace), 3);
    uvea_sim_trace_close(trace);
}

static void hash_of(void (*fill)(struct uvea_sim_trace *), uint8_t hash[UVEA_SIM_HASH_BYTES])
{
    struct uvea_sim_trace *trace = open_trace();
    fill(trace);
    uvea_sim_trace_hash(trace, hash);
    uvea_sim_trace_close(trace);
}

static void fill_in_one_part(struct uvea_sim_trace *trace)
{
    deliver(trace, 5, "abcdef", "");
}

static void fill_in_two_parts(struct uvea_sim_trace *trace)
{
    deliver(trace, 5, "a", "bcdef");
}

static void fill_in_the_second_part(struct uvea_sim_trace *trace)
{
    deliver(trace, 5, "", "abcdef");
}

static void test_parts_of_a_payload_hash_as_one(void **state)
{
    (void)state;
    uint8_t a[UVEA_SIM_HASH_BYTES];
    uint8_t b[UVEA_SIM_HASH_BYTES];
    hash_of(fill_in_one_part, a);
    hash_of(fill_in_two_parts, b);
    assert_memory_equal(a, b, sizeof(a));
    hash_of(fill_in_the_second_part, b);
    assert_memory_equal(a, b, sizeof(a));
}

// Looking at the hash half-way, and any number of batches, leave the final hash alone.
static void test_hash_can_be_read_at_any_time(void **state)
{
    (void)state;
    uint8_t a[UVEA_SIM_HASH_BYTES];
    uint8_t b[UVEA_SIM_HASH_BYTES];
    struct uvea_sim_trace *plain = open_trace();
    struct uvea_sim_trace *watched = open_trace();
    for (unsigned i = 0; i < 5000; i++) {
        deliver(plain, i, "payload", "");
        deliver(watched, i, "payload", "");
        if (i % 7 == 0) {
            uvea_sim_trace_hash(watched, b);
        }
    }
    uvea_sim_trace_hash(plain, a);
    uvea_sim_trace_hash(watched, b);
    assert_memory_equal(a, b, sizeof(a));
    uvea_sim_trace_close(plain);
    uvea_sim_trace_close(watched);
}

static void test_ndjson_lines(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    struct uvea_sim_trace *trace = open_trace();
    uvea_sim_trace_write(trace, out);
    uvea_sim_trace_event(trace, 5, UVEA_SIM_EVENT_SHUT, 0, 2, 7, NULL);
    deliver(trace, 1000, "abc", "def");
    uvea_sim_trace_words(trace, 2000, UVEA_SIM_EVENT_NOTE, 0, UVEA_SIM_NO_PEER, 0, "kind",
                         "a \"quoted\"\\\n\x01");
    uvea_sim_trace_close(trace);
    (void)fclose(out);
    assert_string_equal(
        text,
        "{\"i\":0,\"t\":5,\"node\":\"p0\",\"kind\":\"shut\",\"peer\":\"p2\",\"amount\":7}\n"
        "{\"i\":1,\"t\":1000,\"node\":\"p1\",\"kind\":\"deliver\",\"peer\":\"p0\",\"amount\":6,"
        "\"digest\":\"406d3af5c77ef5be\"}\n"
        "{\"i\":2,\"t\":2000,\"node\":\"p0\",\"kind\":\"note\",\"amount\":0,"
        "\"digest\":\"4f6ea8e7b491c5e3\",\"label\":\"kind\","
        "\"text\":\"a \\\"quoted\\\"\\\\\\u000a\\u0001\"}\n");
    free(text);
}

static char *lanes_text(struct uvea_sim_trace *trace, unsigned lanes, unsigned last)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    uvea_sim_trace_lanes(trace, lanes, last, out);
    (void)fclose(out);
    return text;
}

static void test_lanes_stand_side_by_side(void **state)
{
    (void)state;
    struct uvea_sim_trace *trace = open_trace();
    uvea_sim_trace_words(trace, 0, UVEA_SIM_EVENT_SPAWN, 0, UVEA_SIM_NO_PEER, 0, "main", NULL);
    uvea_sim_trace_words(trace, 1500, UVEA_SIM_EVENT_DIAL, 2, 1, 3, NULL, "p1:4000");
    deliver(trace, 12345678000, "abc", "def");
    uvea_sim_trace_words(trace, 12345679000, UVEA_SIM_EVENT_NOTE, 0, UVEA_SIM_NO_PEER, 0, "verdict",
                         "match with a text that is too long for its lane");
    char *text = lanes_text(trace, 3, 1);
    assert_string_equal(
        text, "        seconds | p0                                   | p1"
              "                                   | p2\n"
              "       0.000001 |                                      |   "
              "                                   | dial p1 3 p1:4000\n"
              "      12.345678 |                                      | deliver p0 6 c77ef5be"
              "                | \n"
              "      12.345679 | verdict match with a text that is to |"
              "                                      | \n");
    free(text);
    text = lanes_text(trace, 9, 1000); // as many as there are
    assert_non_null(strstr(text, "spawn main"));
    free(text);
    uvea_sim_trace_close(trace);
}

// Each lane keeps its own last events, so that a busy node does not push the others out.
static void test_a_lane_keeps_the_last_events(void **state)
{
    (void)state;
    struct uvea_sim_trace *trace = open_trace();
    unsigned lines = 0;
    uvea_sim_trace_event(trace, 0, UVEA_SIM_EVENT_STOP, 2, UVEA_SIM_NO_PEER, 0, NULL);
    for (unsigned i = 0; i < 1000; i++) {
        uvea_sim_trace_event(trace, i, UVEA_SIM_EVENT_RESET, 0, 1, i, NULL);
    }
    for (unsigned i = 0; i < 100; i++) { // what follows a failure pushes nothing out
        uvea_sim_trace_event(trace, 1000, UVEA_SIM_EVENT_SHUT, 0, 1, i, NULL);
        uvea_sim_trace_event(trace, 1000, UVEA_SIM_EVENT_EXIT, 0, UVEA_SIM_NO_PEER, 0, "x");
        uvea_sim_trace_event(trace, 1000, UVEA_SIM_EVENT_END, 0, 1, i, NULL);
    }
    char *text = lanes_text(trace, 3, 10000);
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    assert_int_equal(lines, 1 + 1 + UVEA_SIM_TRACE_LAST);
    assert_non_null(strstr(text, "| stop\n"));
    assert_non_null(strstr(text, "reset p1 999"));
    assert_null(strstr(text, "reset p1 935"));
    assert_non_null(strstr(text, "reset p1 936"));
    free(text);
    uvea_sim_trace_close(trace);
}

static void test_a_record_is_printed(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    struct uvea_sim_record_list list = {0};
    struct uvea_sim_trace *trace = open_trace();
    uvea_sim_trace_keep(trace, &list);
    deliver(trace, 1000, "abc", "def");
    assert_int_equal(list.count, 1);
    uvea_sim_trace_print(trace, &list.records[0], out);
    (void)fclose(out);
    assert_string_equal(text, "t=1000 ns p1: deliver p0 6 c77ef5be digest=406d3af5c77ef5be\n");
    free(text);
    uvea_sim_record_list_deinit(&list);
    uvea_sim_trace_close(trace);
}

static void test_every_kind_has_a_text(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < UVEA_SIM_EVENT_COUNT; kind++) {
        assert_string_not_equal(uvea_sim_event_text((enum uvea_sim_event_kind)kind), "unknown");
    }
    assert_string_equal(uvea_sim_event_text(UVEA_SIM_EVENT_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_covers_the_stated_bytes),
        cmocka_unit_test(test_parts_of_a_payload_hash_as_one),
        cmocka_unit_test(test_hash_can_be_read_at_any_time),
        cmocka_unit_test(test_ndjson_lines),
        cmocka_unit_test(test_lanes_stand_side_by_side),
        cmocka_unit_test(test_a_lane_keeps_the_last_events),
        cmocka_unit_test(test_a_record_is_printed),
        cmocka_unit_test(test_every_kind_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
