// Elements and bits to and from their little-endian bytes. Private to core/wire.
// from and to never overlap; a count of 0 touches nothing, so that pointers may then be NULL.
// Defining UVEA_WIRE_PORTABLE leaves out the copies that only a little-endian host may make.
#ifndef UVEA_CORE_WIRE_PACK_H
#define UVEA_CORE_WIRE_PACK_H

#include <stddef.h>
#include <stdint.h>

void uvea_pack16(uint8_t *to, const uint16_t *from, size_t count);
void uvea_pack32(uint8_t *to, const uint32_t *from, size_t count);
// Low 48 bits of each element.
void uvea_pack48(uint8_t *to, const uint64_t *from, size_t count);
void uvea_pack64(uint8_t *to, const uint64_t *from, size_t count);
// count bits into ceil(count/8) bytes; bits of the last word at and above count are not sent.
void uvea_pack_bits(uint8_t *to, const uint64_t *words, size_t count);

void uvea_unpack16(uint16_t *to, const uint8_t *from, size_t count);
void uvea_unpack32(uint32_t *to, const uint8_t *from, size_t count);
void uvea_unpack48(uint64_t *to, const uint8_t *from, size_t count);
void uvea_unpack64(uint64_t *to, const uint8_t *from, size_t count);
// ceil(count/8) bytes into ceil(count/64) words, zero at and above count.
void uvea_unpack_bits(uint64_t *words, const uint8_t *from, size_t count);

#endif
