// The whole ledger check: what the parties have stored when they stand still.
#include "core/base/mem.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "core/store/store.h"
#include "sim/world/ledger_impl.h"

#include <string.h>

enum {
    BLOCK = 16,        // records that are read at a time
    RESULTS_PAGE = 64, // results that are read at a time
};

// ---- answers

// True when every message is committed and every result was read.
static bool judge_answers(struct uvea_ledger *ledger)
{
    bool all = true;
    for (size_t i = 0; i < ledger->entry_count; i++) {
        const struct uvea_ledger_entry *entry = ledger->entries[i];
        if (!entry->ruled) {
            uvea_ledger_fault(ledger, UVEA_LEDGER_LIVENESS, "%s (%s) was %s", entry->key,
                              uvea_oracle_kind_text(entry->order.kind),
                              entry->sequence == 0 ? "never taken" : "taken but never committed");
            all = false;
            continue;
        }
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            if (entry->read[party].number == 0) {
                uvea_ledger_fault(ledger, UVEA_LEDGER_LIVENESS,
                                  "%s (%s): no result of it was read from party %u", entry->key,
                                  uvea_oracle_kind_text(entry->order.kind), party);
                all = false;
            }
        }
    }
    return all;
}

// ---- rows

// Walks over one party's rows.
struct walk {
    struct uvea_ledger *ledger;
    unsigned party;
    uint64_t at;   // rows seen
    uint64_t *ids; // of modifications, by message; filled by party 0
    uint64_t last; // modification id, or result number
};

static bool holds_right(const struct walk *walk, const struct uvea_ledger_entry *entry,
                        const char *text)
{
    const struct uvea_buf *want = &entry->right[walk->party];
    return text != NULL && strlen(text) == want->len && memcmp(text, want->data, want->len) == 0;
}

// Row k belongs to message k.
static enum uvea_error see_modification(void *arg, const struct uvea_modification *row)
{
    struct walk *walk = arg;
    const uint64_t sequence = ++walk->at;
    const struct uvea_ledger_entry *entry = uvea_ledger_at(walk->ledger, sequence);
    const char *wrong = NULL;
    if (entry == NULL) {
        return UVEA_OK; // their number is wrong, which is said elsewhere
    }
    if (walk->party == 0) {
        walk->ids[sequence - 1] = row->id;
    }
    if (row->id <= walk->last || row->id != walk->ids[sequence - 1]) {
        wrong = "its id is not the other parties'";
    } else if (row->sequence != 0 && row->sequence != sequence) {
        wrong = "it belongs to another message";
    } else if (!row->completed) {
        wrong = "it is not completed";
    } else if (strcmp(row->type, uvea_oracle_kind_text(entry->order.kind)) != 0) {
        wrong = "it has another type";
    } else if (row->persisted != entry->persisted) {
        wrong = "it says otherwise whether a record was changed";
    } else if (entry->outcome.error_reason == NULL && row->serial != entry->outcome.serial) {
        wrong = "it has another serial";
    } else if (!holds_right(walk, entry, row->result)) {
        wrong = "it has another result";
    }
    if (wrong != NULL) {
        uvea_ledger_fault(
            walk->ledger, UVEA_LEDGER_SAFETY,
            "ledger: party %u's modification %llu should be of message %llu (%s), but "
            "%s",
            walk->party, (unsigned long long)row->id, (unsigned long long)sequence, entry->key,
            wrong);
    }
    walk->last = row->id;
    return UVEA_OK;
}

static enum uvea_error judge_modifications(struct uvea_ledger *ledger, unsigned party,
                                           struct uvea_store *store, uint64_t *ids,
                                           struct uvea_error_context *context)
{
    struct walk walk = {.ledger = ledger, .party = party, .ids = ids};
    UVEA_TRY(uvea_store_modifications(store, (size_t)ledger->committed + 64, see_modification,
                                      &walk, context));
    if (walk.at != ledger->committed) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "ledger: party %u has %llu modifications for %llu messages", party,
                          (unsigned long long)walk.at, (unsigned long long)ledger->committed);
    }
    uint64_t frontier;
    UVEA_TRY(uvea_store_frontier(store, &frontier, context));
    if (frontier != walk.last) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "ledger: party %u's last commit ends with modification %llu, its last "
                          "modification is %llu",
                          party, (unsigned long long)frontier, (unsigned long long)walk.last);
    }
    return UVEA_OK;
}

static enum uvea_error see_result(void *arg, const struct uvea_store_result *row)
{
    struct walk *walk = arg;
    const struct uvea_ledger_entry *entry = uvea_ledger_at(walk->ledger, row->sequence);
    const char *wrong = NULL;
    walk->at++;
    if (row->number != walk->last + 1) {
        wrong = "there is a gap before it";
    } else if (entry == NULL || !entry->ruled) {
        wrong = "nobody sent that message";
    } else if (entry->read[walk->party].number != row->number) {
        wrong = "clients have read it under another number";
    } else if (row->batch != entry->batch) {
        wrong = "it names another batch";
    } else if (row->modification_id != walk->ids[row->sequence - 1]) {
        wrong = "it names another modification";
    } else if (strcmp(row->type, uvea_oracle_kind_text(entry->order.kind)) != 0) {
        wrong = "it has another type";
    } else if (!holds_right(walk, entry, row->body)) {
        wrong = "it is not the oracle's";
    }
    if (wrong != NULL) {
        uvea_ledger_fault(walk->ledger, UVEA_LEDGER_SAFETY,
                          "ledger: party %u's result %llu is of message %llu, but %s", walk->party,
                          (unsigned long long)row->number, (unsigned long long)row->sequence,
                          wrong);
    }
    walk->last = row->number;
    return UVEA_OK;
}

static enum uvea_error judge_results(struct uvea_ledger *ledger, unsigned party,
                                     struct uvea_store *store, uint64_t *ids,
                                     struct uvea_error_context *context)
{
    struct walk walk = {.ledger = ledger, .party = party, .ids = ids};
    uint64_t before;
    do {
        before = walk.at;
        UVEA_TRY(uvea_store_results(store, walk.last, RESULTS_PAGE, see_result, &walk, context));
    } while (walk.at > before && walk.at <= ledger->committed);
    if (walk.at != ledger->committed) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "ledger: party %u has published %llu results for %llu messages", party,
                          (unsigned long long)walk.at, (unsigned long long)ledger->committed);
    }
    return UVEA_OK;
}

static enum uvea_error judge_ingest(struct uvea_ledger *ledger, unsigned party,
                                    struct uvea_store *store, struct uvea_error_context *context)
{
    struct uvea_store_ingest_state state;
    UVEA_TRY(uvea_store_ingest_state(store, &state, context));
    if (state.pending != 0 || state.max_persisted != ledger->committed) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "ledger: party %u has %llu messages pending, and done with up to %llu of "
                          "%llu",
                          party, (unsigned long long)state.pending,
                          (unsigned long long)state.max_persisted,
                          (unsigned long long)ledger->committed);
    }
    return UVEA_OK;
}

// ---- records

// One party's records of a block. Secret.
struct block {
    uint32_t first;
    bool present[BLOCK];
    uint16_t version[BLOCK];
    uint16_t eye[BLOCK][UVEA_EYE_COUNT][UVEA_RECORD_COEFFICIENTS];
};

struct records_scratch {
    struct block block[UVEA_PARTY_COUNT];
    struct uvea_iris_share share[UVEA_PARTY_COUNT];
    struct uvea_template joined;
};

static enum uvea_error see_record(void *arg, const struct uvea_store_record *record)
{
    struct block *block = arg;
    const uint32_t at = record->serial - block->first;
    if (at >= BLOCK || record->eye[UVEA_EYE_LEFT] == NULL || record->eye[UVEA_EYE_RIGHT] == NULL) {
        return UVEA_ERR_STATE;
    }
    block->present[at] = true;
    block->version[at] = record->version;
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        memcpy(block->eye[at][eye], record->eye[eye], sizeof(block->eye[at][eye]));
    }
    return UVEA_OK;
}

// A record's eye as an upload would carry it: the mask's imaginary half repeats the real one.
static void share_of(const uint16_t *record, struct uvea_iris_share *out)
{
    const uint16_t *mask = record + UVEA_SHARE_COEFFICIENTS;
    memcpy(out->code, record, sizeof(out->code));
    memcpy(out->mask, mask, sizeof(out->mask) / 2);
    memcpy(out->mask + UVEA_MASK_COEFFICIENTS, mask, sizeof(out->mask) / 2);
}

// Code bits count only where they are valid: shares hold nothing else.
static bool same_template(const struct uvea_template *got, const struct uvea_oracle_template *want)
{
    for (unsigned word = 0; word < UVEA_IRIS_WORDS; word++) {
        if (got->mask[word] != want->mask[word] ||
            ((got->code[word] ^ want->code[word]) & want->mask[word]) != 0) {
            return false;
        }
    }
    return true;
}

static void judge_record(struct uvea_ledger *ledger, struct records_scratch *scratch,
                         uint32_t serial)
{
    const struct uvea_oracle_identity *want = &ledger->model.records[serial - 1];
    const uint32_t at = serial - scratch->block[0].first;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct block *block = &scratch->block[party];
        if (!block->present[at] || block->version[at] != want->version) {
            uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                              "ledger: party %u's record %u has version %d, the oracle's %u", party,
                              serial, block->present[at] ? (int)block->version[at] : -1,
                              want->version);
            return;
        }
    }
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            share_of(scratch->block[party].eye[at][eye], &scratch->share[party]);
        }
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            const unsigned other = (party + 1) % UVEA_PARTY_COUNT;
            struct uvea_error_context said = {.text = ""};
            if (uvea_iris_join(uvea_party_at(party), &scratch->share[party], uvea_party_at(other),
                               &scratch->share[other], &scratch->joined, &said) != UVEA_OK ||
                !same_template(&scratch->joined, &want->pair.eye[eye])) {
                uvea_ledger_fault(
                    ledger, UVEA_LEDGER_SAFETY,
                    "ledger: serial %u as shared by parties %u and %u is not what the "
                    "oracle has there, %s eye%s",
                    serial, party, other, eye == UVEA_EYE_LEFT ? "left" : "right",
                    want->deleted ? " (deleted)" : "");
            }
        }
    }
}

static enum uvea_error judge_records(struct uvea_ledger *ledger,
                                     struct uvea_store *const stores[UVEA_PARTY_COUNT],
                                     struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_OK;
    struct records_scratch *scratch = uvea_mem_alloc(1, sizeof(*scratch));
    if (scratch == NULL) {
        return UVEA_ERR_MEMORY;
    }
    const unsigned both = 1u << UVEA_EYE_LEFT | 1u << UVEA_EYE_RIGHT;
    for (uint32_t first = 1; first <= ledger->model.record_count; first += BLOCK) {
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            struct block *block = &scratch->block[party];
            block->first = first;
            memset(block->present, 0, sizeof(block->present));
            UVEA_TRY_CLEANUP(uvea_store_read_records(stores[party], first, BLOCK, both, see_record,
                                                     block, context));
        }
        for (uint32_t serial = first;
             serial < first + BLOCK && serial <= ledger->model.record_count; serial++) {
            judge_record(ledger, scratch, serial);
        }
    }
cleanup:
    uvea_mem_wipe(scratch, sizeof(*scratch));
    uvea_mem_free(scratch);
    return error;
}

static enum uvea_error judge_counts(struct uvea_ledger *ledger, unsigned party,
                                    struct uvea_store *store, struct uvea_error_context *context)
{
    uint64_t count;
    uint64_t serial_max;
    UVEA_TRY(uvea_store_count(store, &count, &serial_max, context));
    if (count != ledger->model.record_count || serial_max != count) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "ledger: party %u holds %llu records up to serial %llu, the oracle %u",
                          party, (unsigned long long)count, (unsigned long long)serial_max,
                          ledger->model.record_count);
    }
    return UVEA_OK;
}

// ---- all of it

// A party that died at its last commit may have said nothing of it.
static enum uvea_error infer_last(struct uvea_ledger *ledger,
                                  struct uvea_store *const stores[UVEA_PARTY_COUNT],
                                  struct uvea_error_context *context)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct uvea_store_ingest_state state;
        UVEA_TRY(uvea_store_ingest_state(stores[party], &state, context));
        if (!uvea_ledger_infer(ledger, state.max_persisted, true)) {
            uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                              "ledger: party %u is done with up to message %llu, but nobody has "
                              "processed that",
                              party, (unsigned long long)state.max_persisted);
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_ledger_finish(struct uvea_ledger *ledger,
                                   struct uvea_store *const stores[UVEA_PARTY_COUNT],
                                   struct uvea_error_context *context)
{
    if (!ledger->config.from_results) {
        UVEA_TRY(infer_last(ledger, stores, context));
    }
    // Parties that were stopped on their way have stores that differ for good reason.
    if (!judge_answers(ledger)) {
        return UVEA_OK;
    }
    uint64_t *ids = uvea_mem_alloc((size_t)ledger->committed + 1, sizeof(*ids));
    if (ids == NULL) {
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error = UVEA_OK;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY_CLEANUP(judge_counts(ledger, party, stores[party], context));
        UVEA_TRY_CLEANUP(judge_ingest(ledger, party, stores[party], context));
        UVEA_TRY_CLEANUP(judge_modifications(ledger, party, stores[party], ids, context));
        UVEA_TRY_CLEANUP(judge_results(ledger, party, stores[party], ids, context));
    }
    UVEA_TRY_CLEANUP(judge_records(ledger, stores, context));
cleanup:
    uvea_mem_free(ids);
    return error;
}
