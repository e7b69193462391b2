#include "core/coord/state.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/coord/state_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A random UUID (RFC 9562, version 4).
static enum uvea_error draw_id(struct uvea_rt *rt, struct uvea_coord_id *id)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[16];
    size_t at = 0;

    UVEA_TRY(uvea_rt_entropy(rt, bytes, sizeof(bytes)));
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            id->text[at++] = '-';
        }
        id->text[at++] = digits[bytes[i] >> 4];
        id->text[at++] = digits[bytes[i] & 15];
    }
    id->text[at] = '\0';
    return UVEA_OK;
}

enum uvea_error uvea_coord_open(struct uvea_rt *rt, struct uvea_party party, const char *image_name,
                                struct uvea_coord **coord)
{
    struct uvea_coord *opened = uvea_mem_alloc(1, sizeof(*opened));
    enum uvea_error error;

    if (opened == NULL) {
        return UVEA_ERR_MEMORY;
    }
    opened->rt = rt;
    opened->party = party;
    (void)snprintf(opened->image_name, sizeof(opened->image_name), "%s", image_name);
    UVEA_TRY_CLEANUP(uvea_rt_lock_open(rt, &opened->lock));
    UVEA_TRY_CLEANUP(draw_id(rt, &opened->boot));
    *coord = opened;

cleanup:
    if (error != UVEA_OK) {
        uvea_coord_close(opened);
    }
    return error;
}

void uvea_coord_close(struct uvea_coord *coord)
{
    if (coord != NULL) {
        uvea_buf_deinit(&coord->sync);
        uvea_rt_lock_close(coord->rt, coord->lock);
        uvea_mem_free(coord);
    }
}

const char *uvea_coord_boot_id(const struct uvea_coord *coord)
{
    return coord->boot.text;
}

// ---- what is told

static void take(const struct uvea_coord *coord)
{
    uvea_rt_lock_take(coord->rt, coord->lock);
}

static void release(const struct uvea_coord *coord)
{
    uvea_rt_lock_release(coord->rt, coord->lock);
}

void uvea_coord_set_ready(struct uvea_coord *coord, bool ready)
{
    take(coord);
    coord->ready = ready;
    release(coord);
}

static bool is_listed(const struct uvea_coord *coord, const char *boot_id)
{
    for (size_t i = 0; i < coord->verified_count; i++) {
        if (strcmp(coord->verified[i].text, boot_id) == 0) {
            return true;
        }
    }
    return false;
}

enum uvea_error uvea_coord_verify_peer(struct uvea_coord *coord, struct uvea_party peer,
                                       const char *boot_id)
{
    enum uvea_error error = UVEA_OK;

    UVEA_CHECK(uvea_coord_id_valid(boot_id) && peer.index < UVEA_PARTY_COUNT);
    take(coord);
    if (!is_listed(coord, boot_id)) {
        if (coord->verified_count == UVEA_COORD_PEERS_MAX) {
            error = UVEA_ERR_LIMIT;
            goto cleanup;
        }
        memcpy(coord->verified[coord->verified_count++].text, boot_id,
               sizeof(coord->verified[0].text));
    }
    memcpy(coord->last[peer.index].text, boot_id, sizeof(coord->last[0].text));

cleanup:
    release(coord);
    return error;
}

bool uvea_coord_is_verified(const struct uvea_coord *coord, struct uvea_party peer,
                            const char *boot_id)
{
    take(coord);
    const char *last = coord->last[peer.index].text;
    const bool is = last[0] != '\0' && strcmp(last, boot_id) == 0;
    release(coord);
    return is;
}

enum uvea_error uvea_coord_publish_sync(struct uvea_coord *coord, const struct uvea_buf *json)
{
    struct uvea_buf copy = {0};

    UVEA_CHECK(json->len > 0);
    UVEA_TRY(uvea_buf_append(&copy, json->data, json->len));
    take(coord);
    struct uvea_buf old = coord->sync;
    coord->sync = copy;
    release(coord);
    uvea_buf_deinit(&old);
    return UVEA_OK;
}

uint32_t uvea_coord_publish_batch(struct uvea_coord *coord, uint64_t batch_id, uint32_t count)
{
    UVEA_CHECK(batch_id >= 1);
    take(coord);
    UVEA_CHECK(batch_id >= coord->current.batch_id);
    if (batch_id > coord->current.batch_id) {
        coord->before = coord->current;
        coord->current = (struct uvea_coord_size){.batch_id = batch_id};
    }
    if (coord->current.count == 0) {
        coord->current.count = count;
    }
    const uint32_t published = coord->current.count;
    release(coord);
    return published;
}

void uvea_coord_publish_entries(struct uvea_coord *coord, const bool *valid, size_t count,
                                const uint8_t sha[UVEA_COORD_SHA_BYTES])
{
    UVEA_CHECK(count <= UVEA_COORD_ENTRIES_MAX);
    take(coord);
    coord->entries = (struct uvea_coord_entries){.count = count};
    for (size_t i = 0; i < count; i++) {
        coord->entries.valid[i] = valid[i];
    }
    memcpy(coord->entries.sha, sha, sizeof(coord->entries.sha));
    release(coord);
}

// ---- stopping

void uvea_coord_stop(struct uvea_coord *coord, enum uvea_error error, const char *format, ...)
{
    va_list args;

    UVEA_CHECK(error != UVEA_OK);
    va_start(args, format);
    take(coord);
    if (coord->stopped == UVEA_OK) {
        coord->stopped = error;
        (void)vsnprintf(coord->stop_reason.text, sizeof(coord->stop_reason.text), format, args);
    }
    release(coord);
    va_end(args);
}

enum uvea_error uvea_coord_stopped(const struct uvea_coord *coord,
                                   struct uvea_error_context *context)
{
    take(coord);
    const enum uvea_error error = coord->stopped;
    if (error != UVEA_OK && context != NULL) {
        *context = coord->stop_reason;
    }
    release(coord);
    return error;
}
