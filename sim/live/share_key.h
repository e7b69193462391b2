// Files of the keys that open share objects: one line, base64 of the 32 bytes of the secret half,
// readable by the owner only. Read by core/daemon/file.h. Source: service.md 5.2.
#ifndef UVEA_SIM_LIVE_SHARE_KEY_H
#define UVEA_SIM_LIVE_SHARE_KEY_H

#include "core/base/error.h"
#include "core/service/share_object.h"

#include <stdbool.h>

enum { UVEA_SHARE_KEY_CHARS = 44 };

// A fresh pair; its secret half goes to the file. USAGE: the file is there already and is not to be
// overwritten; IO, CRYPTO.
UVEA_MUST_USE enum uvea_error uvea_share_key_write(const char *file, bool overwrite,
                                                   struct uvea_share_key_pair *pair,
                                                   struct uvea_error_context *context);

// Base64, with a NUL.
void uvea_share_key_text(const uint8_t public_key[UVEA_SHARE_KEY_BYTES],
                         char text[UVEA_SHARE_KEY_CHARS + 1]);

#endif
