#include "sim/world/answers.h"

#include "core/base/endian.h"

#include <openssl/evp.h>
#include <stdbool.h>

enum uvea_error uvea_answers_init(struct uvea_answers *answers)
{
    answers->hash = EVP_MD_CTX_new();
    if (answers->hash == NULL || EVP_DigestInit_ex(answers->hash, EVP_sha256(), NULL) != 1) {
        uvea_answers_deinit(answers);
        return UVEA_ERR_CRYPTO;
    }
    return UVEA_OK;
}

void uvea_answers_deinit(struct uvea_answers *answers)
{
    EVP_MD_CTX_free(answers->hash);
    answers->hash = NULL;
}

static enum uvea_error add_bytes(struct uvea_answers *answers, const void *bytes, size_t len)
{
    return EVP_DigestUpdate(answers->hash, bytes, len) == 1 ? UVEA_OK : UVEA_ERR_CRYPTO;
}

static enum uvea_error add_number(struct uvea_answers *answers, uint64_t number)
{
    uint8_t bytes[8];
    uvea_store_le64(bytes, number);
    return add_bytes(answers, bytes, sizeof(bytes));
}

static enum uvea_error add_eye(struct uvea_answers *answers, const struct uvea_eye_result *eye)
{
    UVEA_TRY(add_number(answers, eye->candidate_count));
    for (size_t i = 0; i < eye->candidate_count; i++) {
        UVEA_TRY(add_number(answers, eye->candidates[i].index));
        UVEA_TRY(add_number(answers, eye->candidates[i].anonymous));
        UVEA_TRY(add_number(answers, eye->candidates[i].strict));
    }
    return UVEA_OK;
}

static enum uvea_error add_response(struct uvea_answers *answers,
                                    const struct uvea_response *response)
{
    UVEA_TRY(add_number(answers, response->json.len));
    UVEA_TRY(add_bytes(answers, response->json.data, response->json.len));
    for (unsigned orientation = 0; orientation < UVEA_ORIENTATION_COUNT; orientation++) {
        for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            UVEA_TRY(add_eye(answers, &response->search.eye[orientation][eye]));
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_answers_add(struct uvea_answers *answers,
                                 struct uvea_response *const from[UVEA_PARTY_COUNT])
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(add_response(answers, from[party]));
    }
    return UVEA_OK;
}

enum uvea_error uvea_answers_hash(const struct uvea_answers *answers,
                                  uint8_t hash[UVEA_SIM_HASH_BYTES])
{
    _Static_assert(UVEA_SIM_HASH_BYTES == 32, "SHA-256");
    EVP_MD_CTX *copy = EVP_MD_CTX_new();
    bool done = copy != NULL && EVP_MD_CTX_copy_ex(copy, answers->hash) == 1 &&
                EVP_DigestFinal_ex(copy, hash, NULL) == 1;
    EVP_MD_CTX_free(copy);
    return done ? UVEA_OK : UVEA_ERR_CRYPTO;
}
