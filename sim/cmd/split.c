#include "sim/cmd/split.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/cmd/entropy.h"
#include "sim/runtime/random.h"

#include <stdbool.h>

static void secret_free(void *secret, size_t size)
{
    if (secret != NULL) {
        uvea_mem_wipe(secret, size);
    }
    uvea_mem_free(secret);
}

// Share randomness: the operating system's, or a seeded stream.
struct draw {
    bool seeded;
    bool failed; // there was no randomness; what was made is worthless
    struct uvea_sim_random random;
    size_t used;
    uint16_t block[2048];
};

static void draw_refill(struct draw *draw)
{
    draw->used = 0;
    if (draw->seeded) {
        uvea_sim_random_fill(&draw->random, (uint8_t *)draw->block, sizeof(draw->block));
    } else if (uvea_cmd_entropy(draw->block, sizeof(draw->block)) != UVEA_OK) {
        draw->failed = true;
    }
}

static uint16_t draw_u16(void *arg)
{
    struct draw *draw = arg;
    if (draw->used == UVEA_COUNT_OF(draw->block)) {
        draw_refill(draw);
    }
    return draw->block[draw->used++];
}

enum uvea_error uvea_cmd_split(const struct uvea_template *eyes[UVEA_EYE_COUNT],
                               const uint64_t *seed, struct uvea_iris_upload out[UVEA_PARTY_COUNT],
                               struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_ERR_MEMORY;
    struct draw *draw = uvea_mem_alloc(1, sizeof(*draw));
    struct uvea_iris_share *shares = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*shares));
    if (draw == NULL || shares == NULL) {
        goto cleanup;
    }
    draw->used = UVEA_COUNT_OF(draw->block);
    if (seed != NULL) {
        draw->seeded = true;
        uvea_sim_random_init(&draw->random, *seed, "share/split");
    }
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        uvea_iris_split(eyes[eye], draw_u16, draw, shares);
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            out[party].eye[eye] = shares[party];
        }
    }
    error = draw->failed ? uvea_error_set(context, UVEA_ERR_CRYPTO, "no randomness from the system")
                         : UVEA_OK;
cleanup:
    secret_free(shares, UVEA_PARTY_COUNT * sizeof(*shares));
    secret_free(draw, sizeof(*draw));
    return error;
}
