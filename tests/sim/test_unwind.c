// What a death does to others, and what the clean-up that follows does not.
#include "core/base/mem.h"
#include "sim/runtime/http.h"
#include "sim/runtime/process.h"
#include "tests/sim/harness.h"

struct scene {
    struct uvea_sim *sim;
    struct uvea_rt *rt;   // of node 1, which dies
    struct uvea_rt *peer; // of node 0, which sees it
    void (*act)(struct scene *scene);
    void (*see)(struct scene *scene);
    struct uvea_channel *channel;
    bool noisy;
    unsigned calls;
    unsigned ended;
    unsigned seen;
};

static void scene_main(void *arg)
{
    struct scene *scene = arg;
    scene->act(scene);
}

static void scene_see(void *arg)
{
    struct scene *scene = arg;
    scene->see(scene);
}

static void scene_ended(void *arg, bool crashed)
{
    struct scene *scene = arg;
    scene->ended += crashed;
}

static void crash_node_1(struct uvea_sim *sim, void *arg)
{
    (void)arg;
    uvea_sim_process_crash(sim, 1);
}

static void scene_open(struct scene *scene, const struct uvea_sim_config *config, uint64_t crash_ns)
{
    scene->sim = open_sim(config);
    scene->rt = uvea_sim_rt(scene->sim, 1);
    scene->peer = uvea_sim_rt(scene->sim, 0);
    struct uvea_sim_process process = {scene_main, scene, NULL, scene_ended};
    uvea_sim_process_set(scene->sim, 1, &process);
    assert_int_equal(uvea_sim_process_start(scene->sim, 1, 0), UVEA_OK);
    assert_int_equal(uvea_sim_at(scene->sim, crash_ns, crash_node_1, NULL), UVEA_OK);
    if (scene->see != NULL) {
        start(scene->sim, 0, "peer", scene_see, scene);
    }
}

static struct uvea_sim_outcome scene_run(struct scene *scene, uint64_t crash_ns)
{
    struct uvea_sim_config config = plain_config();
    scene_open(scene, &config, crash_ns);
    struct uvea_sim_outcome outcome = run_clean(scene->sim);
    assert_int_equal(scene->ended, 1);
    return outcome;
}

// ---- what peers see

static void write_and_hang(struct scene *scene)
{
    struct uvea_listener *listener;
    struct uvea_stream *stream;
    EXPECT(uvea_rt_listen(scene->rt, "p1:1", &listener) == UVEA_OK);
    EXPECT(uvea_rt_accept(scene->rt, listener, &stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_write(scene->rt, stream, (const uint8_t *)"abc", 3, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(scene->rt, UVEA_NEVER) == UVEA_ERR_CLOSED);
    uint8_t byte = 0;
    size_t got = 7;
    EXPECT(uvea_rt_read(scene->rt, stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_CLOSED);
    EXPECT(uvea_rt_write(scene->rt, stream, &byte, 1, UVEA_NEVER) == UVEA_ERR_CLOSED);
    EXPECT(got == 7);
    uvea_rt_stream_close(scene->rt, stream);
    uvea_rt_listener_close(scene->rt, listener);
}

static void read_until_reset(struct scene *scene)
{
    struct uvea_stream *stream;
    uint8_t bytes[8];
    size_t got = 0;
    EXPECT(uvea_rt_sleep_ns(scene->peer, UVEA_MS) == UVEA_OK);
    EXPECT(uvea_rt_dial(scene->peer, "p1:1", &stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(scene->peer, UVEA_SECOND) == UVEA_OK);
    EXPECT(uvea_rt_read(scene->peer, stream, bytes, 8, &got, UVEA_NEVER) == UVEA_OK);
    EXPECT(got == 3);
    EXPECT(uvea_rt_read(scene->peer, stream, bytes, 8, &got, UVEA_NEVER) == UVEA_ERR_RESET);
    uvea_rt_stream_close(scene->peer, stream);
    EXPECT(uvea_rt_dial(scene->peer, "p1:1", &stream, UVEA_NEVER) == UVEA_ERR_NOT_FOUND);
}

static void test_peer_reads_then_reset(void **state)
{
    (void)state;
    struct scene scene = {.act = write_and_hang, .see = read_until_reset};
    (void)scene_run(&scene, 5 * UVEA_MS); // the bytes are on their way
}

static void accept_and_hang(struct scene *scene)
{
    struct uvea_listener *listener;
    struct uvea_stream *stream;
    EXPECT(uvea_rt_listen(scene->rt, "p1:1", &listener) == UVEA_OK);
    EXPECT(uvea_rt_accept(scene->rt, listener, &stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(scene->rt, UVEA_NEVER) == UVEA_ERR_CLOSED);
    // and gives nothing back: the runtime does
}

static void fill_window(struct scene *scene)
{
    static const uint8_t zeros[300000];
    struct uvea_stream *stream;
    EXPECT(uvea_rt_sleep_ns(scene->peer, UVEA_MS) == UVEA_OK);
    EXPECT(uvea_rt_dial(scene->peer, "p1:1", &stream, UVEA_NEVER) == UVEA_OK);
    // Where nobody reads any more there is room, until the news of it is here.
    enum uvea_error error = uvea_rt_write(scene->peer, stream, zeros, sizeof(zeros), UVEA_NEVER);
    EXPECT(error == UVEA_OK || error == UVEA_ERR_RESET);
    EXPECT(uvea_sim_now_ns(scene->sim) >= UVEA_SECOND);
    EXPECT(uvea_rt_sleep_ns(scene->peer, UVEA_SECOND) == UVEA_OK);
    EXPECT(uvea_rt_write(scene->peer, stream, zeros, 1, UVEA_NEVER) == UVEA_ERR_RESET);
    uvea_rt_stream_close(scene->peer, stream);
}

static void test_writer_is_freed(void **state)
{
    (void)state;
    struct scene scene = {.act = accept_and_hang, .see = fill_window};
    (void)scene_run(&scene, UVEA_SECOND);
}

static void listen_and_hang(struct scene *scene)
{
    struct uvea_listener *listener;
    EXPECT(uvea_rt_listen(scene->rt, "p1:1", &listener) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(scene->rt, UVEA_NEVER) == UVEA_ERR_CLOSED);
    struct uvea_stream *stream;
    EXPECT(uvea_rt_accept(scene->rt, listener, &stream, UVEA_NEVER) == UVEA_ERR_CLOSED);
    uvea_rt_listener_close(scene->rt, listener);
}

static void wait_in_backlog(struct scene *scene)
{
    struct uvea_stream *stream;
    uint8_t byte;
    size_t got;
    EXPECT(uvea_rt_sleep_ns(scene->peer, UVEA_MS) == UVEA_OK);
    EXPECT(uvea_rt_dial(scene->peer, "p1:1", &stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_read(scene->peer, stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_RESET);
    uvea_rt_stream_close(scene->peer, stream);
}

static void test_backlog_is_reset(void **state)
{
    (void)state;
    struct scene scene = {.act = listen_and_hang, .see = wait_in_backlog};
    (void)scene_run(&scene, UVEA_SECOND);
}

// A dial that was on its way to the dead node, at every stage of it.
static void dial_into_death(struct scene *scene)
{
    struct uvea_stream *stream;
    EXPECT(uvea_rt_sleep_ns(scene->peer, UVEA_SECOND) == UVEA_OK);
    enum uvea_error error = uvea_rt_dial(scene->peer, "p1:1", &stream, UVEA_NEVER);
    scene->seen |= 1u << error;
    if (error == UVEA_OK) {
        uvea_rt_stream_close(scene->peer, stream);
    }
}

static void test_dial_to_the_dying(void **state)
{
    (void)state;
    unsigned seen = 0;
    for (uint64_t quarter = 0; quarter < 10; quarter++) {
        struct scene scene = {.act = listen_and_hang, .see = dial_into_death};
        (void)scene_run(&scene, UVEA_SECOND + quarter * UVEA_MS / 4);
        seen |= scene.seen;
    }
    assert_int_equal(seen, 1u << UVEA_ERR_NOT_FOUND | 1u << UVEA_OK);
}

static void dial_and_die(struct scene *scene)
{
    struct uvea_stream *stream;
    EXPECT(uvea_rt_sleep_ns(scene->rt, UVEA_SECOND) == UVEA_OK);
    enum uvea_error error = uvea_rt_dial(scene->rt, "p0:1", &stream, UVEA_NEVER);
    EXPECT(error == UVEA_ERR_CLOSED || error == UVEA_OK);
    if (error == UVEA_OK) {
        (void)!uvea_rt_sleep_ns(scene->rt, UVEA_NEVER);
        uvea_rt_stream_close(scene->rt, stream);
    }
}

static void accept_the_dying(struct scene *scene)
{
    struct uvea_listener *listener;
    struct uvea_stream *stream;
    uint8_t byte;
    size_t got;
    EXPECT(uvea_rt_listen(scene->peer, "p0:1", &listener) == UVEA_OK);
    enum uvea_error error = uvea_rt_accept(scene->peer, listener, &stream,
                                           uvea_rt_deadline_ns(scene->peer, 5 * UVEA_SECOND));
    scene->seen |= 1u << error;
    if (error == UVEA_OK) {
        EXPECT(uvea_rt_read(scene->peer, stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_RESET);
        uvea_rt_stream_close(scene->peer, stream);
    }
    uvea_rt_listener_close(scene->peer, listener);
}

static void test_dial_by_the_dying(void **state)
{
    (void)state;
    unsigned seen = 0;
    for (uint64_t quarter = 1; quarter < 12; quarter++) {
        struct scene scene = {.act = dial_and_die, .see = accept_the_dying};
        (void)scene_run(&scene, UVEA_SECOND + quarter * UVEA_MS / 4);
        seen |= scene.seen;
    }
    assert_int_equal(seen, 1u << UVEA_ERR_TIMEOUT | 1u << UVEA_OK);
}

// ---- what nobody sees

static void be_noisy(struct scene *scene, struct uvea_stream *stream)
{
    struct uvea_rt *rt = scene->rt;
    struct uvea_http_request request = {.method = "GET", .target = "/"};
    struct uvea_http_response response = {0};
    struct uvea_http_server *server;
    struct uvea_channel *channel;
    struct uvea_lock *lock;
    struct uvea_task *task;
    struct uvea_listener *listener;
    struct uvea_stream *other;
    uint8_t bytes[64] = {0};
    size_t got;
    uint64_t now_ns = uvea_rt_now_ns(rt);
    for (int i = 0; i < 50; i++) {
        EXPECT(uvea_rt_write(rt, stream, bytes, 64, UVEA_NEVER) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_read(rt, stream, bytes, 64, &got, UVEA_NEVER) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_entropy(rt, bytes, 64) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_sleep_ns(rt, UVEA_SECOND) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_point(rt, UVEA_POINT_READY) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_dial(rt, "p0:1", &other, UVEA_NEVER) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_listen(rt, "p1:9", &listener) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_spawn(rt, "no", scene_main, scene, &task) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_channel_open(rt, 1, &channel) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_lock_open(rt, &lock) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_http_serve(rt, "p1:8", NULL, NULL, &server) == UVEA_ERR_CLOSED);
        EXPECT(uvea_rt_http_call(rt, "p0:8", &request, &response, UVEA_NEVER) == UVEA_ERR_CLOSED);
        uvea_rt_charge(rt, UVEA_CHARGE_MPC_WORD, 1000000);
        uvea_sim_note(rt, "noise", "nobody hears it");
        uvea_sim_progress(rt);
        uvea_sim_done(rt);
        uvea_sim_stop(rt);
        uvea_sim_process_crash(scene->sim, 1);
    }
    EXPECT(uvea_rt_now_ns(rt) == now_ns);
}

static void die_in_talk(struct scene *scene)
{
    struct uvea_stream *stream;
    uint8_t bytes[64] = {0}; // what is sent goes into the hash of the run
    size_t got;
    EXPECT(uvea_rt_sleep_ns(scene->rt, UVEA_MS) == UVEA_OK);
    EXPECT(uvea_rt_dial(scene->rt, "p0:1", &stream, UVEA_NEVER) == UVEA_OK);
    while (uvea_rt_write(scene->rt, stream, bytes, 10, UVEA_NEVER) == UVEA_OK &&
           uvea_rt_read(scene->rt, stream, bytes, 64, &got, UVEA_NEVER) == UVEA_OK) {
        scene->calls++;
    }
    if (scene->noisy) {
        be_noisy(scene, stream);
        uvea_rt_stream_close(scene->rt, stream);
    }
}

static void answer_in_talk(struct scene *scene)
{
    struct uvea_listener *listener;
    struct uvea_stream *stream;
    uint8_t bytes[64] = {0};
    size_t got;
    EXPECT(uvea_rt_listen(scene->peer, "p0:1", &listener) == UVEA_OK);
    EXPECT(uvea_rt_accept(scene->peer, listener, &stream, UVEA_NEVER) == UVEA_OK);
    while (uvea_rt_read(scene->peer, stream, bytes, 64, &got, UVEA_NEVER) == UVEA_OK &&
           uvea_rt_write(scene->peer, stream, bytes, got, UVEA_NEVER) == UVEA_OK) {
    }
    uvea_rt_stream_close(scene->peer, stream);
    uvea_rt_listener_close(scene->peer, listener);
    for (int i = 0; i < 20; i++) { // draws from what the noise might have drawn from
        EXPECT(uvea_rt_dial(scene->peer, "p1:1", &stream, UVEA_NEVER) == UVEA_ERR_NOT_FOUND);
    }
}

static void test_noise_is_not_heard(void **state)
{
    (void)state;
    struct uvea_sim_outcome outcomes[2];
    for (unsigned noisy = 0; noisy < 2; noisy++) {
        struct uvea_sim_config config = plain_config();
        struct scene scene = {.act = die_in_talk, .see = answer_in_talk, .noisy = noisy};
        config.network.link.jitter_ns = UVEA_MS;
        config.network.link.piece_bytes_max = 8;
        scene_open(&scene, &config, 500 * UVEA_MS);
        outcomes[noisy] = run_clean(scene.sim);
        assert_true(scene.calls > 20);
        assert_int_equal(scene.ended, 1);
    }
    assert_memory_equal(outcomes[0].hash, outcomes[1].hash, UVEA_SIM_HASH_BYTES);
    assert_int_equal(outcomes[0].steps, outcomes[1].steps);
}

// ---- those that do not return

static void read_clock_for_ever(void *arg)
{
    struct scene *scene = arg;
    (void)!uvea_rt_sleep_ns(scene->rt, UVEA_NEVER);
    for (;;) {
        scene->calls += uvea_rt_now_ns(scene->rt) == 0;
    }
}

static void try_for_ever(void *arg)
{
    struct scene *scene = arg;
    void *item;
    for (;;) {
        (void)!uvea_rt_channel_recv(scene->rt, scene->channel, &item, UVEA_NEVER);
    }
}

static void draw_for_ever(void *arg)
{
    struct scene *scene = arg;
    uint8_t byte;
    (void)!uvea_rt_sleep_ns(scene->rt, UVEA_NEVER);
    for (;;) {
        (void)!uvea_rt_entropy(scene->rt, &byte, 1);
    }
}

static void receive_shut_for_ever(void *arg)
{
    struct scene *scene = arg;
    void *item;
    (void)!uvea_rt_sleep_ns(scene->rt, UVEA_NEVER);
    uvea_rt_channel_shut(scene->rt, scene->channel);
    for (;;) {
        (void)!uvea_rt_channel_recv(scene->rt, scene->channel, &item, UVEA_NEVER);
    }
}

static uvea_task_fn *stubborn;

static void join_the_stubborn(struct scene *scene)
{
    struct uvea_task *task;
    EXPECT(uvea_rt_channel_open(scene->rt, 1, &scene->channel) == UVEA_OK);
    EXPECT(uvea_rt_spawn(scene->rt, "stubborn", stubborn, scene, &task) == UVEA_OK);
    uvea_rt_join(scene->rt, task);
}

static void test_stubborn_tasks_are_dropped(void **state)
{
    static uvea_task_fn *const tasks[] = {read_clock_for_ever, try_for_ever, draw_for_ever,
                                          receive_shut_for_ever};
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(tasks); i++) {
        struct scene scene = {.act = join_the_stubborn};
        stubborn = tasks[i];
        struct uvea_sim_outcome outcome = scene_run(&scene, UVEA_SECOND);
        assert_int_equal(outcome.dropped_tasks, 2); // it, and who joins it
        assert_int_equal(outcome.left_behind, 0);
        assert_int_equal(outcome.time_ns, UVEA_SECOND);
    }
}

static void spin(struct scene *scene)
{
    (void)!uvea_rt_sleep_ns(scene->rt, UVEA_MS);
    for (;;) {
        scene->calls += uvea_rt_now_ns(scene->rt) == 0;
    }
}

static void test_spinning_process(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct scene scene = {.act = spin};
    scene_open(&scene, &config, UVEA_SECOND);
    struct uvea_sim_outcome outcome = run_to(scene.sim, UVEA_SIM_STEP_LIMIT);
    assert_non_null(strstr(outcome.blocked, "p1 task 'main' runs without ever waiting"));
    uvea_sim_close(scene.sim);
    assert_int_equal(scene.ended, 1);
}

// ---- HTTP

static void hang(void *arg, const struct uvea_http_request *request,
                 struct uvea_http_response *response)
{
    struct scene *scene = arg;
    (void)request;
    scene->calls++;
    (void)!uvea_rt_sleep_ns(scene->rt, scene->noisy ? UVEA_NEVER : 1);
    response->status = 200;
    EXPECT(uvea_buf_append(&response->body, "x", 1) == UVEA_OK);
}

static void serve(struct scene *scene)
{
    struct uvea_http_server *server;
    EXPECT(uvea_rt_http_serve(scene->rt, "p1:80", hang, scene, &server) == UVEA_OK);
    (void)!uvea_rt_sleep_ns(scene->rt, UVEA_NEVER);
    uvea_rt_http_close(scene->rt, server);
}

static void serve_carelessly(struct scene *scene)
{
    struct uvea_http_server *server;
    EXPECT(uvea_rt_http_serve(scene->rt, "p1:80", hang, scene, &server) == UVEA_OK);
    (void)!uvea_rt_sleep_ns(scene->rt, UVEA_NEVER);
}

static void call(struct scene *scene)
{
    struct uvea_http_request request = {.method = "GET", .target = "/"};
    struct uvea_http_response response = {0};
    EXPECT(uvea_rt_sleep_ns(scene->peer, UVEA_MS) == UVEA_OK);
    enum uvea_error error =
        uvea_rt_http_call(scene->peer, "p1:80", &request, &response, UVEA_NEVER);
    EXPECT(error == (scene->noisy ? UVEA_ERR_RESET : UVEA_OK));
    uvea_http_response_deinit(&response);
    EXPECT(uvea_rt_sleep_ns(scene->peer, 2 * UVEA_SECOND) == UVEA_OK);
    EXPECT(uvea_rt_http_call(scene->peer, "p1:80", &request, &response, UVEA_NEVER) ==
           UVEA_ERR_NOT_FOUND);
    EXPECT(scene->calls == 1);
}

static void test_http_server_dies(void **state)
{
    (void)state;
    for (unsigned noisy = 0; noisy < 2; noisy++) {
        for (unsigned careless = 0; careless < 2; careless++) {
            struct scene scene = {
                .act = careless ? serve_carelessly : serve, .see = call, .noisy = noisy};
            (void)scene_run(&scene, UVEA_SECOND);
        }
    }
}

static void call_and_die(struct scene *scene)
{
    struct uvea_http_request request = {.method = "GET", .target = "/"};
    struct uvea_http_response response = {0};
    EXPECT(uvea_rt_sleep_ns(scene->rt, UVEA_MS) == UVEA_OK);
    EXPECT(uvea_rt_http_call(scene->rt, "p0:80", &request, &response, UVEA_NEVER) == UVEA_OK);
    uvea_http_response_deinit(&response);
    EXPECT(uvea_rt_http_call(scene->rt, "p0:80", &request, &response, UVEA_NEVER) ==
           UVEA_ERR_CLOSED);
    EXPECT(response.status == 0 && response.body.data == NULL);
}

static void answer_slowly(void *arg, const struct uvea_http_request *request,
                          struct uvea_http_response *response)
{
    struct scene *scene = arg;
    (void)request;
    if (scene->seen++ > 0) {
        EXPECT(uvea_rt_sleep_ns(scene->peer, 2 * UVEA_SECOND) == UVEA_OK);
    }
    response->status = 204;
}

static void serve_at_peer(struct scene *scene)
{
    struct uvea_http_server *server;
    EXPECT(uvea_rt_http_serve(scene->peer, "p0:80", answer_slowly, scene, &server) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(scene->peer, 5 * UVEA_SECOND) == UVEA_OK);
    uvea_rt_http_close(scene->peer, server);
}

static void test_http_client_dies(void **state)
{
    (void)state;
    struct scene scene = {.act = call_and_die, .see = serve_at_peer};
    (void)scene_run(&scene, UVEA_SECOND);
    assert_int_equal(scene.seen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peer_reads_then_reset),
        cmocka_unit_test(test_writer_is_freed),
        cmocka_unit_test(test_backlog_is_reset),
        cmocka_unit_test(test_dial_to_the_dying),
        cmocka_unit_test(test_dial_by_the_dying),
        cmocka_unit_test(test_noise_is_not_heard),
        cmocka_unit_test(test_stubborn_tasks_are_dropped),
        cmocka_unit_test(test_spinning_process),
        cmocka_unit_test(test_http_server_dies),
        cmocka_unit_test(test_http_client_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
