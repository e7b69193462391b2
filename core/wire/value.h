// The values of the data plane: one descriptor byte and a body, integers little-endian.
// Encoding appends to the outgoing frame straight from the caller's array; decoding gives a view
// into the incoming frame, whose elements are then read into the caller's array. Nothing is copied
// twice. Source: wire.md 1.
#ifndef UVEA_CORE_WIRE_VALUE_H
#define UVEA_CORE_WIRE_VALUE_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The descriptor byte. A set bit has a descriptor of its own (0x12) and no body.
enum uvea_value_kind {
    UVEA_VALUE_PRF_KEY = 0x01,
    UVEA_VALUE_BIT_ZERO = 0x02,
    UVEA_VALUE_RING16 = 0x03,
    UVEA_VALUE_RING32 = 0x04,
    UVEA_VALUE_RING64 = 0x05,
    UVEA_VALUE_VEC16 = 0x06,
    UVEA_VALUE_VEC32 = 0x07,
    UVEA_VALUE_VEC64 = 0x08,
    UVEA_VALUE_STATE_CHECKSUM = 0x09,
    UVEA_VALUE_NETWORK_VEC = 0x0A,
    UVEA_VALUE_PRF_CHECK = 0x0B,
    UVEA_VALUE_BYTES = 0x0C,
    UVEA_VALUE_RING48 = 0x0D,
    UVEA_VALUE_VEC48 = 0x0E,
    UVEA_VALUE_VEC_BIT = 0x0F,
    UVEA_VALUE_BIT_ONE = 0x12,
};

enum {
    UVEA_PRF_KEY_BYTES = 16,
    UVEA_VALUE_HEADER_BYTES = 5,     // descriptor and u32 length
    UVEA_VALUE_FIXED_BYTES_MAX = 17, // the longest value without a length
    UVEA_VALUE_BYTES_MAX_DEFAULT = 64
                                   << 20, // bound on one encoded value, checked before allocation
};

// A decoded value: a view, valid as long as the bytes it was decoded from.
// count: elements (Vec*, bits of VEC_BIT, bytes of BYTES and NETWORK_VEC), 1 for everything else.
struct uvea_value {
    enum uvea_value_kind kind;
    const uint8_t *body;
    size_t body_bytes;
    size_t count;
};

// ---- sizes

// How many bytes the value needs whose first bytes are head[0..head_bytes). Gives *total = 0 when
// more of the head is needed to tell (at most UVEA_VALUE_HEADER_BYTES are ever needed). FORMAT:
// unknown descriptor. LIMIT: more than bytes_max. Nothing is read past head_bytes.
UVEA_MUST_USE enum uvea_error uvea_value_total_bytes(const uint8_t *head, size_t head_bytes,
                                                     size_t bytes_max, size_t *total,
                                                     struct uvea_error_context *context);

// ---- decoding

// Exactly one value in bytes[0..len). FORMAT with a sentence for each of the conditions of wire.md
// 1, and for what the reference lets pass: set padding bits in the last byte of VEC_BIT; a RING48
// cannot be non-canonical. A NETWORK_VEC's inner values are checked too.
UVEA_MUST_USE enum uvea_error uvea_value_decode(const uint8_t *bytes, size_t len,
                                                struct uvea_value *value,
                                                struct uvea_error_context *context);

// Iterates the inner values of a NETWORK_VEC: *offset starts at 0; *more = false at the end.
UVEA_MUST_USE enum uvea_error uvea_value_next_inner(const struct uvea_value *vec, size_t *offset,
                                                    struct uvea_value *inner, bool *more,
                                                    struct uvea_error_context *context);

// Reading elements: the count must be what the protocol step expects, else PEER with a sentence.
// The vector readers also accept one scalar of the right width when count is 1.
UVEA_MUST_USE enum uvea_error uvea_value_read_u16(const struct uvea_value *value, uint16_t *out,
                                                  size_t count, struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_value_read_u32(const struct uvea_value *value, uint32_t *out,
                                                  size_t count, struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_value_read_u48(const struct uvea_value *value, uint64_t *out,
                                                  size_t count, struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_value_read_u64(const struct uvea_value *value, uint64_t *out,
                                                  size_t count, struct uvea_error_context *context);
// Insists on VEC16, also for one element (galois_ring_to_rep3 of wire.md 6.1).
UVEA_MUST_USE enum uvea_error uvea_value_read_vec16(const struct uvea_value *value, uint16_t *out,
                                                    size_t count,
                                                    struct uvea_error_context *context);
// count bits into ceil(count/64) words, bit i at bit i mod 64 of word i/64, padding zero.
// Accepts a lone bit when count is 1.
UVEA_MUST_USE enum uvea_error uvea_value_read_bits(const struct uvea_value *value, uint64_t *words,
                                                   size_t count,
                                                   struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_value_read_prf_key(const struct uvea_value *value,
                                                      uint8_t out[UVEA_PRF_KEY_BYTES],
                                                      struct uvea_error_context *context);
// low first
UVEA_MUST_USE enum uvea_error uvea_value_read_prf_check(const struct uvea_value *value,
                                                        uint64_t out[2],
                                                        struct uvea_error_context *context);
// out[0] irises, out[1] graph
UVEA_MUST_USE enum uvea_error uvea_value_read_checksum(const struct uvea_value *value,
                                                       uint64_t out[2],
                                                       struct uvea_error_context *context);

// ---- encoding: append to buf. MEMORY, or LIMIT when the body does not fit a u32 length.
// On failure buf is unchanged.

UVEA_MUST_USE enum uvea_error uvea_value_append_vec16(struct uvea_buf *buf, const uint16_t *from,
                                                      size_t count);
UVEA_MUST_USE enum uvea_error uvea_value_append_vec32(struct uvea_buf *buf, const uint32_t *from,
                                                      size_t count);
// Low 48 bits of each element.
UVEA_MUST_USE enum uvea_error uvea_value_append_vec48(struct uvea_buf *buf, const uint64_t *from,
                                                      size_t count);
UVEA_MUST_USE enum uvea_error uvea_value_append_vec64(struct uvea_buf *buf, const uint64_t *from,
                                                      size_t count);

// The scalar variant when count is 1, the vector otherwise (also for 0): the reference's usual
// rule.
UVEA_MUST_USE enum uvea_error uvea_value_append_u16(struct uvea_buf *buf, const uint16_t *from,
                                                    size_t count);
UVEA_MUST_USE enum uvea_error uvea_value_append_u32(struct uvea_buf *buf, const uint32_t *from,
                                                    size_t count);
UVEA_MUST_USE enum uvea_error uvea_value_append_u48(struct uvea_buf *buf, const uint64_t *from,
                                                    size_t count);
UVEA_MUST_USE enum uvea_error uvea_value_append_u64(struct uvea_buf *buf, const uint64_t *from,
                                                    size_t count);
// count bits from ceil(count/64) words; padding bits go out as zero whatever the words hold.
// One bit is sent as the lone-bit variant.
UVEA_MUST_USE enum uvea_error uvea_value_append_bits(struct uvea_buf *buf, const uint64_t *words,
                                                     size_t count);
UVEA_MUST_USE enum uvea_error uvea_value_append_vec_bit(struct uvea_buf *buf, const uint64_t *words,
                                                        size_t count);

UVEA_MUST_USE enum uvea_error uvea_value_append_prf_key(struct uvea_buf *buf,
                                                        const uint8_t key[UVEA_PRF_KEY_BYTES]);
UVEA_MUST_USE enum uvea_error uvea_value_append_prf_check(struct uvea_buf *buf,
                                                          const uint64_t value[2]);
UVEA_MUST_USE enum uvea_error uvea_value_append_checksum(struct uvea_buf *buf, uint64_t irises,
                                                         uint64_t graph);
UVEA_MUST_USE enum uvea_error uvea_value_append_bytes(struct uvea_buf *buf, const uint8_t *from,
                                                      size_t count);
// The header of a NETWORK_VEC: *mark is passed to _end after the inner values have been appended.
UVEA_MUST_USE enum uvea_error uvea_value_begin_network_vec(struct uvea_buf *buf, size_t *mark);
UVEA_MUST_USE enum uvea_error uvea_value_end_network_vec(struct uvea_buf *buf, size_t mark);

#endif
