// Carrying bytes: the handshake, reading, writing.
#include "core/base/mem.h"
#include "core/tls/reason.h"
#include "core/tls/stream_impl.h"

#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

// How long the last words of a stream that has failed may take.
static const uint64_t alert_ns_max = UVEA_SECOND;

static void lock(struct uvea_tls_stream *stream)
{
    uvea_rt_lock_take(stream->rt, stream->lock);
}

static void unlock(struct uvea_tls_stream *stream)
{
    uvea_rt_lock_release(stream->rt, stream->lock);
}

// ---- turns

static enum uvea_error take(struct uvea_tls_stream *stream, struct uvea_channel *turn,
                            uint64_t deadline_ns)
{
    return uvea_rt_channel_send(stream->rt, turn, stream, deadline_ns);
}

static void give_back(struct uvea_tls_stream *stream, struct uvea_channel *turn)
{
    void *item;
    enum uvea_error ignored = uvea_rt_channel_recv(stream->rt, turn, &item, 0);
    (void)ignored; // there is one: whoever gives it back has put it there
}

// Of everything, or of writing alone. Under the lock.
static enum uvea_error standing(const struct uvea_tls_stream *stream)
{
    return stream->shut ? UVEA_ERR_CLOSED : stream->failed;
}

static enum uvea_error writable(const struct uvea_tls_stream *stream)
{
    enum uvea_error error = standing(stream);
    return error != UVEA_OK               ? error
           : stream->unwritten != UVEA_OK ? stream->unwritten
           : stream->ended                ? UVEA_ERR_CLOSED
                                          : UVEA_OK;
}

// With the turn: writes everything that is in out, until nothing is.
static enum uvea_error send_out(struct uvea_tls_stream *stream, uint64_t deadline_ns)
{
    for (;;) {
        lock(stream);
        struct uvea_buf full = stream->out;
        // What has been sent has been sent, also when a shut came right behind it.
        enum uvea_error error = full.len > 0 && stream->shut ? UVEA_ERR_CLOSED : UVEA_OK;
        if (error == UVEA_OK && full.len > 0) {
            stream->out = stream->sending;
            stream->sending = full;
            uvea_buf_clear(&stream->out);
            stream->writing = true;
        }
        unlock(stream);
        if (error != UVEA_OK || full.len == 0) {
            return error;
        }
        error = stream->transport.write(stream->transport.arg, full.data, full.len, deadline_ns);
        if (error != UVEA_OK) {
            lock(stream);
            stream->unwritten = error == UVEA_ERR_TIMEOUT ? UVEA_ERR_CLOSED : error;
            unlock(stream);
            return error;
        }
    }
}

// From here on a shut may say that this is the end.
static void written(struct uvea_tls_stream *stream)
{
    lock(stream);
    stream->writing = false;
    unlock(stream);
}

static bool something_left(struct uvea_tls_stream *stream)
{
    lock(stream);
    bool left = stream->out.len > 0 && !stream->shut && stream->unwritten == UVEA_OK;
    unlock(stream);
    return left;
}

// Sends what OpenSSL had to say beside the data (an answer to a key update, an alert). When
// somebody else has the turn, that one finds it: he looks here behind his own turn.
static enum uvea_error send_left(struct uvea_tls_stream *stream, uint64_t deadline_ns)
{
    while (something_left(stream)) {
        if (take(stream, stream->turn, 0) != UVEA_OK) {
            return UVEA_OK;
        }
        enum uvea_error error = send_out(stream, deadline_ns);
        written(stream);
        give_back(stream, stream->turn);
        UVEA_TRY(error);
    }
    return UVEA_OK;
}

// ---- what comes

// Keeps the first failure. Under the lock.
static void fail(struct uvea_tls_stream *stream, enum uvea_error error, const char *reason)
{
    if (stream->failed == UVEA_OK) {
        stream->failed = error;
        (void)snprintf(stream->reason, sizeof(stream->reason), "%s", reason);
    }
}

// What OpenSSL's last call has left behind. Under the lock.
static void fail_by_ssl(struct uvea_tls_stream *stream)
{
    char reason[UVEA_TLS_REASON_BYTES];
    enum uvea_error error = uvea_tls_reason_take(
        stream->ssl, !stream->ready, stream->listens ? NULL : stream->host, reason, sizeof(reason));
    fail(stream, error, reason);
}

// (blocks) Reads some ciphertext; all that was there has been used.
static enum uvea_error feed(struct uvea_tls_stream *stream, uint64_t deadline_ns)
{
    size_t got;
    UVEA_TRY(stream->transport.read(stream->transport.arg, stream->in, stream->in_capacity, &got,
                                    deadline_ns));
    stream->in_at = 0;
    stream->in_len = got;
    if (got > 0) {
        return UVEA_OK;
    }
    lock(stream);
    fail(stream, UVEA_ERR_RESET,
         stream->ready ? "ended without saying so" : "ended during the handshake");
    unlock(stream);
    return UVEA_ERR_RESET;
}

// ---- the handshake

// A known peer's records may come in larger pieces. Whoever cannot get the memory goes on as
// before.
static void widen(struct uvea_tls_stream *stream)
{
    uint8_t *wide = uvea_mem_alloc(UVEA_TLS_READ_BYTES, 1);
    if (wide == NULL) {
        return;
    }
    stream->in_len -= stream->in_at;
    memcpy(wide, stream->in + stream->in_at, stream->in_len);
    stream->in_at = 0;
    uvea_mem_free(stream->in);
    stream->in = wide;
    stream->in_capacity = UVEA_TLS_READ_BYTES;
}

// One step of OpenSSL's. OK: it wants to read, or it is done (then ready is true).
static enum uvea_error shake(struct uvea_tls_stream *stream)
{
    lock(stream);
    enum uvea_error error = standing(stream);
    if (error == UVEA_OK && !stream->ready) {
        ERR_clear_error();
        int result = SSL_do_handshake(stream->ssl);
        int kind = SSL_get_error(stream->ssl, result);
        stream->writing = true;
        if (result == 1) {
            stream->ready = true;
            widen(stream);
        } else if (kind != SSL_ERROR_WANT_READ) {
            fail_by_ssl(stream);
            error = stream->failed;
        }
    }
    unlock(stream);
    return error;
}

// With the turn.
static enum uvea_error shake_hands(struct uvea_tls_stream *stream, uint64_t deadline_ns)
{
    for (;;) {
        enum uvea_error error = shake(stream);
        if (error != UVEA_OK) {
            uint64_t soon_ns = uvea_rt_deadline_ns(stream->rt, alert_ns_max);
            enum uvea_error ignored =
                send_out(stream, soon_ns < deadline_ns ? soon_ns : deadline_ns);
            (void)ignored; // the handshake has failed, whether the alert leaves or not
            return error;
        }
        error = send_out(stream, deadline_ns);
        if (error != UVEA_OK || stream->ready) { // nobody else sets ready now
            return error;
        }
        UVEA_TRY(feed(stream, deadline_ns));
    }
}

static void judge_by_the_clock(struct uvea_tls_stream *stream)
{
    uint64_t wall_s = uvea_rt_wall_ns(stream->rt) / UVEA_SECOND;
    lock(stream);
    X509_VERIFY_PARAM_set_time(SSL_get0_param(stream->ssl), (time_t)wall_s);
    unlock(stream);
}

// Whether there is nothing to be done; *error says how it stands.
static bool settled(struct uvea_tls_stream *stream, enum uvea_error *error)
{
    lock(stream);
    *error = standing(stream);
    bool settled = stream->ready || *error != UVEA_OK;
    unlock(stream);
    return settled;
}

// Whose turn it is to open. The turn to write is free, as nobody writes before.
static enum uvea_error open_up(struct uvea_tls_stream *stream, uint64_t deadline_ns)
{
    enum uvea_error error;
    if (settled(stream, &error)) {
        return error;
    }
    UVEA_TRY(take(stream, stream->turn, deadline_ns));
    judge_by_the_clock(stream);
    error = shake_hands(stream, deadline_ns);
    written(stream);
    give_back(stream, stream->turn);
    return error;
}

enum uvea_error uvea_tls_stream_handshake(struct uvea_tls_stream *stream, uint64_t deadline_ns)
{
    enum uvea_error error;
    if (settled(stream, &error)) {
        return error;
    }
    UVEA_TRY(take(stream, stream->opening, deadline_ns));
    error = open_up(stream, deadline_ns);
    give_back(stream, stream->opening);
    return error;
}

// ---- reading

enum found {
    FOUND_BYTES,
    FOUND_END,
    FOUND_NOTHING, // more must be read first
    FOUND_FAILURE,
};

// Decrypts what is there, up to capacity. Under the lock.
static enum found decrypt(struct uvea_tls_stream *stream, uint8_t *out, size_t capacity,
                          size_t *total)
{
    *total = 0;
    while (*total < capacity) {
        size_t got;
        ERR_clear_error();
        int result = SSL_read_ex(stream->ssl, out + *total, capacity - *total, &got);
        if (result == 1) {
            *total += got;
            continue;
        }
        int kind = SSL_get_error(stream->ssl, result);
        if (kind == SSL_ERROR_ZERO_RETURN) {
            stream->ended = true;
        } else if (kind != SSL_ERROR_WANT_READ) {
            fail_by_ssl(stream);
        }
        break;
    }
    return *total > 0                  ? FOUND_BYTES
           : stream->ended             ? FOUND_END
           : stream->failed != UVEA_OK ? FOUND_FAILURE
                                       : FOUND_NOTHING;
}

static enum found look(struct uvea_tls_stream *stream, uint8_t *out, size_t capacity, size_t *total,
                       enum uvea_error *error)
{
    lock(stream);
    enum found found = FOUND_FAILURE;
    *error = stream->shut || !stream->ended ? standing(stream) : UVEA_OK;
    if (*error == UVEA_OK) {
        found = decrypt(stream, out, capacity, total);
        *error = stream->failed;
    }
    unlock(stream);
    return found;
}

enum uvea_error uvea_tls_stream_read(struct uvea_tls_stream *stream, uint8_t *out, size_t capacity,
                                     size_t *got, uint64_t deadline_ns)
{
    UVEA_TRY(uvea_tls_stream_handshake(stream, deadline_ns));
    for (;;) {
        size_t total = 0;
        enum uvea_error error;
        enum found found = look(stream, out, capacity, &total, &error);
        uint64_t left_until_ns = deadline_ns;
        if (error != UVEA_OK) {
            uint64_t soon_ns = uvea_rt_deadline_ns(stream->rt, alert_ns_max);
            left_until_ns = soon_ns < deadline_ns ? soon_ns : deadline_ns;
        }
        enum uvea_error left = send_left(stream, left_until_ns);
        if (found == FOUND_BYTES || found == FOUND_END) {
            *got = total;
            return UVEA_OK;
        }
        UVEA_TRY(error);
        UVEA_TRY(left);
        UVEA_TRY(feed(stream, deadline_ns));
    }
}

// ---- writing

// Encrypts one record's worth. *full: enough has come together.
static enum uvea_error encrypt(struct uvea_tls_stream *stream, const uint8_t *bytes, size_t len,
                               size_t *done, bool *full)
{
    lock(stream);
    enum uvea_error error = writable(stream);
    if (error == UVEA_OK) {
        stream->writing = true;
        ERR_clear_error();
        size_t part = len < UVEA_TLS_RECORD_BYTES ? len : UVEA_TLS_RECORD_BYTES;
        if (SSL_write_ex(stream->ssl, bytes, part, done) != 1) {
            fail_by_ssl(stream);
            error = stream->failed;
        }
    }
    *full = stream->out.len + UVEA_TLS_RECORD_BYTES > UVEA_TLS_SEND_BYTES;
    unlock(stream);
    return error;
}

// With the turn.
static enum uvea_error write_all(struct uvea_tls_stream *stream, const uint8_t *bytes, size_t len,
                                 uint64_t deadline_ns)
{
    while (len > 0) {
        size_t done = 0;
        bool full = false;
        UVEA_TRY(encrypt(stream, bytes, len, &done, &full));
        bytes += done;
        len -= done;
        if (full || len == 0) {
            UVEA_TRY(send_out(stream, deadline_ns));
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_tls_stream_write(struct uvea_tls_stream *stream, const uint8_t *bytes,
                                      size_t len, uint64_t deadline_ns)
{
    UVEA_TRY(uvea_tls_stream_handshake(stream, deadline_ns));
    UVEA_TRY(take(stream, stream->turn, deadline_ns));
    enum uvea_error error = write_all(stream, bytes, len, deadline_ns);
    written(stream);
    give_back(stream, stream->turn);
    return error != UVEA_OK ? error : send_left(stream, deadline_ns);
}
