#include "core/service/digest.h"

#include "core/base/endian.h"

#include <openssl/evp.h>
#include <string.h>

static enum uvea_error append_u32(struct uvea_buf *buf, uint32_t value)
{
    uint8_t bytes[4];

    uvea_store_le32(bytes, value);
    return uvea_buf_append(buf, bytes, sizeof(bytes));
}

static enum uvea_error append_u64(struct uvea_buf *buf, uint64_t value)
{
    uint8_t bytes[8];

    uvea_store_le64(bytes, value);
    return uvea_buf_append(buf, bytes, sizeof(bytes));
}

static enum uvea_error append_text(struct uvea_buf *buf, const char *text)
{
    const size_t chars = text == NULL ? 0 : strlen(text);

    UVEA_TRY(append_u32(buf, (uint32_t)chars));
    return uvea_buf_append(buf, text == NULL ? "" : text, chars);
}

static enum uvea_error append_serials(struct uvea_buf *buf, const uint32_t *values, size_t count)
{
    UVEA_TRY(append_u32(buf, (uint32_t)count));
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(append_u32(buf, values[i]));
    }
    return UVEA_OK;
}

static enum uvea_error append_eye(struct uvea_buf *buf, const struct uvea_eye_result *eye)
{
    UVEA_TRY(append_u32(buf, (uint32_t)eye->candidate_count));
    for (size_t i = 0; i < eye->candidate_count; i++) {
        UVEA_TRY(append_u32(buf, eye->candidates[i].index));
        UVEA_TRY(append_u32(buf, eye->candidates[i].anonymous));
        UVEA_TRY(append_u32(buf, eye->candidates[i].strict));
    }
    return UVEA_OK;
}

// Partial lists follow from the candidates; full ones depend on the LUC set too.
static enum uvea_error append_search(struct uvea_buf *buf, const struct uvea_batch_entry *entry)
{
    const struct uvea_search_result *search = &entry->search;
    const struct uvea_outcome *outcome = &entry->outcome;

    UVEA_TRY(append_u32(buf, outcome->decision));
    UVEA_TRY(append_u32(buf, outcome->success));
    UVEA_TRY(append_u32(buf, outcome->mirror_attack));
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        const struct uvea_orientation_matches *matches = &outcome->matches[way];
        UVEA_TRY(append_u32(buf, matches->supermatch));
        UVEA_TRY(append_serials(buf, matches->full.serials, matches->full.count));
        UVEA_TRY(append_serials(buf, search->batch[way].at, search->batch[way].count));
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            UVEA_TRY(append_eye(buf, &search->eye[way][eye]));
            UVEA_TRY(append_eye(buf, &search->batch[way].eye[eye]));
        }
    }
    return UVEA_OK;
}

static enum uvea_error append_entry(struct uvea_buf *buf, const struct uvea_batch_entry *entry)
{
    UVEA_TRY(append_u64(buf, entry->sequence));
    UVEA_TRY(append_u64(buf, entry->modification_id));
    UVEA_TRY(append_u32(buf, entry->message.kind));
    UVEA_TRY(append_text(buf, entry->message.message_id));
    UVEA_TRY(append_text(buf, entry->error_reason));
    UVEA_TRY(append_u32(buf, entry->mutation));
    UVEA_TRY(append_u32(buf, entry->serial));
    UVEA_TRY(append_u32(buf, entry->version));
    return append_search(buf, entry);
}

static enum uvea_error append_batch(struct uvea_buf *buf, const struct uvea_batch *batch,
                                    const uint8_t run_seed[UVEA_PRF_SEED_BYTES])
{
    UVEA_TRY(uvea_buf_append(buf, run_seed, UVEA_PRF_SEED_BYTES));
    UVEA_TRY(append_u64(buf, batch->id));
    UVEA_TRY(append_u32(buf, batch->mirror));
    UVEA_TRY(append_u32(buf, batch->record_count));
    UVEA_TRY(append_u32(buf, (uint32_t)batch->count));
    for (size_t i = 0; i < batch->count; i++) {
        UVEA_TRY(append_entry(buf, &batch->entries[i]));
    }
    return UVEA_OK;
}

enum uvea_error uvea_batch_digest(const struct uvea_batch *batch,
                                  const uint8_t run_seed[UVEA_PRF_SEED_BYTES],
                                  uint8_t digest[UVEA_AGREE_DIGEST_BYTES])
{
    struct uvea_buf buf = {0};
    enum uvea_error error = append_batch(&buf, batch, run_seed);

    if (error == UVEA_OK && EVP_Digest(buf.data, buf.len, digest, NULL, EVP_sha256(), NULL) != 1) {
        error = UVEA_ERR_CRYPTO;
    }
    uvea_buf_deinit(&buf);
    return error;
}
