#include "core/wire/pack.h"

#include "core/base/endian.h"

#include <stdbool.h>
#include <string.h>

#if defined(UVEA_WIRE_PORTABLE) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
enum { HOST_ORDER_IS_WIRE_ORDER = false };
#else
enum { HOST_ORDER_IS_WIRE_ORDER = true };
#endif

#define MASK48 ((UINT64_C(1) << 48) - 1)

// False when the caller must go element by element.
static bool copied(void *to, const void *from, size_t bytes)
{
    if (HOST_ORDER_IS_WIRE_ORDER && bytes > 0) {
        memcpy(to, from, bytes);
    }
    return HOST_ORDER_IS_WIRE_ORDER;
}

void uvea_pack16(uint8_t *to, const uint16_t *from, size_t count)
{
    if (copied(to, from, count * sizeof(*from))) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uvea_store_le16(to + i * sizeof(*from), from[i]);
    }
}

void uvea_unpack16(uint16_t *to, const uint8_t *from, size_t count)
{
    if (copied(to, from, count * sizeof(*to))) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = uvea_load_le16(from + i * sizeof(*to));
    }
}

void uvea_pack32(uint8_t *to, const uint32_t *from, size_t count)
{
    if (copied(to, from, count * sizeof(*from))) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uvea_store_le32(to + i * sizeof(*from), from[i]);
    }
}

void uvea_unpack32(uint32_t *to, const uint8_t *from, size_t count)
{
    if (copied(to, from, count * sizeof(*to))) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = uvea_load_le32(from + i * sizeof(*to));
    }
}

void uvea_pack64(uint8_t *to, const uint64_t *from, size_t count)
{
    if (copied(to, from, count * sizeof(*from))) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uvea_store_le64(to + i * sizeof(*from), from[i]);
    }
}

void uvea_unpack64(uint64_t *to, const uint8_t *from, size_t count)
{
    if (copied(to, from, count * sizeof(*to))) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        to[i] = uvea_load_le64(from + i * sizeof(*to));
    }
}

void uvea_pack48(uint8_t *to, const uint64_t *from, size_t count)
{
    if (count == 0) {
        return;
    }
    // Eight bytes at a time: the two in excess are written again by the next element.
    size_t last = count - 1;
    for (size_t i = 0; i < last; i++) {
        uvea_store_le64(to + 6 * i, from[i]);
    }
    uvea_store_le32(to + 6 * last, (uint32_t)from[last]);
    uvea_store_le16(to + 6 * last + 4, (uint16_t)(from[last] >> 32));
}

void uvea_unpack48(uint64_t *to, const uint8_t *from, size_t count)
{
    if (count == 0) {
        return;
    }
    size_t last = count - 1;
    for (size_t i = 0; i < last; i++) {
        to[i] = uvea_load_le64(from + 6 * i) & MASK48;
    }
    to[last] = uvea_load_le32(from + 6 * last) | (uint64_t)uvea_load_le16(from + 6 * last + 4)
                                                     << 32;
}

void uvea_pack_bits(uint8_t *to, const uint64_t *words, size_t count)
{
    size_t full = count / 64;
    size_t rest = count % 64;
    uvea_pack64(to, words, full);
    if (rest > 0) {
        uint8_t tail[8];
        uvea_store_le64(tail, words[full] & ((UINT64_C(1) << rest) - 1));
        memcpy(to + 8 * full, tail, (rest + 7) / 8);
    }
}

void uvea_unpack_bits(uint64_t *words, const uint8_t *from, size_t count)
{
    size_t full = count / 64;
    size_t rest = count % 64;
    uvea_unpack64(words, from, full);
    if (rest > 0) {
        uint8_t tail[8] = {0};
        memcpy(tail, from + 8 * full, (rest + 7) / 8);
        words[full] = uvea_load_le64(tail) & ((UINT64_C(1) << rest) - 1);
    }
}
