// The ingest against a topic that a test makes up: late, twice, out of order, garbage.
#include "core/base/mem.h"
#include "core/service/ingest.h"
#include "tests/service/desk.h"

#include <stdio.h>
#include <string.h>

enum { ANSWERS_MAX = 16, TOPIC_NODE = 1 };

struct answer {
    unsigned status;
    const char *body;
};

struct post {
    struct desk desk;
    struct uvea_coord *coord;
    struct uvea_rt *topic_rt;
    const struct answer *answers; // one after the other; the last one again and again
    size_t answer_count;
    size_t asked;
    uint64_t asked_ns[ANSWERS_MAX];
    char targets[ANSWERS_MAX][64];
    uint64_t contiguous; // how far the ingest is to come
    uint64_t wait_ns;    // instead of that
    bool fails;          // the store does, sooner or later
    struct uvea_store_ingest_state state;
    enum uvea_error stopped;
    struct uvea_channel *finished;
};

static void serve_answer(void *arg, const struct uvea_http_request *request,
                         struct uvea_http_response *response)
{
    struct post *post = arg;
    const size_t last = post->answer_count - 1;
    const struct answer *answer = &post->answers[post->asked < last ? post->asked : last];

    if (post->asked < ANSWERS_MAX) {
        post->asked_ns[post->asked] = uvea_rt_now_ns(post->topic_rt);
        (void)snprintf(post->targets[post->asked], sizeof(post->targets[0]), "%s", request->target);
    }
    post->asked++;
    response->status = answer->status;
    assert_int_equal(uvea_buf_append(&response->body, answer->body, strlen(answer->body)), UVEA_OK);
}

static void topic_main(void *arg)
{
    struct post *post = arg;
    struct uvea_http_server *server;
    void *item;

    assert_int_equal(uvea_rt_http_serve(post->topic_rt, "p1:80", serve_answer, post, &server),
                     UVEA_OK);
    (void)!uvea_rt_channel_recv(post->topic_rt, post->finished, &item, UVEA_NEVER);
    uvea_rt_http_close(post->topic_rt, server);
}

static void wait_for_ingest(struct post *post)
{
    struct uvea_rt *rt = post->desk.rt;
    const uint64_t until_ns = uvea_rt_deadline_ns(rt, post->wait_ns);

    while (post->fails && uvea_coord_stopped(post->coord, NULL) == UVEA_OK) {
        assert_int_equal(uvea_rt_sleep_ns(rt, 5 * UVEA_MS), UVEA_OK);
    }
    if (post->fails) {
        return;
    }
    do {
        assert_int_equal(uvea_rt_sleep_ns(rt, 5 * UVEA_MS), UVEA_OK);
        assert_int_equal(uvea_store_ingest_state(post->desk.store, &post->state, NULL), UVEA_OK);
    } while (post->wait_ns > 0 ? uvea_rt_now_ns(rt) < until_ns
                               : post->state.contiguous < post->contiguous);
}

static void party_main(void *arg)
{
    struct post *post = arg;
    struct uvea_rt *rt = post->desk.rt;
    struct uvea_ingest *ingest;
    const struct uvea_ingest_config config = {
        .rt = rt,
        .store = post->desk.store,
        .coord = post->coord,
        .topic_address = "p1:80",
        .attempt_ns = UVEA_SECOND,
        .pause_ns = 20 * UVEA_MS,
        .backoff_ns_min = 200 * UVEA_MS,
        .backoff_ns_max = 5 * UVEA_SECOND,
    };

    assert_int_equal(uvea_rt_sleep_ns(rt, UVEA_MS), UVEA_OK);
    assert_int_equal(uvea_ingest_open(&config, &ingest), UVEA_OK);
    wait_for_ingest(post);
    uvea_ingest_close(ingest);
    post->stopped = uvea_coord_stopped(post->coord, NULL);
    uvea_rt_channel_shut(post->topic_rt, post->finished);
}

static void open_post(struct post *post, const struct answer *answers, size_t count)
{
    *post = (struct post){.answers = answers, .answer_count = count};
    desk_open(&post->desk);
    post->topic_rt = uvea_sim_rt(post->desk.sim, TOPIC_NODE);
    assert_int_equal(uvea_rt_channel_open(post->topic_rt, 1, &post->finished), UVEA_OK);
    assert_int_equal(uvea_coord_open(post->desk.rt, uvea_party_at(1), "test", &post->coord),
                     UVEA_OK);
}

static void run_post(struct post *post)
{
    struct uvea_sim *sim = post->desk.sim;
    struct uvea_sim_outcome outcome;

    assert_int_equal(uvea_sim_start(sim, TOPIC_NODE, "topic", topic_main, post), UVEA_OK);
    assert_int_equal(uvea_sim_start(sim, 0, "party", party_main, post), UVEA_OK);
    uvea_sim_run(sim, &outcome);
    if (outcome.end != UVEA_SIM_FINISHED) {
        fail_msg("%s:\n%s", uvea_sim_end_text(outcome.end), outcome.blocked);
    }
    assert_int_equal(outcome.unjoined_tasks, 0);
    uvea_rt_channel_close(post->topic_rt, post->finished);
}

static void close_post(struct post *post)
{
    uvea_coord_close(post->coord);
    desk_close(&post->desk);
}

#define MESSAGE(number, body) "{\"sequence_number\":\"" number "\",\"body\":\"" body "\"}"
#define PAGE(messages) "{\"messages\":[" messages "]}"

static enum uvea_error see_message(void *arg, const struct uvea_store_message *message)
{
    char *text = arg;
    const size_t used = strlen(text);

    (void)snprintf(text + used, 128 - used, "%u:%.*s%s ", (unsigned)message->sequence,
                   (int)message->body_bytes, (const char *)message->body,
                   message->valid ? "" : "!");
    return UVEA_OK;
}

static void messages_come_late_twice_and_out_of_order(void **state)
{
    static const struct answer answers[] = {
        {200, PAGE("")},
        {200, PAGE(MESSAGE("2", "two") "," MESSAGE("1", "one"))},
        {200, PAGE(MESSAGE("1", "one again") "," MESSAGE("5", "five"))},
        {200, PAGE(MESSAGE("2", "stale"))},
        {200, PAGE(MESSAGE("4", "four"))},
        {200, PAGE(MESSAGE("3", "three"))},
        {200, PAGE("")},
    };
    struct post post;
    char text[128] = "";

    (void)state;
    open_post(&post, answers, sizeof(answers) / sizeof(answers[0]));
    post.contiguous = 5;
    run_post(&post);
    assert_int_equal(post.state.contiguous, 5);
    assert_int_equal(post.state.pending, 5);
    assert_string_equal(post.targets[0], "/v1/topic?after=0&max=64");
    assert_string_equal(post.targets[2], "/v1/topic?after=2&max=64");
    assert_string_equal(post.targets[5], "/v1/topic?after=2&max=64");
    assert_int_equal(uvea_store_pending(post.desk.store, 9, see_message, text, NULL), UVEA_OK);
    assert_string_equal(text, "1:one! 2:two! 3:three! 4:four! 5:five! ");
    assert_int_equal(post.stopped, UVEA_OK);
    close_post(&post);
}

static void garbage_and_refusals_are_asked_for_again_ever_more_slowly(void **state)
{
    static const struct answer answers[] = {
        {503, "later"},
        {200, ""},
        {200, "{\"messages\":[{}]}"},
        {409, PAGE(MESSAGE("1", "one"))},
        {404, "no such path"},
        {200, "[]"},
        {200, PAGE(MESSAGE("0", "none"))},
        {200, PAGE(MESSAGE("1", "one"))},
        {200, PAGE("")},
    };
    struct post post;

    (void)state;
    open_post(&post, answers, sizeof(answers) / sizeof(answers[0]));
    post.contiguous = 1;
    run_post(&post);
    assert_in_range(post.asked, 8, 9); // one may be under way at the end
    for (int i = 1; i < 8; i++) {
        const uint64_t pause_ns = post.asked_ns[i] - post.asked_ns[i - 1];
        const uint64_t least_ns = (200 * UVEA_MS) << (i - 1);
        assert_true(pause_ns >= (least_ns < 5 * UVEA_SECOND ? least_ns : 5 * UVEA_SECOND));
        assert_true(pause_ns <= 2 * least_ns + 50 * UVEA_MS);
        assert_true(pause_ns <= 5 * UVEA_SECOND + 50 * UVEA_MS);
    }
    assert_int_equal(post.stopped, UVEA_OK);
    close_post(&post);
}

static void a_stale_page_is_not_asked_for_without_a_pause(void **state)
{
    static const struct answer answers[] = {
        {200, PAGE(MESSAGE("1", "one"))},
    };
    struct post post;

    (void)state;
    open_post(&post, answers, 1);
    post.wait_ns = UVEA_SECOND;
    run_post(&post);
    assert_in_range(post.asked, 20, 55); // one each 20 ms, and the way there and back
    close_post(&post);
}

static void a_store_that_fails_stops_the_party(void **state)
{
    static const struct answer answers[] = {
        {200, PAGE(MESSAGE("1", "one"))},
    };
    const struct uvea_sim_disk_faults faults = {.eio_write = 1000000};
    struct post post;

    (void)state;
    open_post(&post, answers, 1);
    post.fails = true;
    uvea_sim_disk_faults_set(post.desk.disk, &faults);
    run_post(&post);
    assert_int_equal(post.stopped, UVEA_ERR_IO);
    close_post(&post);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_late_twice_and_out_of_order),
        cmocka_unit_test(garbage_and_refusals_are_asked_for_again_ever_more_slowly),
        cmocka_unit_test(a_stale_page_is_not_asked_for_without_a_pause),
        cmocka_unit_test(a_store_that_fails_stops_the_party),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
