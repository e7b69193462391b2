#include "core/service/results.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/iris/json.h"
#include "core/service/json.h"

#include <stdbool.h>
#include <string.h>

// One request of a processed batch, as one party answers it.
struct answer {
    struct uvea_party party;
    const struct uvea_batch *batch;
    const struct uvea_batch_entry *entry;
    const struct uvea_message *message;
    const struct uvea_outcome *outcome;
};

static bool put(json_t *object, const char *name, json_t *value)
{
    return uvea_service_put(object, name, value);
}

// ---- values

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

// An array of integers, or NULL.
static json_t *id_array(const uint32_t *serials, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(array, integer(serials[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *ids(const struct uvea_match_list *list)
{
    return id_array(list->serials, list->count);
}

// Null when hidden or empty.
static json_t *optional_ids(const struct uvea_match_list *list, bool shown)
{
    return shown && list->count > 0 ? ids(list) : json_null();
}

static json_t *count_of(const struct uvea_match_list *list, bool shown)
{
    return integer(shown ? list->total : 0);
}

static json_t *rotations_of(uint32_t strict)
{
    json_t *array = json_array();
    for (int r = 0; r < UVEA_ROTATION_COUNT; r++) {
        if ((strict >> r & 1) != 0 &&
            json_array_append_new(array, json_integer(r - UVEA_ROTATION_MAX)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *optional_rotations(const struct uvea_match_list *list, bool shown)
{
    if (!shown || list->count == 0) {
        return json_null();
    }
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        if (json_array_append_new(array, rotations_of(list->strict[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

// Ids of the earlier requests that match: those of the normal orientation, then those of the
// mirror.
static json_t *batch_ids(const struct answer *answer)
{
    json_t *array = json_array();
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        for (size_t i = 0; i < answer->outcome->batch_matches[way].count; i++) {
            const size_t at = answer->outcome->batch_matches[way].at[i];
            UVEA_CHECK(at < answer->batch->count);
            if (json_array_append_new(array, json_string(answer->batch->entries[at].message.id)) !=
                0) {
                json_decref(array);
                return NULL;
            }
        }
    }
    return array;
}

static bool put_id(json_t *object, const char *name, const struct answer *answer)
{
    return put(object, name, json_string(answer->message->id));
}

static bool put_node(json_t *object, const struct answer *answer)
{
    return put(object, "node_id", integer(answer->party.index));
}

static bool put_target(json_t *object, const struct answer *answer)
{
    return put(object, "serial_id", integer(answer->message->serial_id));
}

static bool put_error(json_t *object, const char *reason)
{
    return put(object, "error", reason != NULL ? json_true() : json_null()) &&
           put(object, "error_reason", reason != NULL ? json_string(reason) : json_null());
}

// Member after member, each null.
static bool put_nulls(json_t *object, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!put(object, names[i], json_null())) {
            return false;
        }
    }
    return true;
}

// ---- uniqueness

static bool put_normal(json_t *object, const struct answer *answer)
{
    const struct uvea_outcome *outcome = answer->outcome;
    const struct uvea_orientation_matches *normal = &outcome->matches[UVEA_ORIENTATION_NORMAL];
    const struct uvea_match_list *left = &normal->partial[UVEA_EYE_LEFT];
    const struct uvea_match_list *right = &normal->partial[UVEA_EYE_RIGHT];
    const bool shown = outcome->partial_results;
    const bool inserted = outcome->decision == UVEA_DECISION_UNIQUE_INSERT;

    return put(object, "matched_serial_ids", inserted ? json_null() : ids(&normal->full)) &&
           put(object, "matched_serial_ids_left", optional_ids(left, shown)) &&
           put(object, "matched_serial_ids_right", optional_ids(right, shown)) &&
           put(object, "partial_matches_count_right", count_of(right, shown)) &&
           put(object, "partial_matches_count_left", count_of(left, shown)) &&
           put(object, "partial_match_rotation_indices_left", optional_rotations(left, shown)) &&
           put(object, "partial_match_rotation_indices_right", optional_rotations(right, shown)) &&
           put(object, "matched_batch_request_ids", batch_ids(answer));
}

static bool put_mirror(json_t *object, const struct uvea_outcome *outcome)
{
    const struct uvea_orientation_matches *mirror = &outcome->matches[UVEA_ORIENTATION_MIRROR];
    const struct uvea_match_list *left = &mirror->partial[UVEA_EYE_LEFT];
    const struct uvea_match_list *right = &mirror->partial[UVEA_EYE_RIGHT];
    const bool shown = outcome->partial_results;

    return put(object, "full_face_mirror_attack_detected", json_boolean(outcome->mirror_attack)) &&
           put(object, "full_face_mirror_matched_serial_ids", optional_ids(&mirror->full, true)) &&
           put(object, "full_face_mirror_matched_serial_ids_left", optional_ids(left, shown)) &&
           put(object, "full_face_mirror_matched_serial_ids_right", optional_ids(right, shown)) &&
           put(object, "full_face_mirror_partial_matches_count_left", count_of(left, shown)) &&
           put(object, "full_face_mirror_partial_matches_count_right", count_of(right, shown));
}

// The members of put_normal and put_mirror when there is nothing to say.
static bool put_no_matches(json_t *object)
{
    static const char *const normal[] = {
        "matched_serial_ids",
        "matched_serial_ids_left",
        "matched_serial_ids_right",
        "partial_matches_count_right",
        "partial_matches_count_left",
        "partial_match_rotation_indices_left",
        "partial_match_rotation_indices_right",
        "matched_batch_request_ids",
    };
    static const char *const mirror[] = {
        "full_face_mirror_matched_serial_ids",
        "full_face_mirror_matched_serial_ids_left",
        "full_face_mirror_matched_serial_ids_right",
        "full_face_mirror_partial_matches_count_left",
        "full_face_mirror_partial_matches_count_right",
    };
    return put_nulls(object, normal, UVEA_COUNT_OF(normal)) &&
           put(object, "full_face_mirror_attack_detected", json_false()) &&
           put_nulls(object, mirror, UVEA_COUNT_OF(mirror));
}

static bool put_uniqueness(json_t *object, const struct answer *answer, const char *reason)
{
    const enum uvea_decision decision = answer->outcome->decision;
    const bool inserted = reason == NULL && decision == UVEA_DECISION_UNIQUE_INSERT;
    const bool unique = inserted || decision == UVEA_DECISION_UNIQUE_INSERT_SKIPPED;

    return put_node(object, answer) &&
           put(object, "serial_id", inserted ? integer(answer->entry->serial) : json_null()) &&
           put(object, "is_match", json_boolean(reason == NULL && !unique)) &&
           put_id(object, "signup_id", answer) &&
           (reason != NULL ? put_no_matches(object)
                           : put_normal(object, answer) && put_mirror(object, answer->outcome)) &&
           put_error(object, reason);
}

// ---- the other kinds

// Full matches of the normal orientation and, when its rule holds, the target: ascending, each
// once, cut like every list.
static json_t *reauth_ids(const struct answer *answer)
{
    const struct uvea_match_list *full = &answer->outcome->matches[UVEA_ORIENTATION_NORMAL].full;
    const uint32_t target = answer->message->serial_id;
    bool pending = answer->outcome->success;
    size_t count = 0;
    uint32_t *serials = uvea_mem_alloc(full->count + 1, sizeof(*serials));
    if (serials == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < full->count; i++) {
        if (pending && target <= full->serials[i]) {
            pending = false;
            if (target < full->serials[i]) {
                serials[count++] = target;
            }
        }
        serials[count++] = full->serials[i];
    }
    if (pending) {
        serials[count++] = target;
    }
    json_t *array = id_array(serials, count < UVEA_POLICY_IDS_MAX ? count : UVEA_POLICY_IDS_MAX);
    uvea_mem_free(serials);
    return array;
}

static bool put_reauth(json_t *object, const struct answer *answer, const char *reason)
{
    const bool good = reason == NULL;
    return put_id(object, "reauth_id", answer) && put_node(object, answer) &&
           put_target(object, answer) &&
           put(object, "success", json_boolean(good && answer->outcome->success)) &&
           put(object, "matched_serial_ids", good ? reauth_ids(answer) : json_array()) &&
           put(object, "or_rule_used", json_boolean(good && answer->message->use_or_rule)) &&
           put_error(object, reason);
}

static bool put_check_matches(json_t *object, const struct answer *answer)
{
    const struct uvea_outcome *outcome = answer->outcome;
    const struct uvea_orientation_matches *normal = &outcome->matches[UVEA_ORIENTATION_NORMAL];
    const struct uvea_match_list *left = &normal->partial[UVEA_EYE_LEFT];
    const struct uvea_match_list *right = &normal->partial[UVEA_EYE_RIGHT];
    const bool shown = outcome->partial_results;

    return put(object, "matched_serial_ids", ids(&normal->full)) &&
           put(object, "matched_serial_ids_left", shown ? ids(left) : json_null()) &&
           put(object, "matched_serial_ids_right", shown ? ids(right) : json_null()) &&
           put(object, "matched_batch_request_ids", batch_ids(answer)) &&
           put(object, "partial_matches_count_right", count_of(right, shown)) &&
           put(object, "partial_matches_count_left", count_of(left, shown));
}

static bool put_check(json_t *object, const struct answer *answer, const char *reason)
{
    static const char *const optional[] = {
        "matched_serial_ids",        "matched_serial_ids_left",     "matched_serial_ids_right",
        "matched_batch_request_ids", "partial_matches_count_right", "partial_matches_count_left",
    };
    return put_id(object, "request_id", answer) && put_node(object, answer) &&
           (reason != NULL ? put_nulls(object, optional, UVEA_COUNT_OF(optional))
                           : put_check_matches(object, answer)) &&
           put_error(object, reason);
}

static bool put_update(json_t *object, const struct answer *answer, const char *reason)
{
    return put_id(object, "request_id", answer) && put_node(object, answer) &&
           put_target(object, answer) && put_error(object, reason);
}

static bool put_deletion(json_t *object, const struct answer *answer, const char *reason)
{
    return put_node(object, answer) && put_target(object, answer) &&
           put(object, "success", json_boolean(reason == NULL)) && put_error(object, reason);
}

static bool put_malformed(json_t *object, const struct answer *answer, const char *reason)
{
    return put(object, "message_id", json_string(answer->message->message_id)) &&
           put_node(object, answer) &&
           put_error(object, reason != NULL ? reason : UVEA_REASON_MALFORMED);
}

typedef bool put_fn(json_t *object, const struct answer *answer, const char *reason);

static put_fn *const writers[UVEA_MESSAGE_COUNT] = {
    [UVEA_MESSAGE_UNIQUENESS] = put_uniqueness,      [UVEA_MESSAGE_REAUTH] = put_reauth,
    [UVEA_MESSAGE_IDENTITY_DELETION] = put_deletion, [UVEA_MESSAGE_RESET_CHECK] = put_check,
    [UVEA_MESSAGE_RESET_UPDATE] = put_update,        [UVEA_MESSAGE_RECOVERY_CHECK] = put_check,
    [UVEA_MESSAGE_RECOVERY_UPDATE] = put_update,     [UVEA_MESSAGE_MALFORMED] = put_malformed,
};

enum uvea_error uvea_results_encode(struct uvea_party party, const struct uvea_batch *batch,
                                    size_t at, struct uvea_buf *buf)
{
    UVEA_CHECK(at < batch->count);
    const struct uvea_batch_entry *entry = &batch->entries[at];
    UVEA_CHECK((unsigned)entry->message.kind < UVEA_MESSAGE_COUNT);
    const struct answer answer = {party, batch, entry, &entry->message, &entry->outcome};
    enum uvea_error error = UVEA_ERR_MEMORY;
    json_t *object = json_object();

    if (writers[entry->message.kind](object, &answer, entry->error_reason)) {
        error = uvea_service_append_json(object, buf);
    }
    json_decref(object);
    return error;
}

// ---- reading

static enum uvea_error refuse(struct uvea_error_context *context, const char *name,
                              const char *problem)
{
    return uvea_error_set(context, UVEA_ERR_FORMAT, "member %s %s", name, problem);
}

static enum uvea_error read_node(const json_t *object, unsigned *node,
                                 struct uvea_error_context *context)
{
    const json_t *member = json_object_get(object, "node_id");
    const json_int_t value = json_integer_value(member);
    if (member == NULL) {
        return refuse(context, "node_id", "is missing");
    }
    if (!json_is_integer(member) || value < 0 || value >= UVEA_PARTY_COUNT) {
        return refuse(context, "node_id", "is no party");
    }
    *node = (unsigned)value;
    return UVEA_OK;
}

// error is true with a reason, or both are null.
static enum uvea_error read_error(const json_t *object, bool *error,
                                  struct uvea_error_context *context)
{
    const json_t *flag = json_object_get(object, "error");
    const json_t *reason = json_object_get(object, "error_reason");
    if (flag == NULL || reason == NULL) {
        return refuse(context, flag == NULL ? "error" : "error_reason", "is missing");
    }
    if (!json_is_true(flag) && !json_is_null(flag)) {
        return refuse(context, "error", "is neither true nor null");
    }
    if (json_is_true(flag) ? !json_is_string(reason) : !json_is_null(reason)) {
        return refuse(context, "error_reason", "does not go with error");
    }
    *error = json_is_true(flag);
    return UVEA_OK;
}

// *id: what the result echoes, "" for a deletion, which echoes nothing.
static enum uvea_error read_id(const json_t *object, const char **id,
                               struct uvea_error_context *context)
{
    static const char *const names[] = {"signup_id", "reauth_id", "request_id", "message_id"};
    const char *found = NULL;
    for (size_t i = 0; i < UVEA_COUNT_OF(names); i++) {
        const json_t *member = json_object_get(object, names[i]);
        if (member == NULL) {
            continue;
        }
        if (!json_is_string(member)) {
            return refuse(context, names[i], "is not a string");
        }
        if (found != NULL) {
            return refuse(context, names[i], "is one id too many");
        }
        found = json_string_value(member);
    }
    if (found == NULL && (!json_is_integer(json_object_get(object, "serial_id")) ||
                          !json_is_boolean(json_object_get(object, "success")))) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "no id, and no deletion either");
    }
    *id = found != NULL ? found : "";
    return UVEA_OK;
}

enum uvea_error uvea_results_read(const char *result, size_t bytes,
                                  struct uvea_result_summary *summary,
                                  struct uvea_error_context *context)
{
    enum uvea_error error;
    struct uvea_result_summary found = {0};
    const char *id = NULL;
    json_t *object;

    *summary = found;
    UVEA_TRY(uvea_iris_load_object(result, bytes, &object, context));
    UVEA_TRY_CLEANUP(read_id(object, &id, context));
    UVEA_TRY_CLEANUP(read_node(object, &found.node_id, context));
    UVEA_TRY_CLEANUP(read_error(object, &found.error, context));
    found.id = uvea_mem_alloc(strlen(id) + 1, 1);
    if (found.id == NULL) {
        error = uvea_error_set(context, UVEA_ERR_MEMORY, "out of memory");
        goto cleanup;
    }
    memcpy(found.id, id, strlen(id));
    *summary = found;

cleanup:
    json_decref(object);
    return error;
}
