#include "core/field/spectrum.h"

#include "core/base/mem.h"
#include "core/field/share.h"

#include <string.h>

enum {
    ROW_VALUES = 800, // one row of a share: 200 columns of four
    LANES = 4,
    HALF_COLUMNS = 100,
};

// Where a channel's column 0 stands in a field eye; column c is 4 c further.
static unsigned channel_start(unsigned channel)
{
    return ROW_VALUES * (channel / LANES) + channel % LANES;
}

static void transform_channel(const struct uvea_field_eye *eye, unsigned channel,
                              uint16_t out[UVEA_TRANSFORM_POINTS])
{
    uint16_t columns[UVEA_TRANSFORM_POINTS];
    const uint16_t *from = eye->values + channel_start(channel);
    for (unsigned c = 0; c < UVEA_TRANSFORM_POINTS; c++) {
        columns[c] = from[(size_t)LANES * c];
    }
    uvea_transform_forward(columns, out);
    uvea_mem_wipe(columns, sizeof(columns));
}

void uvea_field_eye_mirror(struct uvea_field_eye *eye)
{
    for (unsigned row = 0; row < UVEA_FIELD_EYE_VALUES / ROW_VALUES; row++) {
        for (unsigned half = 0; half < 2; half++) {
            uint16_t *start = eye->values + ROW_VALUES * row + LANES * HALF_COLUMNS * half;
            for (unsigned c = 0; c < HALF_COLUMNS / 2; c++) {
                uint16_t kept[LANES];
                uint16_t *left = start + LANES * c;
                uint16_t *right = start + LANES * (HALF_COLUMNS - 1 - c);
                memcpy(kept, left, sizeof(kept));
                memcpy(left, right, sizeof(kept));
                memcpy(right, kept, sizeof(kept));
            }
        }
    }
    for (unsigned i = UVEA_FIELD_CODE_VALUES / 2; i < UVEA_FIELD_CODE_VALUES; i++) {
        eye->values[i] = uvea_field_neg(eye->values[i]);
    }
}

void uvea_spectrum_of_record(const struct uvea_field_eye *eye, struct uvea_spectrum *out)
{
    uint16_t frequencies[UVEA_TRANSFORM_POINTS];
    for (unsigned channel = 0; channel < UVEA_SPECTRUM_CHANNELS; channel++) {
        transform_channel(eye, channel, frequencies);
        for (unsigned k = 0; k < UVEA_TRANSFORM_POINTS; k++) {
            out->values[UVEA_SPECTRUM_CHANNELS * k + channel] = frequencies[k];
        }
    }
    uvea_mem_wipe(frequencies, sizeof(frequencies));
}

void uvea_spectrum_of_query(struct uvea_party party, const struct uvea_field_eye *eye,
                            struct uvea_spectrum *out)
{
    uint16_t scale =
        uvea_field_mul(uvea_field_weight_three(party), uvea_field_inverse(UVEA_TRANSFORM_POINTS));
    uint16_t code_weight = uvea_field_mul(scale, 2);
    uint16_t mask_weight = uvea_field_neg(scale);
    uint16_t frequencies[UVEA_TRANSFORM_POINTS];
    for (unsigned channel = 0; channel < UVEA_SPECTRUM_CHANNELS; channel++) {
        uint16_t weight = channel < UVEA_SPECTRUM_CODE_CHANNELS ? code_weight : mask_weight;
        transform_channel(eye, channel, frequencies);
        for (unsigned k = 0; k < UVEA_TRANSFORM_POINTS; k++) {
            unsigned reversed = (UVEA_TRANSFORM_POINTS - k) % UVEA_TRANSFORM_POINTS;
            out->values[UVEA_SPECTRUM_CHANNELS * k + channel] =
                uvea_field_mul(frequencies[reversed], weight);
        }
    }
    uvea_mem_wipe(frequencies, sizeof(frequencies));
}

// ---- the stored form

enum { GROUP = 8 };
_Static_assert(UVEA_SPECTRUM_CHANNELS % GROUP == 0, "groups do not straddle frequencies");

void uvea_payload_encode(const struct uvea_spectrum *spectrum, uint8_t payload[UVEA_PAYLOAD_BYTES])
{
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        int32_t value = uvea_field_to_centred(spectrum->values[i]);
        int32_t low = (int8_t)(uint8_t)value;
        uint8_t *group = payload + 2 * (i / GROUP * GROUP) + i % GROUP;
        group[0] = (uint8_t)low;
        group[GROUP] = (uint8_t)((value - low) / 256);
    }
}

static int32_t payload_value(const uint8_t *payload, size_t i)
{
    const uint8_t *group = payload + 2 * (i / GROUP * GROUP) + i % GROUP;
    return (int8_t)group[0] + 256 * (int32_t)(int8_t)group[GROUP];
}

// No value is said, and every one is looked at, so that time and text depend on validity alone.
static enum uvea_error check_payload(const uint8_t *payload, struct uvea_error_context *context)
{
    size_t bad_count = 0;
    size_t first_bad = 0;
    for (size_t i = UVEA_SPECTRUM_VALUES; i-- > 0;) {
        int32_t value = payload_value(payload, i);
        size_t bad = (size_t)((value > UVEA_FIELD_CENTRED_MAX) | (value < -UVEA_FIELD_CENTRED_MAX));
        bad_count += bad;
        first_bad = (i & -bad) | (first_bad & (bad - 1));
    }
    if (bad_count > 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "spectral payload: %zu values are not centred residues, the first at "
                              "frequency %zu, channel %zu",
                              bad_count, first_bad / UVEA_SPECTRUM_CHANNELS,
                              first_bad % UVEA_SPECTRUM_CHANNELS);
    }
    return UVEA_OK;
}

enum uvea_error uvea_payload_decode(const uint8_t *payload, size_t len, struct uvea_spectrum *out,
                                    struct uvea_error_context *context)
{
    if (len != UVEA_PAYLOAD_BYTES) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "spectral payload: %zu bytes long, format %d has %d", len,
                              UVEA_PAYLOAD_FORMAT, UVEA_PAYLOAD_BYTES);
    }
    UVEA_TRY(check_payload(payload, context));
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        out->values[i] = uvea_field_from_centred((int16_t)payload_value(payload, i));
    }
    return UVEA_OK;
}
