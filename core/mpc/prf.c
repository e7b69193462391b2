#include "core/mpc/prf.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/mpc/blake3.h"

#include <openssl/evp.h>
#include <string.h>

enum {
    AES_BLOCK_BYTES = 16,
    AES_STATE_BLOCKS = 8,
    AES_STATE_BYTES = AES_BLOCK_BYTES * AES_STATE_BLOCKS,
    // How much of a bulk fill is encrypted per call: a whole number of states that stays in cache.
    AES_BULK_BYTES = 64 * AES_STATE_BYTES,
    // The generator asks for more than it needs: the last word of a state is never returned.
    AES_STATE_WORDS = AES_STATE_BYTES / 4 - 1,
    AES_WORD_STATES = 16, // of a call for many words
};

_Static_assert((int)UVEA_CHACHA_KEY_BYTES == (int)UVEA_BLAKE3_HASH_BYTES, "the hash is the key");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "fills of arrays and planes take host order to be little-endian");

// The keystream in states of eight blocks, as the aes-prng crate buffers it.
struct aes_stream {
    EVP_CIPHER_CTX *cipher;
    uint64_t block; // first counter of the next state
    size_t used;    // bytes of state already read
    uint8_t state[AES_STATE_BYTES];
    uint8_t many[AES_WORD_STATES][AES_STATE_BYTES];
};

struct uvea_prg {
    enum uvea_prf_kind kind;
    struct aes_stream aes;
    struct uvea_chacha chacha;
};

// ---- AES-128 in counter form

static enum uvea_error aes_open(struct aes_stream *aes, const uint8_t seed[UVEA_PRF_SEED_BYTES])
{
    aes->used = AES_STATE_BYTES;
    aes->cipher = EVP_CIPHER_CTX_new();
    if (aes->cipher == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (EVP_EncryptInit_ex(aes->cipher, EVP_aes_128_ecb(), NULL, seed, NULL) != 1 ||
        EVP_CIPHER_CTX_set_padding(aes->cipher, 0) != 1) {
        return UVEA_ERR_CRYPTO;
    }
    return UVEA_OK;
}

// Writes the keystream of the next states into out; bytes is a multiple of a state.
static void aes_states(struct aes_stream *aes, uint8_t *out, size_t bytes)
{
    while (bytes > 0) {
        size_t part = bytes < AES_BULK_BYTES ? bytes : AES_BULK_BYTES;
        for (size_t i = 0; i < part; i += AES_BLOCK_BYTES) {
            uvea_store_le64(out + i, aes->block++);
            uvea_store_le64(out + i + 8, 0);
        }
        int written;
        // Whole blocks, no padding, a context that was initialised: this cannot fail.
        UVEA_CHECK(EVP_EncryptUpdate(aes->cipher, out, &written, out, (int)part) == 1 &&
                   (size_t)written == part);
        out += part;
        bytes -= part;
    }
}

static const uint8_t *aes_word(struct aes_stream *aes, size_t bytes)
{
    if (aes->used + bytes >= AES_STATE_BYTES) {
        aes_states(aes, aes->state, AES_STATE_BYTES);
        aes->used = 0;
    }
    const uint8_t *word = aes->state + aes->used;
    aes->used += bytes;
    return word;
}

// Words of whole states. The last state stays as if it had been read word by word.
static size_t aes_state_words(struct aes_stream *aes, uint32_t *out, size_t count)
{
    size_t states = count / AES_STATE_WORDS;
    states = states < AES_WORD_STATES ? states : AES_WORD_STATES;
    aes_states(aes, aes->many[0], states * AES_STATE_BYTES);
    for (size_t i = 0; i < states; i++) {
        memcpy(out + i * AES_STATE_WORDS, aes->many[i], AES_STATE_WORDS * sizeof(*out));
    }
    memcpy(aes->state, aes->many[states - 1], AES_STATE_BYTES);
    aes->used = AES_STATE_WORDS * sizeof(*out);
    return states * AES_STATE_WORDS;
}

static void aes_words(struct aes_stream *aes, uint32_t *out, size_t count)
{
    size_t done = 0;
    while (done < count) {
        if (aes->used + sizeof(*out) >= AES_STATE_BYTES && count - done >= AES_STATE_WORDS) {
            done += aes_state_words(aes, out + done, count - done);
        } else {
            out[done++] = uvea_load_le32(aes_word(aes, sizeof(*out)));
        }
    }
}

static size_t aes_leftover(struct aes_stream *aes, uint8_t *out, size_t bytes)
{
    size_t left = AES_STATE_BYTES - aes->used;
    size_t part = bytes < left ? bytes : left;
    memcpy(out, aes->state + aes->used, part);
    aes->used += part;
    return part;
}

static void aes_fill(struct aes_stream *aes, uint8_t *out, size_t bytes)
{
    if (bytes == 0) {
        return;
    }
    size_t done = aes_leftover(aes, out, bytes);
    size_t whole = (bytes - done) / AES_STATE_BYTES * AES_STATE_BYTES;
    aes_states(aes, out + done, whole);
    done += whole;
    if (done < bytes) {
        aes_states(aes, aes->state, AES_STATE_BYTES);
        aes->used = 0;
        (void)aes_leftover(aes, out + done, bytes - done);
    }
}

// ---- either generator

enum uvea_error uvea_prg_open(enum uvea_prf_kind kind, const uint8_t seed[UVEA_PRF_SEED_BYTES],
                              struct uvea_prg **prg)
{
    struct uvea_prg *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->kind = kind;
    if (kind == UVEA_PRF_AES128) {
        enum uvea_error error = aes_open(&made->aes, seed);
        if (error != UVEA_OK) {
            uvea_prg_close(made);
            return error;
        }
    } else {
        uint8_t key[UVEA_CHACHA_KEY_BYTES];
        uvea_blake3_block(seed, UVEA_PRF_SEED_BYTES, key);
        uvea_chacha_init(&made->chacha, key, 8);
        uvea_mem_wipe(key, sizeof(key));
    }
    *prg = made;
    return UVEA_OK;
}

void uvea_prg_close(struct uvea_prg *prg)
{
    if (prg == NULL) {
        return;
    }
    EVP_CIPHER_CTX_free(prg->aes.cipher);
    uvea_mem_wipe(prg, sizeof(*prg));
    uvea_mem_free(prg);
}

uint32_t uvea_prg_next_u32(struct uvea_prg *prg)
{
    return prg->kind == UVEA_PRF_AES128 ? uvea_load_le32(aes_word(&prg->aes, 4))
                                        : uvea_chacha_next_u32(&prg->chacha);
}

void uvea_prg_next_u32s(struct uvea_prg *prg, uint32_t *out, size_t count)
{
    if (prg->kind == UVEA_PRF_AES128) {
        aes_words(&prg->aes, out, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = uvea_chacha_next_u32(&prg->chacha);
    }
}

uint64_t uvea_prg_next_u64(struct uvea_prg *prg)
{
    return prg->kind == UVEA_PRF_AES128 ? uvea_load_le64(aes_word(&prg->aes, 8))
                                        : uvea_chacha_next_u64(&prg->chacha);
}

void uvea_prg_fill(struct uvea_prg *prg, uint8_t *out, size_t bytes)
{
    if (prg->kind == UVEA_PRF_AES128) {
        aes_fill(&prg->aes, out, bytes);
    } else {
        uvea_chacha_fill(&prg->chacha, out, bytes);
    }
}

uint16_t uvea_prg_gen_u16(struct uvea_prg *prg)
{
    return (uint16_t)uvea_prg_next_u32(prg);
}

uint64_t uvea_prg_gen_u48(struct uvea_prg *prg)
{
    return uvea_prg_next_u64(prg) & UVEA_RING48_MASK;
}

void uvea_prg_gen_u128(struct uvea_prg *prg, uint64_t out[2])
{
    out[0] = uvea_prg_next_u64(prg);
    out[1] = uvea_prg_next_u64(prg);
}

void uvea_prg_fill_u16(struct uvea_prg *prg, uint16_t *out, size_t count)
{
    uvea_prg_fill(prg, (uint8_t *)out, count * sizeof(*out));
}

void uvea_prg_fill_u32(struct uvea_prg *prg, uint32_t *out, size_t count)
{
    uvea_prg_fill(prg, (uint8_t *)out, count * sizeof(*out));
}

void uvea_prg_fill_u48(struct uvea_prg *prg, uint64_t *out, size_t count)
{
    uvea_prg_fill_u64(prg, out, count);
    for (size_t i = 0; i < count; i++) {
        out[i] &= UVEA_RING48_MASK;
    }
}

void uvea_prg_fill_u64(struct uvea_prg *prg, uint64_t *out, size_t count)
{
    uvea_prg_fill(prg, (uint8_t *)out, count * sizeof(*out));
}

bool uvea_prg_range_accepts(uint64_t word, uint64_t bound)
{
    uint64_t excess = -bound % bound; // 2^64 mod bound
    return word <= UINT64_MAX - excess;
}

uint64_t uvea_prg_gen_below(struct uvea_prg *prg, uint64_t bound)
{
    UVEA_CHECK(bound > 0);
    uint64_t word;
    do {
        word = uvea_prg_next_u64(prg);
    } while (!uvea_prg_range_accepts(word, bound));
    return word % bound;
}

uint64_t uvea_prg_bytes_drawn(const struct uvea_prg *prg)
{
    if (prg->kind == UVEA_PRF_AES128) {
        return prg->aes.block * AES_BLOCK_BYTES - (AES_STATE_BYTES - prg->aes.used);
    }
    return prg->chacha.block * 64 - 4 * (uint64_t)(UVEA_CHACHA_BUFFER_WORDS - prg->chacha.index);
}

void uvea_prg_seek(struct uvea_prg *prg, uint64_t block)
{
    prg->aes.block = block;
    prg->aes.used = AES_STATE_BYTES;
    prg->chacha.block = block;
    prg->chacha.index = UVEA_CHACHA_BUFFER_WORDS;
}

// ---- a party's two streams

static void swap_down(struct uvea_prg *prg, size_t *order, size_t last)
{
    size_t other = uvea_prg_gen_below(prg, (uint64_t)last + 1);
    size_t kept = order[last];
    order[last] = order[other];
    order[other] = kept;
}

void uvea_prf_permutation(struct uvea_prf *prf, size_t size, size_t *my, size_t *prev)
{
    for (size_t i = 0; i < size; i++) {
        my[i] = i;
        prev[i] = i;
    }
    for (size_t i = 1; i < size; i++) {
        swap_down(prf->my, my, i);
        swap_down(prf->prev, prev, i);
    }
}
