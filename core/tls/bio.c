// The memory that OpenSSL reads records from and writes them to. Its own memory BIO would copy
// everything once more, and has no bound.
#include "core/tls/stream_impl.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <string.h>

static int take_in(BIO *bio, char *out, size_t capacity, size_t *got)
{
    struct uvea_tls_stream *stream = BIO_get_data(bio);
    size_t there = stream->in_len - stream->in_at;
    BIO_clear_retry_flags(bio);
    if (there == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    *got = there < capacity ? there : capacity;
    memcpy(out, stream->in + stream->in_at, *got);
    stream->in_at += *got;
    return 1;
}

static int put_out(BIO *bio, const char *bytes, size_t len, size_t *done)
{
    struct uvea_tls_stream *stream = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (len > UVEA_TLS_OUT_BYTES_MAX - stream->out.len ||
        uvea_buf_append(&stream->out, bytes, len) != UVEA_OK) {
        return 0;
    }
    *done = len;
    return 1;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method;
static CRYPTO_ONCE method_once = CRYPTO_ONCE_STATIC_INIT;

// Kept to the end of the process.
static void make_method(void)
{
    BIO_METHOD *made = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "uvea stream");
    if (made != NULL && BIO_meth_set_read_ex(made, take_in) == 1 &&
        BIO_meth_set_write_ex(made, put_out) == 1 && BIO_meth_set_ctrl(made, control) == 1) {
        method = made;
        return;
    }
    BIO_meth_free(made);
}

BIO *uvea_tls_bio_open(struct uvea_tls_stream *stream)
{
    if (CRYPTO_THREAD_run_once(&method_once, make_method) != 1 || method == NULL) {
        return NULL;
    }
    BIO *bio = BIO_new(method);
    if (bio != NULL) {
        BIO_set_data(bio, stream);
        BIO_set_init(bio, 1);
    }
    return bio;
}
