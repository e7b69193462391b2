// Stored spectra. The first byte says how the rest becomes a payload: 0 as it is, 1 repeated to the
// full length, 2 written into zeros at the place given by the next two bytes; so that small inputs
// reach the far side of the length check.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/field/spectrum.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

// Malloc of the exact size: reading past the payload is seen by the address sanitizer.
static uint8_t *full_payload(void)
{
    uint8_t *payload = malloc(UVEA_PAYLOAD_BYTES);
    UVEA_CHECK(payload != NULL);
    memset(payload, 0, UVEA_PAYLOAD_BYTES);
    return payload;
}

static uint8_t *repeat(const uint8_t *data, size_t len)
{
    uint8_t *payload = full_payload();
    for (size_t i = 0; len > 0 && i < UVEA_PAYLOAD_BYTES; i++) {
        payload[i] = data[i % len];
    }
    return payload;
}

static uint8_t *place(const uint8_t *data, size_t len)
{
    uint8_t *payload = full_payload();
    size_t at = len < 2 ? 0 : (data[0] | (size_t)data[1] << 8) % UVEA_PAYLOAD_BYTES;
    for (size_t i = 2; i < len && at < UVEA_PAYLOAD_BYTES; i++, at++) {
        payload[at] = data[i];
    }
    return payload;
}

static void check_refusal(const struct uvea_spectrum *out, const struct uvea_error_context *context)
{
    const uint8_t *at = (const uint8_t *)out;
    UVEA_CHECK(context->text[0] != '\0');
    UVEA_CHECK(at[0] == 0x5A && memcmp(at, at + 1, sizeof(*out) - 1) == 0);
}

static void check_success(const uint8_t *payload, size_t len, const struct uvea_spectrum *out)
{
    uint8_t *again = full_payload();
    UVEA_CHECK(len == UVEA_PAYLOAD_BYTES);
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        UVEA_CHECK(uvea_field_is_canonical(out->values[i]));
    }
    uvea_payload_encode(out, again);
    UVEA_CHECK(memcmp(again, payload, UVEA_PAYLOAD_BYTES) == 0);
    free(again);
}

static void decode(const uint8_t *payload, size_t len)
{
    struct uvea_error_context context = {{0}};
    struct uvea_spectrum *out = uvea_mem_alloc(1, sizeof(*out));
    UVEA_CHECK(out != NULL);
    memset(out, 0x5A, sizeof(*out));
    enum uvea_error error = uvea_payload_decode(payload, len, out, &context);
    if (error == UVEA_OK) {
        check_success(payload, len, out);
    } else {
        UVEA_CHECK(error == UVEA_ERR_FORMAT);
        check_refusal(out, &context);
    }
    uvea_mem_free(out);
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    if (len == 0 || data[0] % 3 == 0) {
        decode(data + (len > 0), len - (len > 0));
        return 0;
    }
    uint8_t *payload = data[0] % 3 == 1 ? repeat(data + 1, len - 1) : place(data + 1, len - 1);
    decode(payload, UVEA_PAYLOAD_BYTES);
    free(payload);
    return 0;
}
