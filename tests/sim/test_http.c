// HTTP between two nodes: honest answers, deadlines, connections that are kept.
#include "core/base/endian.h"
#include "tests/sim/web.h"

// ---- honest answers

static void call_bodies(struct web *web)
{
    static const size_t sizes[] = {0, 1, 65536, 65537, 3000000};
    for (size_t i = 0; i < UVEA_COUNT_OF(sizes); i++) {
        struct uvea_buf body = {0};
        uint8_t *at = uvea_buf_extend(&body, sizes[i]);
        EXPECT(at != NULL || sizes[i] == 0);
        for (size_t k = 0; k < sizes[i]; k++) {
            at[k] = (uint8_t)(k * 2654435761u >> 13);
        }
        struct uvea_http_request request = {
            .method = "PUT", .target = "/things?a=b", .body = body.data, .body_bytes = body.len};
        struct uvea_http_response response = {0};
        EXPECT(uvea_rt_http_call(web->rt, "p1:80", &request, &response, UVEA_NEVER) == UVEA_OK);
        EXPECT(response.status == 200 && response.body.len == sizes[i] + 2);
        EXPECT(response.body.len == sizes[i] + 2 &&
               (sizes[i] == 0 || memcmp(response.body.data + 2, body.data, sizes[i]) == 0));
        uvea_http_response_deinit(&response);
        uvea_buf_deinit(&body);
    }
}

static unsigned count_kind(const struct uvea_sim_record_list *list, enum uvea_sim_event_kind kind)
{
    unsigned count = 0;
    for (size_t i = 0; i < list->count; i++) {
        count += list->records[i].kind == kind;
    }
    return count;
}

static void test_bodies_over_one_connection(void **state)
{
    (void)state;
    for (unsigned split = 0; split < 2; split++) {
        struct web web = {.act = call_bodies, .want_method = "PUT"};
        struct uvea_sim_config config = plain_config();
        struct uvea_sim_record_list list = {0};
        config.network.link.piece_bytes_max = split ? 1000 : 0;
        web_start(&web, &config);
        uvea_sim_trace_keep(uvea_sim_trace(web.sim), &list);
        (void)web_end(&web);
        assert_int_equal(web.asked, 5);
        assert_int_equal(count_kind(&list, UVEA_SIM_EVENT_DIAL), 1);
        assert_int_equal(count_kind(&list, UVEA_SIM_EVENT_HTTP), 5);
        uvea_sim_record_list_deinit(&list);
    }
}

static void call_wrongly(struct web *web)
{
    struct uvea_http_request request = {.method = "GET", .target = "/"};
    struct uvea_http_response response = {0};
    static char long_target[5000];
    EXPECT(uvea_rt_http_call(web->rt, "p1:81", &request, &response, UVEA_NEVER) ==
           UVEA_ERR_NOT_FOUND);
    EXPECT(uvea_rt_http_call(web->rt, "nobody:80", &request, &response, UVEA_NEVER) ==
           UVEA_ERR_NOT_FOUND);
    memset(long_target, '/', sizeof(long_target) - 1);
    request.target = long_target;
    EXPECT(uvea_rt_http_call(web->rt, "p1:80", &request, &response, UVEA_NEVER) == UVEA_ERR_USAGE);
    request.target = "/";
    request.body_bytes = UVEA_HTTP_BODY_BYTES_MAX + 1;
    EXPECT(uvea_rt_http_call(web->rt, "p1:80", &request, &response, UVEA_NEVER) == UVEA_ERR_LIMIT);
    EXPECT(response.status == 0 && response.body.data == NULL);
}

static void test_calls_that_cannot_be_made(void **state)
{
    (void)state;
    struct web web = {.act = call_wrongly};
    (void)web_run(&web);
    assert_int_equal(web.asked, 0);
}

// ---- several at once

static void call_once(void *arg)
{
    struct uvea_http_response response;
    struct web *web = arg;
    EXPECT(web_post(web, "/", "", UVEA_NEVER, &response) == UVEA_OK);
    EXPECT(response.status == 200);
    uvea_http_response_deinit(&response);
}

static void call_in_parallel(struct web *web)
{
    struct uvea_task *tasks[5];
    for (int i = 0; i < 5; i++) {
        EXPECT(uvea_rt_spawn(web->rt, "call", call_once, web, &tasks[i]) == UVEA_OK);
    }
    EXPECT(uvea_rt_sleep_ns(web->rt, 100 * UVEA_MS) == UVEA_OK);
    EXPECT(web->in_work == 5);
    for (int i = 0; i < 5; i++) {
        uvea_rt_join(web->rt, tasks[i]);
    }
}

static void test_requests_run_at_once(void **state)
{
    (void)state;
    struct web web = {.act = call_in_parallel, .handler_ns = UVEA_SECOND};
    struct uvea_sim_outcome outcome = web_run(&web);
    assert_int_equal(web.asked, 5);
    assert_true(outcome.time_ns < 2 * UVEA_SECOND);
}

static void leave_one_in_work(struct web *web)
{
    struct uvea_task *task;
    EXPECT(uvea_rt_spawn(web->rt, "call", call_once, web, &task) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(web->rt, 100 * UVEA_MS) == UVEA_OK);
    uvea_rt_channel_shut(web->server_rt, web->finished); // the server closes now
    uvea_rt_join(web->rt, task);                         // and still answers
    EXPECT(uvea_sim_now_ns(web->sim) > UVEA_SECOND);
}

static void test_close_waits_for_what_is_in_work(void **state)
{
    (void)state;
    struct web web = {.act = leave_one_in_work, .handler_ns = UVEA_SECOND};
    (void)web_run(&web);
    assert_int_equal(web.asked, 1);
}

// ---- deadlines

static void call_with_deadlines(struct web *web)
{
    uint64_t start_ns = uvea_sim_now_ns(web->sim);
    web_expect_error(web, "/", 0, UVEA_ERR_TIMEOUT);
    EXPECT(uvea_sim_now_ns(web->sim) == start_ns && web->asked == 0);
    web_expect_error(web, "/", 200 * UVEA_MS, UVEA_ERR_TIMEOUT);
    EXPECT(uvea_sim_now_ns(web->sim) == start_ns + 200 * UVEA_MS && web->asked == 1);
    web->handler_ns = 0;
    web_expect(web, "/", 200, "2:x"); // the late answer is nobody's
    EXPECT(uvea_rt_sleep_ns(web->rt, UVEA_SECOND) == UVEA_OK);
    web_expect(web, "/", 200, "3:x");
}

static void test_deadline_covers_the_whole(void **state)
{
    (void)state;
    struct web web = {.act = call_with_deadlines, .handler_ns = UVEA_SECOND};
    (void)web_run(&web);
    assert_int_equal(web.asked, 3);
}

static void call_through_partition(struct web *web)
{
    struct uvea_sim_fault fault = {.kind = UVEA_SIM_FAULT_PARTITION,
                                   .from = 1,
                                   .connection = UVEA_SIM_ANY_CONNECTION,
                                   .at_byte = UVEA_SIM_NO_BYTE,
                                   .for_ns = 5 * UVEA_SECOND};
    web_expect(web, "/", 200, "1:x");
    uint64_t start_ns = uvea_sim_now_ns(web->sim);
    EXPECT(uvea_sim_inject(web->sim, &fault) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(web->rt, UVEA_MS) == UVEA_OK);
    web_expect_error(web, "/", UVEA_SECOND, UVEA_ERR_TIMEOUT);
    EXPECT(web->asked == 1);
    web_expect(web, "/", 200, "3:x"); // the one that was given up arrives all the same
    EXPECT(uvea_sim_now_ns(web->sim) >= start_ns + 5 * UVEA_SECOND);
    // One way only: the request arrives, the answer does not.
    fault.kind = UVEA_SIM_FAULT_PARTITION_OUT;
    fault.at_ns = uvea_sim_now_ns(web->sim);
    EXPECT(uvea_sim_inject(web->sim, &fault) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(web->rt, UVEA_MS) == UVEA_OK);
    web_expect_error(web, "/", UVEA_SECOND, UVEA_ERR_TIMEOUT);
    EXPECT(web->asked == 4);
}

static void test_partition_hits_http(void **state)
{
    (void)state;
    struct web web = {.act = call_through_partition};
    (void)web_run(&web);
}

// ---- connections that are kept

static void call_at_reuse(struct web *web)
{
    web_expect(web, "/", 200, "1:x");
    // The server gives an idle connection up 30 s after the request; the end is on its way for 1
    // ms.
    EXPECT(uvea_rt_sleep_ns(web->rt, 30 * UVEA_SECOND - UVEA_MS / 2) == UVEA_OK);
    web_expect_error(web, "/", UVEA_SECOND, UVEA_ERR_CLOSED); // and is not sent again unasked
    EXPECT(web->asked == 1);
    web_expect(web, "/", 200, "2:x");
    EXPECT(uvea_rt_sleep_ns(web->rt, 31 * UVEA_SECOND) == UVEA_OK);
    web_expect(web, "/", 200, "3:x"); // an end that has arrived is noticed
}

static void test_idle_connection_race(void **state)
{
    (void)state;
    struct web web = {.act = call_at_reuse};
    (void)web_run(&web);
    assert_int_equal(web.asked, 3);
}

// ---- peers that do not speak it

struct raw {
    uint8_t bytes[16];
    size_t len;
    enum uvea_error expected;
};

static const struct raw raw_answers[] = {
    {{'H', 'T', 'T', 'P', '/', '1', '.', '1', ' ', '2', '0', '0'}, 12, UVEA_ERR_FORMAT},
    {{'u', 'v', 'a', 'n', 99, 0, 0, 0, 0, 0, 0, 0}, 12, UVEA_ERR_FORMAT},
    {{'u', 'v', 'a', 'n', 200, 0, 0, 0, 1, 0, 0, 4}, 12, UVEA_ERR_LIMIT},
    {{'u', 'v', 'a', 'n', 200, 0, 0, 0, 0, 0, 0, 4}, 12, UVEA_ERR_CLOSED}, // 64 MiB, then nothing
    {{'u', 'v', 'a', 'n', 200, 0, 0, 0, 2, 0, 0, 0, 'a'}, 13, UVEA_ERR_CLOSED},
    {{'u', 'v'}, 2, UVEA_ERR_CLOSED},
    {{0}, 0, UVEA_ERR_CLOSED},
};

static void answer_raw(void *arg)
{
    struct web *web = arg;
    struct uvea_listener *listener;
    EXPECT(uvea_rt_listen(web->server_rt, "p1:99", &listener) == UVEA_OK);
    for (size_t i = 0; i < UVEA_COUNT_OF(raw_answers); i++) {
        struct uvea_stream *stream;
        uint8_t request[14];
        EXPECT(uvea_rt_accept(web->server_rt, listener, &stream, UVEA_NEVER) == UVEA_OK);
        EXPECT(uvea_rt_read_exact(web->server_rt, stream, request, sizeof(request), UVEA_NEVER) ==
               UVEA_OK);
        if (raw_answers[i].len > 0) {
            EXPECT(uvea_rt_write(web->server_rt, stream, raw_answers[i].bytes, raw_answers[i].len,
                                 UVEA_NEVER) == UVEA_OK);
        }
        uvea_rt_stream_close(web->server_rt, stream);
    }
    uvea_rt_listener_close(web->server_rt, listener);
}

static void call_raw(struct web *web)
{
    struct uvea_http_request request = {.method = "G", .target = "/"};
    for (size_t i = 0; i < UVEA_COUNT_OF(raw_answers); i++) {
        struct uvea_http_response response = {0};
        EXPECT(uvea_rt_http_call(web->rt, "p1:99", &request, &response, UVEA_NEVER) ==
               raw_answers[i].expected);
        EXPECT(response.status == 0 && response.body.data == NULL);
    }
}

static void test_answers_that_are_none(void **state)
{
    (void)state;
    struct web web = {.act = call_raw};
    struct uvea_sim_config config = plain_config();
    web_start(&web, &config);
    start(web.sim, 1, "raw", answer_raw, &web);
    (void)web_end(&web);
}

// What a server answers to it: the status, or 0 when it just ends the connection.
static unsigned ask_raw(struct web *web, const uint8_t *bytes, size_t len)
{
    struct uvea_stream *stream;
    uint8_t head[12];
    EXPECT(uvea_rt_dial(web->rt, "p1:80", &stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_write(web->rt, stream, bytes, len, UVEA_NEVER) == UVEA_OK);
    enum uvea_error error = uvea_rt_read_exact(web->rt, stream, head, sizeof(head), UVEA_NEVER);
    EXPECT(error == UVEA_OK || error == UVEA_ERR_CLOSED);
    uvea_rt_stream_close(web->rt, stream);
    return error == UVEA_OK ? uvea_load_le16(head + 4) : 0;
}

static void call_with_garbage(struct web *web)
{
    static const uint8_t text[] = "GET / HTTP/1.1\r\n\r\n";
    static const uint8_t no_method[] = {'u', 'v', 'r', 'q', 0, 0, 1, 0, 0, 0, 0, 0};
    static const uint8_t no_target[] = {'u', 'v', 'r', 'q', 1, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t long_target[] = {'u', 'v', 'r', 'q', 1, 0, 0, 16, 0, 0, 0, 0};
    static const uint8_t long_body[] = {'u', 'v', 'r', 'q', 1, 0, 1, 0, 1, 0, 0, 4, 'P', '/'};
    static const uint8_t begun[] = {'u', 'v', 'r', 'q', 1, 0, 1, 0, 2, 0, 0, 0, 'P', '/', 'x'};
    EXPECT(ask_raw(web, text, sizeof(text)) == 0);
    EXPECT(ask_raw(web, no_method, sizeof(no_method)) == 0);
    EXPECT(ask_raw(web, no_target, sizeof(no_target)) == 0);
    EXPECT(ask_raw(web, long_target, sizeof(long_target)) == 0);
    EXPECT(ask_raw(web, long_body, sizeof(long_body)) == 413);
    EXPECT(ask_raw(web, begun, sizeof(begun)) == 0); // gives up after a minute
    EXPECT(ask_raw(web, begun, 5) == 0);
    web_expect(web, "/", 200, "1:x");
}

static void test_requests_that_are_none(void **state)
{
    (void)state;
    struct web web = {.act = call_with_garbage};
    (void)web_run(&web);
    assert_int_equal(web.asked, 1);
}

// ---- the end of a run

static void call_and_stay(struct web *web)
{
    web->handler_ns = UVEA_NEVER;
    call_once(web);
}

static void test_unfinished_exchange_unwinds(void **state)
{
    (void)state;
    struct web web = {.act = call_and_stay};
    struct uvea_sim_config config = plain_config();
    web_start(&web, &config);
    struct uvea_sim_outcome outcome = run_to(web.sim, UVEA_SIM_NO_PROGRESS);
    assert_int_equal(outcome.live_tasks, 4);
    uvea_sim_close(web.sim);
    first_failure[0] = '\0'; // the call failed, as it must
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_over_one_connection),
        cmocka_unit_test(test_calls_that_cannot_be_made),
        cmocka_unit_test(test_requests_run_at_once),
        cmocka_unit_test(test_close_waits_for_what_is_in_work),
        cmocka_unit_test(test_deadline_covers_the_whole),
        cmocka_unit_test(test_partition_hits_http),
        cmocka_unit_test(test_idle_connection_race),
        cmocka_unit_test(test_answers_that_are_none),
        cmocka_unit_test(test_requests_that_are_none),
        cmocka_unit_test(test_unfinished_exchange_unwinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
