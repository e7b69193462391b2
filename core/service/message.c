#include "core/service/message.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/iris/json.h"
#include "core/service/json.h"

#include <string.h>

enum { SEQUENCE_DIGITS_MAX = 40 };

static const char *const texts[UVEA_MESSAGE_COUNT] = {
#define TEXT(name, text, order) text,
    UVEA_MESSAGES(TEXT)
#undef TEXT
};

static const unsigned char orders[UVEA_MESSAGE_COUNT] = {
#define ORDER(name, text, order) order,
    UVEA_MESSAGES(ORDER)
#undef ORDER
};

// What the kinds have, beside the members that uniqueness and reauth have alone.
static const struct shape {
    const char *id; // name of the member that is echoed; NULL: none
    bool target;
    bool shares;
    bool searched;
} shapes[UVEA_MESSAGE_COUNT] = {
    [UVEA_MESSAGE_UNIQUENESS] = {"signup_id", false, true, true},
    [UVEA_MESSAGE_REAUTH] = {"reauth_id", true, true, true},
    [UVEA_MESSAGE_IDENTITY_DELETION] = {NULL, true, false, false},
    [UVEA_MESSAGE_RESET_CHECK] = {"request_id", false, true, true},
    [UVEA_MESSAGE_RESET_UPDATE] = {"request_id", true, true, false},
    [UVEA_MESSAGE_RECOVERY_CHECK] = {"request_id", false, true, true},
    [UVEA_MESSAGE_RECOVERY_UPDATE] = {"request_id", true, true, false},
    [UVEA_MESSAGE_MALFORMED] = {NULL, false, false, false},
};

static unsigned position(enum uvea_message_kind kind)
{
    UVEA_CHECK((unsigned)kind < UVEA_MESSAGE_COUNT);
    return (unsigned)kind;
}

static const struct shape *shape_of(enum uvea_message_kind kind)
{
    return &shapes[position(kind)];
}

const char *uvea_message_kind_text(enum uvea_message_kind kind)
{
    return texts[position(kind)];
}

enum uvea_message_kind uvea_message_kind_find(const char *text)
{
    for (unsigned kind = 0; kind < UVEA_MESSAGE_COUNT; kind++) {
        if (kind != UVEA_MESSAGE_MALFORMED && strcmp(text, texts[kind]) == 0) {
            return (enum uvea_message_kind)kind;
        }
    }
    return UVEA_MESSAGE_COUNT;
}

unsigned uvea_message_kind_order(enum uvea_message_kind kind)
{
    return orders[position(kind)];
}

bool uvea_message_has_target(enum uvea_message_kind kind)
{
    return shape_of(kind)->target;
}

bool uvea_message_has_shares(enum uvea_message_kind kind)
{
    return shape_of(kind)->shares;
}

bool uvea_message_is_searched(enum uvea_message_kind kind)
{
    return shape_of(kind)->searched;
}

// ---- reading

// Strings of a message point into the two trees.
struct owner {
    json_t *envelope;
    json_t *payload;
    uint32_t *serials;
    struct uvea_error_context why;
};

// Members of one object; `where` names it in sentences.
struct members {
    const char *where;
    const json_t *object;
    struct uvea_error_context *why;
};

static enum uvea_error refuse(const struct members *in, const char *name, const char *problem)
{
    return uvea_error_set(in->why, UVEA_ERR_FORMAT, "%s: member %s %s", in->where, name, problem);
}

// A member that is absent and one that is null are the same.
static const json_t *optional(const struct members *in, const char *name)
{
    const json_t *member = json_object_get(in->object, name);
    return json_is_null(member) ? NULL : member;
}

static enum uvea_error get_string(const struct members *in, const char *name, size_t bytes_max,
                                  const char **text)
{
    const json_t *member = json_object_get(in->object, name);
    if (member == NULL) {
        return refuse(in, name, "is missing");
    }
    if (!json_is_string(member)) {
        return refuse(in, name, "is not a string");
    }
    if (json_string_length(member) > bytes_max) {
        return refuse(in, name, "is too long");
    }
    *text = json_string_value(member);
    return UVEA_OK;
}

static enum uvea_error get_flag(const struct members *in, const char *name, bool *present,
                                bool *flag)
{
    const json_t *member = optional(in, name);
    if (member != NULL && !json_is_boolean(member)) {
        return refuse(in, name, "is not a boolean");
    }
    *present = member != NULL;
    *flag = json_is_true(member);
    return UVEA_OK;
}

static bool to_serial(const json_t *value, uint32_t *serial)
{
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > UINT32_MAX) {
        return false;
    }
    *serial = (uint32_t)number;
    return true;
}

static enum uvea_error get_serials(const struct members *in, const char *name, struct owner *owner,
                                   size_t *count)
{
    const json_t *member = optional(in, name);
    if (member != NULL && !json_is_array(member)) {
        return refuse(in, name, "is not an array");
    }
    const size_t size = json_array_size(member);
    if (size == 0) {
        return UVEA_OK;
    }
    if (size > UVEA_MESSAGE_OR_RULE_MAX) {
        return refuse(in, name, "is too long");
    }
    owner->serials = uvea_mem_alloc(size, sizeof(*owner->serials));
    if (owner->serials == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < size; i++) {
        if (!to_serial(json_array_get(member, i), &owner->serials[i])) {
            return refuse(in, name, "holds something that is no serial");
        }
    }
    *count = size;
    return UVEA_OK;
}

static enum uvea_error get_target(const struct members *in, uint32_t *serial)
{
    static const char name[] = "serial_id";
    const json_t *member = json_object_get(in->object, name);
    if (member == NULL) {
        return refuse(in, name, "is missing");
    }
    return to_serial(member, serial) ? UVEA_OK : refuse(in, name, "is no serial");
}

// Loads text, which `where` names, into *object.
static enum uvea_error load(const char *where, const char *text, size_t bytes, json_t **object,
                            struct uvea_error_context *why)
{
    struct uvea_error_context inner = {{0}};
    enum uvea_error error = uvea_iris_load_object(text, bytes, object, &inner);
    return error == UVEA_OK ? UVEA_OK : uvea_error_set(why, error, "%s: %s", where, inner.text);
}

static enum uvea_error read_uniqueness(const struct members *in, struct owner *owner,
                                       struct uvea_message *message)
{
    bool present;
    UVEA_TRY(get_serials(in, "or_rule_serial_ids", owner, &message->or_rule_count));
    message->or_rule_serial_ids = owner->serials;
    UVEA_TRY(get_flag(in, "full_face_mirror_attacks_detection_enabled", &message->has_mirror_flag,
                      &message->mirror_flag));
    return get_flag(in, "disable_anonymized_stats", &present, &message->disable_anonymized_stats);
}

static enum uvea_error read_reauth(const struct members *in, struct uvea_message *message)
{
    bool present;
    UVEA_TRY(get_flag(in, "use_or_rule", &present, &message->use_or_rule));
    return present ? UVEA_OK : refuse(in, "use_or_rule", "is missing");
}

static enum uvea_error read_payload(const char *text, struct owner *owner,
                                    struct uvea_message *message)
{
    const struct shape *shape = shape_of(message->kind);
    bool present;
    UVEA_TRY(load("the payload", text, strlen(text), &owner->payload, &owner->why));
    const struct members in = {"the payload", owner->payload, &owner->why};
    if (shape->id != NULL) {
        UVEA_TRY(get_string(&in, shape->id, UVEA_MESSAGE_ID_BYTES_MAX, &message->id));
    }
    if (shape->shares) {
        UVEA_TRY(get_string(&in, "s3_key", UVEA_MESSAGE_ID_BYTES_MAX, &message->s3_key));
    }
    if (shape->target) {
        UVEA_TRY(get_target(&in, &message->serial_id));
    }
    if (message->kind == UVEA_MESSAGE_UNIQUENESS || message->kind == UVEA_MESSAGE_REAUTH) {
        UVEA_TRY(get_flag(&in, "skip_persistence", &present, &message->skip_persistence));
    }
    if (message->kind == UVEA_MESSAGE_UNIQUENESS) {
        return read_uniqueness(&in, owner, message);
    }
    return message->kind == UVEA_MESSAGE_REAUTH ? read_reauth(&in, message) : UVEA_OK;
}

// Every attribute is an object with two strings, whatever its name; those of another Type than
// String count as absent.
static enum uvea_error check_attributes(const struct members *envelope, json_t **attributes)
{
    static const char name[] = "MessageAttributes";
    const char *key;
    json_t *value;
    *attributes = json_object_get(envelope->object, name);
    if (*attributes == NULL) {
        return refuse(envelope, name, "is missing");
    }
    if (!json_is_object(*attributes)) {
        return refuse(envelope, name, "is not an object");
    }
    json_object_foreach(*attributes, key, value)
    {
        if (!json_is_string(json_object_get(value, "Type")) ||
            !json_is_string(json_object_get(value, "Value"))) {
            return refuse(envelope, name, "holds something that is no attribute");
        }
    }
    return UVEA_OK;
}

// *text stays as it is when the attribute is absent.
static enum uvea_error get_attribute(const json_t *attributes, const char *name, const char **text,
                                     struct uvea_error_context *why)
{
    const json_t *attribute = json_object_get(attributes, name);
    if (attribute == NULL ||
        strcmp(json_string_value(json_object_get(attribute, "Type")), "String") != 0) {
        return UVEA_OK;
    }
    const json_t *value = json_object_get(attribute, "Value");
    if (json_string_length(value) > UVEA_MESSAGE_ID_BYTES_MAX) {
        return uvea_error_set(why, UVEA_ERR_FORMAT, "attribute %s is too long", name);
    }
    *text = json_string_value(value);
    return UVEA_OK;
}

static bool is_sequence(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits >= 1 && digits <= SEQUENCE_DIGITS_MAX && text[digits] == '\0';
}

static enum uvea_error read_envelope(const struct members *in, struct uvea_message *message,
                                     const char **payload)
{
    static const char *const plain[] = {"Type", "TopicArn", "Timestamp", "UnsubscribeURL"};
    const char *text = NULL;
    json_t *attributes;
    // First, so that a refusal can be told to whoever sent it.
    UVEA_TRY(get_string(in, "MessageId", UVEA_MESSAGE_ID_BYTES_MAX, &text));
    if (text[0] == '\0') {
        return refuse(in, "MessageId", "is empty");
    }
    message->message_id = text;
    for (size_t i = 0; i < UVEA_COUNT_OF(plain); i++) {
        UVEA_TRY(get_string(in, plain[i], UVEA_MESSAGE_BYTES_MAX, &text));
    }
    UVEA_TRY(get_string(in, "SequenceNumber", UVEA_MESSAGE_BYTES_MAX, &text));
    if (!is_sequence(text)) {
        return refuse(in, "SequenceNumber", "is not 1 to 40 digits");
    }
    UVEA_TRY(get_string(in, "Message", UVEA_MESSAGE_BYTES_MAX, payload));
    UVEA_TRY(check_attributes(in, &attributes));
    UVEA_TRY(get_attribute(attributes, "TraceID", &message->trace_id, in->why));
    UVEA_TRY(get_attribute(attributes, "SpanID", &message->span_id, in->why));
    text = NULL;
    UVEA_TRY(get_attribute(attributes, "message_type", &text, in->why));
    if (text == NULL) {
        return uvea_error_set(in->why, UVEA_ERR_FORMAT, "attribute message_type is missing");
    }
    message->kind = uvea_message_kind_find(text);
    if (message->kind == UVEA_MESSAGE_COUNT) {
        return uvea_error_set(in->why, UVEA_ERR_FORMAT, "message_type is no kind of request");
    }
    return UVEA_OK;
}

static enum uvea_error read_message(const uint8_t *bytes, size_t count, struct owner *owner,
                                    struct uvea_message *message)
{
    const char *payload = NULL;
    if (count > UVEA_MESSAGE_BYTES_MAX) {
        return uvea_error_set(&owner->why, UVEA_ERR_LIMIT, "the envelope has more than %d bytes",
                              UVEA_MESSAGE_BYTES_MAX);
    }
    UVEA_TRY(load("the envelope", (const char *)bytes, count, &owner->envelope, &owner->why));
    const struct members in = {"the envelope", owner->envelope, &owner->why};
    UVEA_TRY(read_envelope(&in, message, &payload));
    return read_payload(payload, owner, message);
}

// Nothing but strings, all empty.
static struct uvea_message blank(struct owner *owner)
{
    return (struct uvea_message){
        .message_id = "", .id = "", .s3_key = "", .trace_id = "", .span_id = "", .owner = owner};
}

enum uvea_error uvea_message_parse(const uint8_t *bytes, size_t count, struct uvea_message *message)
{
    *message = (struct uvea_message){0};
    struct owner *owner = uvea_mem_alloc(1, sizeof(*owner));
    if (owner == NULL) {
        return UVEA_ERR_MEMORY;
    }
    struct uvea_message found = blank(owner);
    enum uvea_error error = read_message(bytes, count, owner, &found);
    if (error == UVEA_ERR_MEMORY) {
        uvea_message_deinit(&found);
        return error;
    }
    if (error != UVEA_OK) {
        const char *message_id = found.message_id;
        found = blank(owner);
        found.kind = UVEA_MESSAGE_MALFORMED;
        found.malformed = owner->why.text;
        found.message_id = message_id;
    }
    *message = found;
    return UVEA_OK;
}

void uvea_message_deinit(struct uvea_message *message)
{
    struct owner *owner = message->owner;
    if (owner != NULL) {
        json_decref(owner->envelope);
        json_decref(owner->payload);
        uvea_mem_free(owner->serials);
        uvea_mem_free(owner);
    }
    *message = (struct uvea_message){0};
}

// ---- writing

static json_t *string(const char *text)
{
    return json_string(text != NULL ? text : "");
}

static json_t *serial_array(const uint32_t *serials, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(array, json_integer(serials[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static bool put_payload(json_t *object, const struct uvea_message *message)
{
    const struct shape *shape = shape_of(message->kind);
    const bool uniqueness = message->kind == UVEA_MESSAGE_UNIQUENESS;
    const bool reauth = message->kind == UVEA_MESSAGE_REAUTH;
    bool ok = object != NULL;

    if (shape->id != NULL) {
        ok = ok && uvea_service_put(object, shape->id, string(message->id));
    }
    if (shape->shares) {
        ok = ok && uvea_service_put(object, "s3_key", string(message->s3_key));
    }
    if (shape->target) {
        ok = ok && uvea_service_put(object, "serial_id", json_integer(message->serial_id));
    }
    if (uniqueness && message->or_rule_count > 0) {
        ok = ok &&
             uvea_service_put(object, "or_rule_serial_ids",
                              serial_array(message->or_rule_serial_ids, message->or_rule_count));
    }
    if ((uniqueness || reauth) && message->skip_persistence) {
        ok = ok && uvea_service_put(object, "skip_persistence", json_true());
    }
    if (uniqueness && message->has_mirror_flag) {
        ok = ok && uvea_service_put(object, "full_face_mirror_attacks_detection_enabled",
                                    json_boolean(message->mirror_flag));
    }
    if (uniqueness && message->disable_anonymized_stats) {
        ok = ok && uvea_service_put(object, "disable_anonymized_stats", json_true());
    }
    if (reauth) {
        ok = ok && uvea_service_put(object, "use_or_rule", json_boolean(message->use_or_rule));
    }
    return ok;
}

static bool put_attribute(json_t *attributes, const char *name, const char *text)
{
    json_t *attribute = json_object();
    if (uvea_service_put(attribute, "Type", json_string("String")) &&
        uvea_service_put(attribute, "Value", string(text))) {
        return uvea_service_put(attributes, name, attribute);
    }
    json_decref(attribute);
    return false;
}

static bool present(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static json_t *attribute_object(const struct uvea_message *message)
{
    json_t *object = json_object();
    if (put_attribute(object, "message_type", uvea_message_kind_text(message->kind)) &&
        (!present(message->trace_id) || put_attribute(object, "TraceID", message->trace_id)) &&
        (!present(message->span_id) || put_attribute(object, "SpanID", message->span_id))) {
        return object;
    }
    json_decref(object);
    return NULL;
}

static bool put_envelope(json_t *object, const struct uvea_message *message, const char *payload)
{
    return uvea_service_put(object, "Type", json_string("Notification")) &&
           uvea_service_put(object, "MessageId", string(message->message_id)) &&
           uvea_service_put(object, "SequenceNumber", json_string("0")) &&
           uvea_service_put(object, "TopicArn", json_string("uvea")) &&
           uvea_service_put(object, "Message", json_string(payload)) &&
           uvea_service_put(object, "Timestamp", json_string("1970-01-01T00:00:00.000Z")) &&
           uvea_service_put(object, "UnsubscribeURL", json_string("")) &&
           uvea_service_put(object, "MessageAttributes", attribute_object(message));
}

static bool writable_string(const char *text)
{
    if (text == NULL) {
        return true;
    }
    json_t *value = json_string(text); // NULL when it is not UTF-8
    const bool good = value != NULL && strlen(text) <= UVEA_MESSAGE_ID_BYTES_MAX;
    json_decref(value);
    return good;
}

// What parse would take.
static bool writable(const struct uvea_message *message)
{
    return (unsigned)message->kind < UVEA_MESSAGE_MALFORMED && present(message->message_id) &&
           message->or_rule_count <= UVEA_MESSAGE_OR_RULE_MAX &&
           writable_string(message->message_id) && writable_string(message->id) &&
           writable_string(message->s3_key) && writable_string(message->trace_id) &&
           writable_string(message->span_id);
}

enum uvea_error uvea_message_encode(const struct uvea_message *message, struct uvea_buf *json)
{
    if (!writable(message)) {
        return UVEA_ERR_USAGE;
    }
    enum uvea_error error = UVEA_ERR_MEMORY;
    struct uvea_buf payload = {0};
    json_t *inner = json_object();
    json_t *envelope = json_object();
    if (!put_payload(inner, message)) {
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(uvea_service_append_json(inner, &payload));
    error = UVEA_ERR_MEMORY;
    if (put_envelope(envelope, message, (const char *)payload.data)) {
        error = uvea_service_append_json(envelope, json);
    }

cleanup:
    uvea_buf_deinit(&payload);
    json_decref(inner);
    json_decref(envelope);
    return error;
}
