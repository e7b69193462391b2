// What a party reads of its peers: the first byte chooses one of the bodies of /health,
// /batch-sync-state, /batch-sync-entries and /startup-sync, or a result that start-up readdresses.
// What is read is written again and read back as the same; what is refused leaves the output alone.
#include "core/base/check.h"
#include "core/coord/body.h"
#include "core/coord/sync.h"
#include "fuzz/fuzz.h"

#include <string.h>

static void check_refusal(enum uvea_error error, const struct uvea_error_context *context)
{
    UVEA_CHECK(error == UVEA_ERR_FORMAT || error == UVEA_ERR_LIMIT);
    UVEA_CHECK(context->text[0] != '\0');
}

static void one_health(const uint8_t *data, size_t len)
{
    struct uvea_error_context context = {{0}};
    struct uvea_coord_health found = {.verified_count = 77};
    struct uvea_coord_health again = {0};
    struct uvea_buf json = {0};
    struct uvea_buf second = {0};
    enum uvea_error error = uvea_coord_health_decode(data, len, &found, &context);
    if (error != UVEA_OK) {
        check_refusal(error, &context);
        UVEA_CHECK(found.verified_count == 77);
        return;
    }
    found.image_name = "image";
    UVEA_CHECK(uvea_coord_health_encode(&found, &json) == UVEA_OK);
    UVEA_CHECK(uvea_coord_health_decode(json.data, json.len, &again, NULL) == UVEA_OK);
    again.image_name = "image";
    UVEA_CHECK(uvea_coord_health_encode(&again, &second) == UVEA_OK);
    UVEA_CHECK(json.len == second.len && memcmp(json.data, second.data, json.len) == 0);
    uvea_buf_deinit(&json);
    uvea_buf_deinit(&second);
}

static void one_size(const uint8_t *data, size_t len)
{
    struct uvea_error_context context = {{0}};
    struct uvea_coord_size found = {.count = 77};
    struct uvea_coord_size again = {0};
    struct uvea_buf json = {0};
    enum uvea_error error = uvea_coord_size_decode(data, len, &found, &context);
    if (error != UVEA_OK) {
        check_refusal(error, &context);
        UVEA_CHECK(found.count == 77);
        return;
    }
    UVEA_CHECK(uvea_coord_size_encode(&found, &json) == UVEA_OK);
    UVEA_CHECK(uvea_coord_size_decode(json.data, json.len, &again, NULL) == UVEA_OK);
    UVEA_CHECK(found.batch_id == again.batch_id && found.count == again.count);
    uvea_buf_deinit(&json);
}

static void one_entries(const uint8_t *data, size_t len)
{
    struct uvea_error_context context = {{0}};
    struct uvea_coord_entries found = {.count = 77};
    struct uvea_coord_entries again = {0};
    struct uvea_buf json = {0};
    enum uvea_error error = uvea_coord_entries_decode(data, len, &found, &context);
    if (error != UVEA_OK) {
        check_refusal(error, &context);
        UVEA_CHECK(found.count == 77);
        return;
    }
    UVEA_CHECK(uvea_coord_entries_encode(&found, &json) == UVEA_OK);
    UVEA_CHECK(uvea_coord_entries_decode(json.data, json.len, &again, NULL) == UVEA_OK);
    UVEA_CHECK(memcmp(&found, &again, sizeof(found)) == 0);
    uvea_buf_deinit(&json);
}

// Whatever peers say, a plan is made or refused with a sentence.
static void plan_with(const struct uvea_sync_state *found)
{
    struct uvea_sync_state states[UVEA_PARTY_COUNT] = {*found, *found, {0}};
    struct uvea_error_context context = {{0}};
    states[2].db_len = found->db_len;
    states[2].common_config = found->common_config;
    UVEA_CHECK(uvea_sync_check_config(states, &context) == UVEA_OK);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct uvea_sync_plan plan = {0};
        enum uvea_error error = uvea_sync_make_plan(states, uvea_party_at(p), 328, &plan, &context);
        UVEA_CHECK(error == UVEA_OK ? plan.write_count == 0
                                    : error == UVEA_ERR_STATE && context.text[0] != '\0');
        uvea_sync_plan_deinit(&plan);
    }
}

static void one_state(const uint8_t *data, size_t len)
{
    struct uvea_error_context context = {{0}};
    struct uvea_sync_state found = {0};
    struct uvea_sync_state second = {0};
    struct uvea_buf json = {0};
    struct uvea_buf again = {0};
    enum uvea_error error = uvea_sync_state_decode(data, len, &found, &context);
    if (error != UVEA_OK) {
        check_refusal(error, &context);
        UVEA_CHECK(found.modifications == NULL && found.modification_count == 0 &&
                   found.common_config == NULL && !found.has_max_persisted);
        return;
    }
    plan_with(&found);
    UVEA_CHECK(uvea_sync_state_encode(&found, &json) == UVEA_OK);
    UVEA_CHECK(uvea_sync_state_decode(json.data, json.len, &second, NULL) == UVEA_OK);
    UVEA_CHECK(uvea_sync_state_encode(&second, &again) == UVEA_OK);
    UVEA_CHECK(json.len == again.len && memcmp(json.data, again.data, json.len) == 0);
    uvea_buf_deinit(&json);
    uvea_buf_deinit(&again);
    uvea_sync_state_deinit(&found);
    uvea_sync_state_deinit(&second);
}

static void one_result(const uint8_t *data, size_t len)
{
    struct uvea_error_context context = {{0}};
    struct uvea_buf text = {0};
    struct uvea_buf there = {0};
    struct uvea_buf back = {0};
    UVEA_CHECK(uvea_buf_append(&text, data, len) == UVEA_OK);
    UVEA_CHECK(uvea_buf_append(&text, "", 1) == UVEA_OK);
    enum uvea_error error =
        uvea_sync_readdress((const char *)text.data, uvea_party_at(1), &there, &context);
    if (error == UVEA_OK) {
        // To another party and back is the same as at once.
        UVEA_CHECK(uvea_sync_readdress((const char *)there.data, uvea_party_at(2), &back, NULL) ==
                   UVEA_OK);
        uvea_buf_clear(&text);
        UVEA_CHECK(uvea_sync_readdress((const char *)back.data, uvea_party_at(1), &text, NULL) ==
                   UVEA_OK);
        UVEA_CHECK(text.len == there.len && memcmp(text.data, there.data, text.len) == 0);
    } else {
        check_refusal(error, &context);
        UVEA_CHECK(there.len == 0);
    }
    uvea_buf_deinit(&text);
    uvea_buf_deinit(&there);
    uvea_buf_deinit(&back);
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    static void (*const targets[])(const uint8_t *data, size_t len) = {
        one_health, one_size, one_entries, one_state, one_result};
    json_object_seed(1); // hash order must not depend on the process
    if (len > 0 && data[0] - '0' < 5 && data[0] >= '0') {
        targets[data[0] - '0'](data + 1, len - 1);
    }
    return 0;
}
