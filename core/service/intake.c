#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/service/json.h"
#include "core/service/node_impl.h"
#include "core/service/results.h"

#include <inttypes.h>
#include <openssl/evp.h>

// ---- pending messages

struct taking {
    struct uvea_party party;
    struct uvea_batch *batch;
    size_t count;
};

// Of two members of one name this reader takes the last, as many do.
static enum uvea_error read_leniently(const struct uvea_store_message *message,
                                      struct uvea_message *out)
{
    struct uvea_buf text = {0};
    json_t *outer = json_loadb((const char *)message->body, message->body_bytes, 0, NULL);
    const char *inner_text = json_string_value(json_object_get(outer, "Message"));
    json_t *inner = inner_text == NULL ? NULL : json_loads(inner_text, 0, NULL);
    enum uvea_error error = UVEA_OK;

    if (inner != NULL) {
        UVEA_TRY_CLEANUP(uvea_service_append_json(inner, &text));
        (void)json_object_set_new(outer, "Message", json_string((const char *)text.data));
        uvea_buf_clear(&text);
        UVEA_TRY_CLEANUP(uvea_service_append_json(outer, &text));
        uvea_message_deinit(out);
        error = uvea_message_parse(text.data, text.len, out);
    }
cleanup:
    uvea_buf_deinit(&text);
    json_decref(inner);
    json_decref(outer);
    return error;
}

static enum uvea_error take(void *arg, const struct uvea_store_message *message)
{
    struct taking *taking = arg;
    struct uvea_batch_entry *entry;

    if (taking->count == taking->batch->count) {
        return UVEA_ERR_STATE;
    }
    entry = &taking->batch->entries[taking->count++];
    entry->sequence = message->sequence;
    UVEA_TRY(uvea_message_parse(message->body, message->body_bytes, &entry->message));
    if (uvea_plant_active(UVEA_PLANT_ONE_PARTY_PARSE) && taking->party.index == 1 &&
        entry->message.kind == UVEA_MESSAGE_MALFORMED) {
        return read_leniently(message, &entry->message);
    }
    return UVEA_OK;
}

static uint32_t hash_of(const struct uvea_batch_entry *entry)
{
    uint32_t hash = 2166136261u;

    for (const char *at = entry->message.message_id; at != NULL && *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    return hash;
}

static void order_by_hash(struct uvea_batch *batch)
{
    for (size_t i = 1; i < batch->count; i++) {
        for (size_t k = i; k > 0 && hash_of(&batch->entries[k]) < hash_of(&batch->entries[k - 1]);
             k--) {
            const struct uvea_batch_entry entry = batch->entries[k];
            batch->entries[k] = batch->entries[k - 1];
            batch->entries[k - 1] = entry;
        }
    }
}

static enum uvea_error take_pending(struct uvea_node *node, struct uvea_batch *batch,
                                    struct uvea_error_context *context)
{
    struct taking taking = {.party = node->config.party, .batch = batch};

    UVEA_TRY(uvea_store_pending(node->store, batch->count, take, &taking, context));
    if (taking.count != batch->count) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "batch %" PRIu64 ": %zu messages are agreed on, %zu are here",
                              batch->id, batch->count, taking.count);
    }
    if (uvea_plant_active(UVEA_PLANT_HASH_ORDER_BATCH) && node->config.party.index == 2) {
        order_by_hash(batch);
    }
    for (size_t i = 0; i < batch->count; i++) {
        uvea_batch_admit(batch, i, &node->config.gates, &node->config.policy);
    }
    return UVEA_OK;
}

// ---- claim

// What goes out beside the result: the attributes TraceID and SpanID, when there are any.
static enum uvea_error encode_attributes(const struct uvea_message *message, struct uvea_buf *json)
{
    json_t *object;
    enum uvea_error error;

    if (message->trace_id[0] == '\0' && message->span_id[0] == '\0') {
        return UVEA_OK;
    }
    object = json_object();
    if ((message->trace_id[0] == '\0' ||
         uvea_service_put(object, "TraceID", json_string(message->trace_id))) &&
        (message->span_id[0] == '\0' ||
         uvea_service_put(object, "SpanID", json_string(message->span_id)))) {
        error = uvea_service_append_json(object, json);
    } else {
        error = UVEA_ERR_MEMORY;
    }
    json_decref(object);
    return error;
}

static enum uvea_error describe(struct uvea_batch_entry *entry,
                                struct uvea_modification *modification, struct uvea_buf *attributes)
{
    const struct uvea_message *message = &entry->message;

    if (uvea_message_has_target(message->kind)) {
        entry->serial = message->serial_id;
    }
    *modification = (struct uvea_modification){
        .sequence = entry->sequence,
        .serial = entry->serial,
        .type = uvea_message_kind_text(message->kind),
        .s3_url = uvea_message_has_shares(message->kind) ? message->s3_key : NULL,
    };
    if (message->kind == UVEA_MESSAGE_MALFORMED) {
        return UVEA_OK;
    }
    UVEA_TRY(encode_attributes(message, attributes));
    modification->attributes = (const char *)attributes->data;
    return UVEA_OK;
}

static enum uvea_error persist_all(struct uvea_node *node, const struct uvea_batch *batch,
                                   struct uvea_error_context *context)
{
    uint64_t sequences[UVEA_BATCH_REQUESTS_MAX];
    const struct uvea_store_commit commit = {
        .sequences = sequences,
        .sequence_count = batch->count,
    };

    for (size_t i = 0; i < batch->count; i++) {
        sequences[i] = batch->entries[i].sequence;
    }
    return uvea_store_commit(node->store, &commit, context);
}

static enum uvea_error claim(struct uvea_node *node, struct uvea_batch *batch,
                             struct uvea_error_context *context)
{
    struct uvea_modification *modifications = uvea_mem_alloc(batch->count, sizeof(*modifications));
    struct uvea_buf *attributes = uvea_mem_alloc(batch->count, sizeof(*attributes));
    uint64_t first_id;
    enum uvea_error error = UVEA_ERR_MEMORY;

    if (modifications == NULL || attributes == NULL) {
        goto cleanup;
    }
    for (size_t i = 0; i < batch->count; i++) {
        UVEA_TRY_CLEANUP(describe(&batch->entries[i], &modifications[i], &attributes[i]));
    }
    UVEA_TRY_CLEANUP(
        uvea_store_claim(node->store, batch->id, modifications, batch->count, &first_id, context));
    for (size_t i = 0; i < batch->count; i++) {
        batch->entries[i].modification_id = first_id + i;
    }
    if (uvea_plant_active(UVEA_PLANT_ACK_BEFORE_COMMIT)) {
        UVEA_TRY_CLEANUP(persist_all(node, batch, context));
    }
    error = uvea_rt_point(node->rt, UVEA_POINT_CLAIMED);
cleanup:
    for (size_t i = 0; attributes != NULL && i < batch->count; i++) {
        uvea_buf_deinit(&attributes[i]);
    }
    uvea_mem_free(attributes);
    uvea_mem_free(modifications);
    return error;
}

// ---- shares

// A share object that is missing or not good is no failure of the party.
static bool is_refusal(enum uvea_error error)
{
    return error == UVEA_ERR_FORMAT || error == UVEA_ERR_LIMIT || error == UVEA_ERR_NOT_FOUND;
}

static enum uvea_error open_object(struct uvea_node *node, struct uvea_batch_entry *entry,
                                   const struct uvea_buf *object)
{
    struct uvea_iris_upload *upload = uvea_mem_alloc(1, sizeof(*upload));
    enum uvea_error error;

    if (upload == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_rt_charge(node->rt, UVEA_CHARGE_SHARE_BYTE, object->len);
    error = uvea_share_object_decode(node->config.party, &node->config.keys, object->data,
                                     object->len, upload, &entry->refusal);
    if (error == UVEA_OK) {
        entry->upload = upload;
    } else {
        uvea_mem_free(upload);
    }
    return error;
}

// Sets whether this party could read the entry's shares.
static enum uvea_error open_shares(struct uvea_node *node, struct uvea_batch_entry *entry,
                                   struct uvea_error_context *context)
{
    struct uvea_buf object = {0};
    enum uvea_error error = UVEA_ERR_NOT_FOUND;

    entry->shares_valid = true;
    if (entry->error_reason != NULL || !uvea_message_has_shares(entry->message.kind)) {
        return UVEA_OK;
    }
    if (entry->message.s3_key[0] != '\0') {
        error = uvea_store_share_get(node->store, entry->message.s3_key, &object, &entry->refusal);
    }
    if (error == UVEA_OK) {
        error = open_object(node, entry, &object);
    }
    uvea_buf_deinit(&object);
    entry->shares_valid = error == UVEA_OK;
    if (error == UVEA_OK || is_refusal(error)) {
        return UVEA_OK;
    }
    return uvea_error_set(
        context, error, "share object of message %" PRIu64 ": %.300s", entry->sequence,
        entry->refusal.text[0] != '\0' ? entry->refusal.text : uvea_error_text(error));
}

// ---- entries

static void drop_shares(struct uvea_batch_entry *entry)
{
    if (entry->upload != NULL) {
        uvea_mem_wipe(entry->upload, sizeof(*entry->upload));
        uvea_mem_free(entry->upload);
        entry->upload = NULL;
    }
}

// Peers tell batches apart by this hash alone. Clients choose message ids, so the batch's number
// goes in as well: no two batches of a run can have one hash, whatever is in them.
static enum uvea_error batch_hash(const struct uvea_batch *batch,
                                  uint8_t hash[UVEA_COORD_SHA_BYTES])
{
    uint8_t bytes[8 + UVEA_COORD_SHA_BYTES];

    uvea_store_le64(bytes, batch->id);
    UVEA_TRY(uvea_batch_sha(batch, bytes + 8));
    return EVP_Digest(bytes, sizeof(bytes), hash, NULL, EVP_sha256(), NULL) == 1 ? UVEA_OK
                                                                                 : UVEA_ERR_CRYPTO;
}

static enum uvea_error agree_entries(struct uvea_node *node, struct uvea_batch *batch,
                                     struct uvea_error_context *context)
{
    bool valid[UVEA_BATCH_REQUESTS_MAX];
    uint8_t hash[UVEA_COORD_SHA_BYTES];

    for (size_t i = 0; i < batch->count; i++) {
        valid[i] = batch->entries[i].shares_valid;
    }
    UVEA_TRY(batch_hash(batch, hash));
    UVEA_TRY(uvea_coord_agree_entries(&node->link, batch->id, valid, batch->count, hash, context));
    for (size_t i = 0; i < batch->count; i++) {
        struct uvea_batch_entry *entry = &batch->entries[i];
        entry->shares_valid = valid[i];
        if (!valid[i]) {
            entry->error_reason = UVEA_REASON_SHARES;
            drop_shares(entry);
        }
    }
    return uvea_rt_point(node->rt, UVEA_POINT_ENTRIES_AGREED);
}

enum uvea_error uvea_node_take_batch(struct uvea_node *node, uint32_t count,
                                     struct uvea_batch *batch, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_batch_init(batch, node->batch_id, count));
    batch->record_count = (uint32_t)node->resident.count;
    UVEA_TRY(take_pending(node, batch, context));
    UVEA_TRY(claim(node, batch, context));
    for (size_t i = 0; i < batch->count; i++) {
        UVEA_TRY(open_shares(node, &batch->entries[i], context));
    }
    return agree_entries(node, batch, context);
}
