#include "tests/store/life.h"

#include <string.h>

enum { SPECTRUM_BYTES = 3000 }; // short: it is not judged here

static const char *text_of(const char *what, uint64_t number)
{
    static char texts[4][64];
    static unsigned next;
    char *text = texts[next++ % 4];
    (void)snprintf(text, sizeof(texts[0]), "%s %llu", what, (unsigned long long)number);
    return text;
}

// ---- living

static enum uvea_error take_message(struct fixture *fixture, uint64_t number)
{
    const char *body = text_of("message", number);
    struct uvea_store_message message = {.sequence = number,
                                         .body = (const uint8_t *)body,
                                         .body_bytes = strlen(body),
                                         .valid = number % 3 != 0};
    return uvea_store_ingest(fixture->store, &message, 1, &fixture->context);
}

static enum uvea_error claim(struct fixture *fixture, uint64_t number)
{
    struct uvea_modification modification = {.sequence = number,
                                             .type = "uniqueness",
                                             .s3_url = text_of("object", number),
                                             .attributes = text_of("trace", number)};
    uint64_t id = 0;
    UVEA_TRY(uvea_store_claim(fixture->store, number, &modification, 1, &id, &fixture->context));
    assert_int_equal(id, number);
    return UVEA_OK;
}

static struct uvea_spectral_row spectrum(uint64_t number)
{
    static uint8_t payload[SPECTRUM_BYTES];
    memset(payload, (int)number, sizeof(payload));
    return (struct uvea_spectral_row){.serial = (uint32_t)number,
                                      .eye = UVEA_EYE_LEFT,
                                      .party = 1,
                                      .format = 2,
                                      .payload = payload,
                                      .payload_bytes = sizeof(payload)};
}

static enum uvea_error commit(struct fixture *fixture, uint64_t number)
{
    uint32_t serial = (uint32_t)number;
    struct uvea_modification modification = {
        .id = number, .serial = serial, .persisted = true, .result = text_of("result", number)};
    struct uvea_store_commit commit = {.inserts = &sample_make(serial, 0)->record,
                                       .insert_count = 1,
                                       .updates = &sample_make(serial - 1, 1)->record,
                                       .update_count = serial > 1 ? 1 : 0,
                                       .modifications = &modification,
                                       .modification_count = 1,
                                       .sequences = &number,
                                       .sequence_count = 1};
    return uvea_store_commit(fixture->store, &commit, &fixture->context);
}

enum uvea_error life_step(struct fixture *fixture, uint64_t step)
{
    uint64_t number = step / LIFE_CALLS + 1;
    struct uvea_store *store = fixture->store;
    struct uvea_error_context *context = &fixture->context;
    switch ((enum life_call)(step % LIFE_CALLS)) {
    case LIFE_OBJECT: {
        const struct sample *bytes = sample_make((uint32_t)number, 9);
        return uvea_store_share_put(store, text_of("object", number), (const uint8_t *)bytes->eye,
                                    sizeof(bytes->eye), context);
    }
    case LIFE_TOPIC: {
        const char *body = text_of("body", number);
        uint64_t sequence = 0;
        UVEA_TRY(uvea_store_topic_append(store, text_of("id", number), (const uint8_t *)body,
                                         strlen(body), &sequence, context));
        assert_int_equal(sequence, number);
        return UVEA_OK;
    }
    case LIFE_INGEST:
        return take_message(fixture, number);
    case LIFE_CLAIM:
        return claim(fixture, number);
    case LIFE_SPECTRUM: {
        struct uvea_spectral_row row = spectrum(number);
        return uvea_store_spectral_write(store, &row, 1, context);
    }
    case LIFE_COMMIT:
        return commit(fixture, number);
    case LIFE_RESULT:
        return uvea_store_publish(store, &number, 1, context);
    case LIFE_CALLS:
        break;
    }
    fail();
    return UVEA_ERR_STATE;
}

// ---- looking

static enum uvea_error look_at_objects(struct fixture *fixture, uint64_t *count)
{
    for (;;) {
        struct uvea_buf out = {0};
        enum uvea_error error = uvea_store_share_get(fixture->store, text_of("object", *count + 1),
                                                     &out, &fixture->context);
        if (error == UVEA_OK) {
            const struct sample *bytes = sample_make((uint32_t)++ * count, 9);
            assert_int_equal(out.len, sizeof(bytes->eye));
            assert_memory_equal(out.data, bytes->eye, sizeof(bytes->eye));
        }
        uvea_buf_deinit(&out);
        if (error != UVEA_OK) {
            return error == UVEA_ERR_NOT_FOUND ? UVEA_OK : error;
        }
    }
}

static enum uvea_error look_at_topic(void *arg, const struct uvea_store_message *message)
{
    uint64_t *count = arg;
    const char *body = text_of("body", ++*count);
    assert_int_equal(message->sequence, *count);
    assert_int_equal(message->body_bytes, strlen(body));
    assert_memory_equal(message->body, body, strlen(body));
    return UVEA_OK;
}

static enum uvea_error look_at_pending(void *arg, const struct uvea_store_message *message)
{
    uint64_t *sequence = arg;
    const char *body = text_of("message", *sequence);
    assert_int_equal(message->sequence, *sequence);
    assert_int_equal(message->body_bytes, strlen(body));
    assert_memory_equal(message->body, body, strlen(body));
    assert_int_equal(message->valid, *sequence % 3 != 0);
    ++*sequence;
    return UVEA_OK;
}

struct modifications {
    uint64_t count;
    uint64_t completed;
};

static enum uvea_error look_at_modification(void *arg, const struct uvea_modification *modification)
{
    struct modifications *modifications = arg;
    uint64_t number = ++modifications->count;
    assert_int_equal(modification->id, number);
    assert_int_equal(modification->sequence, number);
    assert_string_equal(modification->type, "uniqueness");
    assert_string_equal(modification->s3_url, text_of("object", number));
    assert_string_equal(modification->attributes, text_of("trace", number));
    assert_int_equal(modification->persisted, modification->completed);
    if (modification->completed) {
        assert_int_equal(number, ++modifications->completed);
        assert_int_equal(modification->serial, number);
        assert_string_equal(modification->result, text_of("result", number));
    } else {
        assert_int_equal(modification->serial, 0);
        assert_null(modification->result);
    }
    return UVEA_OK;
}

static enum uvea_error look_at_spectrum(void *arg, const struct uvea_spectral_row *row)
{
    uint64_t *count = arg;
    assert_int_equal(row->serial, ++*count);
    return UVEA_OK;
}

struct records {
    uint64_t count;
    uint16_t last_version;
};

static enum uvea_error look_at_record(void *arg, const struct uvea_store_record *record)
{
    struct records *records = arg;
    assert_true(records->count == 0 || records->last_version == 1);
    assert_int_equal(record->serial, ++records->count);
    records->last_version = record->version;
    sample_check(record, 3);
    return UVEA_OK;
}

static enum uvea_error look_at_result(void *arg, const struct uvea_store_result *result)
{
    uint64_t *count = arg;
    uint64_t number = ++*count;
    assert_int_equal(result->number, number);
    assert_int_equal(result->modification_id, number);
    assert_int_equal(result->sequence, number);
    assert_string_equal(result->type, "uniqueness");
    assert_string_equal(result->body, text_of("result", number));
    assert_string_equal(result->attributes, text_of("trace", number));
    return UVEA_OK;
}

static enum uvea_error look_at_requests(struct fixture *fixture, struct life_progress *progress)
{
    struct uvea_store *store = fixture->store;
    struct uvea_error_context *context = &fixture->context;
    struct uvea_store_ingest_state state = {0};
    struct modifications modifications = {0};
    uint64_t frontier = 0;
    UVEA_TRY(uvea_store_ingest_state(store, &state, context));
    UVEA_TRY(
        uvea_store_modifications(store, SIZE_MAX, look_at_modification, &modifications, context));
    UVEA_TRY(uvea_store_frontier(store, &frontier, context));
    uint64_t next = modifications.count + 1;
    UVEA_TRY(uvea_store_pending(store, SIZE_MAX, look_at_pending, &next, context));
    assert_int_equal(next, state.contiguous + 1);
    assert_int_equal(state.pending, state.contiguous - modifications.count);
    assert_int_equal(state.max_persisted, modifications.completed);
    assert_int_equal(frontier, modifications.completed);
    progress->done[LIFE_INGEST] = state.contiguous;
    progress->done[LIFE_CLAIM] = modifications.count;
    progress->done[LIFE_COMMIT] = modifications.completed;
    return UVEA_OK;
}

enum uvea_error life_look(struct fixture *fixture, struct life_progress *progress)
{
    struct uvea_store *store = fixture->store;
    struct uvea_error_context *context = &fixture->context;
    struct records records = {.last_version = 1};
    uint64_t count = 0;
    uint64_t serial_max = 0;
    *progress = (struct life_progress){0};
    UVEA_TRY(look_at_objects(fixture, &progress->done[LIFE_OBJECT]));
    UVEA_TRY(uvea_store_topic_read(store, 0, SIZE_MAX, look_at_topic, &progress->done[LIFE_TOPIC],
                                   context));
    UVEA_TRY(look_at_requests(fixture, progress));
    UVEA_TRY(uvea_store_spectral_read(store, UVEA_EYE_LEFT, 1, UINT32_MAX, look_at_spectrum,
                                      &progress->done[LIFE_SPECTRUM], context));
    UVEA_TRY(uvea_store_read_records(store, 1, UINT32_MAX, 3, look_at_record, &records, context));
    UVEA_TRY(uvea_store_count(store, &count, &serial_max, context));
    assert_int_equal(count, records.count);
    assert_int_equal(serial_max, records.count);
    assert_int_equal(progress->done[LIFE_COMMIT], records.count);
    assert_true(records.count == 0 || records.last_version == 0);
    return uvea_store_results(store, 0, SIZE_MAX, look_at_result, &progress->done[LIFE_RESULT],
                              context);
}

uint64_t life_steps(const struct life_progress *progress)
{
    uint64_t steps = 0;
    for (unsigned call = 0; call < LIFE_CALLS; call++) {
        steps += progress->done[call];
    }
    for (unsigned call = 0; call < LIFE_CALLS; call++) {
        assert_int_equal(progress->done[call],
                         steps / LIFE_CALLS + (call < steps % LIFE_CALLS ? 1 : 0));
    }
    return steps;
}
