// The databases of the service benchmark.
#include "core/base/mem.h"
#include "core/field/spectrum.h"
#include "core/mpc/blake3.h"
#include "core/posix/posix.h"
#include "core/scan/resident.h"
#include "core/store/store.h"
#include "sim/cmd/bench_service.h"
#include "sim/gate/subject.h"
#include "sim/gen/template.h"
#include "sim/runtime/random.h"
#include "sim/world/population.h"

#include <inttypes.h>
#include <string.h>

enum {
    PEOPLE = 256,        // different ones, if there are so many records
    BATCH_RECORDS = 256, // of one transaction
    GENERATION = 0x5e,   // each byte of the spectra's generation
    SEED = 1,
};
#define PEOPLE_STREAM "bench/people"

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

void uvea_bench_first_person(struct uvea_template_pair *pair)
{
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, SEED, PEOPLE_STREAM);
    uvea_gen_pair(&random, pair);
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
        UVEA_TRY(uvea_bench_interrupted(context));
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
    uvea_sim_random_init(&filling->random, SEED, PEOPLE_STREAM);
    for (size_t person = 0; person < PEOPLE && person < service->records; person++) {
        make_person(filling, person);
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct uvea_store *store;
        UVEA_TRY(uvea_store_open_sqlite(rt, service->cluster.parties[party].store, NULL, &store,
                                        context));
        const enum uvea_error error = fill_one(filling, service->records, party, store, context);
        uvea_store_close(store);
        UVEA_TRY(error);
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
    if (uvea_bench_directory_records(service) == service->records) {
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
        error = uvea_bench_directory_note(service, service->records, context);
    }
    uvea_posix_close(rt);
    uvea_mem_free(filling);
    return error;
}
