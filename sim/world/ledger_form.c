// Batches as results tell of them, where nobody sees what the parties do.
#include "core/base/mem.h"
#include "sim/world/ledger_impl.h"

// Whether a batch can begin with message `batch` and hold this one.
static bool may_hold(const struct uvea_ledger *ledger, uint64_t batch, uint64_t sequence)
{
    return batch >= 1 && batch <= sequence && sequence - batch < UVEA_ORACLE_BATCH_MAX &&
           sequence - batch < ledger->config.batch_requests_max;
}

// The messages of the batch that comes next, of which results were read; 0 while it is not seen
// where the batch ends.
static size_t next_count(struct uvea_ledger *ledger)
{
    const uint64_t first = ledger->committed + 1;
    uint64_t end = first;
    const struct uvea_ledger_entry *behind = uvea_ledger_at(ledger, end);
    while (behind != NULL && behind->batch == first) {
        behind = uvea_ledger_at(ledger, ++end);
    }
    if (behind == NULL) {
        return end - 1 == ledger->entry_count ? (size_t)(end - first) : 0;
    }
    if (behind->batch != 0 && behind->batch != end) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "%s, message %llu, is answered as of the batch that begins with message "
                          "%llu, but a batch ends with message %llu",
                          behind->key, (unsigned long long)end, (unsigned long long)behind->batch,
                          (unsigned long long)(end - 1));
        return 0;
    }
    return behind->batch == 0 ? 0 : (size_t)(end - first);
}

// False after a failure.
static bool carry_out(struct uvea_ledger *ledger, size_t count)
{
    struct uvea_ledger_trial *trial = uvea_mem_alloc(1, sizeof(*trial));
    if (trial == NULL) {
        uvea_ledger_fail(ledger, UVEA_ERR_MEMORY, NULL);
        return false;
    }
    trial->first = ledger->committed + 1;
    trial->count = count;
    trial->record_count = ledger->model.record_count;
    for (size_t at = 0; at < count; at++) {
        trial->orders[at] = uvea_ledger_at(ledger, trial->first + at)->order;
    }
    if (!uvea_ledger_trial_rule(ledger, trial)) {
        uvea_ledger_trial_free(trial);
        return false;
    }
    for (size_t at = 0; at < count; at++) {
        uvea_ledger_fail(ledger, uvea_ledger_ruled_hash(&trial->rulings[at], trial->opened[at]),
                         NULL);
    }
    ledger->begun = true;
    ledger->trials[count - 1] = trial;
    uvea_ledger_commit(ledger, count);
    return true;
}

void uvea_ledger_form(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry,
                      struct uvea_party party, uint64_t batch)
{
    if (!may_hold(ledger, batch, entry->sequence)) {
        uvea_ledger_fault(
            ledger, UVEA_LEDGER_SAFETY,
            "%s: party %u answers message %llu as of a batch that begins with message "
            "%llu, which cannot be",
            entry->key, party.index, (unsigned long long)entry->sequence,
            (unsigned long long)batch);
        return;
    }
    if (entry->batch != 0 && entry->batch != batch) {
        uvea_ledger_fault(ledger, UVEA_LEDGER_SAFETY,
                          "%s: party %u answers it as of a batch that begins with message %llu, "
                          "another party with message %llu",
                          entry->key, party.index, (unsigned long long)batch,
                          (unsigned long long)entry->batch);
        return;
    }
    entry->batch = batch;
    size_t count = next_count(ledger);
    while (count > 0 && carry_out(ledger, count)) {
        count = next_count(ledger);
    }
}
