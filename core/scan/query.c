#include "core/scan/query.h"

#include "core/base/mem.h"
#include "core/base/plant.h"

#include <string.h>

struct mirrored {
    uint16_t code[UVEA_SHARE_COEFFICIENTS];
    uint16_t mask[UVEA_MASK_COEFFICIENTS];
};

static void prepare_mirrored(struct uvea_party party, const struct uvea_iris_share *share,
                             struct mirrored *scratch, struct uvea_ring_query *out)
{
    memcpy(scratch->code, share->code, sizeof(scratch->code));
    memcpy(scratch->mask, share->mask, sizeof(scratch->mask));
    uvea_iris_mirror_code(party, scratch->code);
    uvea_iris_mirror_mask(scratch->mask);
    uvea_ring_query_prepare(party, scratch->code, scratch->mask, out);
}

enum uvea_error uvea_scan_query_prepare(struct uvea_party party,
                                        const struct uvea_iris_upload *upload, bool mirror,
                                        struct uvea_scan_query *out)
{
    struct mirrored *scratch = uvea_mem_alloc(1, sizeof(*scratch));

    if (scratch == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (int i = 0; i < UVEA_EYE_COUNT; i++) {
        const enum uvea_eye eye = (enum uvea_eye)i;
        const bool swapped = uvea_plant_active(UVEA_PLANT_SWAP_EYES);
        const struct uvea_iris_share *same = &upload->eye[swapped ? uvea_eye_other(eye) : eye];
        const struct uvea_iris_share *opposite = &upload->eye[swapped ? eye : uvea_eye_other(eye)];

        uvea_ring_query_prepare(party, same->code, same->mask,
                                &out->eye[UVEA_ORIENTATION_NORMAL][eye]);
        if (mirror) {
            prepare_mirrored(party, opposite, scratch, &out->eye[UVEA_ORIENTATION_MIRROR][eye]);
        }
    }
    uvea_mem_wipe(scratch, sizeof(*scratch));
    uvea_mem_free(scratch);
    return UVEA_OK;
}
