// Batches: what the parties process and commit, against each other and against the ruling.
#include "core/base/mem.h"
#include "core/service/results.h"
#include "sim/world/expect.h"
#include "sim/world/ledger_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void uvea_ledger_trial_free(struct uvea_ledger_trial *trial)
{
    if (trial == NULL) {
        return;
    }
    for (size_t at = 0; at < trial->count; at++) {
        uvea_oracle_ruling_deinit(&trial->rulings[at]);
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_ledger_searches_free(trial->party[party].searches, trial->count);
    }
    uvea_mem_free(trial);
}

void uvea_ledger_started(struct uvea_ledger *ledger, struct uvea_party party)
{
    struct uvea_ledger_life *life = &ledger->life[party.index];
    *life = (struct uvea_ledger_life){
        .committed_before = ledger->committed,
        .committed_last = life->committed_last,
    };
    for (size_t i = 0; i <= UVEA_ORACLE_BATCH_MAX; i++) {
        struct uvea_ledger_trial *trial =
            i < UVEA_ORACLE_BATCH_MAX ? ledger->trials[i] : ledger->last;
        if (trial != NULL) {
            uvea_ledger_searches_free(trial->party[party.index].searches, trial->count);
            memset(&trial->party[party.index], 0, sizeof(trial->party[party.index]));
        }
    }
}

// ---- what was committed

static const char *kind_text(const struct uvea_ledger_entry *entry)
{
    return uvea_oracle_kind_text(entry->order.kind);
}

static void rule_entry(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial, size_t at)
{
    struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, trial->first + at);
    const struct uvea_oracle_ruling *ruling = &trial->rulings[at];
    struct uvea_error_context context = {.text = ""};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_ledger_fail(ledger,
                         uvea_oracle_result(&ledger->model, trial->orders, trial->count,
                                            trial->rulings, at, party, &entry->right[party],
                                            &context),
                         &context);
    }
    char reason[300];
    const bool lost = ledger->config.hostile && entry->order.pair != trial->orders[at].pair;
    if (entry->expect != NULL && !lost &&
        !uvea_expect_met(entry->expect, ruling, reason, sizeof(reason))) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_EXPECTATION, "%s (%s): %s", entry->key,
                          kind_text(entry), reason);
        ledger->verdict.mismatches++;
    }
    memcpy(entry->opened, trial->opened[at], sizeof(entry->opened));
    entry->ruled = true;
    entry->batch = trial->first;
    entry->persisted = ruling->inserts || ruling->updates;
    entry->outcome = (struct uvea_ledger_outcome){
        .ruled = true,
        .error_reason = ruling->error_reason,
        .matched = ruling->matched,
        .serial = ruling->serial,
    };
    ledger->verdict.errors += ruling->error_reason != NULL;
}

// Templates are not needed any more once the model has them.
static void forget_pairs(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial)
{
    for (size_t at = 0; at < trial->count; at++) {
        struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, trial->first + at);
        uvea_mem_free((void *)entry->order.pair);
        entry->order.pair = NULL;
        trial->orders[at].pair = NULL;
    }
}

void uvea_ledger_commit(struct uvea_ledger *ledger, size_t count)
{
    struct uvea_ledger_trial *trial = ledger->trials[count - 1];
    ledger->trials[count - 1] = NULL;
    uvea_ledger_trial_free(ledger->last);
    ledger->last = trial;
    for (size_t i = 0; i < UVEA_ORACLE_BATCH_MAX; i++) {
        uvea_ledger_trial_free(ledger->trials[i]);
        ledger->trials[i] = NULL;
    }
    for (size_t at = 0; at < count; at++) {
        rule_entry(ledger, trial, at);
    }
    uvea_ledger_fail(ledger,
                     uvea_oracle_apply(&ledger->model, trial->orders, count, trial->rulings), NULL);
    forget_pairs(ledger, trial);
    trial->committed = true;
    ledger->committed += count;
    ledger->verdict.batches++;
    for (size_t at = 0; at < count; at++) {
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            uvea_ledger_compare(ledger, uvea_ledger_at(ledger, trial->first + at),
                                uvea_party_at(party));
        }
    }
}

bool uvea_ledger_infer(struct uvea_ledger *ledger, uint64_t sequence, bool exactly)
{
    if (sequence <= ledger->committed) {
        return true;
    }
    size_t found = 0;
    size_t count = 0;
    for (size_t i = 1; i <= UVEA_ORACLE_BATCH_MAX; i++) {
        const uint64_t last = ledger->committed + i;
        if (ledger->trials[i - 1] != NULL && (exactly ? last == sequence : last >= sequence)) {
            found++;
            count = i;
        }
    }
    if (found == 1) {
        uvea_ledger_commit(ledger, count);
    }
    return found > 0;
}

// ---- what is processed

// What a disk lost is answered with an error, by all parties alike, which is no wrong answer.
static bool lost_shares(const struct uvea_batch_entry *got)
{
    return got->error_reason != NULL && strcmp(got->error_reason, UVEA_REASON_SHARES) == 0;
}

bool uvea_ledger_trial_rule(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial)
{
    struct uvea_error_context context = {.text = ""};
    const enum uvea_error error =
        uvea_oracle_rule(&ledger->model, trial->orders, trial->count, trial->rulings, &context);
    uvea_ledger_fail(ledger, error, &context);
    return error == UVEA_OK;
}

// Rules on a batch that nobody has processed before. NULL after a fault or a failure.
static struct uvea_ledger_trial *trial_make(struct uvea_ledger *ledger,
                                            const struct uvea_batch *batch)
{
    struct uvea_ledger_trial *trial = uvea_mem_alloc(1, sizeof(*trial));
    if (trial == NULL) {
        uvea_ledger_fail(ledger, UVEA_ERR_MEMORY, NULL);
        return NULL;
    }
    trial->first = batch->entries[0].sequence;
    trial->count = batch->count;
    trial->record_count = ledger->model.record_count;
    for (size_t at = 0; at < batch->count; at++) {
        const struct uvea_batch_entry *got = &batch->entries[at];
        const char *message_id = got->message.message_id == NULL ? "" : got->message.message_id;
        struct uvea_ledger_entry *entry = uvea_ledger_bind(ledger, got->sequence, message_id);
        if (entry == NULL) {
            uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                              "a batch holds message %llu, '%.100s', which nobody sent",
                              (unsigned long long)got->sequence, message_id);
            uvea_ledger_trial_free(trial);
            return NULL;
        }
        trial->orders[at] = entry->order;
        if (ledger->config.hostile && lost_shares(got)) {
            trial->orders[at].pair = NULL;
        }
    }
    if (!uvea_ledger_trial_rule(ledger, trial)) {
        uvea_ledger_trial_free(trial);
        return NULL;
    }
    return trial;
}

// What a batch is, whoever processes it: its numbers follow each other.
static bool is_run(struct uvea_ledger *ledger, struct uvea_party party,
                   const struct uvea_batch *batch)
{
    bool run = batch->count >= 1 && batch->count <= UVEA_ORACLE_BATCH_MAX &&
               batch->count <= ledger->config.batch_requests_max;
    for (size_t at = 0; run && at < batch->count; at++) {
        run = batch->entries[at].sequence == batch->entries[0].sequence + at &&
              batch->entries[at].sequence >= 1;
    }
    if (!run) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "party %u has a batch of %zu messages that do not follow each other, or "
                          "of too many",
                          party.index, batch->count);
    }
    return run;
}

// Whether this party's process may do this batch next.
static bool follows(struct uvea_ledger *ledger, struct uvea_party party,
                    const struct uvea_batch *batch)
{
    struct uvea_ledger_life *life = &ledger->life[party.index];
    const uint64_t first = batch->entries[0].sequence;
    const char *wrong = NULL;
    if (batch->id <= life->batch_id) {
        wrong = "its number is not above that of the batch before";
    } else if (first <= life->committed_before) {
        wrong = "it was committed before this process started";
    } else if (life->batch_id != 0 && !life->committed) {
        wrong = "the batch before is not committed";
    } else if (life->batch_id != 0 && first != life->first + life->count) {
        wrong = "it does not begin where the batch before ended";
    }
    if (wrong != NULL) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "party %u processes batch %llu of messages %llu to %llu, but %s",
                          party.index, (unsigned long long)batch->id, (unsigned long long)first,
                          (unsigned long long)(first + batch->count - 1), wrong);
    }
    life->batch_id = batch->id;
    life->first = first;
    life->count = batch->count;
    life->committed = false;
    life->published = false;
    return wrong == NULL;
}

static bool is_trial(const struct uvea_ledger_trial *trial, const struct uvea_batch *batch)
{
    return trial != NULL && trial->first == batch->entries[0].sequence &&
           trial->count == batch->count;
}

// Whether it holds the same messages: when a disk loses numbers, others may get them.
static bool is_of(const struct uvea_ledger_trial *trial, const struct uvea_batch *batch)
{
    for (size_t at = 0; at < batch->count; at++) {
        const struct uvea_message *message = &batch->entries[at].message;
        if (message->kind != UVEA_MESSAGE_MALFORMED && message->message_id != NULL &&
            strcmp(message->message_id, trial->orders[at].message_id) != 0) {
            return false;
        }
        if (lost_shares(&batch->entries[at]) && trial->orders[at].pair != NULL) {
            return false;
        }
    }
    return true;
}

// The trial that a party carries out; NULL after a fault or a failure.
static struct uvea_ledger_trial *trial_of(struct uvea_ledger *ledger, struct uvea_party party,
                                          const struct uvea_batch *batch)
{
    const uint64_t first = batch->entries[0].sequence;
    if (is_trial(ledger->last, batch)) {
        return ledger->last; // the others were faster
    }
    if (first <= ledger->committed || !uvea_ledger_infer(ledger, first - 1, true)) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "party %u processes messages %llu to %llu, but the batches known to be "
                          "committed end with message %llu",
                          party.index, (unsigned long long)first,
                          (unsigned long long)(first + batch->count - 1),
                          (unsigned long long)ledger->committed);
        return NULL;
    }
    struct uvea_ledger_trial **trial = &ledger->trials[batch->count - 1];
    if (ledger->config.hostile && *trial != NULL && !is_of(*trial, batch)) {
        uvea_ledger_trial_free(*trial);
        *trial = NULL;
    }
    if (*trial == NULL) {
        *trial = trial_make(ledger, batch);
    }
    return *trial;
}

// ---- a request of a batch

static enum uvea_message_kind kind_of(enum uvea_oracle_kind kind)
{
    return kind == UVEA_ORACLE_MALFORMED ? UVEA_MESSAGE_MALFORMED
                                         : uvea_message_kind_find(uvea_oracle_kind_text(kind));
}

static enum uvea_mutation mutation_of(const struct uvea_oracle_ruling *ruling)
{
    if (ruling->inserts) {
        return UVEA_MUTATION_INSERT;
    }
    return ruling->updates ? UVEA_MUTATION_UPDATE : UVEA_MUTATION_NONE;
}

static bool same_reason(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const char *reason_text(const char *reason)
{
    return reason == NULL ? "none" : reason;
}

UVEA_PRINTF(4, 5)
static void mismatch(struct uvea_ledger *ledger, const struct uvea_ledger_entry *entry,
                     struct uvea_party party, const char *format, ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY, "%s (%s), party %u: %s", entry->key,
                      kind_text(entry), party.index, what);
    ledger->verdict.mismatches++;
}

static void judge_text(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial, size_t at,
                       struct uvea_party party, const struct uvea_batch_entry *got)
{
    const struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, trial->first + at);
    struct uvea_buf want = {.len = 0};
    struct uvea_error_context context = {.text = ""};
    enum uvea_error error = uvea_oracle_result(&ledger->model, trial->orders, trial->count,
                                               trial->rulings, at, party.index, &want, &context);
    uvea_ledger_fail(ledger, error, &context);
    if (error == UVEA_OK &&
        (got->result.len != want.len || memcmp(got->result.data, want.data, want.len) != 0)) {
        char member[64];
        uvea_ledger_member(&got->result, &want, member);
        mismatch(ledger, entry, party, "its result is not the oracle's: member %s", member);
    }
    uvea_buf_deinit(&want);
}

static void judge_entry(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial, size_t at,
                        struct uvea_party party, const struct uvea_batch_entry *got)
{
    const struct uvea_ledger_entry *entry = uvea_ledger_at(ledger, trial->first + at);
    const struct uvea_oracle_ruling *ruling = &trial->rulings[at];
    if (got->message.kind != kind_of(entry->order.kind)) {
        mismatch(ledger, entry, party, "it is read as %s",
                 uvea_message_kind_text(got->message.kind));
        return;
    }
    if (!same_reason(got->error_reason, ruling->error_reason)) {
        mismatch(ledger, entry, party, "its error is '%s', the oracle's '%s'",
                 reason_text(got->error_reason), reason_text(ruling->error_reason));
        return;
    }
    enum uvea_mutation mutation = mutation_of(ruling);
    if (got->mutation != mutation ||
        (mutation != UVEA_MUTATION_NONE &&
         (got->serial != ruling->serial || got->version != ruling->version))) {
        mismatch(ledger, entry, party,
                 "it changes the records otherwise than the oracle (serial %u version %u, the "
                 "oracle has serial %u version %u)",
                 got->serial, got->version, ruling->serial, ruling->version);
    }
    judge_text(ledger, trial, at, party, got);
    uvea_ledger_opened(ledger, trial, at, party, got);
}

static void keep_hashes(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial,
                        const struct uvea_batch *batch)
{
    for (size_t at = 0; !trial->has_opened && at < batch->count; at++) {
        uvea_ledger_fail(
            ledger, uvea_ledger_opened_hash(&batch->entries[at].search, trial->opened[at]), NULL);
    }
    trial->has_opened = true;
}

void uvea_ledger_processed(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_ledger *ledger = arg;
    ledger->begun = true;
    if (!is_run(ledger, party, batch) || !follows(ledger, party, batch)) {
        return;
    }
    struct uvea_ledger_trial *trial = trial_of(ledger, party, batch);
    if (trial == NULL) {
        return;
    }
    if (batch->record_count != trial->record_count) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "party %u begins batch %llu with %u records, the oracle with %u",
                          party.index, (unsigned long long)batch->id, batch->record_count,
                          trial->record_count);
    }
    struct uvea_ledger_search *searches = uvea_mem_alloc(batch->count, sizeof(*searches));
    if (searches == NULL) {
        uvea_ledger_fail(ledger, UVEA_ERR_MEMORY, NULL);
        return;
    }
    uvea_ledger_searches_free(trial->party[party.index].searches, trial->count);
    trial->party[party.index].searches = searches;
    trial->party[party.index].processed = true;
    trial->party[party.index].batch_id = batch->id;
    trial->party[party.index].modification_id = batch->entries[0].modification_id;
    for (size_t at = 0; at < batch->count; at++) {
        judge_entry(ledger, trial, at, party, &batch->entries[at]);
    }
    keep_hashes(ledger, trial, batch);
    uvea_ledger_join(ledger, trial);
}

// ---- what is committed and published

static bool is_current(const struct uvea_ledger_life *life, const struct uvea_batch *batch)
{
    return batch->count > 0 && life->batch_id == batch->id &&
           life->first == batch->entries[0].sequence && life->count == batch->count;
}

void uvea_ledger_committed(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_ledger *ledger = arg;
    struct uvea_ledger_life *life = &ledger->life[party.index];
    const unsigned long long id = batch->id;
    if (!is_current(life, batch) || life->committed) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY, "party %u commits batch %llu, which it %s",
                          party.index, id, life->committed ? "has committed" : "has not processed");
        return;
    }
    life->committed = true;
    if (life->first <= life->committed_last) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "party %u commits message %llu again in batch %llu", party.index,
                          (unsigned long long)life->first, id);
        return;
    }
    life->committed_last = life->first + life->count - 1;
    if (is_trial(ledger->last, batch)) {
        return;
    }
    if (life->first != ledger->committed + 1 || ledger->trials[life->count - 1] == NULL) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "party %u commits messages %llu to %llu, but the batches known to be "
                          "committed end with message %llu",
                          party.index, (unsigned long long)life->first,
                          (unsigned long long)life->committed_last,
                          (unsigned long long)ledger->committed);
        return;
    }
    uvea_ledger_commit(ledger, life->count);
}

void uvea_ledger_published(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_ledger *ledger = arg;
    struct uvea_ledger_life *life = &ledger->life[party.index];
    if (!is_current(life, batch) || !life->committed || life->published) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY, "party %u publishes batch %llu, which it %s",
                          party.index, (unsigned long long)batch->id,
                          life->published ? "has published" : "has not committed");
    }
    life->published = true;
}
