// Agreements, seen from one party whose peers are scripts: what counts as an answer, how long one
// waits and how, and what is said at the end.
#include "core/coord/body.h"
#include "core/coord/coord.h"
#include "tests/coord/fake.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

static struct fake fake;
static struct uvea_coord_link self;
static struct uvea_error_context context;
static uint64_t started_ns;

static void open_link(fake_peer_fn *peer, void *arg)
{
    fake_init(&fake, peer, arg);
    self = fake_link(&fake);
    context.text[0] = '\0';
    started_ns = fake.now_ns;
}

static void close_link(void)
{
    fake_link_close(&self);
}

static uint64_t passed_ns(void)
{
    return fake.now_ns - started_ns;
}

static void assert_says(const char *text)
{
    if (strstr(context.text, text) == NULL) {
        fail_msg("says '%s' instead of '%s'", context.text, text);
    }
}

// ---- size

static enum uvea_error answer_size(struct uvea_http_response *response, unsigned long batch_id,
                                   unsigned count)
{
    char body[96];
    (void)snprintf(body, sizeof(body), "{\"messages_to_poll\":%u,\"batch_id\":%lu}", count,
                   batch_id);
    fake_answer(response, 200, body);
    return UVEA_OK;
}

static enum uvea_error prompt_peer(struct fake *rt, unsigned party, const char *target,
                                   struct uvea_http_response *response)
{
    const unsigned *counts = rt->arg;
    assert_string_equal(target, "/batch-sync-state?batch_id=7");
    return answer_size(response, 7, counts[party]);
}

static void the_smallest_count_is_agreed(void **state)
{
    static const struct {
        unsigned own;
        unsigned peers[UVEA_PARTY_COUNT];
        unsigned agreed;
        unsigned requests;
    } cases[] = {
        {5, {0, 9, 6}, 5, 2}, {5, {0, 4, 6}, 4, 2}, {5, {0, 9, 1}, 1, 2},     {5, {0, 0, 6}, 0, 1},
        {5, {0, 3, 0}, 0, 2}, {0, {0, 3, 3}, 0, 0}, {99, {0, 70, 70}, 64, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned counts[UVEA_PARTY_COUNT];
        uint32_t agreed = 77;
        memcpy(counts, cases[i].peers, sizeof(counts));
        open_link(prompt_peer, counts);
        assert_int_equal(uvea_coord_agree_size(&self, 7, cases[i].own, &agreed, &context), UVEA_OK);
        assert_int_equal(agreed, cases[i].agreed);
        assert_int_equal(fake.requests, cases[i].requests);
        assert_int_equal(passed_ns(), 0);
        close_link();
    }
}

static void a_published_count_stands(void **state)
{
    unsigned counts[UVEA_PARTY_COUNT] = {0, 9, 9};
    uint32_t agreed = 0;
    (void)state;
    open_link(prompt_peer, counts);
    assert_int_equal(uvea_coord_agree_size(&self, 7, 3, &agreed, &context), UVEA_OK);
    assert_int_equal(agreed, 3);
    assert_int_equal(uvea_coord_agree_size(&self, 7, 5, &agreed, &context), UVEA_OK);
    assert_int_equal(agreed, 3);
    close_link();
}

// Behind for 30 s: as after a commit on a disk that stalls.
static enum uvea_error late_peer(struct fake *rt, unsigned party, const char *target,
                                 struct uvea_http_response *response)
{
    (void)target;
    if (party == 1 && rt->now_ns < started_ns + 30 * UVEA_SECOND) {
        fake_answer(response, 409, "batch 7 is asked for, batch 6 is current");
        return UVEA_OK;
    }
    return answer_size(response, 7, 2);
}

static void a_peer_that_is_behind_is_waited_for(void **state)
{
    uint32_t agreed = 0;
    (void)state;
    open_link(late_peer, NULL);
    assert_int_equal(uvea_coord_agree_size(&self, 7, 3, &agreed, &context), UVEA_OK);
    assert_int_equal(agreed, 2);
    assert_in_range(passed_ns(), 30 * UVEA_SECOND, 30 * UVEA_SECOND + 150 * UVEA_MS);
    // Pauses of 5, 10, 20, 40, 80, 100, 100... ms give or take a half.
    assert_in_range(fake.requests, 200, 620);
    assert_true(fake.longest_sleep_ns <= 100 * UVEA_MS);
    close_link();
}

static enum uvea_error never_there(struct fake *rt, unsigned party, const char *target,
                                   struct uvea_http_response *response)
{
    (void)rt;
    (void)party;
    (void)target;
    fake_answer(response, 409, "no");
    return UVEA_OK;
}

static void a_peer_that_stays_behind_is_given_up(void **state)
{
    uint32_t agreed = 9;
    (void)state;
    open_link(never_there, NULL);
    assert_int_equal(uvea_coord_agree_size(&self, 7, 3, &agreed, &context), UVEA_ERR_TIMEOUT);
    assert_int_equal(passed_ns(), 600 * UVEA_SECOND);
    assert_says("agreeing the size of batch 7: not so after 600 s");
    assert_says("party 1 answered with status 409");
    assert_int_equal(agreed, 9);
    close_link();
}

// Takes every request and never answers.
static enum uvea_error hung_peer(struct fake *rt, unsigned party, const char *target,
                                 struct uvea_http_response *response)
{
    (void)party;
    (void)target;
    (void)response;
    rt->now_ns += 3600 * UVEA_SECOND;
    return UVEA_OK;
}

static void a_hung_answer_costs_one_attempt(void **state)
{
    uint32_t agreed = 9;
    (void)state;
    open_link(hung_peer, NULL);
    assert_int_equal(uvea_coord_agree_size(&self, 7, 3, &agreed, &context), UVEA_ERR_TIMEOUT);
    assert_int_equal(passed_ns(), 60 * UVEA_SECOND);
    assert_in_range(fake.requests, 5, 6);
    assert_says("no usable answer for 60 s");
    assert_says("GET /batch-sync-state?batch_id=7 of party 1: the deadline passed");
    close_link();
}

// All the ways in which an answer is none, one after the other, then an honest one.
struct nonsense {
    unsigned at;
};

static enum uvea_error nonsense_peer(struct fake *rt, unsigned party, const char *target,
                                     struct uvea_http_response *response)
{
    struct nonsense *nonsense = rt->arg;
    (void)target;
    if (party == 2) {
        return answer_size(response, 7, 2);
    }
    switch (nonsense->at++) {
    case 0:
        return UVEA_ERR_NOT_FOUND;
    case 1:
        return UVEA_ERR_RESET;
    case 2:
        fake_answer(response, 503, "");
        return UVEA_OK;
    case 3:
        fake_answer(response, 200, "");
        return UVEA_OK;
    case 4:
        fake_answer(response, 200, "{\"messages_to_poll\":2,\"batch");
        return UVEA_OK;
    case 5:
        fake_answer(response, 200, "[7]");
        return UVEA_OK;
    case 6:
        fake_answer(response, 429, "later");
        return UVEA_OK;
    case 7:
        return UVEA_ERR_FORMAT;
    default:
        return answer_size(response, 7, 2);
    }
}

static void what_is_no_answer_is_asked_again_after_a_second(void **state)
{
    struct nonsense nonsense = {0};
    uint32_t agreed = 0;
    (void)state;
    open_link(nonsense_peer, &nonsense);
    assert_int_equal(uvea_coord_agree_size(&self, 7, 3, &agreed, &context), UVEA_OK);
    assert_int_equal(agreed, 2);
    assert_in_range(passed_ns(), 4 * UVEA_SECOND, 12 * UVEA_SECOND);
    assert_int_equal(fake.requests, 10);
    close_link();
}

// Answers about other batches: two older ones, a newer one, then the one asked for.
static enum uvea_error stale_peer(struct fake *rt, unsigned party, const char *target,
                                  struct uvea_http_response *response)
{
    static const unsigned long ids[] = {6, 6, 8, 7};
    unsigned *at = rt->arg;
    (void)target;
    if (party == 2) {
        return answer_size(response, 7, 4);
    }
    const unsigned which = (*at)++;
    return answer_size(response, ids[which], which == 3 ? 3 : 1);
}

static void answers_about_other_batches_do_not_count(void **state)
{
    unsigned at = 0;
    uint32_t agreed = 0;
    (void)state;
    open_link(stale_peer, &at);
    assert_int_equal(uvea_coord_agree_size(&self, 7, 9, &agreed, &context), UVEA_OK);
    assert_int_equal(agreed, 3);
    assert_int_equal(at, 4);
    assert_true(passed_ns() < 100 * UVEA_MS);
    close_link();
}

static void a_stop_ends_every_wait(void **state)
{
    uint32_t agreed = 0;
    (void)state;
    open_link(never_there, NULL);
    fake.stop_after = self.coord;
    fake.stop_at_ns = fake.now_ns + 5 * UVEA_SECOND;
    assert_int_equal(uvea_coord_agree_size(&self, 7, 3, &agreed, &context), UVEA_ERR_CLOSED);
    assert_string_equal(context.text, "asked to by the test");
    assert_in_range(passed_ns(), 5 * UVEA_SECOND, 5 * UVEA_SECOND + 100 * UVEA_MS);
    // Stopped before it begins.
    assert_int_equal(uvea_coord_agree_size(&self, 7, 0, &agreed, &context), UVEA_ERR_CLOSED);
    assert_int_equal(uvea_coord_meet(&self, &context), UVEA_ERR_CLOSED);
    close_link();
}

static enum uvea_error refusing_peer(struct fake *rt, unsigned party, const char *target,
                                     struct uvea_http_response *response)
{
    (void)rt;
    (void)party;
    (void)target;
    (void)response;
    return UVEA_ERR_NOT_FOUND;
}

static void a_stop_is_noticed_in_a_long_pause(void **state)
{
    (void)state;
    open_link(refusing_peer, NULL);
    self.timing.transport_ns = 100 * UVEA_SECOND;
    fake.stop_after = self.coord;
    fake.stop_at_ns = fake.now_ns + 5 * UVEA_SECOND;
    assert_int_equal(uvea_coord_meet(&self, &context), UVEA_ERR_CLOSED);
    assert_in_range(passed_ns(), 5 * UVEA_SECOND, 5 * UVEA_SECOND + 100 * UVEA_MS);
    close_link();
}

static void start_up_waits_are_bounded_and_say_what_came_last(void **state)
{
    (void)state;
    open_link(refusing_peer, NULL);
    assert_int_equal(uvea_coord_meet(&self, &context), UVEA_ERR_TIMEOUT);
    assert_int_equal(passed_ns(), 300 * UVEA_SECOND);
    assert_says("hearing from both peers: not so after 300 s");
    assert_says("GET /health of party 1: no such thing");
    assert_in_range(fake.requests, 250, 400);
    close_link();
}

// ---- who is met

#define ID "01234567-89ab-4cde-8f01-23456789abc"

static enum uvea_error health_peer(struct fake *rt, unsigned party, const char *target,
                                   struct uvea_http_response *response)
{
    struct uvea_coord_health *peers = rt->arg;
    assert_string_equal(target, "/health");
    response->status = 200;
    return uvea_coord_health_encode(&peers[party], &response->body);
}

static void a_peer_of_an_older_fleet_is_refused(void **state)
{
    struct uvea_coord_health peers[UVEA_PARTY_COUNT] = {
        {0}, {.image_name = "i", .boot = {ID "1"}}, {.image_name = "i", .boot = {ID "2"}}};
    (void)state;
    open_link(health_peer, peers);
    peers[2].ready = true;
    assert_int_equal(uvea_coord_meet(&self, &context), UVEA_ERR_RESET);
    assert_says("party 2 is ready already and does not know this party");
    assert_false(uvea_coord_is_verified(self.coord, uvea_party_at(2), ID "2"));
    // One that is ready and knows us only was faster.
    peers[2].verified_count = 1;
    memcpy(peers[2].verified[0].text, uvea_coord_boot_id(self.coord), UVEA_COORD_UUID_CHARS);
    assert_int_equal(uvea_coord_meet(&self, &context), UVEA_OK);
    assert_true(uvea_coord_is_verified(self.coord, uvea_party_at(1), ID "1"));
    assert_true(uvea_coord_is_verified(self.coord, uvea_party_at(2), ID "2"));
    // One that is ending is not met at all.
    peers[1].shutting_down = true;
    self.timing.startup_ns = UVEA_SECOND;
    assert_int_equal(uvea_coord_meet(&self, &context), UVEA_ERR_TIMEOUT);
    assert_says("party 1 is shutting down");
    close_link();
}

static void waiting_for_readiness_ends_with_another_incarnation(void **state)
{
    struct uvea_coord_health peers[UVEA_PARTY_COUNT] = {
        {0}, {.image_name = "i", .boot = {ID "1"}}, {.image_name = "i", .boot = {ID "2"}}};
    (void)state;
    open_link(health_peer, peers);
    assert_int_equal(uvea_coord_meet(&self, &context), UVEA_OK);
    peers[1].ready = peers[2].ready = true;
    assert_int_equal(uvea_coord_await_ready(&self, &context), UVEA_OK);
    peers[2].shutting_down = true;
    assert_int_equal(uvea_coord_await_ready(&self, &context), UVEA_ERR_CLOSED);
    assert_says("party 2 is shutting down");
    peers[1].boot.text[35] = '3';
    assert_int_equal(uvea_coord_await_ready(&self, &context), UVEA_ERR_RESET);
    assert_says("party 1 was started anew");
    close_link();
}

// ---- entries

struct entries_script {
    struct uvea_coord_entries peers[UVEA_PARTY_COUNT];
    unsigned stale; // answers that still show the batch before
};

static enum uvea_error entries_peer(struct fake *rt, unsigned party, const char *target,
                                    struct uvea_http_response *response)
{
    struct entries_script *script = rt->arg;
    struct uvea_coord_entries shown = script->peers[party];
    assert_string_equal(target, "/batch-sync-entries");
    if (script->stale > 0) {
        script->stale--;
        shown.sha[0] ^= 1;
    }
    response->status = 200;
    return uvea_coord_entries_encode(&shown, &response->body);
}

static void entries_are_valid_where_all_three_say_so(void **state)
{
    struct entries_script script = {.stale = 5};
    const uint8_t sha[UVEA_COORD_SHA_BYTES] = {1, 2, 3};
    bool valid[4] = {true, true, true, false};
    (void)state;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        script.peers[p].count = 4;
        memcpy(script.peers[p].sha, sha, sizeof(sha));
        for (unsigned k = 0; k < 4; k++) {
            script.peers[p].valid[k] = k != p;
        }
    }
    open_link(entries_peer, &script);
    assert_int_equal(uvea_coord_agree_entries(&self, 7, valid, 4, sha, &context), UVEA_OK);
    assert_true(valid[0]);
    assert_false(valid[1] || valid[2] || valid[3]);
    assert_int_equal(fake.requests, 7);
    assert_true(passed_ns() < UVEA_SECOND);

    script.peers[2].count = 3;
    valid[1] = true;
    assert_int_equal(uvea_coord_agree_entries(&self, 7, valid, 4, sha, &context), UVEA_ERR_STATE);
    assert_says("party 2 has 3 entries, this party 4, under one hash");
    assert_true(valid[1]); // unchanged

    script.stale = 1000000;
    started_ns = fake.now_ns;
    assert_int_equal(uvea_coord_agree_entries(&self, 7, valid, 4, sha, &context), UVEA_ERR_TIMEOUT);
    assert_int_equal(passed_ns(), 600 * UVEA_SECOND);
    assert_says("agreeing the entries of batch 7");
    assert_says("party 1 shows the entries of another batch");
    close_link();
}

// ---- pauses of parties that failed together

static uint64_t first_pause_ns(uint64_t seed)
{
    open_link(refusing_peer, NULL);
    fake.drawn = seed;
    self.timing.startup_ns = 5 * UVEA_SECOND;
    fake.stop_after = self.coord;
    fake.stop_at_ns = 0;
    self.timing.transport_ns = 80 * UVEA_MS; // one slice
    fake.stop_at_ns = fake.now_ns + 1;
    assert_int_equal(uvea_coord_meet(&self, &context), UVEA_ERR_CLOSED);
    const uint64_t paused = passed_ns();
    close_link();
    return paused;
}

static void pauses_vary(void **state)
{
    uint64_t least = UVEA_NEVER;
    uint64_t most = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const uint64_t pause = first_pause_ns(seed * UINT64_C(0x9E3779B97F4A7C15));
        assert_in_range(pause, 40 * UVEA_MS, 120 * UVEA_MS);
        least = pause < least ? pause : least;
        most = pause > most ? pause : most;
    }
    assert_true(least < 50 * UVEA_MS && most > 90 * UVEA_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_count_is_agreed),
        cmocka_unit_test(a_published_count_stands),
        cmocka_unit_test(a_peer_that_is_behind_is_waited_for),
        cmocka_unit_test(a_peer_that_stays_behind_is_given_up),
        cmocka_unit_test(a_hung_answer_costs_one_attempt),
        cmocka_unit_test(what_is_no_answer_is_asked_again_after_a_second),
        cmocka_unit_test(answers_about_other_batches_do_not_count),
        cmocka_unit_test(a_stop_ends_every_wait),
        cmocka_unit_test(a_stop_is_noticed_in_a_long_pause),
        cmocka_unit_test(start_up_waits_are_bounded_and_say_what_came_last),
        cmocka_unit_test(a_peer_of_an_older_fleet_is_refused),
        cmocka_unit_test(waiting_for_readiness_ends_with_another_incarnation),
        cmocka_unit_test(entries_are_valid_where_all_three_say_so),
        cmocka_unit_test(pauses_vary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
