#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/scan/resident.h"
#include "tests/support/cmocka.h"

#include <string.h>

// ---- SipHash-1-3 written down a second time

static uint64_t rotl(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

// At most 7 bytes, so one last block.
static uint64_t sip13(uint64_t k0, uint64_t k1, const uint8_t *bytes, size_t count)
{
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                     k1 ^ 0x7465646279746573};
    uint64_t block = (uint64_t)count << 56;

    for (size_t i = 0; i < count; i++) {
        block |= (uint64_t)bytes[i] << (8 * i);
    }
    v[3] ^= block;
    sip_round(v);
    v[0] ^= block;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t id_hash(uint32_t serial, uint16_t version)
{
    const uint8_t bytes[6] = {(uint8_t)serial,         (uint8_t)(serial >> 8),
                              (uint8_t)(serial >> 16), (uint8_t)(serial >> 24),
                              (uint8_t)version,        (uint8_t)(version >> 8)};

    return sip13(0, 0, bytes, sizeof(bytes));
}

// The first two published vectors of SipHash-1-3, key 00..0f.
static void second_hash_is_siphash(void **state)
{
    const uint8_t zero = 0;

    (void)state;
    assert_int_equal(sip13(0x0706050403020100, 0x0f0e0d0c0b0a0908, &zero, 0), 0xabac0158050fc4dc);
    assert_int_equal(sip13(0x0706050403020100, 0x0f0e0d0c0b0a0908, &zero, 1), 0xc9f49bf37d57ca93);
}

// ---- database

// Every coefficient tells its record, version and place.
static uint16_t coefficient(uint32_t record, uint16_t version, size_t at)
{
    return (uint16_t)(record * 40503u + version * 31u + at);
}

static void fill_eye(uint32_t record, uint16_t version, uint16_t *eye)
{
    for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
        eye[i] = coefficient(record, version, i);
    }
}

static void assert_record(const struct uvea_resident *resident, uint32_t index, uint16_t version)
{
    const uint16_t *record = uvea_resident_record(resident, index);

    for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
        assert_int_equal(record[i], coefficient(index, version, i));
    }
    assert_int_equal(uvea_resident_version(resident, index), version);
}

static void a_share_becomes_code_and_real_half_of_the_mask(void **state)
{
    struct uvea_iris_share *share = uvea_mem_alloc(1, sizeof(*share));
    uint16_t *eye = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*eye));

    (void)state;
    assert_non_null(share);
    assert_non_null(eye);
    for (size_t i = 0; i < UVEA_SHARE_COEFFICIENTS; i++) {
        share->code[i] = (uint16_t)i;
        share->mask[i] = (uint16_t)(i + 20000);
    }
    uvea_scan_record_of_share(share, eye);
    for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
        assert_int_equal(eye[i], i < UVEA_SHARE_COEFFICIENTS ? i : i - 12800 + 20000);
    }
    uvea_mem_free(share);
    uvea_mem_free(eye);
}

static uint16_t version_of(uint32_t record)
{
    return record % 3 == 0 ? 0 : (uint16_t)(record * 2011);
}

static void records_are_kept_in_place_up_to_the_bound(void **state)
{
    enum { RECORDS = 2 * UVEA_RESIDENT_BLOCK_RECORDS + 1 };
    uint16_t *eye = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*eye));
    const uint16_t *first = NULL;
    struct uvea_resident resident;
    uint64_t checksum = 0;
    uint32_t index = 99;

    (void)state;
    assert_non_null(eye);
    assert_int_equal(uvea_resident_init(&resident, RECORDS), UVEA_OK);
    assert_int_equal(uvea_resident_checksum(&resident), 0);
    for (uint32_t i = 0; i < RECORDS; i++) {
        fill_eye(i, version_of(i), eye);
        assert_int_equal(uvea_resident_insert(&resident, eye, version_of(i), &index), UVEA_OK);
        assert_int_equal(index, i);
        assert_int_equal(resident.count, i + 1);
        checksum += id_hash(i + 1, version_of(i));
        assert_int_equal(uvea_resident_checksum(&resident), checksum);
        if (i == 0) {
            first = uvea_resident_record(&resident, 0);
        }
    }
    assert_ptr_equal(uvea_resident_record(&resident, 0), first);
    for (uint32_t i = 0; i < RECORDS; i++) {
        assert_record(&resident, i, version_of(i));
    }
    assert_int_equal(uvea_resident_insert(&resident, eye, 0, &index), UVEA_ERR_LIMIT);
    assert_int_equal(index, RECORDS - 1);
    assert_int_equal(resident.count, RECORDS);
    assert_int_equal(uvea_resident_checksum(&resident), checksum);
    uvea_resident_deinit(&resident);
    assert_null(resident.blocks);
    uvea_resident_deinit(&resident);
    uvea_mem_free(eye);
}

static void impossible_sizes_are_refused(void **state)
{
    struct uvea_resident resident = {.count = 7};

    (void)state;
    assert_int_equal(uvea_resident_init(&resident, 0), UVEA_ERR_USAGE);
    assert_int_equal(uvea_resident_init(&resident, (size_t)UVEA_RESIDENT_RECORDS_MAX + 1),
                     UVEA_ERR_USAGE);
    assert_int_equal(uvea_resident_init(&resident, SIZE_MAX), UVEA_ERR_USAGE);
    assert_int_equal(resident.count, 7);
}

// First, middle and last record of a block, back and forth: neither the neighbours nor the number
// of records change, and the sum is that of what is held.
static void updates_change_their_record_only(void **state)
{
    enum { RECORDS = UVEA_RESIDENT_BLOCK_RECORDS + 2 };
    static const uint32_t order[] = {
        0, RECORDS - 1, 7, 0, UVEA_RESIDENT_BLOCK_RECORDS - 1, UVEA_RESIDENT_BLOCK_RECORDS, 7, 7};
    uint16_t *eye = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*eye));
    uint16_t version[RECORDS] = {0};
    struct uvea_resident resident;
    uint64_t checksum = 0;
    uint32_t index;

    (void)state;
    assert_non_null(eye);
    assert_int_equal(uvea_resident_init(&resident, RECORDS), UVEA_OK);
    for (uint32_t i = 0; i < RECORDS; i++) {
        fill_eye(i, 0, eye);
        assert_int_equal(uvea_resident_insert(&resident, eye, 0, &index), UVEA_OK);
        checksum += id_hash(i + 1, 0);
    }
    for (size_t n = 0; n < UVEA_COUNT_OF(order); n++) {
        const uint32_t at = order[n];
        // The last step goes back to version 0.
        const uint16_t next = n + 1 < UVEA_COUNT_OF(order) ? (uint16_t)(version[at] + 1 + n) : 0;
        checksum += id_hash(at + 1, next) - id_hash(at + 1, version[at]);
        version[at] = next;
        fill_eye(at, next, eye);
        assert_int_equal(uvea_resident_update(&resident, at, eye, next), UVEA_OK);
        assert_int_equal(uvea_resident_checksum(&resident), checksum);
        assert_int_equal(resident.count, RECORDS);
        for (uint32_t i = 0; i < RECORDS; i++) {
            assert_record(&resident, i, version[i]);
        }
    }
    uvea_resident_deinit(&resident);
    uvea_mem_free(eye);
}

// An id's hash must not depend on how often or in what order the hasher was used.
static void equal_content_has_equal_checksum(void **state)
{
    uint16_t *eye = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*eye));
    struct uvea_resident resident[2];
    uint32_t index;

    (void)state;
    assert_non_null(eye);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(uvea_resident_init(&resident[i], 10 + (size_t)i), UVEA_OK);
    }
    for (uint32_t n = 0; n < 3; n++) {
        assert_int_equal(uvea_resident_insert(&resident[0], eye, 0, &index), UVEA_OK);
        assert_int_not_equal(uvea_resident_checksum(&resident[0]),
                             uvea_resident_checksum(&resident[1]));
        assert_int_equal(uvea_resident_insert(&resident[1], eye, 0, &index), UVEA_OK);
        assert_int_equal(uvea_resident_checksum(&resident[0]),
                         uvea_resident_checksum(&resident[1]));
    }
    uvea_resident_deinit(&resident[0]);
    uvea_resident_deinit(&resident[1]);
    uvea_mem_free(eye);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_hash_is_siphash),
        cmocka_unit_test(a_share_becomes_code_and_real_half_of_the_mask),
        cmocka_unit_test(records_are_kept_in_place_up_to_the_bound),
        cmocka_unit_test(updates_change_their_record_only),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(equal_content_has_equal_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
