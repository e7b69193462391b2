#include "core/service/repair.h"

#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/service/message.h"
#include "core/service/record.h"

#include <inttypes.h>

// A record on its way into the store.
struct made {
    uint32_t serial;
    uint16_t version;
    struct uvea_iris_upload upload; // secret
};

struct workshop {
    const struct uvea_repair *repair;
    struct made **made; // owned, one slot per row of the plan
    size_t count;
};

static struct made *find(const struct workshop *shop, uint32_t serial)
{
    for (size_t i = 0; i < shop->count; i++) {
        if (shop->made[i]->serial == serial) {
            return shop->made[i];
        }
    }
    return NULL;
}

// ---- versions

struct version_of {
    bool found;
    uint16_t version;
};

static enum uvea_error see_version(void *arg, const struct uvea_store_record *record)
{
    struct version_of *of = arg;

    *of = (struct version_of){.found = true, .version = record->version};
    return UVEA_OK;
}

static enum uvea_error next_version(const struct workshop *shop, const struct made *before,
                                    const struct uvea_modification *row, uint16_t *version,
                                    struct uvea_error_context *context)
{
    struct version_of of = {0};

    if (before != NULL) {
        of = (struct version_of){.found = true, .version = before->version};
    } else {
        UVEA_TRY(uvea_store_read_records(shop->repair->store, row->serial, 1, 0, see_version, &of,
                                         context));
    }
    if (!of.found) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "modification %" PRIu64 " changed record %" PRIu32
                              ", which is not here",
                              row->id, row->serial);
    }
    if (of.version >= UVEA_RECORD_VERSION_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "record %" PRIu32 " has no version left",
                              row->serial);
    }
    *version = (uint16_t)(of.version + (uvea_plant_active(UVEA_PLANT_VERSION_TWICE) ? 2 : 1));
    return UVEA_OK;
}

// ---- contents

static enum uvea_error read_object(const struct workshop *shop, const struct uvea_modification *row,
                                   struct uvea_iris_upload *upload,
                                   struct uvea_error_context *context)
{
    const struct uvea_repair *repair = shop->repair;
    struct uvea_error_context cause = {{0}};
    struct uvea_buf object = {0};
    enum uvea_error error = UVEA_ERR_STATE;

    if (row->s3_url != NULL) {
        error = uvea_store_share_get(repair->store, row->s3_url, &object, &cause);
    }
    if (error == UVEA_OK) {
        error = uvea_share_object_decode(repair->party, repair->keys, object.data, object.len,
                                         upload, &cause);
    }
    uvea_buf_deinit(&object);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error,
                              "modification %" PRIu64 " cannot be made again: %.300s", row->id,
                              cause.text[0] != '\0' ? cause.text : uvea_error_text(error));
    }
    return UVEA_OK;
}

static enum uvea_error fill(const struct workshop *shop, const struct uvea_modification *row,
                            struct made *made, const struct made *before,
                            struct uvea_error_context *context)
{
    made->serial = row->serial;
    switch (uvea_message_kind_find(row->type)) {
    case UVEA_MESSAGE_UNIQUENESS:
        made->version = 0;
        return read_object(shop, row, &made->upload, context);
    case UVEA_MESSAGE_REAUTH:
    case UVEA_MESSAGE_RESET_UPDATE:
    case UVEA_MESSAGE_RECOVERY_UPDATE:
        UVEA_TRY(next_version(shop, before, row, &made->version, context));
        return read_object(shop, row, &made->upload, context);
    case UVEA_MESSAGE_IDENTITY_DELETION:
        UVEA_TRY(next_version(shop, before, row, &made->version, context));
        uvea_record_dummy(shop->repair->party, &made->upload);
        return UVEA_OK;
    default:
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "modification %" PRIu64 " is of a type that changes no record",
                              row->id);
    }
}

static void discard(struct made *made)
{
    if (made != NULL) {
        uvea_mem_wipe(made, sizeof(*made));
        uvea_mem_free(made);
    }
}

// A later row of the same record takes the earlier one's place.
static enum uvea_error make(struct workshop *shop, const struct uvea_modification *row,
                            struct uvea_error_context *context)
{
    struct made *before = find(shop, row->serial);
    struct made *made = uvea_mem_alloc(1, sizeof(*made));
    enum uvea_error error;

    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY_CLEANUP(fill(shop, row, made, before, context));
    if (before == NULL) {
        shop->made[shop->count++] = made;
        return UVEA_OK;
    }
    uvea_mem_wipe(&before->upload, sizeof(before->upload));
    *before = *made;
cleanup:
    discard(made);
    return error;
}

// ---- the transaction

static enum uvea_error write_all(const struct workshop *shop, const struct uvea_sync_plan *plan,
                                 struct uvea_error_context *context)
{
    struct uvea_store_record *records = uvea_mem_alloc(shop->count, sizeof(*records));
    const struct uvea_store_repair repair = {
        .write = plan->write,
        .write_count = plan->write_count,
        .delete_ids = plan->delete_ids,
        .delete_count = plan->delete_count,
        .records = records,
        .record_count = shop->count,
    };
    enum uvea_error error;

    if (records == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < shop->count; i++) {
        records[i] = (struct uvea_store_record){
            .serial = shop->made[i]->serial,
            .version = shop->made[i]->version,
        };
        uvea_record_view(&shop->made[i]->upload, records[i].eye);
    }
    error = uvea_store_repair(shop->repair->store, &repair, context);
    uvea_mem_free(records);
    return error;
}

enum uvea_error uvea_repair_run(const struct uvea_repair *repair, const struct uvea_sync_plan *plan,
                                struct uvea_error_context *context)
{
    struct workshop shop = {.repair = repair};
    enum uvea_error error = UVEA_OK;

    if (plan->write_count == 0 && plan->delete_count == 0) {
        return UVEA_OK;
    }
    shop.made = uvea_mem_alloc(plan->write_count, sizeof(*shop.made));
    if (shop.made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < plan->write_count; i++) {
        if (plan->write[i].persisted) {
            UVEA_TRY_CLEANUP(make(&shop, &plan->write[i], context));
        }
    }
    UVEA_TRY_CLEANUP(write_all(&shop, plan, context));
cleanup:
    for (size_t i = 0; i < shop.count; i++) {
        discard(shop.made[i]);
    }
    uvea_mem_free(shop.made);
    return error;
}
