// What befalls HTTP at a server, each fault on its own and all together.
#include "tests/sim/web.h"

enum { ALWAYS = 1000000 };

enum {
    F_409,
    F_5XX,
    F_NO_ANSWER,
    F_LOST,
    F_RESET,
    F_DUPLICATE,
    F_TRUNCATED,
    F_EMPTY,
    F_TYPE,
    F_STALE,
    F_SLOW
};

static void set(struct web *web, struct uvea_sim_http_faults faults)
{
    uvea_sim_http_faults_set(web->sim, 1, &faults);
}

static uint64_t count_of(const struct web *web, unsigned which)
{
    return uvea_sim_http_fault_count(web->sim, which);
}

static unsigned status_of(struct web *web, const char *target)
{
    struct uvea_http_response response;
    EXPECT(web_post(web, target, "x", UVEA_NEVER, &response) == UVEA_OK);
    unsigned status = response.status;
    uvea_http_response_deinit(&response);
    return status;
}

// ---- instead of the handler

static void meet_409(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.status_409 = ALWAYS, .path_prefix = "/batch"});
    EXPECT(status_of(web, "/batch?id=1") == 409);
    EXPECT(status_of(web, "/ready") == 200);
    EXPECT(status_of(web, "/batch") == 409);
    EXPECT(web->asked == 1 && count_of(web, F_409) == 2);
}

static void meet_409_runs(struct web *web)
{
    unsigned runs = 0;
    unsigned conflicts = 0;
    unsigned longest = 0;
    unsigned length = 0;
    set(web, (struct uvea_sim_http_faults){.status_409 = 20000, .run_max = 10});
    for (unsigned i = 0; i < 2000; i++) {
        bool conflict = status_of(web, "/") == 409;
        runs += conflict && length == 0;
        conflicts += conflict;
        length = conflict ? length + 1 : 0;
        longest = length > longest ? length : longest;
    }
    EXPECT(runs > 10 && conflicts > 3 * runs); // 5.5 on average
    EXPECT(longest > 5);
    EXPECT(count_of(web, F_409) == conflicts && web->asked == 2000 - conflicts);
    set(web, (struct uvea_sim_http_faults){0}); // ends a run, too
    EXPECT(status_of(web, "/") == 200);
}

static void meet_5xx(struct web *web)
{
    unsigned seen[600] = {0};
    set(web, (struct uvea_sim_http_faults){.status_5xx = ALWAYS});
    for (unsigned i = 0; i < 100; i++) {
        unsigned status = status_of(web, "/");
        EXPECT(status < 600);
        seen[status % 600]++;
    }
    EXPECT(seen[500] > 0 && seen[502] > 0 && seen[503] > 0 && seen[429] > 0);
    EXPECT(seen[500] + seen[502] + seen[503] + seen[429] == 100);
    EXPECT(web->asked == 0 && count_of(web, F_5XX) == 100);
}

static void meet_no_answer(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.no_answer = ALWAYS});
    uint64_t start_ns = uvea_sim_now_ns(web->sim);
    web_expect_error(web, "/", 500 * UVEA_SECOND, UVEA_ERR_TIMEOUT);
    EXPECT(uvea_sim_now_ns(web->sim) == start_ns + 500 * UVEA_SECOND);
    EXPECT(web->asked == 0 && count_of(web, F_NO_ANSWER) == 1);
    set(web, (struct uvea_sim_http_faults){0});
    web_expect(web, "/", 200, "1:x");
}

static void meet_reset(struct web *web)
{
    web_expect(web, "/", 200, "1:x");
    set(web, (struct uvea_sim_http_faults){.reset = ALWAYS});
    web_expect_error(web, "/", UVEA_SECOND, UVEA_ERR_RESET);
    EXPECT(web->asked == 1 && count_of(web, F_RESET) == 1);
    set(web, (struct uvea_sim_http_faults){0});
    web_expect(web, "/", 200, "2:x");
}

// ---- to the handler's answer

static void meet_lost_answer(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.lost_answer = ALWAYS});
    web_expect_error(web, "/", UVEA_SECOND, UVEA_ERR_RESET);
    EXPECT(web->asked == 1 && count_of(web, F_LOST) == 1); // it was carried out all the same
    set(web, (struct uvea_sim_http_faults){0});
    web_expect(web, "/", 200, "2:x");
}

static void meet_duplicate(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.duplicate = ALWAYS});
    web_expect(web, "/", 200, "2:x");
    EXPECT(web->asked == 2 && count_of(web, F_DUPLICATE) == 1);
}

static void meet_truncated(struct web *web)
{
    unsigned lengths[12] = {0};
    set(web, (struct uvea_sim_http_faults){.truncated = ALWAYS});
    for (unsigned i = 0; i < 9; i++) {
        struct uvea_http_response response;
        EXPECT(web_post(web, "/", "abcdefgh", UVEA_NEVER, &response) == UVEA_OK);
        EXPECT(response.status == 200 && response.body.len < 10);
        lengths[response.body.len % 12]++;
        uvea_http_response_deinit(&response);
    }
    unsigned kinds = 0;
    for (unsigned i = 0; i < 12; i++) {
        kinds += lengths[i] > 0;
    }
    EXPECT(kinds > 2 && web->asked == 9 && count_of(web, F_TRUNCATED) == 9);
}

static void meet_empty(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.empty = ALWAYS});
    web_expect(web, "/", 200, "");
    EXPECT(web->asked == 1 && count_of(web, F_EMPTY) == 1);
}

static void meet_wrong_type(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.wrong_type = ALWAYS});
    for (unsigned i = 0; i < 20; i++) {
        struct uvea_http_response response;
        EXPECT(web_post(web, "/", "x", UVEA_NEVER, &response) == UVEA_OK);
        EXPECT(response.status == 200 && response.body.len >= 2);
        EXPECT(response.body.data[0] != (uint8_t)('0' + (i + 1) % 10) || response.body.len == 2);
        uvea_http_response_deinit(&response);
    }
    EXPECT(web->asked == 20 && count_of(web, F_TYPE) == 20);
}

static void meet_stale(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.stale = ALWAYS});
    web_expect(web, "/a?x", 200, "1:x"); // there is none before
    web_expect(web, "/b", 200, "2:x");
    web_expect(web, "/a?y", 200, "1:x");
    web_expect(web, "/a", 200, "3:x");
    web_expect(web, "/b", 200, "2:x");
    EXPECT(count_of(web, F_STALE) == 3);
}

static void meet_slow(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.slow = ALWAYS});
    uint64_t longest_ns = 0;
    for (unsigned i = 0; i < 9; i++) {
        uint64_t start_ns = uvea_sim_now_ns(web->sim);
        struct uvea_http_response response;
        EXPECT(web_post(web, "/", "abcdefghijklmnopq", UVEA_NEVER, &response) == UVEA_OK);
        EXPECT(response.body.len == 19 && memcmp(response.body.data + 2, "abcdefgh", 8) == 0);
        uvea_http_response_deinit(&response);
        uint64_t took_ns = uvea_sim_now_ns(web->sim) - start_ns;
        EXPECT(took_ns >= 99 * UVEA_MS && took_ns <= 31 * UVEA_SECOND);
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    EXPECT(longest_ns > 5 * UVEA_SECOND);
    EXPECT(count_of(web, F_SLOW) == 9);
    web_expect_error(web, "/", 50 * UVEA_MS, UVEA_ERR_TIMEOUT);
}

static void test_each_fault(void **state)
{
    static void (*const acts[])(struct web *) = {
        meet_409,       meet_409_runs,  meet_5xx,   meet_no_answer,  meet_reset, meet_lost_answer,
        meet_duplicate, meet_truncated, meet_empty, meet_wrong_type, meet_stale, meet_slow,
    };
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(acts); i++) {
        struct web web = {.act = acts[i]};
        (void)web_run(&web);
    }
}

// ---- all together

static void meet_everything(struct web *web)
{
    set(web, (struct uvea_sim_http_faults){.status_409 = 50000,
                                           .status_5xx = 50000,
                                           .no_answer = 50000,
                                           .lost_answer = 50000,
                                           .reset = 50000,
                                           .duplicate = 50000,
                                           .truncated = 50000,
                                           .empty = 50000,
                                           .wrong_type = 50000,
                                           .stale = 50000,
                                           .slow = 50000,
                                           .run_max = 5});
    for (unsigned i = 0; i < 400; i++) {
        struct uvea_http_response response;
        (void)!web_post(web, "/x", "body", uvea_rt_deadline_ns(web->rt, 20 * UVEA_SECOND),
                        &response);
        uvea_http_response_deinit(&response);
    }
    for (unsigned which = 0; which < UVEA_SIM_HTTP_FAULT_COUNT; which++) {
        EXPECT(count_of(web, which) > 0);
    }
}

static void test_same_seed_same_faults(void **state)
{
    (void)state;
    struct uvea_sim_outcome outcomes[3];
    for (unsigned i = 0; i < 3; i++) {
        struct uvea_sim_config config = plain_config();
        struct web web = {.act = meet_everything};
        config.network.link.jitter_ns = UVEA_MS;
        config.network.link.piece_bytes_max = 100;
        config.seed = i < 2 ? 7 : 8;
        web_start(&web, &config);
        outcomes[i] = web_end(&web);
    }
    assert_memory_equal(outcomes[0].hash, outcomes[1].hash, UVEA_SIM_HASH_BYTES);
    assert_memory_not_equal(outcomes[0].hash, outcomes[2].hash, UVEA_SIM_HASH_BYTES);
}

static void test_fault_texts(void **state)
{
    (void)state;
    assert_string_equal(uvea_sim_http_fault_text(F_409), "409");
    assert_string_equal(uvea_sim_http_fault_text(F_SLOW), "slow");
    assert_string_equal(uvea_sim_http_fault_text(UVEA_SIM_HTTP_FAULT_COUNT), "unknown");
    for (unsigned a = 0; a < UVEA_SIM_HTTP_FAULT_COUNT; a++) {
        for (unsigned b = 0; b < a; b++) {
            assert_string_not_equal(uvea_sim_http_fault_text(a), uvea_sim_http_fault_text(b));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_fault),
        cmocka_unit_test(test_same_seed_same_faults),
        cmocka_unit_test(test_fault_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
