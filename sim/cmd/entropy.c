#include "sim/cmd/entropy.h"

#include "core/base/check.h"

#include <openssl/rand.h>

enum { BYTES_MAX = 1 << 20 };

enum uvea_error uvea_cmd_entropy(void *out, size_t bytes)
{
    UVEA_CHECK(bytes <= BYTES_MAX);
    return RAND_bytes(out, (int)bytes) == 1 ? UVEA_OK : UVEA_ERR_CRYPTO;
}
