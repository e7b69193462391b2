// What a heartbeat sees of two scripted peers, and what the party is told.
#include "core/base/check.h"
#include "core/coord/body.h"
#include "core/coord/coord.h"
#include "tests/sim/harness.h"

#define ID_1 "11111111-0000-4000-8000-000000000001"
#define ID_2 "22222222-0000-4000-8000-000000000002"
#define ID_NEW "33333333-0000-4000-8000-000000000003"

struct scene {
    struct uvea_sim *sim;
    struct uvea_coord_health health[UVEA_PARTY_COUNT]; // what peers say
    bool serves[UVEA_PARTY_COUNT];
    bool shows_other; // party 2 becomes another one after 5 s
    uint64_t watched_ns;
    enum uvea_error stopped;
    struct uvea_error_context reason;
    uint64_t stopped_at_ns;
    uint64_t closed_in_ns;
};

static struct scene *scene;

static void answer(unsigned party, struct uvea_http_response *response)
{
    response->status = 200;
    if (party == 2 && scene->shows_other && uvea_sim_now_ns(scene->sim) > 5 * UVEA_SECOND) {
        memcpy(scene->health[2].boot.text, ID_NEW, sizeof(ID_NEW));
    }
    EXPECT(uvea_coord_health_encode(&scene->health[party], &response->body) == UVEA_OK);
}

static void answer_1(void *arg, const struct uvea_http_request *request,
                     struct uvea_http_response *response)
{
    (void)arg;
    (void)request;
    answer(1, response);
}

static void answer_2(void *arg, const struct uvea_http_request *request,
                     struct uvea_http_response *response)
{
    (void)arg;
    (void)request;
    answer(2, response);
}

static void peer_task(void *arg)
{
    struct uvea_rt *rt = arg;
    const bool first = rt == uvea_sim_rt(scene->sim, 1);
    struct uvea_http_server *server = NULL;
    if (scene->serves[first ? 1 : 2]) {
        EXPECT(uvea_rt_http_serve(rt, first ? "p1:80" : "p2:80", first ? answer_1 : answer_2, NULL,
                                  &server) == UVEA_OK);
    }
    EXPECT(uvea_rt_sleep_ns(rt, scene->watched_ns + 2 * UVEA_SECOND) == UVEA_OK);
    uvea_rt_http_close(rt, server);
}

static void watch_task(void *arg)
{
    struct uvea_coord_link link = {.rt = arg,
                                   .party = uvea_party_at(0),
                                   .addresses = {"p0:80", "p1:80", "p2:80"},
                                   .timing = uvea_coord_timing_default()};
    struct uvea_heartbeat *heartbeat = NULL;
    UVEA_CHECK(uvea_coord_open(link.rt, link.party, "test", &link.coord) == UVEA_OK);
    EXPECT(uvea_coord_verify_peer(link.coord, uvea_party_at(1), ID_1) == UVEA_OK);
    EXPECT(uvea_coord_verify_peer(link.coord, uvea_party_at(2), ID_2) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(link.rt, UVEA_MS) == UVEA_OK); // the peers serve first
    EXPECT(uvea_heartbeat_open(&link, &heartbeat) == UVEA_OK);
    while (uvea_sim_now_ns(scene->sim) < scene->watched_ns && scene->stopped == UVEA_OK) {
        EXPECT(uvea_rt_sleep_ns(link.rt, 10 * UVEA_MS) == UVEA_OK);
        scene->stopped = uvea_coord_stopped(link.coord, &scene->reason);
    }
    scene->stopped_at_ns = uvea_sim_now_ns(scene->sim);
    uvea_heartbeat_close(heartbeat);
    scene->closed_in_ns = uvea_sim_now_ns(scene->sim) - scene->stopped_at_ns;
    uvea_coord_close(link.coord);
}

static struct scene new_scene(void)
{
    struct scene made = {.serves = {false, true, true}, .watched_ns = 120 * UVEA_SECOND};
    for (unsigned p = 1; p < UVEA_PARTY_COUNT; p++) {
        made.health[p].image_name = "test";
        memcpy(made.health[p].boot.text, p == 1 ? ID_1 : ID_2, sizeof(ID_1));
    }
    return made;
}

static void play(struct scene *played)
{
    struct uvea_sim_config config = plain_config();
    scene = played;
    scene->sim = open_sim(&config);
    start(scene->sim, 0, "watch", watch_task, uvea_sim_rt(scene->sim, 0));
    start(scene->sim, 1, "peer", peer_task, uvea_sim_rt(scene->sim, 1));
    start(scene->sim, 2, "peer", peer_task, uvea_sim_rt(scene->sim, 2));
    (void)run_clean(scene->sim);
}

static void expect_stop(struct scene *played, enum uvea_error error, const char *text,
                        uint64_t earliest_ns, uint64_t latest_ns)
{
    play(played);
    if (played->stopped != error || strstr(played->reason.text, text) == NULL) {
        fail_msg("%s: '%s'", uvea_error_name(played->stopped), played->reason.text);
    }
    assert_in_range(played->stopped_at_ns, earliest_ns, latest_ns);
}

static void peers_that_are_well_are_left_alone(void **state)
{
    struct scene played = new_scene();
    (void)state;
    play(&played);
    assert_int_equal(played.stopped, UVEA_OK);
    assert_true(played.closed_in_ns < 10 * UVEA_MS); // not a beat later
}

static void another_incarnation_is_seen(void **state)
{
    struct scene played = new_scene();
    (void)state;
    played.shows_other = true;
    expect_stop(&played, UVEA_ERR_RESET, "party 2 was started anew", 5 * UVEA_SECOND,
                8 * UVEA_SECOND);
    // One that was never met is another one too.
    played = new_scene();
    memcpy(played.health[1].boot.text, ID_2, sizeof(ID_2));
    expect_stop(&played, UVEA_ERR_RESET, "party 1 was started anew", 0, UVEA_SECOND);
}

static void a_peers_end_is_seen(void **state)
{
    struct scene played = new_scene();
    (void)state;
    played.health[1].shutting_down = true;
    expect_stop(&played, UVEA_ERR_CLOSED, "party 1 is shutting down", 0, UVEA_SECOND);
}

static void a_peer_that_never_answers_is_given_more_time(void **state)
{
    struct scene played = new_scene();
    (void)state;
    played.serves[2] = false;
    expect_stop(&played, UVEA_ERR_TIMEOUT, "party 2 is gone: 10 heartbeats without an answer",
                18 * UVEA_SECOND, 20 * UVEA_SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_that_are_well_are_left_alone),
        cmocka_unit_test(another_incarnation_is_seen),
        cmocka_unit_test(a_peers_end_is_seen),
        cmocka_unit_test(a_peer_that_never_answers_is_given_more_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
