#include "core/base/mem.h"
#include "core/service/endpoints.h"
#include "core/service/message.h"
#include "core/service/topic.h"
#include "tests/service/desk.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct office {
    struct desk desk;
    struct uvea_endpoints endpoints;
    struct uvea_http_response response;
    void (*script)(struct office *office);
};

// ---- asking

static unsigned ask(struct office *office, const char *method, const char *target, const void *body,
                    size_t body_bytes)
{
    const struct uvea_http_request request = {
        .method = method,
        .target = target,
        .body = body,
        .body_bytes = body_bytes,
    };

    uvea_http_response_deinit(&office->response);
    office->response = (struct uvea_http_response){0};
    uvea_endpoints_handle(&office->endpoints, &request, &office->response);
    return office->response.status;
}

static unsigned get(struct office *office, const char *target)
{
    return ask(office, "GET", target, NULL, 0);
}

static unsigned put(struct office *office, const char *target, const char *body)
{
    return ask(office, "PUT", target, body, strlen(body));
}

static unsigned post(struct office *office, const char *body)
{
    return ask(office, "POST", "/v1/requests", body, strlen(body));
}

static bool says(const struct office *office, const char *text)
{
    return office->response.body.len == strlen(text) &&
           memcmp(office->response.body.data, text, strlen(text)) == 0;
}

static json_t *answer(const struct office *office)
{
    json_t *object = json_loadb((const char *)office->response.body.data, office->response.body.len,
                                JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(object);
    return object;
}

// ---- the stage

static void work(void *arg)
{
    struct office *office = arg;

    office->script(office);
}

static void run(void (*script)(struct office *office), unsigned party)
{
    struct office *office = uvea_mem_alloc(1, sizeof(*office));

    assert_non_null(office);
    desk_open(&office->desk);
    office->script = script;
    office->endpoints = (struct uvea_endpoints){
        .rt = office->desk.rt,
        .party = uvea_party_at(party),
        .store = office->desk.store,
        .sequencing = true,
    };
    assert_int_equal(uvea_sim_start(office->desk.sim, 0, "office", work, office), UVEA_OK);
    desk_run(&office->desk);
    uvea_http_response_deinit(&office->response);
    desk_close(&office->desk);
    uvea_mem_free(office);
}

// ---- shares

static void store_shares(struct office *office)
{
    struct uvea_buf object = {0};
    char *large = uvea_mem_alloc(UVEA_STORE_OBJECT_BYTES_MAX + 1, 1);
    char target[32 + UVEA_STORE_KEY_BYTES_MAX + 2];

    assert_int_equal(put(office, "/v1/shares/a/b%20%c3%a9", "object"), 200);
    assert_int_equal(put(office, "/v1/shares/a/b%20%C3%A9", "object"), 200);
    assert_int_equal(put(office, "/v1/shares/a/b%20%c3%a9", "another"), 409);
    assert_int_equal(uvea_store_share_get(office->desk.store, "a/b \xc3\xa9", &object, NULL),
                     UVEA_OK);
    assert_int_equal(object.len, 6);
    assert_memory_equal(object.data, "object", 6);
    uvea_buf_deinit(&object);

    assert_int_equal(get(office, "/v1/shares/a"), 405);
    assert_int_equal(put(office, "/v1/shares/", "x"), 400);
    assert_int_equal(put(office, "/v1/shares/%4", "x"), 400);
    assert_int_equal(put(office, "/v1/shares/%zz", "x"), 400);
    assert_int_equal(put(office, "/v1/shares/a%00b", "x"), 400);
    assert_int_equal(put(office, "/v1/shares/%ff", "x"), 400);
    assert_int_equal(put(office, "/v1/shares/a b", "x"), 400);
    assert_int_equal(put(office, "/v1/shares/a?b", "x"), 400);
    (void)snprintf(target, sizeof(target), "/v1/shares/%0*d", UVEA_STORE_KEY_BYTES_MAX, 7);
    assert_int_equal(put(office, target, "x"), 200);
    (void)snprintf(target, sizeof(target), "/v1/shares/%0*d", UVEA_STORE_KEY_BYTES_MAX + 1, 7);
    assert_int_equal(put(office, target, "x"), 400);
    assert_non_null(large);
    assert_int_equal(ask(office, "PUT", "/v1/shares/l", large, UVEA_STORE_OBJECT_BYTES_MAX), 200);
    assert_int_equal(ask(office, "PUT", "/v1/shares/m", large, UVEA_STORE_OBJECT_BYTES_MAX + 1),
                     413);
    uvea_mem_free(large);
}

static void share_objects_are_kept_as_they_first_came(void **state)
{
    (void)state;
    run(store_shares, 2);
}

// ---- requests

static void sequence_requests(struct office *office)
{
    static const char first[] =
        "{\"message_id\":\"a\",\"sequence_number\":\"0000000000000000000000000000000000000001\"}";
    static const char second[] =
        "{\"message_id\":\"b\",\"sequence_number\":\"0000000000000000000000000000000000000002\"}";
    char *large = uvea_mem_alloc(UVEA_MESSAGE_BYTES_MAX + 1, 1);

    office->endpoints.sequencing = false; // before the peers are met
    assert_int_equal(post(office, "{\"MessageId\":\"z\"}"), 503);
    office->endpoints.sequencing = true;
    assert_int_equal(post(office, "{\"MessageId\":\"a\"}"), 200);
    assert_true(says(office, first));
    assert_int_equal(post(office, "{\"MessageId\":\"b\",\"more\":[1]}"), 200);
    assert_true(says(office, second));
    assert_int_equal(post(office, "{\"MessageId\":\"a\",\"other\":true}"), 200);
    assert_true(says(office, first));

    assert_int_equal(post(office, ""), 400);
    assert_int_equal(post(office, "[]"), 400);
    assert_int_equal(post(office, "{}"), 400);
    assert_true(says(office, "member MessageId is missing"));
    assert_int_equal(post(office, "{\"MessageId\":\"c\"} x"), 400);
    assert_int_equal(post(office, "{\"MessageId\":1}"), 400);
    assert_int_equal(post(office, "{\"MessageId\":\"\"}"), 400);
    assert_int_equal(post(office, "{\"MessageId\":\"a\\u0000\"}"), 400);
    assert_int_equal(post(office, "{\"MessageId\":\"c\",\"MessageId\":\"d\"}"), 400);
    assert_int_equal(get(office, "/v1/requests"), 405);
    assert_int_equal(ask(office, "POST", "/v1/requests?a=1", "{}", 2), 404);
    assert_non_null(large);
    memset(large, ' ', UVEA_MESSAGE_BYTES_MAX + 1);
    memcpy(large, "{\"MessageId\":\"l\"}", 17);
    assert_int_equal(ask(office, "POST", "/v1/requests", large, UVEA_MESSAGE_BYTES_MAX + 1), 413);
    assert_int_equal(ask(office, "POST", "/v1/requests", large, UVEA_MESSAGE_BYTES_MAX), 200);
    uvea_mem_free(large);
}

static void requests_get_a_number_each(void **state)
{
    (void)state;
    run(sequence_requests, 0);
}

static void ask_another_party(struct office *office)
{
    assert_int_equal(post(office, "{\"MessageId\":\"a\"}"), 404);
    assert_int_equal(get(office, "/v1/topic"), 404);
    assert_int_equal(get(office, "/v1/results"), 200);
    assert_true(says(office, "{\"results\":[]}"));
    assert_int_equal(get(office, "/v1/resultsx"), 404);
    assert_int_equal(get(office, "/health"), 404); // it has no peers here
}

static void only_party_0_has_a_topic(void **state)
{
    (void)state;
    run(ask_another_party, 1);
}

// ---- the topic

static void assert_page(const struct office *office, const char *first, size_t count)
{
    json_t *object = answer(office);
    const json_t *messages = json_object_get(object, "messages");

    assert_int_equal(json_array_size(messages), count);
    if (count > 0) {
        assert_string_equal(json_string_value(json_object_get(json_array_get(messages, 0), "body")),
                            first);
    }
    json_decref(object);
}

static void read_topic(struct office *office)
{
    static const char *const refused[] = {
        "/v1/topic?",         "/v1/topic?after=",   "/v1/topic?after=-1",
        "/v1/topic?after=1&", "/v1/topic?max=0",    "/v1/topic?after=1&after=2",
        "/v1/topic?before=1", "/v1/topic?after=1x", "/v1/topic?afterx=1",
        "/v1/topic?after= 1", "/v1/topic?max",      "/v1/topic?after=9223372036854775808",
    };
    char body[64];

    for (int i = 1; i <= 70; i++) {
        (void)snprintf(body, sizeof(body), "{\"MessageId\":\"%d\",\"\\u00e9\":\"\\\"\"}", i);
        assert_int_equal(post(office, body), 200);
    }
    assert_int_equal(get(office, "/v1/topic"), 200);
    assert_page(office, "{\"MessageId\":\"1\",\"\\u00e9\":\"\\\"\"}", 64);
    assert_int_equal(get(office, "/v1/topic?after=1&max=3"), 200);
    assert_page(office, "{\"MessageId\":\"2\",\"\\u00e9\":\"\\\"\"}", 3);
    assert_int_equal(get(office, "/v1/topic?max=100&after=0000000069"), 200);
    assert_page(office, "{\"MessageId\":\"70\",\"\\u00e9\":\"\\\"\"}", 1);
    assert_int_equal(get(office, "/v1/topic?after=9223372036854775807"), 200);
    assert_page(office, NULL, 0);
    assert_int_equal(ask(office, "POST", "/v1/topic", "", 0), 405);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (get(office, refused[i]) != 400) {
            fail_msg("%s: %u", refused[i], office->response.status);
        }
    }
}

static void the_topic_is_read_by_pages(void **state)
{
    (void)state;
    run(read_topic, 0);
}

static void read_large_topic(struct office *office)
{
    char *large = uvea_mem_alloc(UVEA_MESSAGE_BYTES_MAX, 1);
    struct uvea_topic_page page = {0};
    char id[32];

    assert_non_null(large);
    memset(large, '\n', UVEA_MESSAGE_BYTES_MAX); // doubles on the way
    for (int i = 0; i < 20; i++) {
        const int n = snprintf(id, sizeof(id), "{\"MessageId\":\"%02d\"}", i);
        memcpy(large, id, (size_t)n);
        assert_int_equal(ask(office, "POST", "/v1/requests", large, UVEA_MESSAGE_BYTES_MAX), 200);
    }
    uvea_mem_free(large);
    assert_int_equal(get(office, "/v1/topic"), 200);
    assert_int_equal(
        uvea_topic_page_decode(office->response.body.data, office->response.body.len, &page, NULL),
        UVEA_OK);
    assert_int_equal(page.count, UVEA_PAGE_BYTES_MAX / UVEA_MESSAGE_BYTES_MAX);
    uvea_topic_page_deinit(&page);
}

static void a_page_of_large_messages_is_short_and_can_be_read(void **state)
{
    (void)state;
    run(read_large_topic, 0);
}

static void garbage_is_no_page(void **state)
{
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"messages\":{}}",
        "{\"messages\":[1]}",
        "{\"messages\":[{\"sequence_number\":1,\"body\":\"\"}]}",
        "{\"messages\":[{\"sequence_number\":\"1\"}]}",
        "{\"messages\":[{\"sequence_number\":\"0\",\"body\":\"\"}]}",
        "{\"messages\":[{\"sequence_number\":\"1a\",\"body\":\"\"}]}",
        "{\"messages\":[{\"sequence_number\":\"\",\"body\":\"\"}]}",
        "{\"messages\":[{\"sequence_number\":\"1\",\"body\":\"\"},{}]}",
        "{\"messages\":[]",
    };
    struct uvea_topic_page page = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct uvea_error_context context = {{0}};
        assert_int_equal(
            uvea_topic_page_decode((const uint8_t *)texts[i], strlen(texts[i]), &page, &context),
            UVEA_ERR_FORMAT);
        assert_true(context.text[0] != '\0');
        assert_int_equal(page.count, 0);
    }
}

// ---- results

static enum uvea_error forget(void *arg, const struct uvea_store_message *message)
{
    (void)arg;
    (void)message;
    return UVEA_OK;
}

static void publish_three(struct uvea_store *store)
{
    struct uvea_store_message messages[3];
    struct uvea_modification rows[3];
    uint64_t ids[3];
    uint64_t first;
    const uint64_t sequences[] = {1, 2, 3};

    for (unsigned i = 0; i < 3; i++) {
        messages[i] = (struct uvea_store_message){
            .sequence = i + 1, .body = (const uint8_t *)"{}", .body_bytes = 2, .valid = true};
        rows[i] = (struct uvea_modification){
            .sequence = i + 1,
            .type = "uniqueness",
            .attributes = i == 1 ? "{\"TraceID\":\"t\"}" : NULL,
        };
    }
    assert_int_equal(uvea_store_ingest(store, messages, 3, NULL), UVEA_OK);
    assert_int_equal(uvea_store_pending(store, 3, forget, NULL, NULL), UVEA_OK);
    assert_int_equal(uvea_store_claim(store, 1, rows, 3, &first, NULL), UVEA_OK);
    for (unsigned i = 0; i < 3; i++) {
        ids[2 - i] = rows[i].id = first + i;
        rows[i].completed = true;
        rows[i].result = "{\"node_id\":0}";
    }
    const struct uvea_store_commit commit = {
        .modifications = rows,
        .modification_count = 3,
        .sequences = sequences,
        .sequence_count = 3,
    };
    assert_int_equal(uvea_store_commit(store, &commit, NULL), UVEA_OK);
    assert_int_equal(uvea_store_publish(store, ids, 3, NULL), UVEA_OK);
}

static void read_results(struct office *office)
{
    publish_three(office->desk.store);
    assert_int_equal(get(office, "/v1/results?after=1&max=1"), 200);
    assert_true(says(office,
                     "{\"results\":[{\"number\":2,\"sequence_number\":"
                     "\"0000000000000000000000000000000000000002\",\"batch\":"
                     "\"0000000000000000000000000000000000000001\",\"message_type\":\"uniqueness\","
                     "\"attributes\":{\"TraceID\":\"t\"},\"body\":\"{\\\"node_id\\\":0}\"}]}"));
    assert_int_equal(get(office, "/v1/results?after=2"), 200);
    assert_true(says(office,
                     "{\"results\":[{\"number\":3,\"sequence_number\":"
                     "\"0000000000000000000000000000000000000001\",\"batch\":"
                     "\"0000000000000000000000000000000000000001\",\"message_type\":\"uniqueness\","
                     "\"attributes\":null,\"body\":\"{\\\"node_id\\\":0}\"}]}"));
    assert_int_equal(get(office, "/v1/results?after=3"), 200);
    assert_true(says(office, "{\"results\":[]}"));
    assert_int_equal(put(office, "/v1/results", ""), 405);
    assert_int_equal(get(office, "/v1/results?max=x"), 400);
}

static void results_are_read_in_order_of_publication(void **state)
{
    (void)state;
    run(read_results, 1);
}

// ---- failures

static void ask_a_broken_store(struct office *office)
{
    const struct uvea_sim_disk_faults faults = {.eio_write = 1000000, .eio_sync = 1000000};

    uvea_sim_disk_faults_set(office->desk.disk, &faults);
    assert_int_equal(put(office, "/v1/shares/a", "x"), 503);
    assert_int_equal(post(office, "{\"MessageId\":\"a\"}"), 503);
    assert_int_equal(get(office, "/v1/results"), 503); // nothing is known of the store any more
}

static void a_store_that_fails_is_no_answer(void **state)
{
    (void)state;
    run(ask_a_broken_store, 0);
}

static void more(void *arg, const struct uvea_http_request *request,
                 struct uvea_http_response *response)
{
    *(const char **)arg = request->target;
    response->status = 299;
}

static void ask_for_more(struct office *office)
{
    const char *asked = NULL;

    assert_int_equal(get(office, "/more"), 404);
    office->endpoints.more_paths = more;
    office->endpoints.more_paths_arg = &asked;
    assert_int_equal(get(office, "/v1/results"), 200);
    assert_null(asked);
    assert_int_equal(get(office, "/more"), 299);
    assert_string_equal(asked, "/more");
}

static void unknown_paths_are_handed_on(void **state)
{
    (void)state;
    run(ask_for_more, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_objects_are_kept_as_they_first_came),
        cmocka_unit_test(requests_get_a_number_each),
        cmocka_unit_test(only_party_0_has_a_topic),
        cmocka_unit_test(the_topic_is_read_by_pages),
        cmocka_unit_test(a_page_of_large_messages_is_short_and_can_be_read),
        cmocka_unit_test(garbage_is_no_page),
        cmocka_unit_test(results_are_read_in_order_of_publication),
        cmocka_unit_test(a_store_that_fails_is_no_answer),
        cmocka_unit_test(unknown_paths_are_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
