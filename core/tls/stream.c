#include "core/tls/stream.h"

#include "core/base/mem.h"
#include "core/tls/reason.h"
#include "core/tls/stream_impl.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

static void release(struct uvea_tls_stream *stream)
{
    SSL_free(stream->ssl);
    uvea_rt_channel_close(stream->rt, stream->opening);
    uvea_rt_channel_close(stream->rt, stream->turn);
    uvea_rt_lock_close(stream->rt, stream->lock);
    uvea_tls_material_release(stream->material);
    uvea_buf_deinit(&stream->out);
    uvea_buf_deinit(&stream->sending);
    uvea_mem_wipe(stream->in, stream->in_capacity);
    uvea_mem_free(stream->in);
    uvea_mem_free(stream);
}

// ---- opening

static bool expect_host(struct uvea_tls_stream *stream)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(stream->ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, stream->host) == 1) {
        return true;
    }
    ERR_clear_error();
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return X509_VERIFY_PARAM_set1_host(param, stream->host, 0) == 1 &&
           SSL_set_tlsext_host_name(stream->ssl, stream->host) == 1;
}

static enum uvea_error set_up_ssl(struct uvea_tls_stream *stream)
{
    enum uvea_tls_role role = stream->listens ? UVEA_TLS_LISTENS : UVEA_TLS_DIALS;
    ERR_clear_error();
    stream->ssl = SSL_new(stream->material->contexts[role]);
    BIO *bio = uvea_tls_bio_open(stream);
    if (stream->ssl == NULL || bio == NULL) {
        BIO_free(bio);
        ERR_clear_error();
        return UVEA_ERR_MEMORY;
    }
    SSL_set_bio(stream->ssl, bio, bio); // takes it over
    if (stream->listens) {
        SSL_set_accept_state(stream->ssl);
        return UVEA_OK;
    }
    SSL_set_connect_state(stream->ssl);
    bool good = expect_host(stream);
    ERR_clear_error();
    return good ? UVEA_OK : UVEA_ERR_CRYPTO;
}

static enum uvea_error set_up(struct uvea_tls_stream *stream)
{
    UVEA_TRY(uvea_rt_lock_open(stream->rt, &stream->lock));
    UVEA_TRY(uvea_rt_channel_open(stream->rt, 1, &stream->opening));
    UVEA_TRY(uvea_rt_channel_open(stream->rt, 1, &stream->turn));
    stream->in = uvea_mem_alloc(UVEA_TLS_HELLO_BYTES, 1);
    if (stream->in == NULL) {
        return UVEA_ERR_MEMORY;
    }
    stream->in_capacity = UVEA_TLS_HELLO_BYTES;
    return set_up_ssl(stream);
}

enum uvea_error uvea_tls_stream_open(struct uvea_rt *rt, struct uvea_tls *tls,
                                     const struct uvea_tls_transport *transport, const char *host,
                                     struct uvea_tls_stream **stream)
{
    enum uvea_error error = UVEA_ERR_MEMORY;
    struct uvea_tls_stream *made = uvea_mem_alloc(1, sizeof(*made));
    if (made != NULL) {
        made->rt = rt;
        made->transport = *transport;
        made->material = uvea_tls_material_take(tls);
        made->listens = host == NULL;
        bool fits = host == NULL || strlen(host) < sizeof(made->host);
        if (host != NULL && fits) {
            memcpy(made->host, host, strlen(host) + 1);
        }
        error = fits ? set_up(made) : UVEA_ERR_USAGE;
    }
    if (error != UVEA_OK) {
        transport->close(transport->arg);
        if (made != NULL) {
            release(made);
        }
        return error;
    }
    *stream = made;
    return UVEA_OK;
}

// ---- who is at the other end

// With the lock. An X509_V_ value; UNSPECIFIED when no certificate was shown.
static int judge(const struct uvea_tls_stream *stream, struct uvea_party party, int64_t wall_s)
{
    X509 *leaf = stream->ready ? SSL_get0_peer_certificate(stream->ssl) : NULL;
    return leaf != NULL ? uvea_tls_material_judge(stream->material, party, leaf,
                                                  SSL_get_peer_cert_chain(stream->ssl), &wall_s)
                        : X509_V_ERR_UNSPECIFIED;
}

bool uvea_tls_stream_is_party(struct uvea_tls_stream *stream)
{
    int64_t wall_s = (int64_t)(uvea_rt_wall_ns(stream->rt) / UVEA_SECOND);
    bool found = false;
    uvea_rt_lock_take(stream->rt, stream->lock);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT && !found; i++) {
        found = judge(stream, uvea_party_at(i), wall_s) == X509_V_OK;
    }
    uvea_rt_lock_release(stream->rt, stream->lock);
    return found;
}

enum uvea_error uvea_tls_stream_prove(struct uvea_tls_stream *stream, struct uvea_party party)
{
    int64_t wall_s = (int64_t)(uvea_rt_wall_ns(stream->rt) / UVEA_SECOND);
    uvea_rt_lock_take(stream->rt, stream->lock);
    int verdict = judge(stream, party, wall_s);
    if (verdict != X509_V_OK) {
        (void)snprintf(stream->reason, sizeof(stream->reason), "%s, judged by the root of party %u",
                       verdict != X509_V_ERR_UNSPECIFIED ? uvea_tls_verdict_text(verdict)
                                                         : "no certificate",
                       (unsigned)party.index);
    }
    uvea_rt_lock_release(stream->rt, stream->lock);
    return verdict == X509_V_OK ? UVEA_OK : UVEA_ERR_PEER;
}

void uvea_tls_stream_reason(const struct uvea_tls_stream *stream, struct uvea_error_context *reason)
{
    uvea_rt_lock_take(stream->rt, stream->lock);
    (void)snprintf(reason->text, sizeof(reason->text), "%s", stream->reason);
    uvea_rt_lock_release(stream->rt, stream->lock);
}

// ---- the end

void uvea_tls_stream_shut(struct uvea_tls_stream *stream)
{
    uint8_t last[UVEA_TLS_LAST_BYTES_MAX];
    size_t len = 0;
    uvea_rt_lock_take(stream->rt, stream->lock);
    bool first = !stream->shut;
    stream->shut = true;
    if (first && stream->ready && !stream->writing && stream->failed == UVEA_OK &&
        stream->unwritten == UVEA_OK) {
        ERR_clear_error();
        (void)SSL_shutdown(stream->ssl); // leaves close_notify in out
        ERR_clear_error();
        if (stream->out.len <= sizeof(last)) {
            len = stream->out.len;
            memcpy(last, stream->out.data, len);
        }
    }
    uvea_rt_lock_release(stream->rt, stream->lock);
    if (first) {
        stream->transport.shut(stream->transport.arg, last, len);
    }
}

void uvea_tls_stream_close(struct uvea_tls_stream *stream)
{
    uvea_tls_stream_shut(stream);
    stream->transport.close(stream->transport.arg);
    release(stream);
}
