#include "tests/tls/raw.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <openssl/bio.h>
#include <openssl/err.h>

void raw_open(struct raw *raw, struct side *side, const struct pki *pki, const char *stem)
{
    *raw = (struct raw){.side = side, .context = SSL_CTX_new(TLS_method())};
    UVEA_CHECK(raw->context != NULL);
    if (stem != NULL) {
        struct uvea_tls_config config = pki_config(pki, stem, -1, NULL);
        PAIR_EXPECT(SSL_CTX_use_certificate_chain_file(raw->context, config.certificate_file) == 1);
        PAIR_EXPECT(SSL_CTX_use_PrivateKey_file(raw->context, config.key_file, SSL_FILETYPE_PEM) ==
                    1);
    }
    raw->ssl = SSL_new(raw->context);
    SSL_set_bio(raw->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    if (side == &side->pair->sides[DIALS]) {
        SSL_set_connect_state(raw->ssl);
    } else {
        SSL_set_accept_state(raw->ssl);
    }
}

void raw_close(struct raw *raw)
{
    SSL_free(raw->ssl);
    SSL_CTX_free(raw->context);
    ERR_clear_error();
}

size_t raw_take(struct raw *raw, uint8_t *out, size_t capacity)
{
    int got = BIO_read(SSL_get_wbio(raw->ssl), out, (int)capacity);
    return got > 0 ? (size_t)got : 0;
}

void raw_flush(struct raw *raw)
{
    uint8_t bytes[4096];
    for (size_t len = raw_take(raw, bytes, sizeof(bytes)); len > 0;
         len = raw_take(raw, bytes, sizeof(bytes))) {
        if (uvea_rt_write(raw->side->rt, raw->side->bare, bytes, len, UVEA_NEVER) != UVEA_OK) {
            return;
        }
    }
}

// After a call that gave `result`: whether it is to be made again.
static bool again(struct raw *raw, int result)
{
    int kind = SSL_get_error(raw->ssl, result);
    raw_flush(raw);
    if (kind != SSL_ERROR_WANT_READ) {
        return false;
    }
    uint8_t bytes[4096];
    size_t got;
    if (uvea_rt_read(raw->side->rt, raw->side->bare, bytes, sizeof(bytes), &got, UVEA_NEVER) !=
            UVEA_OK ||
        got == 0) {
        return false;
    }
    return BIO_write(SSL_get_rbio(raw->ssl), bytes, (int)got) == (int)got;
}

bool raw_handshake(struct raw *raw)
{
    int result;
    do {
        ERR_clear_error();
        result = SSL_do_handshake(raw->ssl);
    } while (result != 1 && again(raw, result));
    raw_flush(raw);
    return result == 1;
}

bool raw_write(struct raw *raw, size_t from, size_t bytes)
{
    uint8_t *chunk = uvea_mem_alloc(bytes, 1);
    UVEA_CHECK(chunk != NULL);
    for (size_t i = 0; i < bytes; i++) {
        chunk[i] = side_pattern(from + i);
    }
    ERR_clear_error();
    int result = SSL_write(raw->ssl, chunk, (int)bytes);
    raw_flush(raw);
    uvea_mem_free(chunk);
    return result == (int)bytes;
}

size_t raw_read(struct raw *raw, size_t from, size_t most)
{
    size_t total = 0;
    while (total < most) {
        uint8_t chunk[3000];
        size_t part = most - total < sizeof(chunk) ? most - total : sizeof(chunk);
        ERR_clear_error();
        int got = SSL_read(raw->ssl, chunk, (int)part);
        if (got <= 0) {
            if (again(raw, got)) {
                continue;
            }
            break;
        }
        for (size_t i = 0; i < (size_t)got; i++) {
            PAIR_EXPECT(chunk[i] == side_pattern(from + total + i));
        }
        total += (size_t)got;
    }
    raw_flush(raw);
    return total;
}
