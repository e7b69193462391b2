// The stored spectra at start-up: used when all three parties hold them whole and from one
// conversion, made anew otherwise. What is loaded always scores as the templates do.
#include "core/base/mem.h"
#include "core/field/field.h"
#include "core/mpc/blake3.h"
#include "core/service/spectral_cache.h"
#include "tests/scan/cluster.h"
#include "tests/scan/fixture.h"
#include "tests/store/fake_rt.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 68, SESSIONS = 2, RECORDS_MAX = 128 };

struct party {
    char path[64]; // of its database
    struct uvea_store *store;
    struct uvea_resident resident;
    struct uvea_spectral spectral;
    struct uvea_spectral_cache cache;
    struct uvea_spectral_cache_stats stats;
};

struct trial {
    struct cluster cluster;
    struct party party[UVEA_PARTY_COUNT];
    struct uvea_chacha rng;
    struct uvea_template_pair *pairs; // by index, as they stand now
    size_t count;
};

static struct trial *trial;

// ---- records

static void share(const struct uvea_template_pair *pair, uint16_t (*eyes)[UVEA_RECORD_COEFFICIENTS])
{
    struct uvea_iris_upload *uploads = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*uploads));
    assert_non_null(uploads);
    fixture_split(&trial->rng, pair, uploads);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_scan_record_of_share(&uploads[p].eye[UVEA_EYE_LEFT], eyes[p]);
    }
    uvea_mem_free(uploads);
}

static void add_record(void)
{
    static uint16_t eyes[UVEA_PARTY_COUNT][UVEA_RECORD_COEFFICIENTS];
    fixture_pair(&trial->rng, &trial->pairs[trial->count]);
    share(&trial->pairs[trial->count], eyes);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uint32_t index;
        assert_int_equal(uvea_resident_insert(&trial->party[p].resident, eyes[p], 0, &index),
                         UVEA_OK);
        assert_int_equal(index, trial->count);
    }
    trial->count++;
}

static void update_record(uint32_t index, unsigned parties)
{
    static uint16_t eyes[UVEA_PARTY_COUNT][UVEA_RECORD_COEFFICIENTS];
    share(&trial->pairs[index], eyes);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct uvea_resident *resident = &trial->party[p].resident;
        const uint16_t version = uvea_resident_version(resident, index);
        if ((parties >> p & 1) != 0) {
            assert_int_equal(
                uvea_resident_update(resident, index, eyes[p], (uint16_t)(version + 1)), UVEA_OK);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    trial = uvea_mem_alloc(1, sizeof(*trial));
    assert_non_null(trial);
    trial->pairs = uvea_mem_alloc(RECORDS_MAX, sizeof(*trial->pairs));
    assert_non_null(trial->pairs);
    uvea_chacha_init_seeded(&trial->rng, 1);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct party *party = &trial->party[p];
        (void)snprintf(party->path, sizeof(party->path), "/tmp/uvea-spectral-%d-%u.db", getpid(),
                       p);
        (void)unlink(party->path);
        assert_int_equal(
            uvea_store_open_sqlite(uvea_test_rt(), party->path, NULL, &party->store, NULL),
            UVEA_OK);
        assert_int_equal(uvea_resident_init(&trial->party[p].resident, RECORDS_MAX), UVEA_OK);
    }
    for (unsigned i = 0; i < RECORDS; i++) {
        add_record();
    }
    cluster_open(&trial->cluster, SESSIONS, 0, UVEA_PRF_CHACHA8);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cluster_close(&trial->cluster);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_store_close(trial->party[p].store);
        (void)unlink(trial->party[p].path);
        uvea_resident_deinit(&trial->party[p].resident);
        uvea_spectral_deinit(&trial->party[p].spectral);
    }
    uvea_mem_free(trial->pairs);
    uvea_mem_free(trial);
    return 0;
}

// ---- loads

static enum uvea_error load_party(struct cluster *cluster, unsigned p, void *arg,
                                  struct uvea_error_context *context)
{
    struct party *party = &trial->party[p];
    const struct uvea_spectral_load load = {
        .rt = &cluster->rt[p].rt,
        .sessions = cluster->at[p],
        .session_count = cluster->session_count,
        .resident = &party->resident,
    };
    (void)arg;
    return uvea_spectral_cache_load(&load, party->store, uvea_party_at(p), UVEA_EYE_LEFT,
                                    &party->spectral, &party->cache, &party->stats, context);
}

// As after a restart: with nothing in memory.
static void begin_load(void)
{
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_spectral_deinit(&trial->party[p].spectral);
        assert_int_equal(uvea_spectral_init(&trial->party[p].spectral,
                                            &uvea_spectral_kernel_portable, RECORDS_MAX),
                         UVEA_OK);
    }
}

// ---- what a record's spectrum is in the clear

static bool bit(const uint64_t *plane, size_t at)
{
    return (plane[at / 64] >> at % 64 & 1) != 0;
}

static void clear_spectrum(const struct uvea_template *template, struct uvea_spectrum *out)
{
    struct uvea_field_eye *eye = uvea_mem_alloc(1, sizeof(*eye));
    assert_non_null(eye);
    for (size_t i = 0; i < UVEA_FIELD_CODE_VALUES; i++) {
        const size_t row = i / 800;
        const size_t column = i % 800 / 4;
        const size_t wavelet = i % 4 / 2;
        const size_t part = i % 2;
        const size_t at = 6400 * part + 3200 * wavelet + 800 * (row % 4) + 4 * column + row / 4;
        const bool valid = bit(template->mask, i);
        eye->values[at] = !valid ? 0 : (bit(template->code, i) ? UVEA_FIELD_PRIME - 1 : 1);
        if (part == 0) {
            eye->values[UVEA_FIELD_CODE_VALUES + at] = valid;
        }
    }
    uvea_spectrum_of_record(eye, out);
    uvea_mem_free(eye);
}

// ---- rows as they are stored

struct stored {
    struct uvea_spectral_row row;
    uint8_t payload[UVEA_PAYLOAD_BYTES];
    unsigned rows;
};

static enum uvea_error keep_row(void *arg, const struct uvea_spectral_row *row)
{
    struct stored *stored = arg;
    stored->row = *row;
    memcpy(stored->payload, row->payload,
           row->payload_bytes < UVEA_PAYLOAD_BYTES ? row->payload_bytes : UVEA_PAYLOAD_BYTES);
    stored->row.payload = stored->payload;
    stored->rows++;
    return UVEA_OK;
}

static unsigned read_row(unsigned party, uint32_t serial, struct stored *stored)
{
    stored->rows = 0;
    assert_int_equal(uvea_store_spectral_read(trial->party[party].store, UVEA_EYE_LEFT, serial, 1,
                                              keep_row, stored, NULL),
                     UVEA_OK);
    return stored->rows;
}

static void write_row(unsigned party, const struct stored *stored)
{
    assert_int_equal(uvea_store_spectral_write(trial->party[party].store, &stored->row, 1, NULL),
                     UVEA_OK);
}

// Every record's row is there at all three parties, of one generation and of this record's version;
// the three shares make the template's spectrum; and what is in memory is what is stored.
static void assert_record(uint32_t index, const struct uvea_spectrum *want)
{
    static struct stored stored[UVEA_PARTY_COUNT];
    static struct uvea_spectrum shares[UVEA_PARTY_COUNT];
    static const uint32_t weights[UVEA_PARTY_COUNT] = {3, UVEA_FIELD_PRIME - 3, 1};
    const struct uvea_spectral_kernel *kernel = &uvea_spectral_kernel_portable;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct party *party = &trial->party[p];
        assert_int_equal(read_row(p, index + 1, &stored[p]), 1);
        assert_int_equal(stored[p].row.version, uvea_resident_version(&party->resident, index));
        assert_memory_equal(stored[p].row.generation, stored[0].row.generation,
                            UVEA_STORE_GENERATION_BYTES);
        assert_int_equal(
            uvea_payload_decode(stored[p].payload, stored[p].row.payload_bytes, &shares[p], NULL),
            UVEA_OK);
        void *tile = uvea_mem_alloc(1, kernel->tile_bytes);
        assert_non_null(tile);
        memcpy(tile, party->spectral.tiles[index / kernel->tile_records], kernel->tile_bytes);
        kernel->tile_put(tile, index % kernel->tile_records, &shares[p]);
        assert_memory_equal(tile, party->spectral.tiles[index / kernel->tile_records],
                            kernel->tile_bytes);
        uvea_mem_free(tile);
    }
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        uint32_t sum = 0;
        for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
            sum += weights[p] * shares[p].values[i] % UVEA_FIELD_PRIME;
        }
        if (sum % UVEA_FIELD_PRIME != want->values[i]) {
            fail_msg("record %u, value %zu", index + 1, i);
        }
    }
}

static void assert_all(void)
{
    static struct uvea_spectrum want;
    for (uint32_t i = 0; i < trial->count; i++) {
        clear_spectrum(&trial->pairs[i].eye[UVEA_EYE_LEFT], &want);
        assert_record(i, &want);
    }
}

static void expect_load(uint64_t reused, uint64_t converted)
{
    begin_load();
    cluster_run(&trial->cluster, load_party, NULL);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(trial->party[p].spectral.count, trial->count);
        assert_int_equal(trial->party[p].stats.reused, reused);
        assert_int_equal(trial->party[p].stats.converted, converted);
        assert_memory_equal(trial->party[p].cache.generation, trial->party[0].cache.generation,
                            UVEA_STORE_GENERATION_BYTES);
    }
}

// ---- tests

static void what_is_stored_is_used(void **state)
{
    (void)state;
    expect_load(0, RECORDS);
    assert_all();
    expect_load(RECORDS, 0);
    assert_all();
}

static void spoil_version(struct stored *stored)
{
    stored->row.version++;
}

static void spoil_party(struct stored *stored)
{
    stored->row.party = (unsigned char)((stored->row.party + 1) % UVEA_PARTY_COUNT);
}

static void spoil_format(struct stored *stored)
{
    stored->row.format++;
}

static void spoil_generation(struct stored *stored)
{
    stored->row.generation[15] ^= 1;
}

static void spoil_payload(struct stored *stored)
{
    stored->payload[UVEA_PAYLOAD_BYTES - 1] ^= 1;
}

static void spoil_hash(struct stored *stored)
{
    stored->row.hash[31] ^= 0x80;
}

static void spoil_length(struct stored *stored)
{
    stored->row.payload_bytes--;
    uvea_blake3(stored->payload, stored->row.payload_bytes, stored->row.hash);
}

static void spoil_range(struct stored *stored)
{
    stored->payload[0] = 0xff; // the first value's low and high byte
    stored->payload[8] = 0x7f;
    uvea_blake3(stored->payload, UVEA_PAYLOAD_BYTES, stored->row.hash);
}

// One spoilt row at one party: its batch is converted anew by all, the others are used.
static void a_spoilt_row_is_made_anew(void **state)
{
    static void (*const spoils[])(struct stored * stored) = {
        spoil_version, spoil_party, spoil_format, spoil_generation,
        spoil_payload, spoil_hash,  spoil_length, spoil_range,
    };
    static struct stored stored;
    static const uint32_t serials[] = {65, 66, 67, 68, 65, 66, 67, 1};
    (void)state;
    expect_load(0, RECORDS);
    for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
        const uint32_t serial = serials[i];
        const unsigned party = (unsigned)(i % UVEA_PARTY_COUNT);
        const uint64_t batch = serial <= 64 ? 64 : 4;
        assert_int_equal(read_row(party, serial, &stored), 1);
        spoils[i](&stored);
        write_row(party, &stored);
        expect_load(RECORDS - batch, batch);
        expect_load(RECORDS, 0);
    }
    assert_all();
}

static void a_party_without_rows_makes_all_convert(void **state)
{
    (void)state;
    expect_load(0, RECORDS);
    assert_int_equal(uvea_store_spectral_trim(trial->party[2].store, 65, NULL), UVEA_OK);
    expect_load(64, 4);
    assert_int_equal(uvea_store_spectral_trim(trial->party[0].store, 0, NULL), UVEA_OK);
    expect_load(0, RECORDS);
    assert_all();
}

// ---- rows of a life

static enum uvea_error convert_last(struct cluster *cluster, unsigned p, void *arg,
                                    struct uvea_error_context *context)
{
    struct party *party = &trial->party[p];
    const unsigned *parties = arg;
    const uint32_t index = (uint32_t)party->resident.count - 1;
    const uint16_t *eye = uvea_resident_record(&party->resident, index);
    struct uvea_spectrum *spectrum = uvea_mem_alloc(1, sizeof(*spectrum));
    enum uvea_error error = uvea_spectral_convert(cluster->at[p][0], &eye, 1, spectrum);
    if (error == UVEA_OK && (*parties >> p & 1) != 0) {
        error = uvea_spectral_cache_put(&party->cache, index + 1,
                                        uvea_resident_version(&party->resident, index), spectrum,
                                        context);
    }
    uvea_mem_free(spectrum);
    return error;
}

static void rows_put_in_a_life_are_used_in_the_next(void **state)
{
    unsigned all = 7;
    (void)state;
    expect_load(0, RECORDS);
    add_record();
    cluster_run(&trial->cluster, convert_last, &all);
    expect_load(RECORDS + 1, 0);
    assert_all();
    fixture_pair(&trial->rng, &trial->pairs[RECORDS]);
    update_record(RECORDS, 7);
    cluster_run(&trial->cluster, convert_last, &all);
    expect_load(RECORDS + 1, 0);
    assert_all();
}

static void a_row_that_one_party_lacks_is_made_anew(void **state)
{
    unsigned two = 5;
    (void)state;
    expect_load(0, RECORDS);
    add_record();
    cluster_run(&trial->cluster, convert_last, &two);
    expect_load(64, 5);
    assert_all();
}

static void a_row_ahead_of_its_record_is_made_anew(void **state)
{
    static struct stored stored;
    unsigned all = 7;
    (void)state;
    expect_load(0, RECORDS);
    // A new record and its row, but the record is lost in a crash.
    add_record();
    cluster_run(&trial->cluster, convert_last, &all);
    trial->count--;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct uvea_resident shorter = {0};
        assert_int_equal(uvea_resident_init(&shorter, RECORDS_MAX), UVEA_OK);
        for (uint32_t i = 0; i < RECORDS; i++) {
            uint32_t index;
            assert_int_equal(
                uvea_resident_insert(&shorter, uvea_resident_record(&trial->party[p].resident, i),
                                     0, &index),
                UVEA_OK);
        }
        uvea_resident_deinit(&trial->party[p].resident);
        trial->party[p].resident = shorter;
    }
    expect_load(RECORDS, 0);
    assert_int_equal(read_row(0, RECORDS + 1, &stored), 0);
    assert_all();
}

static void a_deletion_is_the_same_everywhere(void **state)
{
    static struct uvea_spectrum dummy;
    static struct stored stored;
    static const uint8_t zeros[UVEA_STORE_GENERATION_BYTES];
    (void)state;
    expect_load(0, RECORDS);
    memset(trial->pairs[4].eye[UVEA_EYE_LEFT].code, 0, sizeof(trial->pairs[4].eye[0].code));
    memset(trial->pairs[4].eye[UVEA_EYE_LEFT].mask, 0xff, sizeof(trial->pairs[4].eye[0].mask));
    update_record(4, 7);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(uvea_spectral_cache_put_deletion(&trial->party[p].cache, 5, 1, NULL),
                         UVEA_OK);
    }
    expect_load(RECORDS, 0);
    clear_spectrum(&trial->pairs[4].eye[UVEA_EYE_LEFT], &dummy);
    assert_record(4, &dummy);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(read_row(p, 5, &stored), 1);
        assert_memory_equal(stored.row.generation, zeros, sizeof(zeros));
    }
    assert_all();
}

// ---- what must not be

static void other_versions_are_refused(void **state)
{
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];
    (void)state;
    update_record(66, 2);
    begin_load();
    cluster_try(&trial->cluster, load_party, NULL, outcomes);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(outcomes[p].error, UVEA_ERR_STATE);
        assert_non_null(strstr(outcomes[p].context.text, "spectra of records 65 to 68"));
        assert_non_null(strstr(outcomes[p].context.text, p == 1 ? "party " : "party 1 holds"));
    }
}

static void an_empty_database_loads(void **state)
{
    (void)state;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_resident_deinit(&trial->party[p].resident);
        assert_int_equal(uvea_resident_init(&trial->party[p].resident, RECORDS_MAX), UVEA_OK);
    }
    trial->count = 0;
    expect_load(0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_stored_is_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_spoilt_row_is_made_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_party_without_rows_makes_all_convert, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_put_in_a_life_are_used_in_the_next, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_row_that_one_party_lacks_is_made_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_row_ahead_of_its_record_is_made_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_deletion_is_the_same_everywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_versions_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_database_loads, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
