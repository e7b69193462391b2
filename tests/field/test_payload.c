// The stored form of a record: bytes of the format, and what is refused.
#include "core/base/mem.h"
#include "core/field/spectrum.h"
#include "tests/field/field_sample.h"
#include "tests/support/cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { P = 52201 };

struct sheet {
    struct uvea_spectrum in;
    struct uvea_spectrum out;
    uint8_t payload[UVEA_PAYLOAD_BYTES + 1];
    uint8_t again[UVEA_PAYLOAD_BYTES];
};

static int open_sheet(void **state)
{
    *state = field_sample_alloc(1, sizeof(struct sheet));
    return 0;
}

static int close_sheet(void **state)
{
    uvea_mem_free(*state);
    return 0;
}

// A frequency, and a place among its channels, from the text of the format.
static size_t low_byte_at(size_t frequency, size_t channel)
{
    return 192 * frequency + 16 * (channel / 8) + channel % 8;
}

static void check_round_trip(struct sheet *sheet)
{
    uvea_payload_encode(&sheet->in, sheet->payload);
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        size_t at = low_byte_at(i / 96, i % 96);
        int value = (int8_t)sheet->payload[at] + 256 * (int8_t)sheet->payload[at + 8];
        assert_int_equal((value + P) % P, sheet->in.values[i]);
        assert_true(value >= -26100 && value <= 26100);
    }
    assert_int_equal(uvea_payload_decode(sheet->payload, UVEA_PAYLOAD_BYTES, &sheet->out, NULL),
                     UVEA_OK);
    assert_memory_equal(&sheet->out, &sheet->in, sizeof(sheet->in));
    uvea_payload_encode(&sheet->out, sheet->again);
    assert_memory_equal(sheet->again, sheet->payload, UVEA_PAYLOAD_BYTES);
}

static void round_trips(void **state)
{
    struct sheet *sheet = *state;
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 1);
    for (unsigned i = 0; i < 5; i++) {
        field_sample_fill(&rng, sheet->in.values, UVEA_SPECTRUM_VALUES);
        check_round_trip(sheet);
        field_sample_fill_extreme(&rng, sheet->in.values, UVEA_SPECTRUM_VALUES);
        check_round_trip(sheet);
    }
}

static void every_value_round_trips(void **state)
{
    struct sheet *sheet = *state;
    for (uint32_t first = 0; first < P; first += UVEA_SPECTRUM_VALUES) {
        for (uint32_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
            sheet->in.values[i] = (uint16_t)((first + i) % P);
        }
        check_round_trip(sheet);
    }
}

// Bytes worked out by hand: v = lo + 256 hi, both signed.
static void published_bytes(void **state)
{
    struct sheet *sheet = *state;
    static const struct {
        uint16_t value;
        uint8_t low;
        uint8_t high;
    } cases[] = {
        {0, 0x00, 0x00},       {1, 0x01, 0x00},       {127, 0x7F, 0x00},   {128, 0x80, 0x01},
        {256, 0x00, 0x01},     {26100, 0xF4, 0x66},   {26101, 0x0C, 0x9A}, {P - 1, 0xFF, 0x00},
        {P - 128, 0x80, 0x00}, {P - 129, 0x7F, 0xFF},
    };
    memset(&sheet->in, 0, sizeof(sheet->in));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sheet->in.values[i] = cases[i].value;
    }
    uvea_payload_encode(&sheet->in, sheet->payload);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t at = low_byte_at(0, i);
        assert_int_equal(sheet->payload[at], cases[i].low);
        assert_int_equal(sheet->payload[at + 8], cases[i].high);
    }
}

// Decoding fails with a sentence that holds `place`, and leaves out as it was.
static void check_refused(struct sheet *sheet, size_t len, const char *place)
{
    struct uvea_error_context context = {{0}};
    struct uvea_spectrum *before = field_sample_alloc(1, sizeof(*before));
    memset(&sheet->out, 0x5A, sizeof(sheet->out));
    *before = sheet->out;
    assert_int_equal(uvea_payload_decode(sheet->payload, len, &sheet->out, &context),
                     UVEA_ERR_FORMAT);
    if (strstr(context.text, place) == NULL) {
        fail_msg("'%s' does not say '%s'", context.text, place);
    }
    assert_memory_equal(&sheet->out, before, sizeof(*before));
    assert_int_equal(uvea_payload_decode(sheet->payload, len, &sheet->out, NULL), UVEA_ERR_FORMAT);
    uvea_mem_free(before);
}

static void wrong_lengths_are_refused(void **state)
{
    struct sheet *sheet = *state;
    static const size_t lengths[] = {0, 1, 2, 192, 19200, 38208, 38398, 38399, 38401, SIZE_MAX};
    memset(sheet->payload, 0, sizeof(sheet->payload));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char said[32];
        (void)snprintf(said, sizeof(said), " %zu bytes", lengths[i]);
        check_refused(sheet, lengths[i], said);
    }
}

static void other_residues_are_refused(void **state)
{
    struct sheet *sheet = *state;
    static const int32_t bad[] = {26101, 26102, -26101, -26102, 32639, -32896, 26111, -26112};
    static const size_t places[] = {0, 7, 8, 95, 96, 9599, 19192, 19199};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++) {
            char said[64];
            size_t at = low_byte_at(places[i] / 96, places[i] % 96);
            int32_t low = (int8_t)(uint8_t)bad[b];
            memset(sheet->payload, 0, sizeof(sheet->payload));
            sheet->payload[at] = (uint8_t)low;
            sheet->payload[at + 8] = (uint8_t)((bad[b] - low) / 256);
            (void)snprintf(said, sizeof(said), "frequency %zu, channel %zu", places[i] / 96,
                           places[i] % 96);
            check_refused(sheet, UVEA_PAYLOAD_BYTES, said);
        }
    }
}

static void the_first_of_several_is_named(void **state)
{
    struct sheet *sheet = *state;
    memset(sheet->payload, 0x7F, sizeof(sheet->payload));
    check_refused(sheet, UVEA_PAYLOAD_BYTES, "19200 values");
    memset(sheet->payload, 0, UVEA_PAYLOAD_BYTES / 2);
    check_refused(sheet, UVEA_PAYLOAD_BYTES, "9600 values");
    check_refused(sheet, UVEA_PAYLOAD_BYTES, "the first at frequency 100, channel 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(every_value_round_trips),
        cmocka_unit_test(published_bytes),
        cmocka_unit_test(wrong_lengths_are_refused),
        cmocka_unit_test(other_residues_are_refused),
        cmocka_unit_test(the_first_of_several_is_named),
    };
    return cmocka_run_group_tests(tests, open_sheet, close_sheet);
}
