#include "core/mpc/transpose.h"

#include "core/base/check.h"

enum { LANES = 64 };

// Adds up to 64 values, moved up by `shift` bits, to the rows of a matrix.
typedef void load_fn(uint64_t rows[LANES], const void *values, size_t first, size_t count,
                     unsigned shift);

// Row r, column c of the bit matrix trades places with row c, column r: blocks of 32, then of 16
// within them, and so on.
static void transpose(uint64_t rows[LANES])
{
    uint64_t low = UINT64_C(0x00000000ffffffff);
    for (unsigned step = 32; step != 0; step /= 2) {
        for (unsigned base = 0; base < LANES; base += 2 * step) {
            for (unsigned r = base; r < base + step; r++) {
                uint64_t moved = (rows[r] >> step ^ rows[r + step]) & low;
                rows[r] ^= moved << step;
                rows[r + step] ^= moved;
            }
        }
        low ^= low << step / 2;
    }
}

static size_t block_lanes(size_t count, size_t word)
{
    size_t left = count - word * LANES;
    return left < LANES ? left : LANES;
}

// Narrow values share a matrix: as many blocks of 64 values side by side as fit its columns.
static void slice(load_fn *load, const void *values, size_t count, unsigned bits, uint64_t *planes)
{
    size_t words = uvea_words_for(count);
    size_t side_by_side = LANES / bits;
    for (size_t word = 0; word < words; word += side_by_side) {
        size_t blocks = words - word < side_by_side ? words - word : side_by_side;
        uint64_t rows[LANES] = {0};
        for (size_t i = 0; i < blocks; i++) {
            load(rows, values, (word + i) * LANES, block_lanes(count, word + i),
                 (unsigned)i * bits);
        }
        transpose(rows);
        for (size_t i = 0; i < blocks; i++) {
            for (size_t k = 0; k < bits; k++) {
                planes[k * words + word + i] = rows[i * bits + k];
            }
        }
    }
}

static void load_u16(uint64_t rows[LANES], const void *values, size_t first, size_t count,
                     unsigned shift)
{
    const uint16_t *from = (const uint16_t *)values + first;
    for (size_t i = 0; i < count; i++) {
        rows[i] |= (uint64_t)from[i] << shift;
    }
}

static void load_u32(uint64_t rows[LANES], const void *values, size_t first, size_t count,
                     unsigned shift)
{
    const uint32_t *from = (const uint32_t *)values + first;
    for (size_t i = 0; i < count; i++) {
        rows[i] |= (uint64_t)from[i] << shift;
    }
}

static void load_u64(uint64_t rows[LANES], const void *values, size_t first, size_t count,
                     unsigned shift)
{
    const uint64_t *from = (const uint64_t *)values + first;
    for (size_t i = 0; i < count; i++) {
        rows[i] |= from[i] << shift;
    }
}

void uvea_mpc_slice_u16(const uint16_t *values, size_t count, unsigned bits, uint64_t *planes)
{
    UVEA_CHECK(bits >= 1 && bits <= 16);
    slice(load_u16, values, count, bits, planes);
}

void uvea_mpc_slice_u32(const uint32_t *values, size_t count, unsigned bits, uint64_t *planes)
{
    UVEA_CHECK(bits >= 1 && bits <= 32);
    slice(load_u32, values, count, bits, planes);
}

void uvea_mpc_slice_u64(const uint64_t *values, size_t count, unsigned bits, uint64_t *planes)
{
    UVEA_CHECK(bits >= 1 && bits <= 64);
    slice(load_u64, values, count, bits, planes);
}
