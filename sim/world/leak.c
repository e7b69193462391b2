#include "sim/world/leak.h"

#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/base/party.h"

#include <stdlib.h>

enum {
    FILTER_BITS = 26,
    SPACING_VALUES = 32, // 64 bytes
    PIECE_VALUES = 4,    // eight bytes
};

struct uvea_leak_piece {
    uint64_t bytes; // as they lie in memory and on a stream: little-endian
    unsigned owner;
};

static size_t filter_at(uint64_t bytes)
{
    return (size_t)((bytes * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - FILTER_BITS));
}

static enum uvea_error open_filter(struct uvea_leak *leak)
{
    if (leak->filter == NULL) {
        leak->filter = uvea_mem_alloc(((size_t)1 << FILTER_BITS) / 64, sizeof(*leak->filter));
    }
    return leak->filter == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
}

static enum uvea_error know_values(struct uvea_leak *leak, unsigned owner, const uint16_t *values,
                                   size_t count)
{
    for (size_t at = 0; at + PIECE_VALUES <= count; at += SPACING_VALUES) {
        uint64_t bytes = 0;
        for (unsigned i = 0; i < PIECE_VALUES; i++) {
            bytes |= (uint64_t)values[at + i] << (16 * i);
        }
        const size_t bit = filter_at(bytes);
        leak->filter[bit / 64] |= UINT64_C(1) << (bit % 64);
        const struct uvea_leak_piece piece = {.bytes = bytes, .owner = owner};
        UVEA_TRY(uvea_buf_append(&leak->pieces, &piece, sizeof(piece)));
        leak->count++;
    }
    return UVEA_OK;
}

enum uvea_error uvea_leak_know(struct uvea_leak *leak, unsigned owner,
                               const struct uvea_iris_upload *upload)
{
    UVEA_TRY(open_filter(leak));
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        const struct uvea_iris_share *share = &upload->eye[eye];
        UVEA_TRY(know_values(leak, owner, share->code, UVEA_SHARE_COEFFICIENTS));
        UVEA_TRY(know_values(leak, owner, share->mask, UVEA_MASK_COEFFICIENTS));
    }
    return UVEA_OK;
}

void uvea_leak_deinit(struct uvea_leak *leak)
{
    uvea_buf_deinit(&leak->pieces);
    uvea_mem_free(leak->filter);
    *leak = (struct uvea_leak){.count = 0};
}

static int compare(const void *left, const void *right)
{
    const uint64_t a = ((const struct uvea_leak_piece *)left)->bytes;
    const uint64_t b = ((const struct uvea_leak_piece *)right)->bytes;
    return (a > b) - (a < b);
}

static const struct uvea_leak_piece *find(struct uvea_leak *leak, uint64_t bytes)
{
    const struct uvea_leak_piece key = {.bytes = bytes};
    if (leak->sorted != leak->count) {
        qsort(leak->pieces.data, leak->count, sizeof(key), compare);
        leak->sorted = leak->count;
    }
    return bsearch(&key, leak->pieces.data, leak->count, sizeof(key), compare);
}

static void look_at(struct uvea_leak *leak, unsigned from, unsigned to, uint64_t bytes)
{
    const size_t bit = filter_at(bytes);
    if ((leak->filter[bit / 64] >> (bit % 64) & 1) == 0) {
        return;
    }
    const struct uvea_leak_piece *piece = find(leak, bytes);
    if (piece != NULL && piece->owner != to) {
        if (leak->found++ == 0) {
            leak->from = from;
            leak->to = to;
            leak->owner = piece->owner;
        }
    }
}

void uvea_leak_watch(void *arg, unsigned from, unsigned to, const uint8_t *bytes, size_t count)
{
    struct uvea_leak *leak = arg;
    if (leak->count == 0 || from >= UVEA_PARTY_COUNT || to >= UVEA_PARTY_COUNT) {
        return;
    }
    for (size_t at = 0; at + sizeof(uint64_t) <= count; at++) {
        look_at(leak, from, to, uvea_load_le64(bytes + at));
    }
}
