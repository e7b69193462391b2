#include "sim/runtime/random.h"

#include "core/base/check.h"
#include "core/base/endian.h"

#include <openssl/evp.h>
#include <string.h>

// log2(1 + i/64) in units of 2^-32.
static const uint64_t log2_table[65] = {
    UINT64_C(0x000000000), UINT64_C(0x005b9e5a1), UINT64_C(0x00b5d69bb), UINT64_C(0x010eb38a0),
    UINT64_C(0x01663f6fb), UINT64_C(0x01bc84241), UINT64_C(0x02118b11a), UINT64_C(0x02655d3c5),
    UINT64_C(0x02b803474), UINT64_C(0x0309857a0), UINT64_C(0x0359ebc5b), UINT64_C(0x03a93dc98),
    UINT64_C(0x03f782d72), UINT64_C(0x0444c1f6b), UINT64_C(0x049101eac), UINT64_C(0x04dc4933b),
    UINT64_C(0x05269e12f), UINT64_C(0x0570068e8), UINT64_C(0x05b888736), UINT64_C(0x06002958c),
    UINT64_C(0x0646eea24), UINT64_C(0x068cdd82a), UINT64_C(0x06d1fafdd), UINT64_C(0x07164beb5),
    UINT64_C(0x0759d4f81), UINT64_C(0x079c9aa88), UINT64_C(0x07dea15a3), UINT64_C(0x081fed45d),
    UINT64_C(0x086082807), UINT64_C(0x08a064fd5), UINT64_C(0x08df988f5), UINT64_C(0x091e20ea1),
    UINT64_C(0x095c01a3a), UINT64_C(0x09993e356), UINT64_C(0x09d5d9fd5), UINT64_C(0x0a11d83f5),
    UINT64_C(0x0a4d3c25e), UINT64_C(0x0a8808c38), UINT64_C(0x0ac241135), UINT64_C(0x0afbe7fa1),
    UINT64_C(0x0b3500472), UINT64_C(0x0b6d8cb54), UINT64_C(0x0ba58feb2), UINT64_C(0x0bdd0c7ca),
    UINT64_C(0x0c1404eae), UINT64_C(0x0c4a7ba58), UINT64_C(0x0c80730b0), UINT64_C(0x0cb5ed695),
    UINT64_C(0x0ceaecfeb), UINT64_C(0x0d1f73f9c), UINT64_C(0x0d53847ac), UINT64_C(0x0d8720936),
    UINT64_C(0x0dba4a47b), UINT64_C(0x0ded038e6), UINT64_C(0x0e1f4e517), UINT64_C(0x0e512c6e5),
    UINT64_C(0x0e829fb69), UINT64_C(0x0eb3a9f02), UINT64_C(0x0ee44cd5a), UINT64_C(0x0f148a170),
    UINT64_C(0x0f446359b), UINT64_C(0x0f73da38e), UINT64_C(0x0fa2f045e), UINT64_C(0x0fd1a708c),
    UINT64_C(0x100000000),
};

#define LN2_Q32 UINT64_C(2977044472) // ln 2 in units of 2^-32

static uint64_t rotate_left(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

void uvea_sim_random_init(struct uvea_sim_random *random, uint64_t seed, const char *name)
{
    uint8_t input[8 + 256];
    uint8_t digest[EVP_MAX_MD_SIZE];
    size_t name_bytes = strlen(name);
    UVEA_CHECK(name_bytes <= sizeof(input) - 8);
    uvea_store_le64(input, seed);
    memcpy(input + 8, name, name_bytes);
    UVEA_CHECK(EVP_Digest(input, 8 + name_bytes, digest, NULL, EVP_sha256(), NULL) == 1);
    for (unsigned i = 0; i < 4; i++) {
        random->state[i] = uvea_load_le64(digest + (size_t)8 * i);
    }
}

uint64_t uvea_sim_random_next_u64(struct uvea_sim_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t uvea_sim_random_below(struct uvea_sim_random *random, uint64_t n)
{
    UVEA_CHECK(n >= 1);
    if (n == 1) {
        return 0;
    }
    // Lemire's multiplication: the low half tells whether the draw fell into the uneven rest.
    unsigned __int128 product = (unsigned __int128)uvea_sim_random_next_u64(random) * n;
    if ((uint64_t)product < n) {
        uint64_t uneven = -n % n;
        while ((uint64_t)product < uneven) {
            product = (unsigned __int128)uvea_sim_random_next_u64(random) * n;
        }
    }
    return (uint64_t)(product >> 64);
}

uint64_t uvea_sim_random_range(struct uvea_sim_random *random, uint64_t low, uint64_t high)
{
    UVEA_CHECK(low <= high);
    if (low == 0 && high == UINT64_MAX) {
        return uvea_sim_random_next_u64(random);
    }
    return low + uvea_sim_random_below(random, high - low + 1);
}

bool uvea_sim_random_chance(struct uvea_sim_random *random, uint64_t numerator,
                            uint64_t denominator)
{
    UVEA_CHECK(denominator >= 1);
    if (numerator == 0 || numerator >= denominator) {
        return numerator != 0;
    }
    return uvea_sim_random_below(random, denominator) < numerator;
}

// -log2(u / 2^64) in units of 2^-32, for u >= 1.
static uint64_t minus_log2(uint64_t u)
{
    unsigned zeros = (unsigned)__builtin_clzll(u);
    uint64_t fraction = zeros == 63 ? 0 : u << (zeros + 1); // what follows the leading one
    unsigned index = (unsigned)(fraction >> 58);
    uint64_t rest = fraction << 6 >> 32;
    uint64_t step = log2_table[index + 1] - log2_table[index];
    uint64_t log2_fraction = log2_table[index] + (step * rest >> 32);
    return ((uint64_t)(zeros + 1) << 32) - log2_fraction;
}

uint64_t uvea_sim_random_exponential(struct uvea_sim_random *random, uint64_t mean)
{
    if (mean == 0) {
        return 0;
    }
    uint64_t bits = minus_log2(uvea_sim_random_next_u64(random) | 1);
    uint64_t natural = (uint64_t)((unsigned __int128)bits * LN2_Q32 >> 32);
    unsigned __int128 value = (unsigned __int128)mean * natural >> 32;
    return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

void uvea_sim_random_fill(struct uvea_sim_random *random, uint8_t *out, size_t bytes)
{
    while (bytes > 0) {
        uint8_t word[8];
        size_t part = bytes < sizeof(word) ? bytes : sizeof(word);
        uvea_store_le64(word, uvea_sim_random_next_u64(random));
        memcpy(out, word, part);
        out += part;
        bytes -= part;
    }
}
