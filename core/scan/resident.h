// One party's resident database, in memory: the share of the scanned eye of every record, and the
// registry of all records' versions. The other eye is read through cold.h.
// index = serial - 1; serials are given out in order and never again. Records are stored in blocks,
// so growth moves nothing and a pointer to a record stays good until deinit. Everything but the
// serials and versions is secret. Sources: service.md 2.1, 3.6, 6.5, 8.6; wire.md 6.15.
#ifndef UVEA_CORE_SCAN_RESIDENT_H
#define UVEA_CORE_SCAN_RESIDENT_H

#include "core/base/error.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "core/kernel/ring_kernel.h"

#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_RESIDENT_BLOCK_RECORDS = 32,                          // 1.2 MB of shares per block
    UVEA_RESIDENT_RECORDS_MAX = 64 * 1000 * 1000,              // bound on records_max
    UVEA_RESIDENT_RECORD_BYTES = 2 * UVEA_RECORD_COEFFICIENTS, // one eye: 38,400
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

// An eye as records hold it: the code, then the real half of the mask. May not overlap.
void uvea_scan_record_of_share(const struct uvea_iris_share *share,
                               uint16_t eye[UVEA_RECORD_COEFFICIENTS]);

// Appends a record at a version (0 for a new identity) and gives its index. LIMIT when records_max
// are held. The database is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_resident_insert(struct uvea_resident *resident,
                                                   const uint16_t eye[UVEA_RECORD_COEFFICIENTS],
                                                   uint16_t version, uint32_t *index);

// Puts another eye and version in a record's place. index < count. The database is unchanged on
// failure.
UVEA_MUST_USE enum uvea_error uvea_resident_update(struct uvea_resident *resident, uint32_t index,
                                                   const uint16_t eye[UVEA_RECORD_COEFFICIENTS],
                                                   uint16_t version);

// UVEA_RECORD_COEFFICIENTS of the scanned eye as the kernels read them. index < count.
const uint16_t *uvea_resident_record(const struct uvea_resident *resident, uint32_t index);

// index < count.
uint16_t uvea_resident_version(const struct uvea_resident *resident, uint32_t index);

// The state checksum that parties compare: the sum mod 2^64 over all records of SipHash-1-3 with an
// all-zero key over six bytes, u32 LE serial and u16 LE version. Both eyes of a record share its
// version, so one sum stands for both. 0 for an empty database.
uint64_t uvea_resident_checksum(const struct uvea_resident *resident);

#endif
