#include "core/net/handshake.h"

#include "core/base/check.h"
#include "core/base/endian.h"

#include <string.h>

enum { WORD_BYTES = 4 };

static const uint8_t token[UVEA_HANDSHAKE_TOKEN_BYTES] = {'2', 'o', 'k'};

// How many continuation bytes follow this first byte, and the bounds of the first of them, which
// shut out overlong forms, surrogates and what lies above U+10FFFF. False: no first byte.
static bool utf8_shape(uint8_t first, size_t *more, uint8_t *low, uint8_t *high)
{
    *low = 0x80;
    *high = 0xBF;
    if (first < 0x80) {
        *more = 0;
    } else if (first >= 0xC2 && first <= 0xDF) {
        *more = 1;
    } else if (first >= 0xE0 && first <= 0xEF) {
        *more = 2;
        *low = first == 0xE0 ? 0xA0 : *low;
        *high = first == 0xED ? 0x9F : *high;
    } else if (first >= 0xF0 && first <= 0xF4) {
        *more = 3;
        *low = first == 0xF0 ? 0x90 : *low;
        *high = first == 0xF4 ? 0x8F : *high;
    } else {
        return false;
    }
    return true;
}

bool uvea_identity_valid(const char *identity, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)identity;
    const uint8_t *end = at + bytes;
    while (at < end) {
        size_t more;
        uint8_t low;
        uint8_t high;
        if (!utf8_shape(*at++, &more, &low, &high) || (size_t)(end - at) < more) {
            return false;
        }
        for (; more > 0; more--, at++) {
            if (*at < low || *at > high) {
                return false;
            }
            low = 0x80;
            high = 0xBF;
        }
    }
    return true;
}

// Gives `doing` to an error of the stream.
static enum uvea_error stream_error(struct uvea_error_context *context, enum uvea_error error,
                                    const char *doing)
{
    return error == UVEA_OK
               ? UVEA_OK
               : uvea_error_set(context, error, "handshake: %s: %s", doing, uvea_error_text(error));
}

enum uvea_error uvea_handshake_dial(struct uvea_rt *rt, struct uvea_stream *stream,
                                    const char *identity, uint32_t connection_id,
                                    uint64_t deadline_ns, struct uvea_error_context *context)
{
    size_t identity_bytes = strnlen(identity, UVEA_IDENTITY_BYTES_MAX + 1);
    UVEA_CHECK(identity_bytes <= UVEA_IDENTITY_BYTES_MAX);

    uint8_t id[WORD_BYTES];
    uvea_store_be32(id, connection_id);
    UVEA_TRY(stream_error(context, uvea_rt_write(rt, stream, id, sizeof(id), deadline_ns),
                          "sending the connection id"));
    uint8_t echo[WORD_BYTES];
    UVEA_TRY(stream_error(context, uvea_rt_read_exact(rt, stream, echo, sizeof(echo), deadline_ns),
                          "waiting for the echo of the connection id"));
    if (memcmp(id, echo, sizeof(id)) != 0) {
        return uvea_error_set(context, UVEA_ERR_PEER, "handshake: connection id %u came back as %u",
                              connection_id, uvea_load_be32(echo));
    }

    uint8_t name[WORD_BYTES + UVEA_IDENTITY_BYTES_MAX];
    uvea_store_be32(name, (uint32_t)identity_bytes);
    memcpy(name + WORD_BYTES, identity, identity_bytes);
    UVEA_TRY(stream_error(context,
                          uvea_rt_write(rt, stream, name, WORD_BYTES + identity_bytes, deadline_ns),
                          "sending the identity"));
    uint8_t answer[sizeof(token)];
    UVEA_TRY(stream_error(context,
                          uvea_rt_read_exact(rt, stream, answer, sizeof(answer), deadline_ns),
                          "waiting to be let in"));
    if (memcmp(answer, token, sizeof(token)) != 0) {
        return uvea_error_set(context, UVEA_ERR_PEER,
                              "handshake: the listener answered %02x%02x%02x instead of \"2ok\"",
                              answer[0], answer[1], answer[2]);
    }
    return UVEA_OK;
}

static enum uvea_error read_identity(struct uvea_rt *rt, struct uvea_stream *stream,
                                     struct uvea_hello *hello, uint64_t deadline_ns,
                                     struct uvea_error_context *context)
{
    uint8_t length[WORD_BYTES];
    UVEA_TRY(stream_error(context,
                          uvea_rt_read_exact(rt, stream, length, sizeof(length), deadline_ns),
                          "waiting for the identity length"));
    uint32_t bytes = uvea_load_be32(length);
    if (bytes > UVEA_IDENTITY_BYTES_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT,
                              "handshake: an identity of %u bytes is longer than %d", bytes,
                              UVEA_IDENTITY_BYTES_MAX);
    }
    UVEA_TRY(stream_error(
        context, uvea_rt_read_exact(rt, stream, (uint8_t *)hello->identity, bytes, deadline_ns),
        "waiting for the identity"));
    if (!uvea_identity_valid(hello->identity, bytes)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "handshake: the identity is not UTF-8");
    }
    hello->identity[bytes] = '\0';
    hello->identity_bytes = bytes;
    return UVEA_OK;
}

enum uvea_error uvea_handshake_listen(struct uvea_rt *rt, struct uvea_stream *stream,
                                      struct uvea_hello *hello, uint64_t deadline_ns,
                                      struct uvea_error_context *context)
{
    uint8_t id[WORD_BYTES];
    UVEA_TRY(stream_error(context, uvea_rt_read_exact(rt, stream, id, sizeof(id), deadline_ns),
                          "waiting for the connection id"));
    UVEA_TRY(stream_error(context, uvea_rt_write(rt, stream, id, sizeof(id), deadline_ns),
                          "echoing the connection id"));
    struct uvea_hello heard = {.connection_id = uvea_load_be32(id)};
    UVEA_TRY(read_identity(rt, stream, &heard, deadline_ns, context));
    *hello = heard;
    return UVEA_OK;
}

enum uvea_error uvea_handshake_accept(struct uvea_rt *rt, struct uvea_stream *stream,
                                      uint64_t deadline_ns)
{
    return uvea_rt_write(rt, stream, token, sizeof(token), deadline_ns);
}
