#include "core/base/check.h"
#include "tests/store/fixture.h"
#include "tests/store/suite.h"

#include <string.h>

struct seen {
    unsigned eyes;
    struct listing listing;
    unsigned stop_after; // 0: never
    unsigned count;
};

static enum uvea_error see(void *arg, const struct uvea_store_record *record)
{
    struct seen *seen = arg;
    sample_check(record, seen->eyes);
    listing_add(&seen->listing, "%u@%u ", (unsigned)record->serial, (unsigned)record->version);
    seen->count++;
    return seen->count == seen->stop_after ? UVEA_ERR_LIMIT : UVEA_OK;
}

static const char *read_all(struct fixture *fixture, uint32_t first, uint32_t count, unsigned eyes)
{
    static struct seen seen;
    seen = (struct seen){.eyes = eyes};
    SUCCEED(fixture, uvea_store_read_records(fixture->store, first, count, eyes, see, &seen,
                                             &fixture->context));
    return seen.listing.text;
}

static void check_counts(struct fixture *fixture, uint64_t wanted, uint64_t wanted_max)
{
    uint64_t count = 99, serial_max = 99;
    SUCCEED(fixture, uvea_store_count(fixture->store, &count, &serial_max, &fixture->context));
    assert_int_equal(count, wanted);
    assert_int_equal(serial_max, wanted_max);
}

static void update(struct fixture *fixture, uint32_t serial, uint16_t version)
{
    struct uvea_store_commit commit = {.updates = &sample_make(serial, version)->record,
                                       .update_count = 1};
    SUCCEED(fixture, uvea_store_commit(fixture->store, &commit, &fixture->context));
}

void records_are_read_as_written(void **state)
{
    struct fixture *fixture = *state;
    check_counts(fixture, 0, 0);
    assert_string_equal(read_all(fixture, 1, UINT32_MAX, 3), "");
    fixture_insert(fixture, 1, 3);
    update(fixture, 2, 1);
    check_counts(fixture, 3, 3);
    assert_string_equal(read_all(fixture, 1, UINT32_MAX, 3), "1@0 2@1 3@0 ");
}

void records_are_read_by_range_and_eye(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 5);
    assert_string_equal(read_all(fixture, 2, 3, 3), "2@0 3@0 4@0 ");
    assert_string_equal(read_all(fixture, 5, 10, 1u << UVEA_EYE_LEFT), "5@0 ");
    assert_string_equal(read_all(fixture, 0, 2, 1u << UVEA_EYE_RIGHT), "1@0 ");
    assert_string_equal(read_all(fixture, 1, 2, 0), "1@0 2@0 ");
    assert_string_equal(read_all(fixture, 1, 0, 3), "");
    assert_string_equal(read_all(fixture, UINT32_MAX, UINT32_MAX, 3), "");
}

void reader_ends_the_reading(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 5);
    struct seen seen = {.eyes = 3, .stop_after = 2};
    REFUSE(fixture, UVEA_ERR_LIMIT,
           uvea_store_read_records(fixture->store, 1, 5, 3, see, &seen, &fixture->context));
    assert_string_equal(seen.listing.text, "1@0 2@0 ");
    assert_string_equal(read_all(fixture, 1, 5, 3), "1@0 2@0 3@0 4@0 5@0 ");
}

void eye_is_read_at_its_version_only(void **state)
{
    struct fixture *fixture = *state;
    static uint16_t eye[UVEA_RECORD_COEFFICIENTS];
    fixture_insert(fixture, 1, 2);
    update(fixture, 1, 1);
    for (unsigned side = 0; side < UVEA_EYE_COUNT; side++) {
        SUCCEED(fixture, uvea_store_read_eye(fixture->store, (enum uvea_eye)side, 1, 1, eye,
                                             &fixture->context));
        assert_memory_equal(eye, sample_make(1, 1)->eye[side], sizeof(eye));
        REFUSE(
            fixture, UVEA_ERR_NOT_FOUND,
            uvea_store_read_eye(fixture->store, (enum uvea_eye)side, 1, 0, eye, &fixture->context));
        assert_non_null(strstr(fixture->context.text, "record 1 is wanted at version 0"));
        assert_non_null(strstr(fixture->context.text, "stored at version 1"));
    }
    REFUSE(fixture, UVEA_ERR_NOT_FOUND,
           uvea_store_read_eye(fixture->store, UVEA_EYE_LEFT, 3, 0, eye, &fixture->context));
    assert_non_null(strstr(fixture->context.text, "record 3"));
    assert_memory_equal(eye, sample_make(1, 1)->eye[UVEA_EYE_RIGHT], sizeof(eye));
}

void seed_follows_the_largest_serial(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 1);
    const struct uvea_store_record records[] = {sample_make(2, 0)->record,
                                                sample_make(3, 0)->record};
    SUCCEED(fixture, uvea_store_seed(fixture->store, records, 2, &fixture->context));
    assert_string_equal(read_all(fixture, 1, 9, 3), "1@0 2@0 3@0 ");
    SUCCEED(fixture, uvea_store_seed(fixture->store, NULL, 0, &fixture->context));
    check_counts(fixture, 3, 3);
}

void inserts_must_be_contiguous(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 2);
    static const uint32_t wrong[] = {0, 1, 3, 5, UINT32_MAX};
    for (size_t i = 0; i < UVEA_COUNT_OF(wrong); i++) {
        const struct uvea_store_record records[] = {sample_make(3, 0)->record,
                                                    sample_make(wrong[i], 0)->record};
        struct uvea_store_commit commit = {.inserts = records, .insert_count = 2};
        REFUSE(fixture, UVEA_ERR_STATE,
               uvea_store_commit(fixture->store, &commit, &fixture->context));
        check_counts(fixture, 2, 2);
    }
    fixture_insert(fixture, 3, 1);
    check_counts(fixture, 3, 3);
}

void updates_must_raise_the_version(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 2);
    const struct uvea_store_record twice[] = {sample_make(1, 1)->record, sample_make(1, 2)->record};
    struct uvea_store_commit commit = {.updates = twice, .update_count = 2};
    SUCCEED(fixture, uvea_store_commit(fixture->store, &commit, &fixture->context));
    REFUSE(fixture, UVEA_ERR_STATE, uvea_store_commit(fixture->store, &commit, &fixture->context));
    assert_non_null(strstr(fixture->context.text, "record 1 is to be updated to version 1"));
    commit = (struct uvea_store_commit){.updates = &sample_make(3, 1)->record, .update_count = 1};
    REFUSE(fixture, UVEA_ERR_STATE, uvea_store_commit(fixture->store, &commit, &fixture->context));
    update(fixture, 2, UINT16_MAX);
    assert_string_equal(read_all(fixture, 1, 9, 3), "1@2 2@65535 ");
}

void spoiled_record_is_never_read(void **state)
{
    struct fixture *fixture = *state;
    static uint16_t eye[UVEA_RECORD_COEFFICIENTS];
    fixture_insert(fixture, 1, 2);
    fixture_stop(fixture);
    // The content of another record, whole and of the right size.
    fixture->backend->raw(fixture,
                          "UPDATE irises SET right_mask ="
                          " (SELECT right_mask FROM irises WHERE id = 2) WHERE id = 1",
                          NULL);
    fixture_again(fixture);
    struct seen seen = {.eyes = 3};
    REFUSE(fixture, UVEA_ERR_STATE,
           uvea_store_read_records(fixture->store, 1, 5, 3, see, &seen, &fixture->context));
    assert_non_null(strstr(fixture->context.text, "the right eye of record 1"));
    assert_int_equal(seen.count, 0);
    assert_string_equal(read_all(fixture, 1, 9, 1u << UVEA_EYE_LEFT), "1@0 2@0 ");
    REFUSE(fixture, UVEA_ERR_STATE,
           uvea_store_read_eye(fixture->store, UVEA_EYE_RIGHT, 1, 0, eye, &fixture->context));
}
