// What the parties open and retain for a request: candidates as each party sees them, distances put
// together from the three parties' shares.
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "sim/world/ledger_impl.h"

#include <openssl/evp.h>
#include <string.h>

static const char *eye_text(unsigned eye)
{
    return eye == UVEA_ORACLE_LEFT ? "left" : "right";
}

static const char *orientation_text(unsigned orientation)
{
    return orientation == UVEA_ORACLE_NORMAL ? "normal" : "mirror";
}

void uvea_ledger_searches_free(struct uvea_ledger_search *searches, size_t count)
{
    for (size_t at = 0; searches != NULL && at < count; at++) {
        for (unsigned o = 0; o < UVEA_ORIENTATION_COUNT; o++) {
            for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
                uvea_mem_free(searches[at].eye[o][eye].values);
            }
        }
    }
    uvea_mem_free(searches);
}

// ---- one party

static void wrong_rotations(struct uvea_ledger *ledger, const struct uvea_ledger_entry *entry,
                            struct uvea_party party, unsigned orientation, unsigned eye,
                            uint32_t serial)
{
    uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                      "%s, party %u: other rotations are opened than the oracle has, serial %u, %s "
                      "eye, %s orientation",
                      entry->key, party.index, serial, eye_text(eye),
                      orientation_text(orientation));
    ledger->verdict.mismatches++;
}

// True when the candidates are those of the ruling, in order.
static bool judge_candidates(struct uvea_ledger *ledger, const struct uvea_ledger_entry *entry,
                             struct uvea_party party, const struct uvea_oracle_ruling *ruling,
                             unsigned orientation, unsigned eye, const struct uvea_eye_result *got)
{
    const struct uvea_oracle_search *search = &ruling->search[orientation];
    size_t at = 0;
    for (uint32_t index = 0; index < search->record_count; index++) {
        const struct uvea_oracle_record *record = &search->records[index];
        if (record->anonymous[eye] == 0) {
            continue;
        }
        const struct uvea_candidate *candidate =
            at < got->candidate_count ? &got->candidates[at++] : NULL;
        if (candidate == NULL || candidate->index != index ||
            candidate->anonymous != record->anonymous[eye] ||
            candidate->strict != record->strict[eye]) {
            wrong_rotations(ledger, entry, party, orientation, eye, index + 1);
            return false;
        }
    }
    if (at != got->candidate_count) {
        wrong_rotations(ledger, entry, party, orientation, eye, got->candidates[at].index + 1);
        return false;
    }
    return true;
}

static enum uvea_error keep_distances(const struct uvea_eye_result *got,
                                      struct uvea_ledger_eye *kept)
{
    const size_t count = got->codes.count;
    kept->values = uvea_mem_alloc(4 * count, sizeof(*kept->values));
    if (kept->values == NULL) {
        return UVEA_ERR_MEMORY;
    }
    kept->count = count;
    const uint32_t *const from[4] = {got->codes.a, got->codes.b, got->masks.a, got->masks.b};
    for (unsigned part = 0; count > 0 && part < 4; part++) {
        memcpy(kept->values + part * count, from[part], count * sizeof(*kept->values));
    }
    return UVEA_OK;
}

void uvea_ledger_opened(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial, size_t at,
                        struct uvea_party party, const struct uvea_batch_entry *got)
{
    const struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, trial->first + at);
    struct uvea_ledger_search *kept = &trial->party[party.index].searches[at];
    for (unsigned o = 0; o < UVEA_ORIENTATION_COUNT; o++) {
        for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            const struct uvea_eye_result *result = &got->search.eye[o][eye];
            if (!judge_candidates(ledger, entry, party, &trial->rulings[at], o, eye, result)) {
                continue;
            }
            if (result->codes.count != result->masks.count) {
                uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                                  "%s, party %u: %zu codes but %zu masks are retained", entry->key,
                                  party.index, result->codes.count, result->masks.count);
                continue;
            }
            uvea_ledger_fail(ledger, keep_distances(result, &kept->eye[o][eye]), NULL);
        }
    }
}

static enum uvea_error hash_number(EVP_MD_CTX *hash, uint64_t number)
{
    uint8_t bytes[8];
    uvea_store_le64(bytes, number);
    return EVP_DigestUpdate(hash, bytes, sizeof(bytes)) == 1 ? UVEA_OK : UVEA_ERR_CRYPTO;
}

static enum uvea_error hash_eye(EVP_MD_CTX *hash, const struct uvea_eye_result *eye)
{
    UVEA_TRY(hash_number(hash, eye->candidate_count));
    for (size_t i = 0; i < eye->candidate_count; i++) {
        UVEA_TRY(hash_number(hash, eye->candidates[i].index));
        UVEA_TRY(hash_number(hash, eye->candidates[i].anonymous));
        UVEA_TRY(hash_number(hash, eye->candidates[i].strict));
    }
    return UVEA_OK;
}

static enum uvea_error hash_ruled_eye(EVP_MD_CTX *hash, const struct uvea_oracle_search *search,
                                      unsigned eye)
{
    size_t count = 0;
    for (uint32_t index = 0; index < search->record_count; index++) {
        count += search->records[index].anonymous[eye] != 0;
    }
    UVEA_TRY(hash_number(hash, count));
    for (uint32_t index = 0; index < search->record_count; index++) {
        const struct uvea_oracle_record *record = &search->records[index];
        if (record->anonymous[eye] != 0) {
            UVEA_TRY(hash_number(hash, index));
            UVEA_TRY(hash_number(hash, record->anonymous[eye]));
            UVEA_TRY(hash_number(hash, record->strict[eye]));
        }
    }
    return UVEA_OK;
}

// One of the two is NULL.
static enum uvea_error hash_search(const struct uvea_search_result *search,
                                   const struct uvea_oracle_ruling *ruling,
                                   uint8_t out[UVEA_LEDGER_HASH_BYTES])
{
    enum uvea_error error = UVEA_ERR_CRYPTO;
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    if (hash == NULL || EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1) {
        goto cleanup;
    }
    for (unsigned o = 0; o < UVEA_ORIENTATION_COUNT; o++) {
        for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            UVEA_TRY_CLEANUP(search != NULL ? hash_eye(hash, &search->eye[o][eye])
                                            : hash_ruled_eye(hash, &ruling->search[o], eye));
        }
    }
    error = EVP_DigestFinal_ex(hash, out, NULL) == 1 ? UVEA_OK : UVEA_ERR_CRYPTO;
cleanup:
    EVP_MD_CTX_free(hash);
    return error;
}

enum uvea_error uvea_ledger_opened_hash(const struct uvea_search_result *search,
                                        uint8_t hash[UVEA_LEDGER_HASH_BYTES])
{
    return hash_search(search, NULL, hash);
}

enum uvea_error uvea_ledger_ruled_hash(const struct uvea_oracle_ruling *ruling,
                                       uint8_t hash[UVEA_LEDGER_HASH_BYTES])
{
    return hash_search(NULL, ruling, hash);
}

// ---- three parties

// Value `at` of one part (0 codes, 1 masks): party i holds x_i and x_(i-1), and both holders of an
// x must have the same.
static bool put_together(const struct uvea_ledger_eye *const kept[UVEA_PARTY_COUNT], unsigned part,
                         size_t at, uint32_t *value)
{
    *value = 0;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_ledger_eye *mine = kept[party];
        const struct uvea_ledger_eye *before = kept[(party + 2) % UVEA_PARTY_COUNT];
        if (mine->values[(2 * part + 1) * mine->count + at] !=
            before->values[2 * part * before->count + at]) {
            return false;
        }
        *value += mine->values[2 * part * mine->count + at];
    }
    return true;
}

static void join_eye(struct uvea_ledger *ledger, const struct uvea_ledger_entry *entry,
                     const struct uvea_oracle_search *search, unsigned eye,
                     const struct uvea_ledger_eye *const kept[UVEA_PARTY_COUNT])
{
    size_t wanted = 0;
    for (size_t i = 0; i < search->pass_count; i++) {
        wanted += (unsigned)search->passes[i].eye == eye;
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (kept[party]->count != wanted) {
            uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                              "%s, party %u: %zu distances are retained on the %s eye, the oracle "
                              "has %zu",
                              entry->key, party, kept[party]->count, eye_text(eye), wanted);
            ledger->verdict.mismatches++;
            return;
        }
    }
    size_t at = 0;
    for (size_t i = 0; i < search->pass_count; i++) {
        const struct uvea_oracle_pass *pass = &search->passes[i];
        uint32_t code;
        uint32_t mask;
        if ((unsigned)pass->eye != eye) {
            continue;
        }
        if (!put_together(kept, 0, at, &code) || !put_together(kept, 1, at, &mask) ||
            code != (uint32_t)pass->code_dot || mask != (uint32_t)pass->mask_dot) {
            uvea_ledger_fault(
                ledger, UVEA_LEDGER_SAFETY,
                "%s: the retained distance of serial %u, rotation %d, %s eye is wrong", entry->key,
                pass->serial, pass->rotation, eye_text(eye));
            ledger->verdict.mismatches++;
            return;
        }
        at++;
    }
}

// Searches without a fault on any party have everything kept.
static bool all_kept(const struct uvea_ledger_eye *const kept[UVEA_PARTY_COUNT])
{
    return kept[0]->values != NULL && kept[1]->values != NULL && kept[2]->values != NULL;
}

static void join_request(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial, size_t at)
{
    const struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, trial->first + at);
    for (unsigned o = 0; o < UVEA_ORIENTATION_COUNT; o++) {
        for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            const struct uvea_ledger_eye *kept[UVEA_PARTY_COUNT];
            for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
                kept[party] = &trial->party[party].searches[at].eye[o][eye];
            }
            if (all_kept(kept)) {
                join_eye(ledger, entry, &trial->rulings[at].search[o], eye, kept);
            }
        }
    }
    ledger->verdict.joined += trial->rulings[at].search[UVEA_ORACLE_NORMAL].run;
}

void uvea_ledger_join(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (trial->party[party].searches == NULL) {
            return;
        }
    }
    for (unsigned party = 1; party < UVEA_PARTY_COUNT; party++) {
        if (trial->party[party].batch_id != trial->party[0].batch_id ||
            trial->party[party].modification_id != trial->party[0].modification_id) {
            uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                              "messages from %llu on are batch %llu and modification %llu at party "
                              "0, but %llu and %llu at party %u",
                              (unsigned long long)trial->first,
                              (unsigned long long)trial->party[0].batch_id,
                              (unsigned long long)trial->party[0].modification_id,
                              (unsigned long long)trial->party[party].batch_id,
                              (unsigned long long)trial->party[party].modification_id, party);
        }
    }
    for (size_t at = 0; at < trial->count; at++) {
        join_request(ledger, trial, at);
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_ledger_searches_free(trial->party[party].searches, trial->count);
        trial->party[party].searches = NULL;
    }
}
