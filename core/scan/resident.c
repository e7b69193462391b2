#include "core/scan/resident.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <string.h>

enum {
    ID_BYTES = 6, // u32 serial, u16 version
    HASH_BYTES = 8,
    HASH_KEY_BYTES = 16,
};

struct uvea_resident_block {
    uint16_t eye[UVEA_RESIDENT_BLOCK_RECORDS][UVEA_RECORD_COEFFICIENTS];
    uint16_t version[UVEA_RESIDENT_BLOCK_RECORDS];
};

_Static_assert(sizeof(((struct uvea_resident_block *)0)->eye) ==
                   (size_t)UVEA_RESIDENT_BLOCK_RECORDS * UVEA_RESIDENT_RECORD_BYTES,
               "a block holds whole records and no padding");

static size_t block_count_for(size_t records)
{
    return (records + UVEA_RESIDENT_BLOCK_RECORDS - 1) / UVEA_RESIDENT_BLOCK_RECORDS;
}

static enum uvea_error open_hasher(EVP_MAC_CTX **hasher)
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_SIPHASH, NULL);
    EVP_MAC_CTX *context = mac == NULL ? NULL : EVP_MAC_CTX_new(mac);

    EVP_MAC_free(mac);
    if (context == NULL) {
        return UVEA_ERR_CRYPTO;
    }
    *hasher = context;
    return UVEA_OK;
}

static enum uvea_error hash_id(EVP_MAC_CTX *hasher, uint32_t serial, uint16_t version,
                               uint64_t *hash)
{
    static const uint8_t key[HASH_KEY_BYTES];
    size_t hash_bytes = HASH_BYTES;
    unsigned c_rounds = 1;
    unsigned d_rounds = 3;
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &hash_bytes),
        OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_C_ROUNDS, &c_rounds),
        OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_D_ROUNDS, &d_rounds),
        OSSL_PARAM_construct_end(),
    };
    uint8_t id[ID_BYTES];
    uint8_t out[HASH_BYTES];
    size_t out_bytes;

    uvea_store_le32(id, serial);
    uvea_store_le16(id + 4, version);
    if (EVP_MAC_init(hasher, key, sizeof(key), params) != 1 ||
        EVP_MAC_update(hasher, id, sizeof(id)) != 1 ||
        EVP_MAC_final(hasher, out, &out_bytes, sizeof(out)) != 1 || out_bytes != sizeof(out)) {
        return UVEA_ERR_CRYPTO;
    }
    *hash = uvea_load_le64(out);
    return UVEA_OK;
}

enum uvea_error uvea_resident_init(struct uvea_resident *resident, size_t records_max)
{
    EVP_MAC_CTX *hasher;
    struct uvea_resident_block **blocks;

    if (records_max == 0 || records_max > UVEA_RESIDENT_RECORDS_MAX) {
        return UVEA_ERR_USAGE;
    }
    UVEA_TRY(open_hasher(&hasher));
    blocks = uvea_mem_alloc(block_count_for(records_max), sizeof(*blocks));
    if (blocks == NULL) {
        EVP_MAC_CTX_free(hasher);
        return UVEA_ERR_MEMORY;
    }
    *resident =
        (struct uvea_resident){.blocks = blocks, .records_max = records_max, .hasher = hasher};
    return UVEA_OK;
}

void uvea_resident_deinit(struct uvea_resident *resident)
{
    for (size_t i = 0; resident->blocks != NULL && i < block_count_for(resident->records_max);
         i++) {
        if (resident->blocks[i] != NULL) {
            uvea_mem_wipe(resident->blocks[i], sizeof(*resident->blocks[i]));
            uvea_mem_free(resident->blocks[i]);
        }
    }
    uvea_mem_free(resident->blocks);
    EVP_MAC_CTX_free(resident->hasher);
    *resident = (struct uvea_resident){0};
}

void uvea_scan_record_of_share(const struct uvea_iris_share *share,
                               uint16_t eye[UVEA_RECORD_COEFFICIENTS])
{
    memcpy(eye, share->code, sizeof(share->code));
    memcpy(eye + UVEA_SHARE_COEFFICIENTS, share->mask,
           UVEA_MASK_COEFFICIENTS * sizeof(share->mask[0]));
}

static void put(struct uvea_resident_block *block, size_t slot, const uint16_t *eye,
                uint16_t version)
{
    memcpy(block->eye[slot], eye, sizeof(block->eye[slot]));
    block->version[slot] = version;
}

enum uvea_error uvea_resident_insert(struct uvea_resident *resident,
                                     const uint16_t eye[UVEA_RECORD_COEFFICIENTS], uint16_t version,
                                     uint32_t *index)
{
    const size_t at = resident->count;
    uint64_t hash;
    struct uvea_resident_block **block;

    if (at >= resident->records_max) {
        return UVEA_ERR_LIMIT;
    }
    UVEA_TRY(hash_id(resident->hasher, (uint32_t)(at + 1), version, &hash));
    block = &resident->blocks[at / UVEA_RESIDENT_BLOCK_RECORDS];
    if (*block == NULL) {
        *block = uvea_mem_alloc(1, sizeof(**block));
        if (*block == NULL) {
            return UVEA_ERR_MEMORY;
        }
    }
    put(*block, at % UVEA_RESIDENT_BLOCK_RECORDS, eye, version);
    resident->checksum += hash;
    resident->count = at + 1;
    *index = (uint32_t)at;
    return UVEA_OK;
}

static struct uvea_resident_block *block_of(const struct uvea_resident *resident, uint32_t index)
{
    UVEA_CHECK(index < resident->count);
    return resident->blocks[index / UVEA_RESIDENT_BLOCK_RECORDS];
}

enum uvea_error uvea_resident_update(struct uvea_resident *resident, uint32_t index,
                                     const uint16_t eye[UVEA_RECORD_COEFFICIENTS], uint16_t version)
{
    struct uvea_resident_block *block = block_of(resident, index);
    const size_t slot = index % UVEA_RESIDENT_BLOCK_RECORDS;
    uint64_t before;
    uint64_t after;

    UVEA_TRY(hash_id(resident->hasher, index + 1, block->version[slot], &before));
    UVEA_TRY(hash_id(resident->hasher, index + 1, version, &after));
    put(block, slot, eye, version);
    resident->checksum += after - before;
    return UVEA_OK;
}

const uint16_t *uvea_resident_record(const struct uvea_resident *resident, uint32_t index)
{
    return block_of(resident, index)->eye[index % UVEA_RESIDENT_BLOCK_RECORDS];
}

uint16_t uvea_resident_version(const struct uvea_resident *resident, uint32_t index)
{
    return block_of(resident, index)->version[index % UVEA_RESIDENT_BLOCK_RECORDS];
}

uint64_t uvea_resident_checksum(const struct uvea_resident *resident)
{
    return resident->checksum;
}
