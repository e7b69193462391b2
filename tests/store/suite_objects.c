#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/field/spectrum.h"
#include "tests/store/fixture.h"
#include "tests/store/suite.h"

#include <string.h>

// ---- the topic

static uint64_t append(struct fixture *fixture, const char *message_id, const char *body)
{
    uint64_t sequence = 0;
    SUCCEED(fixture, uvea_store_topic_append(fixture->store, message_id, (const uint8_t *)body,
                                             strlen(body), &sequence, &fixture->context));
    return sequence;
}

static const char *list_topic(struct fixture *fixture, uint64_t after, size_t max)
{
    static struct listing listing;
    listing = (struct listing){0};
    SUCCEED(fixture, uvea_store_topic_read(fixture->store, after, max, listing_message, &listing,
                                           &fixture->context));
    return listing.text;
}

void topic_numbers_each_message_once(void **state)
{
    struct fixture *fixture = *state;
    assert_string_equal(list_topic(fixture, 0, 9), "");
    assert_int_equal(append(fixture, "b", "one"), 1);
    assert_int_equal(append(fixture, "a", "two"), 2);
    assert_int_equal(append(fixture, "b", "other"), 1);
    fixture_again(fixture);
    assert_int_equal(append(fixture, "a", "two"), 2);
    assert_int_equal(append(fixture, "\xc3\xa4 '", ""), 3);
    assert_string_equal(list_topic(fixture, 0, 9), "1:one 2:two 3: ");
    assert_string_equal(list_topic(fixture, 1, 1), "2:two ");
    assert_string_equal(list_topic(fixture, 3, 9), "");
    assert_string_equal(list_topic(fixture, UINT64_MAX, SIZE_MAX), "");
}

// ---- share objects

void share_objects_never_change(void **state)
{
    struct fixture *fixture = *state;
    const uint8_t first[] = {1, 0, 2, 255};
    SUCCEED(fixture,
            uvea_store_share_put(fixture->store, "k", first, sizeof(first), &fixture->context));
    SUCCEED(fixture,
            uvea_store_share_put(fixture->store, "k", first, sizeof(first), &fixture->context));
    const uint8_t other[] = {1, 0, 3, 255};
    REFUSE(fixture, UVEA_ERR_USAGE,
           uvea_store_share_put(fixture->store, "k", other, sizeof(other), &fixture->context));
    REFUSE(fixture, UVEA_ERR_USAGE,
           uvea_store_share_put(fixture->store, "k", first, 3, &fixture->context));
    REFUSE(fixture, UVEA_ERR_USAGE,
           uvea_store_share_put(fixture->store, "k", NULL, 0, &fixture->context));
    SUCCEED(fixture, uvea_store_share_put(fixture->store, "empty", NULL, 0, &fixture->context));
    fixture_again(fixture);
    struct uvea_buf out = {0};
    SUCCEED(fixture, uvea_buf_append(&out, "x", 1));
    SUCCEED(fixture, uvea_store_share_get(fixture->store, "k", &out, &fixture->context));
    assert_int_equal(out.len, 5);
    assert_memory_equal(out.data + 1, first, sizeof(first));
    SUCCEED(fixture, uvea_store_share_get(fixture->store, "empty", &out, &fixture->context));
    assert_int_equal(out.len, 5);
    REFUSE(fixture, UVEA_ERR_NOT_FOUND,
           uvea_store_share_get(fixture->store, "K", &out, &fixture->context));
    assert_int_equal(out.len, 5);
    uvea_buf_deinit(&out);
}

void share_objects_may_be_large(void **state)
{
    struct fixture *fixture = *state;
    size_t bytes = UVEA_STORE_OBJECT_BYTES_MAX;
    uint8_t *object = uvea_mem_alloc(bytes + 1, 1);
    for (size_t i = 0; i < bytes; i++) {
        object[i] = (uint8_t)(i * i >> 7);
    }
    SUCCEED(fixture,
            uvea_store_share_put(fixture->store, "large", object, bytes, &fixture->context));
    REFUSE(fixture, UVEA_ERR_LIMIT,
           uvea_store_share_put(fixture->store, "l", object, bytes + 1, &fixture->context));
    struct uvea_buf out = {0};
    SUCCEED(fixture, uvea_store_share_get(fixture->store, "large", &out, &fixture->context));
    assert_int_equal(out.len, bytes);
    assert_memory_equal(out.data, object, bytes);
    uvea_buf_deinit(&out);
    uvea_mem_free(object);
}

// ---- spectra

static uint8_t payload[UVEA_PAYLOAD_BYTES];

static struct uvea_spectral_row row_of(uint32_t serial, uint16_t version, enum uvea_eye eye)
{
    struct uvea_spectral_row row = {.serial = serial,
                                    .version = version,
                                    .eye = eye,
                                    .party = 2,
                                    .format = 2,
                                    .payload = payload,
                                    .payload_bytes = sizeof(payload)};
    memset(row.generation, (int)serial, sizeof(row.generation));
    memset(row.hash, (int)version, sizeof(row.hash));
    return row;
}

static enum uvea_error see_row(void *arg, const struct uvea_spectral_row *row)
{
    struct uvea_spectral_row wanted = row_of(row->serial, row->version, row->eye);
    assert_int_equal(row->party, wanted.party);
    assert_int_equal(row->format, wanted.format);
    assert_memory_equal(row->generation, wanted.generation, sizeof(wanted.generation));
    assert_memory_equal(row->hash, wanted.hash, sizeof(wanted.hash));
    assert_true(row->payload_bytes <= sizeof(payload));
    assert_memory_equal(row->payload, payload, row->payload_bytes);
    listing_add(arg, "%u@%u:%zu ", (unsigned)row->serial, (unsigned)row->version,
                row->payload_bytes);
    return UVEA_OK;
}

static const char *list_spectra(struct fixture *fixture, enum uvea_eye eye, uint32_t first,
                                uint32_t count)
{
    static struct listing listing;
    listing = (struct listing){0};
    SUCCEED(fixture, uvea_store_spectral_read(fixture->store, eye, first, count, see_row, &listing,
                                              &fixture->context));
    return listing.text;
}

static void write_row(struct fixture *fixture, struct uvea_spectral_row row)
{
    SUCCEED(fixture, uvea_store_spectral_write(fixture->store, &row, 1, &fixture->context));
}

void spectral_rows_are_replaced_and_trimmed(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof(payload); i++) {
        payload[i] = (uint8_t)(i * 5);
    }
    const struct uvea_spectral_row rows[] = {
        row_of(3, 0, UVEA_EYE_LEFT), row_of(1, 0, UVEA_EYE_LEFT), row_of(1, 0, UVEA_EYE_RIGHT)};
    SUCCEED(fixture, uvea_store_spectral_write(fixture->store, rows, 3, &fixture->context));
    write_row(fixture, row_of(1, 1, UVEA_EYE_LEFT));
    assert_string_equal(list_spectra(fixture, UVEA_EYE_LEFT, 1, 9), "1@1:38400 3@0:38400 ");
    assert_string_equal(list_spectra(fixture, UVEA_EYE_LEFT, 1, 2), "1@1:38400 ");
    assert_string_equal(list_spectra(fixture, UVEA_EYE_LEFT, 2, UINT32_MAX), "3@0:38400 ");
    assert_string_equal(list_spectra(fixture, UVEA_EYE_RIGHT, 1, 9), "1@0:38400 ");
    SUCCEED(fixture, uvea_store_spectral_trim(fixture->store, 2, &fixture->context));
    fixture_again(fixture);
    assert_string_equal(list_spectra(fixture, UVEA_EYE_LEFT, 1, 9), "1@1:38400 ");
    SUCCEED(fixture, uvea_store_spectral_trim(fixture->store, 0, &fixture->context));
    assert_string_equal(list_spectra(fixture, UVEA_EYE_RIGHT, 0, 9), "");
}

void spectral_rows_of_wrong_size_are_left_out(void **state)
{
    struct fixture *fixture = *state;
    for (uint32_t serial = 1; serial <= 6; serial++) {
        write_row(fixture, row_of(serial, 0, UVEA_EYE_LEFT));
    }
    struct uvea_spectral_row cut = row_of(7, 0, UVEA_EYE_LEFT);
    cut.payload_bytes = 17;
    write_row(fixture, cut);
    cut = row_of(8, 0, UVEA_EYE_LEFT);
    cut.payload_bytes = 0;
    write_row(fixture, cut);
    fixture_stop(fixture);
    static const char *const spoils[] = {
        "UPDATE cpu_spectral_irises SET generation = payload_hash WHERE serial_id = 1",
        "UPDATE cpu_spectral_irises SET payload_hash = generation WHERE serial_id = 2",
        "UPDATE cpu_spectral_irises SET version_id = -1 WHERE serial_id = 3",
        "UPDATE cpu_spectral_irises SET party = 3 WHERE serial_id = 4",
        "UPDATE cpu_spectral_irises SET format_version = 65536 WHERE serial_id = 5"};
    for (size_t i = 0; i < UVEA_COUNT_OF(spoils); i++) {
        fixture->backend->raw(fixture, spoils[i], NULL);
    }
    fixture_again(fixture);
    assert_string_equal(list_spectra(fixture, UVEA_EYE_LEFT, 1, 99), "6@0:38400 7@0:17 8@0:0 ");
}

// ---- arguments

static enum uvea_error put(struct fixture *fixture, const char *key)
{
    return uvea_store_share_put(fixture->store, key, (const uint8_t *)"x", 1, &fixture->context);
}

void texts_and_numbers_are_checked(void **state)
{
    struct fixture *fixture = *state;
    static char key[UVEA_STORE_KEY_BYTES_MAX + 2];
    memset(key, 'k', UVEA_STORE_KEY_BYTES_MAX);
    SUCCEED(fixture, put(fixture, key));
    key[UVEA_STORE_KEY_BYTES_MAX] = 'k';
    REFUSE(fixture, UVEA_ERR_LIMIT, put(fixture, key));
    REFUSE(fixture, UVEA_ERR_USAGE, put(fixture, ""));
    REFUSE(fixture, UVEA_ERR_USAGE, put(fixture, "\xff"));
    REFUSE(fixture, UVEA_ERR_USAGE, put(fixture, "\xed\xa0\x80"));
    static const uint64_t numbers[] = {0, UINT64_C(1) << 63, UINT64_MAX};
    for (size_t i = 0; i < UVEA_COUNT_OF(numbers); i++) {
        struct uvea_store_message message = {.sequence = numbers[i], .valid = true};
        REFUSE(fixture, UVEA_ERR_USAGE,
               uvea_store_ingest(fixture->store, &message, 1, &fixture->context));
        REFUSE(fixture, UVEA_ERR_USAGE,
               uvea_store_publish(fixture->store, &numbers[i], 1, &fixture->context));
    }
    struct uvea_store_message far = {.sequence = INT64_MAX, .valid = true};
    SUCCEED(fixture, uvea_store_ingest(fixture->store, &far, 1, &fixture->context));
    static const char type[] = "a type of more than 31 characters";
    struct uvea_modification modification = {.sequence = INT64_MAX, .type = type};
    uint64_t id;
    REFUSE(fixture, UVEA_ERR_LIMIT,
           uvea_store_claim(fixture->store, 1, &modification, 1, &id, &fixture->context));
    modification.type = "x";
    modification.s3_url = "\x80";
    REFUSE(fixture, UVEA_ERR_USAGE,
           uvea_store_claim(fixture->store, 1, &modification, 1, &id, &fixture->context));
    modification.s3_url = NULL;
    SUCCEED(fixture,
            uvea_store_claim(fixture->store, INT64_MAX, &modification, 1, &id, &fixture->context));
}
