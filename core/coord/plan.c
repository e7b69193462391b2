#include "core/base/mem.h"
#include "core/coord/sync.h"

#include <inttypes.h>
#include <string.h>

// The parties' copies of one modification; NULL where a party has none.
struct copies {
    uint64_t id;
    const struct uvea_modification *of[UVEA_PARTY_COUNT];
};

struct work {
    const struct uvea_sync_state *states;
    struct uvea_party own;
    size_t at[UVEA_PARTY_COUNT];        // next modification of each party
    uint64_t records[UVEA_PARTY_COUNT]; // counts as the plans make them, up to here
    struct uvea_sync_plan *plan;
    struct uvea_error_context *context;
};

// ---- one id after the other, ascending

static bool next_copies(struct work *work, struct copies *copies)
{
    *copies = (struct copies){.id = UINT64_MAX};
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const struct uvea_sync_state *state = &work->states[p];
        if (work->at[p] < state->modification_count &&
            state->modifications[work->at[p]].id < copies->id) {
            copies->id = state->modifications[work->at[p]].id;
        }
    }
    if (copies->id == UINT64_MAX) {
        return false;
    }
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const struct uvea_sync_state *state = &work->states[p];
        if (work->at[p] < state->modification_count &&
            state->modifications[work->at[p]].id == copies->id) {
            copies->of[p] = &state->modifications[work->at[p]++];
        }
    }
    return true;
}

// The first completed copy, and whose it is.
static const struct uvea_modification *completed_copy(const struct copies *copies, unsigned *whose)
{
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        if (copies->of[p] != NULL && copies->of[p]->completed) {
            *whose = p;
            return copies->of[p];
        }
    }
    return NULL;
}

// ---- what must hold

static bool same_text(const char *left, const char *right)
{
    return left == right || (left != NULL && right != NULL && strcmp(left, right) == 0);
}

// The name of the first column in which two copies contradict each other, or NULL.
static const char *contradiction(const struct uvea_modification *left,
                                 const struct uvea_modification *right)
{
    const bool both_completed = left->completed && right->completed;

    if (!same_text(left->type, right->type)) {
        return "request_type";
    }
    if (!same_text(left->s3_url, right->s3_url)) {
        return "s3_url";
    }
    if (left->serial != right->serial &&
        (both_completed || (left->serial != 0 && right->serial != 0))) {
        return "serial_id";
    }
    return both_completed && left->persisted != right->persisted ? "persisted" : NULL;
}

static enum uvea_error check_copies(const struct work *work, const struct copies *copies)
{
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        for (unsigned q = p + 1; q < UVEA_PARTY_COUNT; q++) {
            const char *column = copies->of[p] != NULL && copies->of[q] != NULL
                                     ? contradiction(copies->of[p], copies->of[q])
                                     : NULL;
            if (column != NULL) {
                return uvea_error_set(work->context, UVEA_ERR_STATE,
                                      "modification %" PRIu64
                                      ": parties %u and %u contradict each other in %s",
                                      copies->id, p, q, column);
            }
        }
    }
    return UVEA_OK;
}

// A party that has no copy of a completed modification shows newer ones only; one that has no copy
// of an unfinished one has nothing newer, else it might have completed it.
static enum uvea_error check_missing(const struct work *work, const struct copies *copies,
                                     bool completed)
{
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const struct uvea_sync_state *state = &work->states[p];
        const size_t count = state->modification_count;
        if (copies->of[p] != NULL) {
            continue;
        }
        if (completed && (count == 0 || state->modifications[0].id < copies->id)) {
            return uvea_error_set(work->context, UVEA_ERR_STATE,
                                  "modification %" PRIu64
                                  " is completed elsewhere, but party %u has lost it: its database "
                                  "is older than its peers', or another one",
                                  copies->id, p);
        }
        if (!completed && count > 0 && state->modifications[count - 1].id > copies->id) {
            return uvea_error_set(work->context, UVEA_ERR_STATE,
                                  "modification %" PRIu64
                                  " is unfinished, but party %u is past it without showing it",
                                  copies->id, p);
        }
    }
    return UVEA_OK;
}

static enum uvea_error check_spread(const struct work *work, size_t lookback)
{
    uint64_t highest[UVEA_PARTY_COUNT] = {0};

    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        for (size_t i = 0; i < work->states[p].modification_count; i++) {
            const struct uvea_modification *row = &work->states[p].modifications[i];
            highest[p] = i == 0 ? row->id - 1 : highest[p]; // what is older is completed
            highest[p] = row->completed ? row->id : highest[p];
        }
    }
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        for (unsigned q = 0; q < UVEA_PARTY_COUNT; q++) {
            if (highest[p] > highest[q] && highest[p] - highest[q] > lookback) {
                return uvea_error_set(work->context, UVEA_ERR_STATE,
                                      "party %u has completed modification %" PRIu64
                                      ", party %u only %" PRIu64 ": further apart than %zu",
                                      p, highest[p], q, highest[q], lookback);
            }
        }
    }
    return UVEA_OK;
}

// ---- what a completed modification does to the records of a party that has not completed it

enum change { INSERT, UPDATE, NO_CHANGE };

static const struct {
    const char *type;
    enum change change;
    bool needs_url;
} kinds[] = {
    {"uniqueness", INSERT, true},         {"reauth", UPDATE, true},
    {"reset_update", UPDATE, true},       {"recovery_update", UPDATE, true},
    {"identity_deletion", UPDATE, false},
};

static enum uvea_error find_change(const struct work *work, const struct uvea_modification *row,
                                   enum change *change)
{
    *change = NO_CHANGE;
    if (!row->persisted) {
        return UVEA_OK;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].type, row->type) != 0) {
            continue;
        }
        *change = kinds[i].change;
        if (row->serial == 0 || (kinds[i].needs_url && row->s3_url == NULL)) {
            return uvea_error_set(work->context, UVEA_ERR_STATE,
                                  "modification %" PRIu64 " changed a record but has no %s",
                                  row->id, row->serial == 0 ? "serial_id" : "s3_url");
        }
        return UVEA_OK;
    }
    return uvea_error_set(work->context, UVEA_ERR_STATE,
                          "modification %" PRIu64 " is of type %s and cannot have changed a record",
                          row->id, row->type);
}

static enum uvea_error count_change(struct work *work, const struct copies *copies,
                                    const struct uvea_modification *source)
{
    enum change change;

    UVEA_TRY(find_change(work, source, &change));
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const bool rolls = copies->of[p] != NULL && !copies->of[p]->completed;
        const uint64_t first = change == INSERT ? work->records[p] + 1 : 1;
        const uint64_t last = change == INSERT ? first : work->records[p];
        if (change == NO_CHANGE || !rolls) {
            continue;
        }
        if (source->serial < first || source->serial > last) {
            return uvea_error_set(work->context, UVEA_ERR_STATE,
                                  "modification %" PRIu64 " (%s) of record %" PRIu32
                                  " does not fit party %u, which has %" PRIu64 " records",
                                  source->id, source->type, source->serial, p, work->records[p]);
        }
        work->records[p] += change == INSERT;
    }
    return UVEA_OK;
}

// ---- the own party's part

static enum uvea_error add_write(struct work *work, const struct uvea_modification *mine,
                                 const struct uvea_modification *source, unsigned whose)
{
    struct uvea_modification *row = &work->plan->write[work->plan->write_count];
    struct uvea_modification merged = *source;
    struct uvea_error_context inner = {{0}};
    struct uvea_buf result = {0};
    enum uvea_error error = UVEA_OK;

    merged.sequence = mine->sequence;
    merged.attributes = mine->attributes;
    if (source->result != NULL) {
        error = uvea_sync_readdress(source->result, work->own, &result, &inner);
        merged.result = (const char *)result.data;
    }
    if (error == UVEA_OK) {
        error = uvea_modification_copy(&merged, row);
    }
    uvea_buf_deinit(&result);
    if (error == UVEA_ERR_MEMORY) {
        return uvea_error_set(work->context, error, "out of memory");
    }
    if (error != UVEA_OK) {
        return uvea_error_set(work->context, UVEA_ERR_STATE,
                              "modification %" PRIu64 ": the result of party %u: %.300s",
                              source->id, whose, inner.text);
    }
    work->plan->write_count++;
    return UVEA_OK;
}

static enum uvea_error take_id(struct work *work, const struct copies *copies)
{
    const struct uvea_modification *mine = copies->of[work->own.index];
    unsigned whose = 0;
    const struct uvea_modification *source = completed_copy(copies, &whose);

    UVEA_TRY(check_copies(work, copies));
    UVEA_TRY(check_missing(work, copies, source != NULL));
    if (source == NULL) {
        if (mine != NULL) {
            work->plan->delete_ids[work->plan->delete_count++] = mine->id;
        }
        return UVEA_OK;
    }
    UVEA_TRY(count_change(work, copies, source));
    return mine == NULL || mine->completed ? UVEA_OK : add_write(work, mine, source, whose);
}

static enum uvea_error check_records(const struct work *work)
{
    const uint64_t *records = work->records;

    if (records[0] == records[1] && records[0] == records[2]) {
        return UVEA_OK;
    }
    return uvea_error_set(work->context, UVEA_ERR_STATE,
                          "the databases do not belong together: repaired, party 0 would have "
                          "%" PRIu64 " records, party 1 %" PRIu64 ", party 2 %" PRIu64,
                          records[0], records[1], records[2]);
}

static enum uvea_error make_plan(struct work *work, size_t lookback)
{
    struct copies copies;
    const size_t own_count = work->states[work->own.index].modification_count;

    work->plan->write = uvea_mem_alloc(own_count, sizeof(*work->plan->write));
    work->plan->delete_ids = uvea_mem_alloc(own_count, sizeof(*work->plan->delete_ids));
    if (work->plan->write == NULL || work->plan->delete_ids == NULL) {
        return uvea_error_set(work->context, UVEA_ERR_MEMORY, "out of memory");
    }
    UVEA_TRY(check_spread(work, lookback));
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const struct uvea_sync_state *state = &work->states[p];
        work->records[p] = state->db_len;
        if (state->has_max_persisted && state->max_persisted > work->plan->max_persisted) {
            work->plan->max_persisted = state->max_persisted;
        }
    }
    while (next_copies(work, &copies)) {
        UVEA_TRY(take_id(work, &copies));
    }
    return check_records(work);
}

enum uvea_error uvea_sync_make_plan(const struct uvea_sync_state states[UVEA_PARTY_COUNT],
                                    struct uvea_party own, size_t lookback,
                                    struct uvea_sync_plan *plan, struct uvea_error_context *context)
{
    struct uvea_sync_plan made = {0};
    struct work work = {.states = states, .own = own, .plan = &made, .context = context};
    const enum uvea_error error = make_plan(&work, lookback);

    if (error == UVEA_OK) {
        *plan = made;
    } else {
        uvea_sync_plan_deinit(&made);
    }
    return error;
}

void uvea_sync_plan_deinit(struct uvea_sync_plan *plan)
{
    for (size_t i = 0; i < plan->write_count; i++) {
        uvea_modification_release(&plan->write[i]);
    }
    uvea_mem_free(plan->write);
    uvea_mem_free(plan->delete_ids);
    *plan = (struct uvea_sync_plan){0};
}
