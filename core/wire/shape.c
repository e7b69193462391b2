#include "core/wire/shape.h"

#include "core/base/check.h"
#include "core/wire/value.h"

#include <stddef.h>

#define FIXED(text, bytes, is_inner)                                                               \
    {                                                                                              \
        .name = (text), .body = UVEA_SHAPE_FIXED, .body_bytes = (bytes), .inner = (is_inner)       \
    }
#define BYTES(text, element_bytes, is_inner)                                                       \
    {                                                                                              \
        .name = (text), .body = UVEA_SHAPE_BYTES, .width = (element_bytes), .inner = (is_inner)    \
    }
#define BITS(text, is_inner)                                                                       \
    {                                                                                              \
        .name = (text), .body = UVEA_SHAPE_BITS, .inner = (is_inner)                               \
    }

static const struct uvea_shape shapes[] = {
    [UVEA_VALUE_PRF_KEY] = FIXED("PrfKey", 16, false),
    [UVEA_VALUE_BIT_ZERO] = FIXED("RingElementBit", 0, true),
    [UVEA_VALUE_RING16] = FIXED("RingElement16", 2, true),
    [UVEA_VALUE_RING32] = FIXED("RingElement32", 4, true),
    [UVEA_VALUE_RING64] = FIXED("RingElement64", 8, true),
    [UVEA_VALUE_VEC16] = BYTES("VecRing16", 2, true),
    [UVEA_VALUE_VEC32] = BYTES("VecRing32", 4, true),
    [UVEA_VALUE_VEC64] = BYTES("VecRing64", 8, true),
    [UVEA_VALUE_STATE_CHECKSUM] = FIXED("StateChecksum", 16, false),
    [UVEA_VALUE_NETWORK_VEC] = BYTES("NetworkVec", 1, false),
    [UVEA_VALUE_PRF_CHECK] = FIXED("PrfCheck", 16, false),
    [UVEA_VALUE_BYTES] = BYTES("Bytes", 1, true),
    [UVEA_VALUE_RING48] = FIXED("RingElement48", 6, true),
    [UVEA_VALUE_VEC48] = BYTES("VecRing48", 6, true),
    [UVEA_VALUE_VEC_BIT] = BITS("VecRingBit", true),
};

enum { BIT_FLAG = UVEA_VALUE_BIT_ONE ^ UVEA_VALUE_BIT_ZERO };

_Static_assert(BIT_FLAG == 0x10, "the two lone bits differ in one bit of the descriptor");

const struct uvea_shape *uvea_shape_of(uint8_t descriptor)
{
    unsigned is_bit = (descriptor & ~BIT_FLAG) == UVEA_VALUE_BIT_ZERO;
    unsigned index = descriptor & ~(BIT_FLAG * is_bit);
    if (index >= UVEA_COUNT_OF(shapes) || shapes[index].name == NULL) {
        return NULL;
    }
    return &shapes[index];
}

uint64_t uvea_shape_body_bytes(const struct uvea_shape *shape, uint32_t length)
{
    switch (shape->body) {
    case UVEA_SHAPE_BYTES:
        return length;
    case UVEA_SHAPE_BITS:
        return ((uint64_t)length + 7) / 8;
    case UVEA_SHAPE_FIXED:
        break;
    }
    return shape->body_bytes;
}
