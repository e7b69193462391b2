// What follows each descriptor byte: the table of wire.md 1. Private to core/wire.
#ifndef UVEA_CORE_WIRE_SHAPE_H
#define UVEA_CORE_WIRE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum uvea_shape_body {
    UVEA_SHAPE_FIXED, // body_bytes bytes
    UVEA_SHAPE_BYTES, // u32 byte length, a multiple of width, then the bytes
    UVEA_SHAPE_BITS,  // u32 bit count, then ceil(count/8) bytes
};

struct uvea_shape {
    const char *name;
    enum uvea_shape_body body;
    uint8_t body_bytes; // FIXED
    uint8_t width;      // BYTES: bytes of one element
    bool inner;         // may stand inside a NETWORK_VEC
};

// NULL for an unknown descriptor. The two lone bits share one shape and are told apart neither by a
// branch nor by an index: which of them it is may be a share.
const struct uvea_shape *uvea_shape_of(uint8_t descriptor);

// Bytes of the body that a length field announces; does not overflow.
uint64_t uvea_shape_body_bytes(const struct uvea_shape *shape, uint32_t length);

#endif
