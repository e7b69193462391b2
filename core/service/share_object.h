// Share objects: what a client uploads for one request. One JSON object holds, for each party, its
// share file in a sealed box to that party's key, and the SHA-256 of the share file.
// Sources: service.md 5.1, 5.2, 5.4 and 12, 1.
#ifndef UVEA_CORE_SERVICE_SHARE_OBJECT_H
#define UVEA_CORE_SERVICE_SHARE_OBJECT_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/iris/share.h"

#include <stdbool.h>
#include <stdint.h>

enum { UVEA_SHARE_KEY_BYTES = 32 };

struct uvea_share_key_pair {
    uint8_t public_key[UVEA_SHARE_KEY_BYTES];
    uint8_t secret_key[UVEA_SHARE_KEY_BYTES]; // secret
};

// A party's keys: the current one, and the one before, which still opens older objects.
struct uvea_share_keys {
    struct uvea_share_key_pair current;
    struct uvea_share_key_pair previous;
    bool has_previous;
};

// The pair that belongs to 32 secret random bytes.
UVEA_MUST_USE enum uvea_error
uvea_share_key_pair_from_seed(const uint8_t seed[UVEA_SHARE_KEY_BYTES],
                              struct uvea_share_key_pair *pair);

// The pair of which this is the secret half, as key files hold it: 32 bytes of X25519.
UVEA_MUST_USE enum uvea_error
uvea_share_key_pair_from_secret(const uint8_t secret[UVEA_SHARE_KEY_BYTES],
                                struct uvea_share_key_pair *pair);

// Appends the JSON of an object: uploads[p] for party p, sealed to public_keys[p]. entropy: 3 x 32
// fresh random bytes for the boxes' one-time keys.
UVEA_MUST_USE enum uvea_error
uvea_share_object_encode(const struct uvea_iris_upload uploads[UVEA_PARTY_COUNT],
                         const uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES],
                         const uint8_t entropy[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES],
                         struct uvea_buf *json);

// Opens this party's part: JSON, base64, sealed box (current key, then previous), hash, share file.
// FORMAT or LIMIT: the object is not good, and the sentence says what. out is unchanged then.
UVEA_MUST_USE enum uvea_error uvea_share_object_decode(struct uvea_party party,
                                                       const struct uvea_share_keys *keys,
                                                       const uint8_t *json, size_t bytes,
                                                       struct uvea_iris_upload *out,
                                                       struct uvea_error_context *context);

#endif
