#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/service/node_impl.h"

// ---- what a batch changes in the store

struct settlement {
    struct uvea_store_record *inserts; // owned, as are the lists below: one slot per entry
    size_t insert_count;
    struct uvea_store_record *updates;
    size_t update_count;
    struct uvea_modification *modifications;
    uint64_t *sequences;
};

static void close_settlement(struct settlement *settlement)
{
    uvea_mem_free(settlement->inserts);
    uvea_mem_free(settlement->updates);
    uvea_mem_free(settlement->modifications);
    uvea_mem_free(settlement->sequences);
}

static enum uvea_error open_settlement(struct settlement *settlement, size_t count)
{
    settlement->inserts = uvea_mem_alloc(count, sizeof(*settlement->inserts));
    settlement->updates = uvea_mem_alloc(count, sizeof(*settlement->updates));
    settlement->modifications = uvea_mem_alloc(count, sizeof(*settlement->modifications));
    settlement->sequences = uvea_mem_alloc(count, sizeof(*settlement->sequences));
    if (settlement->inserts == NULL || settlement->updates == NULL ||
        settlement->modifications == NULL || settlement->sequences == NULL) {
        return UVEA_ERR_MEMORY;
    }
    return UVEA_OK;
}

static struct uvea_store_record record_of(const struct uvea_node *node,
                                          const struct uvea_batch_entry *entry)
{
    struct uvea_store_record record = {.serial = entry->serial, .version = entry->version};

    uvea_process_record(&node->process, entry, record.eye);
    return record;
}

// Updates go in the order of service.md 6.2: reauth, identity updates, deletions.
static unsigned update_order(enum uvea_message_kind kind)
{
    switch (kind) {
    case UVEA_MESSAGE_REAUTH:
        return 0;
    case UVEA_MESSAGE_IDENTITY_DELETION:
        return 2;
    default:
        return 1;
    }
}

static void add_records(struct settlement *settlement, const struct uvea_node *node,
                        const struct uvea_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct uvea_batch_entry *entry = &batch->entries[i];
        if (entry->mutation == UVEA_MUTATION_INSERT) {
            settlement->inserts[settlement->insert_count++] = record_of(node, entry);
        }
    }
    for (unsigned order = 0; order < 3; order++) {
        for (size_t i = 0; i < batch->count; i++) {
            const struct uvea_batch_entry *entry = &batch->entries[i];
            if (entry->mutation == UVEA_MUTATION_UPDATE &&
                update_order(entry->message.kind) == order) {
                settlement->updates[settlement->update_count++] = record_of(node, entry);
            }
        }
    }
}

static void add_modifications(struct settlement *settlement, const struct uvea_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct uvea_batch_entry *entry = &batch->entries[i];
        settlement->sequences[i] = entry->sequence;
        settlement->modifications[i] = (struct uvea_modification){
            .id = entry->modification_id,
            .sequence = entry->sequence,
            .serial = entry->serial,
            .type = uvea_message_kind_text(entry->message.kind),
            .s3_url = uvea_message_has_shares(entry->message.kind) ? entry->message.s3_key : NULL,
            .completed = true,
            .persisted = entry->mutation != UVEA_MUTATION_NONE,
            .result = (const char *)entry->result.data,
        };
    }
}

// What is done of the commit before the rest, by planted faults; none of it otherwise.
static enum uvea_error commit_part(struct uvea_node *node, struct uvea_store_commit *commit,
                                   struct uvea_error_context *context)
{
    if (uvea_plant_active(UVEA_PLANT_ACK_BEFORE_COMMIT)) {
        commit->sequence_count = 0; // that is done since the claim
    }
    if (uvea_plant_active(UVEA_PLANT_FLAG_BEFORE_DATA)) {
        struct uvea_store_commit flags = *commit;
        flags.insert_count = 0;
        flags.update_count = 0;
        commit->modification_count = 0;
        commit->sequence_count = 0;
        return uvea_store_commit(node->store, &flags, context);
    }
    return UVEA_OK;
}

static enum uvea_error commit(struct uvea_node *node, const struct uvea_batch *batch,
                              struct uvea_error_context *context)
{
    const struct uvea_node_observer *observer = &node->config.observer;
    struct settlement settlement = {0};
    struct uvea_store_commit commit;
    enum uvea_error error;

    UVEA_TRY_CLEANUP(open_settlement(&settlement, batch->count));
    add_records(&settlement, node, batch);
    add_modifications(&settlement, batch);
    commit = (struct uvea_store_commit){
        .inserts = settlement.inserts,
        .insert_count = settlement.insert_count,
        .updates = settlement.updates,
        .update_count = settlement.update_count,
        .modifications = settlement.modifications,
        .modification_count = batch->count,
        .sequences = settlement.sequences,
        .sequence_count = batch->count,
    };
    UVEA_TRY_CLEANUP(commit_part(node, &commit, context));
    UVEA_TRY_CLEANUP(uvea_store_commit(node->store, &commit, context));
    if (observer->committed != NULL) {
        observer->committed(observer->arg, node->config.party, batch);
    }
    error = uvea_rt_point(node->rt, UVEA_POINT_COMMITTED);
cleanup:
    close_settlement(&settlement);
    return error;
}

// ---- after the commit

static void acknowledge(struct uvea_node *node, const struct uvea_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct uvea_batch_entry *entry = &batch->entries[i];
        if (entry->mutation != UVEA_MUTATION_NONE) {
            uvea_cold_acknowledge(node->cold, entry->serial, entry->version);
        }
    }
}

static void count_batch(struct uvea_node *node, const struct uvea_batch *batch)
{
    atomic_fetch_add(&node->counters.batches, 1);
    atomic_fetch_add(&node->counters.requests, batch->count);
    atomic_store(&node->counters.published_sequence, batch->entries[batch->count - 1].sequence);
}

// By type in the order of service.md 4, by arrival within one.
static enum uvea_error publish(struct uvea_node *node, const struct uvea_batch *batch,
                               struct uvea_error_context *context)
{
    const struct uvea_node_observer *observer = &node->config.observer;
    uint64_t ids[UVEA_BATCH_REQUESTS_MAX];
    size_t count = 0;

    for (unsigned order = 0; order < UVEA_MESSAGE_COUNT; order++) {
        for (size_t i = 0; i < batch->count; i++) {
            const struct uvea_batch_entry *entry = &batch->entries[i];
            if (uvea_plant_active(UVEA_PLANT_SKIPPED_ANSWER) && entry->error_reason != NULL) {
                continue;
            }
            if (uvea_message_kind_order(entry->message.kind) == order) {
                ids[count++] = entry->modification_id;
            }
        }
    }
    UVEA_TRY(uvea_store_publish(node->store, ids, count, context));
    count_batch(node, batch);
    if (observer->published != NULL) {
        observer->published(observer->arg, node->config.party, batch);
    }
    return uvea_rt_point(node->rt, UVEA_POINT_PUBLISHED);
}

enum uvea_error uvea_node_settle_batch(struct uvea_node *node, const struct uvea_batch *batch,
                                       struct uvea_error_context *context)
{
    uint64_t since_ns = uvea_stages_now_ns(&node->stages);

    UVEA_TRY(commit(node, batch, context));
    acknowledge(node, batch);
    uvea_guard_enter(node->guard, UVEA_GUARD_IDLE);
    since_ns = uvea_stages_add(&node->stages, UVEA_STAGE_COMMIT, since_ns);
    UVEA_TRY(publish(node, batch, context));
    (void)uvea_stages_add(&node->stages, UVEA_STAGE_PUBLISH, since_ns);
    return UVEA_OK;
}
