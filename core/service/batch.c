#include "core/service/batch.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/service/results.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

enum uvea_error uvea_batch_init(struct uvea_batch *batch, uint64_t id, size_t count)
{
    *batch = (struct uvea_batch){0};
    if (count > UVEA_BATCH_REQUESTS_MAX) {
        return UVEA_ERR_LIMIT;
    }
    struct uvea_batch_entry *entries = uvea_mem_alloc(count, sizeof(*entries));
    if (entries == NULL) {
        return UVEA_ERR_MEMORY;
    }
    *batch = (struct uvea_batch){.id = id, .entries = entries, .count = count};
    return UVEA_OK;
}

static void entry_deinit(struct uvea_batch_entry *entry)
{
    uvea_message_deinit(&entry->message);
    if (entry->upload != NULL) {
        uvea_mem_wipe(entry->upload, sizeof(*entry->upload));
    }
    uvea_mem_free(entry->upload);
    uvea_search_result_deinit(&entry->search);
    uvea_policy_outcome_deinit(&entry->outcome);
    uvea_buf_deinit(&entry->result);
}

void uvea_batch_deinit(struct uvea_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        entry_deinit(&batch->entries[i]);
    }
    uvea_mem_free(batch->entries);
    *batch = (struct uvea_batch){0};
}

// ---- intake

// The reason of a gate that is shut, or NULL.
static const char *shut_gate(enum uvea_message_kind kind, const struct uvea_gates *gates)
{
    switch (kind) {
    case UVEA_MESSAGE_REAUTH:
        return gates->enable_reauth ? NULL : UVEA_REASON_REAUTH;
    case UVEA_MESSAGE_IDENTITY_DELETION:
        return gates->enable_deletion ? NULL : UVEA_REASON_DELETION;
    case UVEA_MESSAGE_RESET_CHECK:
        return gates->enable_reset ? NULL : UVEA_REASON_RESET_CHECK;
    case UVEA_MESSAGE_RESET_UPDATE:
        return gates->enable_reset ? NULL : UVEA_REASON_RESET_UPDATE;
    case UVEA_MESSAGE_RECOVERY_CHECK:
        return gates->enable_recovery ? NULL : UVEA_REASON_RECOVERY_CHECK;
    case UVEA_MESSAGE_RECOVERY_UPDATE:
        return gates->enable_recovery ? NULL : UVEA_REASON_RECOVERY_UPDATE;
    case UVEA_MESSAGE_MALFORMED:
        return UVEA_REASON_MALFORMED;
    default:
        return NULL;
    }
}

static bool or_rule_allowed(const struct uvea_policy *policy)
{
    return policy->luc_enabled && policy->luc_serial_ids_from_request;
}

// Whether an admitted entry before `at` names the same serial.
static bool named_before(const struct uvea_batch *batch, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        const struct uvea_batch_entry *entry = &batch->entries[i];
        if (entry->error_reason == NULL && uvea_message_has_target(entry->message.kind) &&
            entry->message.serial_id == batch->entries[at].message.serial_id) {
            return true;
        }
    }
    return false;
}

static const char *bad_target(const struct uvea_batch *batch, size_t at)
{
    const struct uvea_message *message = &batch->entries[at].message;
    if (!uvea_message_has_target(message->kind)) {
        return NULL;
    }
    if (message->serial_id == 0 || message->serial_id > batch->record_count) {
        return UVEA_REASON_UNKNOWN_SERIAL;
    }
    return named_before(batch, at) ? UVEA_REASON_DUPLICATE_SERIAL : NULL;
}

void uvea_batch_admit(struct uvea_batch *batch, size_t at, const struct uvea_gates *gates,
                      const struct uvea_policy *policy)
{
    UVEA_CHECK(at < batch->count);
    struct uvea_batch_entry *entry = &batch->entries[at];
    const struct uvea_message *message = &entry->message;

    entry->error_reason = shut_gate(message->kind, gates);
    if (entry->error_reason == NULL && message->kind == UVEA_MESSAGE_REAUTH &&
        message->use_or_rule && !or_rule_allowed(policy)) {
        entry->error_reason = UVEA_REASON_NO_LUC;
    }
    if (entry->error_reason == NULL) {
        entry->error_reason = bad_target(batch, at);
    }
    if (entry->error_reason == NULL && message->has_mirror_flag) {
        batch->mirror = message->mirror_flag;
    }
}

// ---- agreement

static enum uvea_error append_id(struct uvea_buf *buf, const struct uvea_batch_entry *entry)
{
    char number[24];
    const char *id = entry->message.message_id;
    if (entry->message.kind == UVEA_MESSAGE_MALFORMED) {
        (void)snprintf(number, sizeof(number), "%" PRIu64, entry->sequence);
        id = number;
    }
    return uvea_buf_append(buf, id, strlen(id));
}

enum uvea_error uvea_batch_sha(const struct uvea_batch *batch, uint8_t sha[32])
{
    enum uvea_error error = UVEA_OK;
    struct uvea_buf ids = {0};
    for (size_t i = 0; i < batch->count; i++) {
        UVEA_TRY_CLEANUP(append_id(&ids, &batch->entries[i]));
    }
    if (EVP_Digest(ids.len > 0 ? (const void *)ids.data : "", ids.len, sha, NULL, EVP_sha256(),
                   NULL) != 1) {
        error = UVEA_ERR_CRYPTO;
    }

cleanup:
    uvea_buf_deinit(&ids);
    return error;
}
