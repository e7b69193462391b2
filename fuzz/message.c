// Requests as they come from the topic. The first byte chooses: '0' the rest is an envelope; '1' to
// '7' it is the payload of that kind of request, put into an envelope here.
#include "core/service/message.h"

#include "core/base/buf.h"
#include "core/base/check.h"
#include "fuzz/fuzz.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct uvea_message parse(const void *bytes, size_t count)
{
    struct uvea_message message;
    UVEA_CHECK(uvea_message_parse(bytes, count, &message) == UVEA_OK);
    return message;
}

static bool same_flags(const struct uvea_message *a, const struct uvea_message *b)
{
    return a->skip_persistence == b->skip_persistence && a->has_mirror_flag == b->has_mirror_flag &&
           a->mirror_flag == b->mirror_flag && a->use_or_rule == b->use_or_rule &&
           a->disable_anonymized_stats == b->disable_anonymized_stats;
}

static bool same_texts(const struct uvea_message *a, const struct uvea_message *b)
{
    return strcmp(a->message_id, b->message_id) == 0 && strcmp(a->id, b->id) == 0 &&
           strcmp(a->s3_key, b->s3_key) == 0 && strcmp(a->trace_id, b->trace_id) == 0 &&
           strcmp(a->span_id, b->span_id) == 0;
}

static void check_same(const struct uvea_message *a, const struct uvea_message *b)
{
    UVEA_CHECK(a->kind == b->kind && a->serial_id == b->serial_id);
    UVEA_CHECK(same_texts(a, b) && same_flags(a, b));
    UVEA_CHECK(a->or_rule_count == b->or_rule_count);
    for (size_t i = 0; i < a->or_rule_count; i++) {
        UVEA_CHECK(a->or_rule_serial_ids[i] == b->or_rule_serial_ids[i]);
    }
}

static void check_malformed(const struct uvea_message *message)
{
    const struct uvea_message none = {.kind = UVEA_MESSAGE_MALFORMED,
                                      .message_id = message->message_id,
                                      .id = "",
                                      .s3_key = "",
                                      .trace_id = "",
                                      .span_id = ""};
    check_same(message, &none);
    UVEA_CHECK(message->malformed != NULL && message->malformed[0] != '\0');
    UVEA_CHECK(message->or_rule_serial_ids == NULL);
}

static void check_bounds(const struct uvea_message *message)
{
    UVEA_CHECK(message->malformed == NULL && message->message_id[0] != '\0');
    UVEA_CHECK(strlen(message->message_id) <= UVEA_MESSAGE_ID_BYTES_MAX);
    UVEA_CHECK(strlen(message->id) <= UVEA_MESSAGE_ID_BYTES_MAX);
    UVEA_CHECK(strlen(message->s3_key) <= UVEA_MESSAGE_ID_BYTES_MAX);
    UVEA_CHECK(message->or_rule_count <= UVEA_MESSAGE_OR_RULE_MAX);
    UVEA_CHECK(message->serial_id == 0 || uvea_message_has_target(message->kind));
    UVEA_CHECK(!message->mirror_flag || message->has_mirror_flag);
}

static void one_message(const void *bytes, size_t count)
{
    struct uvea_message message = parse(bytes, count);
    if (message.kind == UVEA_MESSAGE_MALFORMED) {
        check_malformed(&message);
        uvea_message_deinit(&message);
        return;
    }
    struct uvea_buf first = {0};
    struct uvea_buf second = {0};
    check_bounds(&message);
    UVEA_CHECK(uvea_message_encode(&message, &first) == UVEA_OK);
    struct uvea_message again = parse(first.data, first.len);
    check_same(&message, &again);
    UVEA_CHECK(uvea_message_encode(&again, &second) == UVEA_OK);
    UVEA_CHECK(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    uvea_message_deinit(&again);
    uvea_message_deinit(&message);
    uvea_buf_deinit(&first);
    uvea_buf_deinit(&second);
}

static void one_payload(enum uvea_message_kind kind, const char *bytes, size_t count)
{
    json_t *payload = json_stringn(bytes, count);
    if (payload == NULL) {
        return; // not UTF-8: no envelope can hold it
    }
    json_t *envelope =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:{s:{s:s, s:s}}}", "Type", "Notification",
                  "MessageId", "m", "SequenceNumber", "1", "TopicArn", "t", "Message", payload,
                  "Timestamp", "", "UnsubscribeURL", "", "MessageAttributes", "message_type",
                  "Type", "String", "Value", uvea_message_kind_text(kind));
    char *text = json_dumps(envelope, 0);
    UVEA_CHECK(text != NULL);
    one_message(text, strlen(text));
    free(text);
    json_decref(envelope);
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    json_object_seed(1); // hash order must not depend on the process
    if (len == 0) {
        return 0;
    }
    if (data[0] >= '1' && data[0] <= '7') {
        one_payload((enum uvea_message_kind)(data[0] - '1'), (const char *)data + 1, len - 1);
    } else {
        one_message(data + 1, len - 1);
    }
    return 0;
}
