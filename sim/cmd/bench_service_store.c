// The databases of the service benchmark.
#include "core/base/mem.h"
#include "core/field/spectrum.h"
#include "core/mpc/blake3.h"
#include "core/posix/posix.h"
#include "core/scan/resident.h"
#include "core/service/message.h"
#include "core/store/store.h"
#include "sim/cmd/bench.h"
#include "sim/cmd/bench_service.h"
#include "sim/gate/subject.h"
#include "sim/gen/template.h"
#include "sim/runtime/random.h"
#include "sim/world/population.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    PEOPLE = 256,        // different ones, if there are so many records
    BATCH_RECORDS = 256, // of one transaction
    GENERATION = 0x5e,   // each byte of the spectra's generation
};

// One record as one party stores it.
struct stored {
    uint16_t eye[UVEA_EYE_COUNT][UVEA_RECORD_COEFFICIENTS];
    uint8_t payload[UVEA_PAYLOAD_BYTES];
    uint8_t hash[UVEA_STORE_HASH_BYTES];
};

struct filling {
    struct uvea_sim_random random;
    struct uvea_template_pair pair;
    struct uvea_iris_share scratch[UVEA_PARTY_COUNT];
    struct uvea_iris_upload uploads[UVEA_PARTY_COUNT];
    struct uvea_field_eye field[UVEA_PARTY_COUNT];
    struct uvea_spectrum spectrum;
    struct stored people[UVEA_PARTY_COUNT][PEOPLE];
};

// ---- people

// Each coordinate is the value at zero of a random line, of which party i has the value at i + 1.
static void deal_field_eye(struct filling *filling)
{
    const struct uvea_template *iris = &filling->pair.eye[UVEA_EYE_LEFT];
    for (size_t i = 0; i < UVEA_FIELD_EYE_VALUES; i++) {
        const int value = i < UVEA_FIELD_CODE_VALUES
                              ? uvea_gate_code_at(iris, i)
                              : uvea_gate_mask_at(iris, i - UVEA_FIELD_CODE_VALUES);
        const uint16_t slope = (uint16_t)uvea_sim_random_below(&filling->random, UVEA_FIELD_PRIME);
        uint16_t at = uvea_field_from_centred((int16_t)value);
        for (size_t party = 0; party < UVEA_PARTY_COUNT; party++) {
            at = uvea_field_add(at, slope);
            filling->field[party].values[i] = at;
        }
    }
}

static void make_person(struct filling *filling, size_t person)
{
    uvea_gen_pair(&filling->random, &filling->pair);
    uvea_population_split(&filling->pair, &filling->random, filling->scratch, filling->uploads);
    deal_field_eye(filling);
    for (size_t party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct stored *stored = &filling->people[party][person];
        for (size_t eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            uvea_scan_record_of_share(&filling->uploads[party].eye[eye], stored->eye[eye]);
        }
        uvea_spectrum_of_record(&filling->field[party], &filling->spectrum);
        uvea_payload_encode(&filling->spectrum, stored->payload);
        uvea_blake3(stored->payload, UVEA_PAYLOAD_BYTES, stored->hash);
    }
}

// ---- stores

static enum uvea_error store_batch(const struct filling *filling, unsigned party, uint32_t first,
                                   size_t count, struct uvea_store *store,
                                   struct uvea_error_context *context)
{
    struct uvea_store_record records[BATCH_RECORDS] = {0};
    struct uvea_spectral_row rows[BATCH_RECORDS];
    for (size_t i = 0; i < count; i++) {
        const struct stored *stored = &filling->people[party][(first + i) % PEOPLE];
        for (size_t eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            records[i].eye[eye] = stored->eye[eye];
        }
        rows[i] = (struct uvea_spectral_row){
            .serial = first + (uint32_t)i + 1,
            .eye = UVEA_EYE_LEFT,
            .party = (unsigned char)party,
            .format = UVEA_PAYLOAD_FORMAT,
            .payload = stored->payload,
            .payload_bytes = UVEA_PAYLOAD_BYTES,
        };
        memset(rows[i].generation, GENERATION, sizeof(rows[i].generation));
        memcpy(rows[i].hash, stored->hash, sizeof(rows[i].hash));
    }
    UVEA_TRY(uvea_store_seed(store, records, count, context));
    return uvea_store_spectral_write(store, rows, count, context);
}

// From the records on that are there already.
static enum uvea_error fill_one(const struct filling *filling, uint64_t records, unsigned party,
                                struct uvea_store *store, struct uvea_error_context *context)
{
    uint64_t count;
    uint64_t serial_max;
    UVEA_TRY(uvea_store_own(store, uvea_party_at(party), context));
    UVEA_TRY(uvea_store_count(store, &count, &serial_max, context));
    if (count > records) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "the store of party %u holds %" PRIu64 " records already", party,
                              count);
    }
    while (count < records) {
        const uint64_t left = records - count;
        const size_t batch = left < BATCH_RECORDS ? (size_t)left : BATCH_RECORDS;
        UVEA_TRY(store_batch(filling, party, (uint32_t)count, batch, store, context));
        count += batch;
    }
    return UVEA_OK;
}

static enum uvea_error fill_all(const struct uvea_bench_service *service, struct uvea_rt *rt,
                                struct filling *filling, struct uvea_error_context *context)
{
    uvea_sim_random_init(&filling->random, 1, "bench/people");
    for (size_t person = 0; person < PEOPLE && person < service->records; person++) {
        make_person(filling, person);
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct uvea_store *store;
        UVEA_TRY(uvea_store_open_sqlite(rt, service->store[party], NULL, &store, context));
        const enum uvea_error error = fill_one(filling, service->records, party, store, context);
        uvea_store_close(store);
        UVEA_TRY(error);
    }
    return UVEA_OK;
}

// How many records were once put into all three stores: opening one reads all of it, so it is noted
// beside them. 0: nothing is noted.
static uint64_t noted_records(const char *note)
{
    uint64_t records = 0;
    FILE *file = fopen(note, "re");
    if (file != NULL) {
        records = fscanf(file, "%" SCNu64, &records) == 1 ? records : 0;
        (void)fclose(file);
    }
    return records;
}

static enum uvea_error note_records(const char *note, uint64_t records,
                                    struct uvea_error_context *context)
{
    FILE *file = fopen(note, "we");
    const bool written = file != NULL && fprintf(file, "%" PRIu64 "\n", records) > 0;
    if (file == NULL || fclose(file) != 0 || !written) {
        return uvea_error_set(context, UVEA_ERR_IO, "cannot write %s", note);
    }
    return UVEA_OK;
}

enum uvea_error uvea_bench_stores_fill(const struct uvea_bench_service *service, double *seconds,
                                       struct uvea_error_context *context)
{
    const struct uvea_posix_config config = uvea_posix_config_default();
    struct filling *filling;
    struct uvea_rt *rt = NULL;
    *seconds = 0;
    if (noted_records(service->note) == service->records) {
        return UVEA_OK;
    }
    filling = uvea_mem_alloc(1, sizeof(*filling));
    enum uvea_error error = filling == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
    if (error == UVEA_OK) {
        error = uvea_posix_open(&config, &rt, context);
    }
    if (error == UVEA_OK) {
        const uint64_t start_ns = uvea_rt_now_ns(rt);
        error = fill_all(service, rt, filling, context);
        *seconds = 1e-9 * (double)(uvea_rt_now_ns(rt) - start_ns);
    }
    if (error == UVEA_OK) {
        error = note_records(service->note, service->records, context);
    }
    uvea_posix_close(rt);
    uvea_mem_free(filling);
    return error;
}

// ---- requests

struct making {
    struct uvea_sim_random random;
    struct uvea_template_pair pair;
    struct uvea_iris_share scratch[UVEA_PARTY_COUNT];
    struct uvea_iris_upload uploads[UVEA_PARTY_COUNT];
};

static enum uvea_error make_request(const struct uvea_bench_service *service, struct making *making,
                                    struct uvea_bench_request *request)
{
    const struct uvea_message message = {
        .kind = UVEA_MESSAGE_UNIQUENESS,
        .message_id = request->key,
        .id = request->key,
        .s3_key = request->key,
        .skip_persistence = true,
        .has_mirror_flag = true,
        .mirror_flag = true,
    };
    uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    uint8_t entropy[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    for (size_t party = 0; party < UVEA_PARTY_COUNT; party++) {
        memcpy(public_keys[party], service->keys[party].public_key, UVEA_SHARE_KEY_BYTES);
    }
    uvea_gen_pair(&making->random, &making->pair);
    uvea_population_split(&making->pair, &making->random, making->scratch, making->uploads);
    uvea_sim_random_fill(&making->random, entropy[0], sizeof(entropy));
    UVEA_TRY(uvea_share_object_encode(
        making->uploads, (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])public_keys,
        (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])entropy, &request->object));
    return uvea_message_encode(&message, &request->envelope);
}

enum uvea_error uvea_bench_requests_make(const struct uvea_bench_service *service, uint64_t stamp,
                                         struct uvea_bench_request **requests)
{
    struct making *making = uvea_mem_alloc(1, sizeof(*making));
    struct uvea_bench_request *made = uvea_mem_alloc(service->requests, sizeof(*made));
    enum uvea_error error = making == NULL || made == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
    if (error == UVEA_OK) {
        uvea_sim_random_init(&making->random, stamp, "bench/requests");
    }
    for (uint64_t i = 0; error == UVEA_OK && i < service->requests; i++) {
        (void)snprintf(made[i].key, sizeof(made[i].key), "bench-%016" PRIx64 "-%" PRIu64, stamp, i);
        error = make_request(service, making, &made[i]);
    }
    uvea_mem_free(making);
    if (error != UVEA_OK) {
        uvea_bench_requests_free(service, made);
        return error;
    }
    *requests = made;
    return UVEA_OK;
}

void uvea_bench_requests_free(const struct uvea_bench_service *service,
                              struct uvea_bench_request *requests)
{
    for (uint64_t i = 0; requests != NULL && i < service->requests; i++) {
        uvea_buf_deinit(&requests[i].object);
        uvea_buf_deinit(&requests[i].envelope);
    }
    uvea_mem_free(requests);
}

enum uvea_error uvea_bench_requests_queue(const struct uvea_bench_service *service,
                                          const struct uvea_bench_request *requests,
                                          struct uvea_party party, struct uvea_store *store,
                                          struct uvea_error_context *context)
{
    for (uint64_t i = 0; i < service->requests; i++) {
        const struct uvea_bench_request *request = &requests[i];
        uint64_t sequence;
        UVEA_TRY(uvea_store_share_put(store, request->key, request->object.data,
                                      request->object.len, context));
        if (party.index == 0) {
            UVEA_TRY(uvea_store_topic_append(store, request->key, request->envelope.data,
                                             request->envelope.len, &sequence, context));
        }
    }
    return UVEA_OK;
}
