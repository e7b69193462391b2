#include "core/service/spectral_cache.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/mpc/blake3.h"
#include "core/mpc/round.h"
#include "core/scan/fanout.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

_Static_assert((int)UVEA_STORE_GENERATION_BYTES == (int)UVEA_PRF_SEED_BYTES,
               "a generation is a shared seed");
_Static_assert((int)UVEA_STORE_HASH_BYTES == (int)UVEA_BLAKE3_HASH_BYTES, "hash of a payload");

enum {
    RECORDS = UVEA_SPECTRAL_BATCH_RECORDS,
    STEP_RECORDS = 4,         // of one exchange: bounds what a session needs at a time
    MANIFEST_ENTRY_BYTES = 6, // serial, version
    MANIFEST_BYTES_MAX = 1 + RECORDS * MANIFEST_ENTRY_BYTES,
    STANDING_BYTES_MAX = 1 + RECORDS * UVEA_STORE_GENERATION_BYTES,
};

// A load under way; counted on several tasks.
struct loading {
    const struct uvea_spectral_load *load;
    const struct uvea_spectral_cache *cache;
    struct uvea_spectral *spectral;
    size_t session_count;
    atomic_uint_fast64_t reused;
    atomic_uint_fast64_t converted;
};

// One batch, in one task.
struct batch {
    struct loading *loading;
    struct uvea_session *session;
    uint32_t first; // index
    size_t count;
    size_t good; // stored rows that are as they should be, from the first on without a gap
    uint8_t generations[RECORDS][UVEA_STORE_GENERATION_BYTES];
    const uint16_t *eyes[STEP_RECORDS];
    struct uvea_spectrum spectra[STEP_RECORDS];
    struct uvea_spectral_row rows[RECORDS];
    uint8_t (*payloads)[UVEA_PAYLOAD_BYTES]; // count of them, owned; only where they are made
};

// ---- what all three must agree on

static size_t write_manifest(const struct batch *batch, uint8_t out[MANIFEST_BYTES_MAX])
{
    const struct uvea_resident *resident = batch->loading->load->resident;
    uint8_t *at = out;

    *at++ = (uint8_t)batch->loading->cache->eye;
    for (size_t i = 0; i < batch->count; i++) {
        const uint32_t index = batch->first + (uint32_t)i;
        uvea_store_le32(at, index + 1);
        uvea_store_le16(at + 4, uvea_resident_version(resident, index));
        at += MANIFEST_ENTRY_BYTES;
    }
    return (size_t)(at - out);
}

static enum uvea_error send_both(struct uvea_session *session, const uint8_t *bytes, size_t count)
{
    UVEA_TRY(uvea_mpc_send_bytes(session, UVEA_PEER_PREV, bytes, count));
    return uvea_mpc_send_bytes(session, UVEA_PEER_NEXT, bytes, count);
}

static enum uvea_error check_manifest(struct batch *batch)
{
    static const enum uvea_peer peers[UVEA_PEER_COUNT] = {UVEA_PEER_PREV, UVEA_PEER_NEXT};
    struct uvea_session *session = batch->session;
    uint8_t own[MANIFEST_BYTES_MAX];
    const size_t count = write_manifest(batch, own);

    UVEA_TRY(send_both(session, own, count));
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        const uint8_t *theirs;
        size_t their_count;
        UVEA_TRY(uvea_mpc_recv_bytes(session, peers[i], MANIFEST_BYTES_MAX, &theirs, &their_count));
        if (their_count != count || memcmp(theirs, own, count) != 0) {
            return uvea_error_set(&session->error, UVEA_ERR_STATE,
                                  "spectra of records %" PRIu32 " to %" PRIu32
                                  ": party %u holds other serials or versions",
                                  batch->first + 1, batch->first + (uint32_t)batch->count,
                                  uvea_party_peer(session->party, peers[i]).index);
        }
    }
    return UVEA_OK;
}

// Whether all three parties hold whole rows of the same generations.
static enum uvea_error compare_standing(struct batch *batch, bool *reuse)
{
    static const enum uvea_peer peers[UVEA_PEER_COUNT] = {UVEA_PEER_PREV, UVEA_PEER_NEXT};
    struct uvea_session *session = batch->session;
    const bool whole = batch->good == batch->count;
    uint8_t own[STANDING_BYTES_MAX] = {whole};
    const size_t whole_bytes = 1 + batch->count * UVEA_STORE_GENERATION_BYTES;
    const size_t count = whole ? whole_bytes : 1;

    memcpy(own + 1, batch->generations, count - 1);
    *reuse = whole;
    UVEA_TRY(send_both(session, own, count));
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        const uint8_t *theirs;
        size_t their_count;
        UVEA_TRY(uvea_mpc_recv_bytes(session, peers[i], STANDING_BYTES_MAX, &theirs, &their_count));
        const bool well_formed =
            (their_count == 1 && theirs[0] == 0) || (their_count == whole_bytes && theirs[0] == 1);
        if (!well_formed) {
            return uvea_error_set(&session->error, UVEA_ERR_PEER,
                                  "session %u: party %u sent no list of generations", session->id,
                                  uvea_party_peer(session->party, peers[i]).index);
        }
        *reuse =
            *reuse && their_count == count &&
            (memcmp(theirs, own, count) == 0 || uvea_plant_active(UVEA_PLANT_STALE_GENERATION));
    }
    return UVEA_OK;
}

// ---- stored rows

static bool is_sound(const struct batch *batch, const struct uvea_spectral_row *row, uint32_t index,
                     struct uvea_spectrum *spectrum)
{
    const struct loading *loading = batch->loading;
    uint8_t hash[UVEA_BLAKE3_HASH_BYTES];

    if (row->serial != index + 1 || row->eye != loading->cache->eye ||
        (row->version != uvea_resident_version(loading->load->resident, index) &&
         !uvea_plant_active(UVEA_PLANT_STALE_GENERATION)) ||
        row->party != loading->cache->party.index || row->format != UVEA_PAYLOAD_FORMAT ||
        row->payload_bytes != UVEA_PAYLOAD_BYTES) {
        return false;
    }
    uvea_blake3(row->payload, row->payload_bytes, hash);
    return memcmp(hash, row->hash, sizeof(hash)) == 0 &&
           uvea_payload_decode(row->payload, row->payload_bytes, spectrum, NULL) == UVEA_OK;
}

// Rows come ascending: the first one that is missing or unsound ends the good part.
static enum uvea_error see_row(void *arg, const struct uvea_spectral_row *row)
{
    struct batch *batch = arg;
    const uint32_t index = batch->first + (uint32_t)batch->good;

    if (batch->good < batch->count && is_sound(batch, row, index, &batch->spectra[0])) {
        memcpy(batch->generations[batch->good], row->generation, UVEA_STORE_GENERATION_BYTES);
        uvea_spectral_set(batch->loading->spectral, index, &batch->spectra[0]);
        batch->good++;
    }
    return UVEA_OK;
}

static void make_row(const struct uvea_spectral_cache *cache, uint32_t serial, uint16_t version,
                     const uint8_t generation[UVEA_STORE_GENERATION_BYTES],
                     const struct uvea_spectrum *spectrum, uint8_t payload[UVEA_PAYLOAD_BYTES],
                     struct uvea_spectral_row *row)
{
    uvea_payload_encode(spectrum, payload);
    *row = (struct uvea_spectral_row){
        .serial = serial,
        .version = version,
        .eye = cache->eye,
        .party = cache->party.index,
        .format = UVEA_PAYLOAD_FORMAT,
        .payload = payload,
        .payload_bytes = UVEA_PAYLOAD_BYTES,
    };
    memcpy(row->generation, generation, UVEA_STORE_GENERATION_BYTES);
    uvea_blake3(payload, UVEA_PAYLOAD_BYTES, row->hash);
}

// ---- conversion

static enum uvea_error convert_step(struct batch *batch, size_t at, size_t count,
                                    const uint8_t generation[UVEA_STORE_GENERATION_BYTES])
{
    const struct uvea_resident *resident = batch->loading->load->resident;

    for (size_t i = 0; i < count; i++) {
        batch->eyes[i] = uvea_resident_record(resident, batch->first + (uint32_t)(at + i));
    }
    UVEA_TRY(uvea_spectral_convert(batch->session, batch->eyes, count, batch->spectra));
    for (size_t i = 0; i < count; i++) {
        const uint32_t index = batch->first + (uint32_t)(at + i);
        make_row(batch->loading->cache, index + 1, uvea_resident_version(resident, index),
                 generation, &batch->spectra[i], batch->payloads[at + i], &batch->rows[at + i]);
        uvea_spectral_set(batch->loading->spectral, index, &batch->spectra[i]);
    }
    return UVEA_OK;
}

static enum uvea_error convert_batch(struct batch *batch, struct uvea_error_context *context)
{
    uint8_t generation[UVEA_STORE_GENERATION_BYTES];

    batch->payloads = uvea_mem_alloc(batch->count, UVEA_PAYLOAD_BYTES);
    if (batch->payloads == NULL) {
        return uvea_error_set(&batch->session->error, UVEA_ERR_MEMORY, "out of memory");
    }
    UVEA_TRY(uvea_session_shared_seed(batch->session, generation));
    for (size_t at = 0; at < batch->count; at += STEP_RECORDS) {
        const size_t left = batch->count - at;
        UVEA_TRY(convert_step(batch, at, left < STEP_RECORDS ? left : STEP_RECORDS, generation));
    }
    UVEA_TRY(uvea_rt_point(batch->loading->load->rt, UVEA_POINT_SPECTRAL_CONVERTED));
    return uvea_store_spectral_write(batch->loading->cache->store, batch->rows, batch->count,
                                     context);
}

// ---- all batches

static enum uvea_error load_batch(struct batch *batch, struct uvea_error_context *context)
{
    const struct uvea_spectral_cache *cache = batch->loading->cache;
    bool reuse = false;

    UVEA_TRY(check_manifest(batch));
    UVEA_TRY(uvea_store_spectral_read(cache->store, cache->eye, batch->first + 1,
                                      (uint32_t)batch->count, see_row, batch, context));
    UVEA_TRY(compare_standing(batch, &reuse));
    if (reuse) {
        atomic_fetch_add(&batch->loading->reused, batch->count);
        return UVEA_OK;
    }
    atomic_fetch_add(&batch->loading->converted, batch->count);
    return convert_batch(batch, context);
}

static enum uvea_error load_item(void *arg, size_t item, struct uvea_error_context *context)
{
    struct loading *loading = arg;
    const size_t first = item * RECORDS;
    const size_t left = loading->load->resident->count - first;
    struct batch *batch = uvea_mem_alloc(1, sizeof(*batch));
    struct uvea_error_context inner = {{0}};

    if (batch == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "spectra: out of memory");
    }
    batch->loading = loading;
    batch->session = loading->load->sessions[item % loading->session_count];
    batch->first = (uint32_t)first;
    batch->count = left < RECORDS ? left : RECORDS;
    enum uvea_error error = load_batch(batch, &inner);
    if (error != UVEA_OK) {
        // The store's sentence, or else the session's.
        const char *text = inner.text[0] != '\0' ? inner.text : batch->session->error.text;
        error =
            uvea_error_set(context, error, "%s", text[0] != '\0' ? text : uvea_error_text(error));
    }
    if (batch->payloads != NULL) {
        uvea_mem_wipe(batch->payloads, batch->count * UVEA_PAYLOAD_BYTES);
    }
    uvea_mem_free(batch->payloads);
    uvea_mem_wipe(batch, sizeof(*batch));
    uvea_mem_free(batch);
    return error;
}

static enum uvea_error agree_generation(const struct uvea_spectral_load *load,
                                        struct uvea_spectral_cache *cache,
                                        struct uvea_error_context *context)
{
    struct uvea_session *session = load->sessions[0];

    return uvea_session_report(session, uvea_session_shared_seed(session, cache->generation),
                               context);
}

enum uvea_error uvea_spectral_cache_load(const struct uvea_spectral_load *load,
                                         struct uvea_store *store, struct uvea_party party,
                                         enum uvea_eye eye, struct uvea_spectral *spectral,
                                         struct uvea_spectral_cache *cache,
                                         struct uvea_spectral_cache_stats *stats,
                                         struct uvea_error_context *context)
{
    const size_t records = load->resident->count;
    const size_t items = (records + RECORDS - 1) / RECORDS;
    struct loading loading = {
        .load = load,
        .cache = cache,
        .spectral = spectral,
        .session_count = load->session_count < UVEA_SPECTRAL_SESSIONS_MAX
                             ? load->session_count
                             : UVEA_SPECTRAL_SESSIONS_MAX,
    };

    UVEA_CHECK(spectral->count == 0);
    *cache = (struct uvea_spectral_cache){
        .rt = load->rt,
        .store = store,
        .party = party,
        .eye = eye,
    };
    UVEA_TRY(uvea_store_spectral_trim(store, (uint32_t)records, context));
    UVEA_TRY(agree_generation(load, cache, context));
    if (records > 0) {
        UVEA_TRY(uvea_spectral_grow(spectral, records));
        UVEA_TRY(uvea_fanout(load->rt, "spectral cache", load_item, &loading, items,
                             loading.session_count, context));
    }
    if (stats != NULL) {
        *stats = (struct uvea_spectral_cache_stats){
            .reused = atomic_load(&loading.reused),
            .converted = atomic_load(&loading.converted),
        };
    }
    return UVEA_OK;
}

// ---- one record

static enum uvea_error put(struct uvea_spectral_cache *cache, uint32_t serial, uint16_t version,
                           const uint8_t generation[UVEA_STORE_GENERATION_BYTES],
                           const struct uvea_spectrum *record, struct uvea_error_context *context)
{
    struct uvea_spectral_row row;
    uint8_t *payload = uvea_mem_alloc(1, UVEA_PAYLOAD_BYTES);

    if (payload == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "spectra: out of memory");
    }
    make_row(cache, serial, version, generation, record, payload, &row);
    const enum uvea_error error = uvea_store_spectral_write(cache->store, &row, 1, context);
    uvea_mem_wipe(payload, UVEA_PAYLOAD_BYTES);
    uvea_mem_free(payload);
    UVEA_TRY(error);
    return uvea_rt_point(cache->rt, UVEA_POINT_SPECTRAL_STORED);
}

enum uvea_error uvea_spectral_cache_put(struct uvea_spectral_cache *cache, uint32_t serial,
                                        uint16_t version, const struct uvea_spectrum *record,
                                        struct uvea_error_context *context)
{
    return put(cache, serial, version, cache->generation, record, context);
}

enum uvea_error uvea_spectral_cache_put_deletion(struct uvea_spectral_cache *cache, uint32_t serial,
                                                 uint16_t version,
                                                 struct uvea_error_context *context)
{
    static const uint8_t zeros[UVEA_STORE_GENERATION_BYTES];
    struct uvea_spectrum *dummy = uvea_mem_alloc(1, sizeof(*dummy));

    if (dummy == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "spectra: out of memory");
    }
    uvea_spectral_deletion_dummy(dummy);
    const enum uvea_error error = put(cache, serial, version, zeros, dummy, context);
    uvea_mem_free(dummy);
    return error;
}
