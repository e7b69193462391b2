// One party's resident database: the shares of both eyes of every record, in memory.
// index = serial - 1; serials are given out in order and never again. Records are stored in blocks,
// so growth moves nothing and a pointer to a record stays good until deinit. Everything but the
// serials and versions is secret. Sources: service.md 2.1, 3.6, 8.6; wire.md 6.15.
#ifndef UVEA_CORE_SCAN_RESIDENT_H
#define UVEA_CORE_SCAN_RESIDENT_H

#include "core/base/error.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "core/kernel/ring_kernel.h"

#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_RESIDENT_BLOCK_RECORDS = 16,                              // 1.2 MB of shares per block
    UVEA_RESIDENT_RECORDS_MAX = 64 * 1000 * 1000,                  // bound on records_max
    UVEA_RESIDENT_RECORD_BYTES = 2 * 2 * UVEA_RECORD_COEFFICIENTS, // both eyes: 76,800
};

struct uvea_resident_block;
struct evp_mac_ctx_st;

// All zero is a closed database that holds nothing and takes nothing.
struct uvea_resident {
    struct uvea_resident_block **blocks; // owned, one slot per possible block
    size_t count;
    size_t records_max;
    uint64_t checksum;
    struct evp_mac_ctx_st *hasher; // owned
};

// Takes memory for the table of blocks only. USAGE: records_max is 0 or more than
// UVEA_RESIDENT_RECORDS_MAX. CRYPTO: the library knows no SipHash.
UVEA_MUST_USE enum uvea_error uvea_resident_init(struct uvea_resident *resident,
                                                 size_t records_max);

// Wipes and frees.
void uvea_resident_deinit(struct uvea_resident *resident);

// Appends a record at version 0 and gives its index: code and the first 6,400 coefficients of the
// mask of each eye. LIMIT when records_max are held. The database is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_resident_insert(struct uvea_resident *resident,
                                                   const struct uvea_iris_upload *upload,
                                                   uint32_t *index);

// UVEA_RECORD_COEFFICIENTS of one eye as the kernels read them. index < count.
const uint16_t *uvea_resident_record(const struct uvea_resident *resident, enum uvea_eye eye,
                                     uint32_t index);

// index < count.
uint16_t uvea_resident_version(const struct uvea_resident *resident, uint32_t index);

// The state checksum that parties compare: the sum mod 2^64 over all records of SipHash-1-3 with an
// all-zero key over six bytes, u32 LE serial and u16 LE version. Both eyes of a record share its
// version, so one sum stands for both. 0 for an empty database.
uint64_t uvea_resident_checksum(const struct uvea_resident *resident);

#endif
