#include "sim/world/malformed.h"

#include "core/service/json.h"

#include <jansson.h>

struct sample {
    const char *type; // NULL: no attribute message_type
    const char *request;
};

static const struct sample samples[UVEA_PLAN_MALFORMED_COUNT] = {
    [UVEA_PLAN_NO_TYPE] = {NULL, "{\"signup_id\": \"s\", \"s3_key\": \"k\"}"},
    [UVEA_PLAN_UNKNOWN_TYPE] = {"circuit_breaker", "{}"},
    [UVEA_PLAN_BAD_JSON] = {"uniqueness", "{\"signup_id\": \"s\", \"s3_key\": "},
    [UVEA_PLAN_MISSING_MEMBER] = {"reauth", "{\"reauth_id\": \"r\", \"serial_id\": 1}"},
    [UVEA_PLAN_WRONG_TYPE] = {"identity_deletion", "{\"serial_id\": \"1\"}"},
    [UVEA_PLAN_DUPLICATE_MEMBER] = {"identity_deletion", "{\"serial_id\": 1, \"serial_id\": 2}"},
};

static json_t *attributes_of(const struct sample *sample)
{
    return sample->type == NULL ? json_object()
                                : json_pack("{s:{s:s, s:s}}", "message_type", "Type", "String",
                                            "Value", sample->type);
}

enum uvea_error uvea_malformed_encode(const char *message_id, enum uvea_plan_malformed how,
                                      struct uvea_buf *json)
{
    const struct sample *sample = &samples[how];
    json_t *envelope =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "Type", "Notification", "MessageId",
                  message_id, "SequenceNumber", "0", "TopicArn", "topic", "Message",
                  sample->request, "Timestamp", "1970-01-01T00:00:00.000Z", "UnsubscribeURL", "",
                  "MessageAttributes", attributes_of(sample));
    const enum uvea_error error =
        envelope == NULL ? UVEA_ERR_MEMORY : uvea_service_append_json(envelope, json);
    json_decref(envelope);
    return error;
}
