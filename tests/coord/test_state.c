#include "core/coord/body.h"
#include "core/coord/state.h"
#include "tests/coord/fake.h"
#include "tests/support/aborts.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

static const char id_a[] = "aaaaaaaa-0000-4000-8000-000000000001";
static const char id_b[] = "bbbbbbbb-0000-4000-8000-000000000002";

static struct fake fake;
static struct uvea_coord_link party;

static int set_up(void **state)
{
    (void)state;
    fake_init(&fake, NULL, NULL);
    party = fake_link(&fake);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_link_close(&party);
    return 0;
}

static void expect_answer(const char *method, const char *target, unsigned status, const char *body)
{
    struct uvea_http_request request = {.method = method, .target = target};
    struct uvea_http_response response = {0};
    assert_true(uvea_coord_handle(party.coord, &request, &response));
    assert_int_equal(response.status, status);
    assert_int_equal(response.body.len, strlen(body));
    assert_memory_equal(response.body.data == NULL ? (const uint8_t *)"" : response.body.data, body,
                        response.body.len);
    uvea_http_response_deinit(&response);
}

static void other_paths_are_not_ours(void **state)
{
    static const char *const others[] = {"/",       "/healthy",  "/heal",   "health",  "",
                                         "/ready/", "/v1/topic", "/Health", "?/health"};
    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct uvea_http_request request = {.method = "GET", .target = others[i]};
        struct uvea_http_response response = {0};
        assert_false(uvea_coord_handle(party.coord, &request, &response));
        assert_int_equal(response.status, 0);
    }
}

static void other_methods_are_refused(void **state)
{
    (void)state;
    expect_answer("POST", "/health", 405, "GET is wanted");
    expect_answer("get", "/ready", 405, "GET is wanted");
    expect_answer("PUT", "/batch-sync-state?batch_id=1", 405, "GET is wanted");
}

static void health_tells_who_we_are(void **state)
{
    char expected[512];
    (void)state;
    assert_true(uvea_coord_id_valid(uvea_coord_boot_id(party.coord)));
    assert_int_equal(uvea_coord_boot_id(party.coord)[14], '4');
    (void)snprintf(expected, sizeof(expected),
                   "{\"image_name\":\"image\",\"uuid\":\"%s\",\"shutting_down\":false,"
                   "\"verified_peers\":[],\"is_ready\":false}",
                   uvea_coord_boot_id(party.coord));
    expect_answer("GET", "/health", 200, expected);

    uvea_coord_set_ready(party.coord, true);
    assert_int_equal(uvea_coord_verify_peer(party.coord, uvea_party_at(1), id_a), UVEA_OK);
    assert_int_equal(uvea_coord_verify_peer(party.coord, uvea_party_at(2), id_b), UVEA_OK);
    assert_int_equal(uvea_coord_verify_peer(party.coord, uvea_party_at(2), id_b), UVEA_OK);
    uvea_coord_stop(party.coord, UVEA_ERR_CLOSED, "asked to");
    (void)snprintf(expected, sizeof(expected),
                   "{\"image_name\":\"image\",\"uuid\":\"%s\",\"shutting_down\":true,"
                   "\"verified_peers\":[\"%s\",\"%s\"],\"is_ready\":true}",
                   uvea_coord_boot_id(party.coord), id_a, id_b);
    expect_answer("GET", "/health?verbose=1", 200, expected);
}

static void boot_ids_differ(void **state)
{
    struct uvea_coord *other = NULL;
    (void)state;
    assert_int_equal(uvea_coord_open(&fake.rt, uvea_party_at(0), "image", &other), UVEA_OK);
    assert_string_not_equal(uvea_coord_boot_id(other), uvea_coord_boot_id(party.coord));
    uvea_coord_close(other);
}

static void ready_follows_the_flag(void **state)
{
    (void)state;
    expect_answer("GET", "/ready", 503, "");
    uvea_coord_set_ready(party.coord, true);
    expect_answer("GET", "/ready", 200, "ready");
    uvea_coord_set_ready(party.coord, false);
    expect_answer("GET", "/ready", 503, "");
}

static void peers_are_known_by_their_last_id(void **state)
{
    (void)state;
    const struct uvea_party peer = uvea_party_at(1);
    assert_false(uvea_coord_is_verified(party.coord, peer, ""));
    assert_int_equal(uvea_coord_verify_peer(party.coord, peer, id_a), UVEA_OK);
    assert_true(uvea_coord_is_verified(party.coord, peer, id_a));
    assert_false(uvea_coord_is_verified(party.coord, uvea_party_at(2), id_a));
    assert_int_equal(uvea_coord_verify_peer(party.coord, peer, id_b), UVEA_OK);
    assert_false(uvea_coord_is_verified(party.coord, peer, id_a));
    assert_true(uvea_coord_is_verified(party.coord, peer, id_b));
}

static void remembered_peers_are_bounded(void **state)
{
    char id[UVEA_COORD_UUID_CHARS + 1];
    (void)state;
    for (unsigned i = 0; i < UVEA_COORD_PEERS_MAX; i++) {
        (void)snprintf(id, sizeof(id), "aaaaaaaa-0000-4000-8000-%012u", i);
        assert_int_equal(uvea_coord_verify_peer(party.coord, uvea_party_at(1 + i % 2), id),
                         UVEA_OK);
    }
    assert_int_equal(uvea_coord_verify_peer(party.coord, uvea_party_at(1), id_b), UVEA_ERR_LIMIT);
    assert_false(uvea_coord_is_verified(party.coord, uvea_party_at(1), id_b));
    assert_int_equal(uvea_coord_verify_peer(party.coord, uvea_party_at(1), id), UVEA_OK);
}

static void the_start_up_state_is_told_once_it_is_there(void **state)
{
    struct uvea_buf json = {0};
    (void)state;
    expect_answer("GET", "/startup-sync", 503, "");
    assert_int_equal(uvea_buf_append(&json, "{\"a\":1}", 7), UVEA_OK);
    assert_int_equal(uvea_coord_publish_sync(party.coord, &json), UVEA_OK);
    json.data[2] = 'b'; // a copy was made
    expect_answer("GET", "/startup-sync", 200, "{\"a\":1}");
    assert_int_equal(uvea_coord_publish_sync(party.coord, &json), UVEA_OK);
    expect_answer("GET", "/startup-sync", 200, "{\"b\":1}");
    uvea_buf_deinit(&json);
}

static void a_batch_is_told_to_who_asks_for_it(void **state)
{
    (void)state;
    expect_answer("GET", "/batch-sync-state?batch_id=1", 409,
                  "batch 1 is asked for, batch 0 is current");
    assert_int_equal(uvea_coord_publish_batch(party.coord, 1, 0), 0);
    expect_answer("GET", "/batch-sync-state?batch_id=1", 200,
                  "{\"messages_to_poll\":0,\"batch_id\":1}");
    expect_answer("GET", "/batch-sync-state?batch_id=0", 409,
                  "batch 0 is asked for, batch 1 is current");
    expect_answer("GET", "/batch-sync-state?batch_id=2", 409,
                  "batch 2 is asked for, batch 1 is current");
}

static void a_count_stands_unless_it_is_zero(void **state)
{
    (void)state;
    assert_int_equal(uvea_coord_publish_batch(party.coord, 1, 0), 0);
    assert_int_equal(uvea_coord_publish_batch(party.coord, 1, 5), 5);
    assert_int_equal(uvea_coord_publish_batch(party.coord, 1, 7), 5);
    assert_int_equal(uvea_coord_publish_batch(party.coord, 1, 0), 5);
    expect_answer("GET", "/batch-sync-state?batch_id=1", 200,
                  "{\"messages_to_poll\":5,\"batch_id\":1}");
    assert_int_equal(uvea_coord_publish_batch(party.coord, 2, 0), 0);
}

static void the_batch_before_stays_readable(void **state)
{
    (void)state;
    assert_int_equal(uvea_coord_publish_batch(party.coord, 1, 5), 5);
    assert_int_equal(uvea_coord_publish_batch(party.coord, 2, 3), 3);
    expect_answer("GET", "/batch-sync-state?batch_id=1", 200,
                  "{\"messages_to_poll\":5,\"batch_id\":1}");
    expect_answer("GET", "/batch-sync-state?batch_id=2", 200,
                  "{\"messages_to_poll\":3,\"batch_id\":2}");
    assert_int_equal(uvea_coord_publish_batch(party.coord, 3, 1), 1);
    expect_answer("GET", "/batch-sync-state?batch_id=1", 409,
                  "batch 1 is asked for, batch 3 is current");
}

static void bad_queries_are_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "?",
                                      "?batch_id",
                                      "?batch_id=",
                                      "?batch_id=x",
                                      "?batch_id=-1",
                                      "?batch_id=+1",
                                      "?batch_id=01",
                                      "?batch_id=1 ",
                                      "?batch_id=1&batch_id=1",
                                      "?batch=1",
                                      "?xbatch_id=1",
                                      "?batch_id=18446744073709551616",
                                      "?batch_id=111111111111111111111111111111111111111111"};
    (void)state;
    assert_int_equal(uvea_coord_publish_batch(party.coord, 1, 5), 5);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char target[128];
        (void)snprintf(target, sizeof(target), "/batch-sync-state%s", bad[i]);
        expect_answer("GET", target, 400, "batch_id=N is wanted, once");
    }
    expect_answer("GET", "/batch-sync-state?x=y&batch_id=1&&z", 200,
                  "{\"messages_to_poll\":5,\"batch_id\":1}");
    expect_answer("GET", "/batch-sync-state?batch_id=18446744073709551615", 409,
                  "batch 18446744073709551615 is asked for, batch 1 is current");
}

static void entries_are_told(void **state)
{
    const bool valid[3] = {true, false, true};
    uint8_t sha[UVEA_COORD_SHA_BYTES];
    (void)state;
    for (unsigned i = 0; i < UVEA_COORD_SHA_BYTES; i++) {
        sha[i] = (uint8_t)(255 - i);
    }
    expect_answer("GET", "/batch-sync-entries", 200,
                  "{\"valid_entries\":[],\"batch_sha\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                  "0,0,0,0,0,0,0,0,0,0,0]}");
    uvea_coord_publish_entries(party.coord, valid, 3, sha);
    expect_answer("GET", "/batch-sync-entries", 200,
                  "{\"valid_entries\":[true,false,true],\"batch_sha\":[255,254,253,252,251,250,249,"
                  "248,247,246,245,244,243,242,241,240,239,238,237,236,235,234,233,232,231,230,229,"
                  "228,227,226,225,224]}");
}

static void the_first_reason_to_stop_stands(void **state)
{
    struct uvea_error_context context = {{0}};
    (void)state;
    assert_int_equal(uvea_coord_stopped(party.coord, &context), UVEA_OK);
    assert_string_equal(context.text, "");
    uvea_coord_stop(party.coord, UVEA_ERR_STATE, "party %u is gone", 2u);
    uvea_coord_stop(party.coord, UVEA_ERR_CLOSED, "asked to");
    assert_int_equal(uvea_coord_stopped(party.coord, &context), UVEA_ERR_STATE);
    assert_string_equal(context.text, "party 2 is gone");
    assert_int_equal(uvea_coord_stopped(party.coord, NULL), UVEA_ERR_STATE);
}

static void go_back(void)
{
    (void)uvea_coord_publish_batch(party.coord, 2, 1);
    (void)uvea_coord_publish_batch(party.coord, 1, 1);
}

static void batch_ids_never_go_back(void **state)
{
    (void)state;
    assert_true(uvea_test_aborts(go_back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(other_paths_are_not_ours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_methods_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(health_tells_who_we_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(boot_ids_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ready_follows_the_flag, set_up, tear_down),
        cmocka_unit_test_setup_teardown(peers_are_known_by_their_last_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(remembered_peers_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_start_up_state_is_told_once_it_is_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_batch_is_told_to_who_asks_for_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_count_stands_unless_it_is_zero, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_batch_before_stays_readable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_queries_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_reason_to_stop_stands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(batch_ids_never_go_back, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
