// One eye in the field: coordinates and spectra as degree-one Shamir shares at the points 1, 2, 3
// of parties 0, 1, 2. Coordinates stand in share order (core/iris/share.h): 12,800 code values,
// then 6,400 mask values; channel of a position = 4 (position div 800) + position mod 4, column =
// (position mod 800) div 4. The transform is linear, so parties apply it to their shares.
// All of it is secret. Source: ntt.md 1-3, 6.
#ifndef UVEA_CORE_FIELD_SPECTRUM_H
#define UVEA_CORE_FIELD_SPECTRUM_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/field/transform.h"

#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_FIELD_CODE_VALUES = 12800,
    UVEA_FIELD_MASK_VALUES = 6400,
    UVEA_FIELD_EYE_VALUES = UVEA_FIELD_CODE_VALUES + UVEA_FIELD_MASK_VALUES, // 19,200
    UVEA_SPECTRUM_CODE_CHANNELS = 64,
    UVEA_SPECTRUM_MASK_CHANNELS = 32,
    UVEA_SPECTRUM_CHANNELS = 96,
    UVEA_SPECTRUM_VALUES = UVEA_TRANSFORM_POINTS * UVEA_SPECTRUM_CHANNELS, // 19,200
    UVEA_PAYLOAD_BYTES = 2 * UVEA_SPECTRUM_VALUES,                         // 38,400
    UVEA_PAYLOAD_FORMAT = 2,
};

// 38,400 bytes each: allocate, never on a small stack.
struct uvea_field_eye {
    uint16_t values[UVEA_FIELD_EYE_VALUES];
};

// values[96 k + channel], k = 0..199.
struct uvea_spectrum {
    uint16_t values[UVEA_SPECTRUM_VALUES];
};

// In place: columns reflected inside each half (c -> 99 - c, 299 - c); imaginary code values (index
// >= 6,400) negated; masks only moved.
void uvea_field_eye_mirror(struct uvea_field_eye *eye);

// A record: the forward transform of each channel.
void uvea_spectrum_of_record(const struct uvea_field_eye *eye, struct uvea_spectrum *out);

// A query, ready to be multiplied with records: frequency k holds the transform at -k mod 200,
// times the weight (2 for code, -1 for mask), 1/200, and the party's reconstruction weight at zero
// for products of degree two, [3, -3, 1]. The sum over channels of query * record is then the
// party's additive share of T[k], and uvea_transform_selected_inverse of it that of g_rho = 2C - m.
void uvea_spectrum_of_query(struct uvea_party party, const struct uvea_field_eye *eye,
                            struct uvea_spectrum *out);

// ---- the stored form, format 2: per frequency the 96 channels in groups of eight; centred
// residues v = lo + 256 hi with signed bytes, eight low bytes, then eight high bytes.

void uvea_payload_encode(const struct uvea_spectrum *spectrum, uint8_t payload[UVEA_PAYLOAD_BYTES]);

// FORMAT with a sentence when len is not UVEA_PAYLOAD_BYTES or a value is not a centred residue
// (|v| > 26100): its place is named, its value is not. out is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_payload_decode(const uint8_t *payload, size_t len,
                                                  struct uvea_spectrum *out,
                                                  struct uvea_error_context *context);

#endif
