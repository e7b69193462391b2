#include "tests/world/fake_store.h"

enum uvea_error uvea_store_count(struct uvea_store *store, uint64_t *count, uint64_t *serial_max,
                                 struct uvea_error_context *context)
{
    (void)context;
    *count = store->record_count;
    *serial_max = store->serial_max;
    return store->broken;
}

enum uvea_error uvea_store_read_records(struct uvea_store *store, uint32_t first, uint32_t count,
                                        unsigned eyes, uvea_store_record_fn *fn, void *arg,
                                        struct uvea_error_context *context)
{
    (void)context;
    for (uint32_t serial = first; serial < first + count && serial <= store->record_count;
         serial++) {
        const struct fake_record *record = &store->records[serial - 1];
        const struct uvea_store_record seen = {
            .serial = serial,
            .version = record->version,
            .eye = {(eyes & 1) != 0 ? record->eye[0] : NULL,
                    (eyes & 2) != 0 ? record->eye[1] : NULL},
        };
        UVEA_TRY(fn(arg, &seen));
    }
    return store->broken;
}

enum uvea_error uvea_store_modifications(struct uvea_store *store, size_t count,
                                         uvea_modification_fn *fn, void *arg,
                                         struct uvea_error_context *context)
{
    (void)context;
    size_t from = store->row_count > count ? store->row_count - count : 0;
    for (size_t i = from; i < store->row_count; i++) {
        UVEA_TRY(fn(arg, &store->rows[i].modification));
    }
    return store->broken;
}

enum uvea_error uvea_store_frontier(struct uvea_store *store, uint64_t *id,
                                    struct uvea_error_context *context)
{
    (void)context;
    *id = store->frontier;
    return store->broken;
}

enum uvea_error uvea_store_ingest_state(struct uvea_store *store,
                                        struct uvea_store_ingest_state *state,
                                        struct uvea_error_context *context)
{
    (void)context;
    *state = store->ingest;
    return store->broken;
}

enum uvea_error uvea_store_results(struct uvea_store *store, uint64_t after, size_t max,
                                   uvea_store_result_fn *fn, void *arg,
                                   struct uvea_error_context *context)
{
    (void)context;
    size_t given = 0;
    for (size_t i = 0; i < store->result_count && given < max; i++) {
        if (store->rows[i].result.number > after) {
            UVEA_TRY(fn(arg, &store->rows[i].result));
            given++;
        }
    }
    return store->broken;
}
