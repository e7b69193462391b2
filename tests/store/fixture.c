#include "tests/store/fixture.h"

#include <stdarg.h>
#include <string.h>

int fixture_open(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.backend = &backend};
    backend.place(&fixture);
    SUCCEED(&fixture, backend.open(&fixture));
    *state = &fixture;
    return 0;
}

int fixture_close(void **state)
{
    fixture_stop(*state);
    return 0;
}

void fixture_stop(struct fixture *fixture)
{
    uvea_store_close(fixture->store);
    fixture->store = NULL;
}

void fixture_again(struct fixture *fixture)
{
    fixture_stop(fixture);
    SUCCEED(fixture, fixture->backend->open(fixture));
}

// ---- samples

static uint16_t coefficient(uint32_t serial, uint16_t version, unsigned eye, size_t i)
{
    return (uint16_t)(serial * 40503u + version * 977u + eye * 31u + i * 7u);
}

struct sample *sample_make(uint32_t serial, uint16_t version)
{
    static struct sample samples[8];
    static unsigned next;
    struct sample *sample = &samples[next++ % 8];
    sample->record = (struct uvea_store_record){.serial = serial, .version = version};
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
            sample->eye[eye][i] = coefficient(serial, version, eye, i);
        }
        sample->record.eye[eye] = sample->eye[eye];
    }
    return sample;
}

void sample_check(const struct uvea_store_record *record, unsigned eyes)
{
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        if ((eyes & 1u << eye) == 0) {
            assert_null(record->eye[eye]);
            continue;
        }
        assert_non_null(record->eye[eye]);
        const struct sample *wanted = sample_make(record->serial, record->version);
        assert_memory_equal(record->eye[eye], wanted->eye[eye], sizeof(wanted->eye[eye]));
    }
}

void fixture_insert(struct fixture *fixture, uint32_t first, uint32_t count)
{
    for (uint32_t serial = first; serial < first + count; serial++) {
        struct uvea_store_commit commit = {.inserts = &sample_make(serial, 0)->record,
                                           .insert_count = 1};
        SUCCEED(fixture, uvea_store_commit(fixture->store, &commit, &fixture->context));
    }
}

void fixture_ingest(struct fixture *fixture, uint64_t first, uint64_t count)
{
    for (uint64_t sequence = first; sequence < first + count; sequence++) {
        char body[32];
        (void)snprintf(body, sizeof(body), "message %llu", (unsigned long long)sequence);
        struct uvea_store_message message = {.sequence = sequence,
                                             .body = (uint8_t *)body,
                                             .body_bytes = strlen(body),
                                             .valid = true};
        SUCCEED(fixture, uvea_store_ingest(fixture->store, &message, 1, &fixture->context));
    }
}

uint64_t fixture_claim(struct fixture *fixture, uint64_t sequence, const char *type)
{
    struct uvea_modification modification = {.sequence = sequence, .type = type};
    uint64_t id = 0;
    SUCCEED(fixture, uvea_store_claim(fixture->store, 1, &modification, 1, &id, &fixture->context));
    return id;
}

void fixture_complete(struct fixture *fixture, uint64_t id, uint64_t sequence)
{
    char result[32];
    (void)snprintf(result, sizeof(result), "{\"n\":%llu}", (unsigned long long)id);
    struct uvea_modification modification = {.id = id, .result = result};
    struct uvea_store_commit commit = {.modifications = &modification,
                                       .modification_count = 1,
                                       .sequences = &sequence,
                                       .sequence_count = 1};
    SUCCEED(fixture, uvea_store_commit(fixture->store, &commit, &fixture->context));
}

struct uvea_store_ingest_state fixture_state(struct fixture *fixture)
{
    struct uvea_store_ingest_state state = {0};
    SUCCEED(fixture, uvea_store_ingest_state(fixture->store, &state, &fixture->context));
    return state;
}

// ---- listings

void listing_add(struct listing *listing, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int chars =
        vsnprintf(listing->text + listing->len, sizeof(listing->text) - listing->len, format, args);
    va_end(args);
    assert_true(chars >= 0 && (size_t)chars < sizeof(listing->text) - listing->len);
    listing->len += (size_t)chars;
}

static const char *or_dash(const char *text)
{
    return text != NULL ? text : "-";
}

enum uvea_error listing_message(void *arg, const struct uvea_store_message *message)
{
    listing_add(arg, "%llu:%.*s%s ", (unsigned long long)message->sequence,
                (int)message->body_bytes, (const char *)message->body, message->valid ? "" : "!");
    return UVEA_OK;
}

enum uvea_error listing_modification(void *arg, const struct uvea_modification *modification)
{
    listing_add(arg, "%llu:%llu:%u:%s:%s:%s:%d:%s:%s ", (unsigned long long)modification->id,
                (unsigned long long)modification->sequence, (unsigned)modification->serial,
                modification->type, or_dash(modification->s3_url),
                modification->completed ? "done" : "open", modification->persisted,
                or_dash(modification->result), or_dash(modification->attributes));
    return UVEA_OK;
}

enum uvea_error listing_result(void *arg, const struct uvea_store_result *result)
{
    listing_add(arg, "%llu:%llu:%llu:%s:%s:%s ", (unsigned long long)result->number,
                (unsigned long long)result->modification_id, (unsigned long long)result->sequence,
                result->type, result->body, or_dash(result->attributes));
    return UVEA_OK;
}

static struct listing listing;

static struct listing *fresh(void)
{
    listing = (struct listing){0};
    return &listing;
}

const char *list_modifications(struct fixture *fixture, size_t count)
{
    SUCCEED(fixture, uvea_store_modifications(fixture->store, count, listing_modification, fresh(),
                                              &fixture->context));
    return listing.text;
}

const char *list_results(struct fixture *fixture, uint64_t after, size_t max)
{
    SUCCEED(fixture, uvea_store_results(fixture->store, after, max, listing_result, fresh(),
                                        &fixture->context));
    return listing.text;
}

const char *list_pending(struct fixture *fixture, size_t count)
{
    SUCCEED(fixture,
            uvea_store_pending(fixture->store, count, listing_message, fresh(), &fixture->context));
    return listing.text;
}
