// Uploads as records: how an uploaded eye lies where a record's eye is read. Inside the module.
#ifndef UVEA_CORE_SERVICE_RECORD_H
#define UVEA_CORE_SERVICE_RECORD_H

#include "core/base/party.h"
#include "core/iris/share.h"
#include "core/kernel/ring_kernel.h"

#include <stddef.h>
#include <stdint.h>

enum { UVEA_RECORD_VERSION_MAX = INT16_MAX }; // what a column of the store holds (service.md 6.1)

_Static_assert(offsetof(struct uvea_iris_share, mask) ==
                       sizeof(uint16_t) * (UVEA_RECORD_COEFFICIENTS - UVEA_MASK_COEFFICIENTS) &&
                   sizeof(struct uvea_iris_share) >= sizeof(uint16_t) * UVEA_RECORD_COEFFICIENTS,
               "an uploaded eye begins with the record: the code, then the real half of the mask");

// An uploaded eye as a record's: UVEA_RECORD_COEFFICIENTS values in place.
static inline const uint16_t *uvea_record_eye(const struct uvea_iris_share *share)
{
    return (const uint16_t *)(const void *)share;
}

static inline void uvea_record_view(const struct uvea_iris_upload *upload,
                                    const uint16_t *eye[UVEA_EYE_COUNT])
{
    for (int i = 0; i < UVEA_EYE_COUNT; i++) {
        eye[i] = uvea_record_eye(&upload->eye[i]);
    }
}

// What a deleted identity holds: the same share in both eyes.
static inline void uvea_record_dummy(struct uvea_party party, struct uvea_iris_upload *out)
{
    uvea_iris_deletion_dummy(party, &out->eye[UVEA_EYE_LEFT]);
    out->eye[UVEA_EYE_RIGHT] = out->eye[UVEA_EYE_LEFT];
}

#endif
