// Iris shares: each template becomes three Galois-ring Shamir shares, one per party.
// Position in a share: 6400 p + 3200 w + 800 (r mod 4) + 4 c + (r div 4). Everything here is secret
// to its party. Sources: service.md 5.3, 5.5; wire.md 7.
#ifndef UVEA_CORE_IRIS_SHARE_H
#define UVEA_CORE_IRIS_SHARE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/iris/template.h"

#include <stdint.h>

enum {
    UVEA_SHARE_COEFFICIENTS = 12800,
    UVEA_MASK_COEFFICIENTS = 6400, // the real half: what a party keeps of a mask share
    UVEA_SHARE_BYTES = 8 + 2 * UVEA_SHARE_COEFFICIENTS, // 25,608: u64 id, then u16 coefficients
};

// One eye of one template for one party, as uploaded (full-length mask).
struct uvea_iris_share {
    uint16_t code[UVEA_SHARE_COEFFICIENTS];
    uint16_t mask[UVEA_SHARE_COEFFICIENTS];
};

// Four u16 draws per block of four coefficients, in order, all code blocks and then all mask
// blocks.
typedef uint16_t uvea_draw_u16_fn(void *arg);

// Splits a template into the three parties' shares.
void uvea_iris_split(const struct uvea_template *in, uvea_draw_u16_fn *draw, void *arg,
                     struct uvea_iris_share out[UVEA_PARTY_COUNT]);

// Puts a template together from the shares of any two different parties (tools and tests only).
// FORMAT when a code coordinate is not in {-1,0,1} or a mask bit not in {0,1}, or when the code is
// not zero exactly where the mask is: the shares do not belong together.
UVEA_MUST_USE enum uvea_error
uvea_iris_join(struct uvea_party first, const struct uvea_iris_share *first_share,
               struct uvea_party second, const struct uvea_iris_share *second_share,
               struct uvea_template *out, struct uvea_error_context *context);

// The record that replaces a deleted identity: all code bits 0, all mask bits 1, shared with the
// reference's fixed randomness (StdRng seed 0), the same for both eyes.
void uvea_iris_deletion_dummy(struct uvea_party party, struct uvea_iris_share *out);

// In place: columns reflected inside each half; imaginary code coefficients replaced by
// z - coefficient, z the party's share of zero from StdRng seed 0.
void uvea_iris_mirror_code(struct uvea_party party, uint16_t code[UVEA_SHARE_COEFFICIENTS]);
// In place, for a trimmed mask of 6,400 coefficients: columns only.
void uvea_iris_mirror_mask(uint16_t mask[UVEA_MASK_COEFFICIENTS]);

// ---- share files (service.md 5.3)

// Both eyes of one party's upload.
struct uvea_iris_upload {
    struct uvea_iris_share eye[UVEA_EYE_COUNT];
};

// The plaintext JSON, members in their required order. Appends to buf.
UVEA_MUST_USE enum uvea_error uvea_iris_encode_upload(struct uvea_party party,
                                                      const struct uvea_iris_upload *in,
                                                      struct uvea_buf *buf);
// FORMAT names the member and what is wrong: missing, not a string, bad base64, wrong length, share
// id other than party + 1. out is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_iris_decode_upload(struct uvea_party party, const uint8_t *json,
                                                      size_t len, struct uvea_iris_upload *out,
                                                      struct uvea_error_context *context);
// One share string: base64 of UVEA_SHARE_BYTES. The id is returned, valid ones are 1..3.
UVEA_MUST_USE enum uvea_error uvea_iris_decode_share(const char *text, size_t len, uint64_t *id,
                                                     uint16_t out[UVEA_SHARE_COEFFICIENTS],
                                                     struct uvea_error_context *context);

#endif
