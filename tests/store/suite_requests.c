// From the topic to the published result.
#include "core/base/check.h"
#include "tests/store/fixture.h"
#include "tests/store/suite.h"

#include <string.h>

static void check_state(struct fixture *fixture, uint64_t contiguous, uint64_t pending,
                        uint64_t max_persisted)
{
    struct uvea_store_ingest_state got = fixture_state(fixture);
    assert_int_equal(got.contiguous, contiguous);
    assert_int_equal(got.pending, pending);
    assert_int_equal(got.max_persisted, max_persisted);
}

// ---- ingest

void ingest_counts_what_has_no_gap(void **state)
{
    struct fixture *fixture = *state;
    check_state(fixture, 0, 0, 0);
    fixture_ingest(fixture, 2, 2);
    check_state(fixture, 0, 0, 0);
    assert_string_equal(list_pending(fixture, 9), "");
    fixture_ingest(fixture, 1, 1);
    check_state(fixture, 3, 3, 0);
    fixture_ingest(fixture, 7, 1);
    fixture_ingest(fixture, 5, 1);
    check_state(fixture, 3, 3, 0);
    assert_string_equal(list_pending(fixture, 9), "1:message 1 2:message 2 3:message 3 ");
    assert_string_equal(list_pending(fixture, 2), "1:message 1 2:message 2 ");
    assert_string_equal(list_pending(fixture, 0), "");
    fixture_ingest(fixture, 4, 1);
    check_state(fixture, 5, 5, 0);
    fixture_again(fixture);
    fixture_ingest(fixture, 6, 1);
    check_state(fixture, 7, 7, 0);
}

void ingest_leaves_duplicates_alone(void **state)
{
    struct fixture *fixture = *state;
    const struct uvea_store_message first[] = {
        {.sequence = 2, .body = (const uint8_t *)"two", .body_bytes = 3, .valid = false},
        {.sequence = 1, .body = (const uint8_t *)"one", .body_bytes = 3, .valid = true},
        {.sequence = 2, .body = (const uint8_t *)"2", .body_bytes = 1, .valid = true},
    };
    SUCCEED(fixture, uvea_store_ingest(fixture->store, first, 3, &fixture->context));
    assert_string_equal(list_pending(fixture, 9), "1:one 2:two! ");
    assert_int_equal(fixture_claim(fixture, 1, "uniqueness"), 1);
    fixture_ingest(fixture, 1, 2);
    assert_string_equal(list_pending(fixture, 9), "2:two! ");
    check_state(fixture, 2, 1, 0);
}

void ingest_counts_many_at_once(void **state)
{
    struct fixture *fixture = *state;
    enum { MANY = 600 };
    static struct uvea_store_message messages[MANY];
    for (unsigned i = 0; i < MANY; i++) { // the even ones first, from the end
        unsigned sequence = i < MANY / 2 ? MANY - 2 * i : 2 * (i - MANY / 2) + 1;
        messages[i] = (struct uvea_store_message){.sequence = sequence, .valid = true};
    }
    SUCCEED(fixture, uvea_store_ingest(fixture->store, messages, MANY / 2, &fixture->context));
    check_state(fixture, 0, 0, 0);
    SUCCEED(fixture, uvea_store_ingest(fixture->store, messages + MANY / 2, MANY / 2 - 1,
                                       &fixture->context));
    check_state(fixture, MANY - 2, MANY - 2, 0);
    SUCCEED(fixture, uvea_store_ingest(fixture->store, messages + MANY - 1, 1, &fixture->context));
    check_state(fixture, MANY, MANY, 0);
}

struct one_body {
    uint8_t bytes[256];
    size_t count;
};

static enum uvea_error keep_body(void *arg, const struct uvea_store_message *message)
{
    struct one_body *kept = arg;
    assert_true(message->body_bytes <= sizeof(kept->bytes));
    memcpy(kept->bytes, message->body, message->body_bytes);
    kept->count = message->body_bytes;
    return UVEA_OK;
}

void bodies_are_any_bytes(void **state)
{
    struct fixture *fixture = *state;
    uint8_t body[256];
    for (size_t i = 0; i < sizeof(body); i++) {
        body[i] = (uint8_t)i;
    }
    const struct uvea_store_message messages[] = {
        {.sequence = 1, .body = body, .body_bytes = sizeof(body), .valid = true},
        {.sequence = 2, .body = NULL, .body_bytes = 0, .valid = true},
    };
    SUCCEED(fixture, uvea_store_ingest(fixture->store, messages, 2, &fixture->context));
    struct one_body kept = {0};
    SUCCEED(fixture, uvea_store_pending(fixture->store, 1, keep_body, &kept, &fixture->context));
    assert_int_equal(kept.count, sizeof(body));
    assert_memory_equal(kept.bytes, body, sizeof(body));
    SUCCEED(fixture, uvea_store_pending(fixture->store, 2, keep_body, &kept, &fixture->context));
    assert_int_equal(kept.count, 0);
}

void spoiled_message_is_never_read(void **state)
{
    struct fixture *fixture = *state;
    fixture_ingest(fixture, 1, 1);
    fixture_stop(fixture);
    fixture->backend->raw(fixture, "UPDATE ingested_requests SET is_valid = 0", NULL);
    fixture_again(fixture);
    struct one_body kept = {0};
    REFUSE(fixture, UVEA_ERR_STATE,
           uvea_store_pending(fixture->store, 1, keep_body, &kept, &fixture->context));
}

// ---- claims

void claim_numbers_modifications(void **state)
{
    struct fixture *fixture = *state;
    fixture_ingest(fixture, 1, 4);
    const struct uvea_modification both[] = {
        {.sequence = 1, .type = "reauth", .s3_url = "a/b", .serial = 7, .attributes = "{\"x\":1}"},
        {.sequence = 2, .type = "uniqueness"},
    };
    uint64_t first = 0;
    SUCCEED(fixture, uvea_store_claim(fixture->store, 5, both, 2, &first, &fixture->context));
    assert_int_equal(first, 1);
    assert_int_equal(fixture_claim(fixture, 3, "identity_deletion"), 3);
    SUCCEED(fixture, uvea_store_claim(fixture->store, 5, NULL, 0, &first, &fixture->context));
    assert_int_equal(first, 4);
    assert_string_equal(list_modifications(fixture, 9),
                        "1:1:7:reauth:a/b:open:0:-:{\"x\":1} 2:2:0:uniqueness:-:open:0:-:- "
                        "3:3:0:identity_deletion:-:open:0:-:- ");
    assert_string_equal(list_pending(fixture, 9), "4:message 4 ");
}

void claim_is_compare_and_set(void **state)
{
    struct fixture *fixture = *state;
    fixture_ingest(fixture, 1, 3);
    assert_int_equal(fixture_claim(fixture, 2, "uniqueness"), 1);
    static const uint64_t taken[] = {2, 4}; // claimed; not here
    for (size_t i = 0; i < UVEA_COUNT_OF(taken); i++) {
        const struct uvea_modification both[] = {{.sequence = 1, .type = "uniqueness"},
                                                 {.sequence = taken[i], .type = "uniqueness"}};
        uint64_t first = 77;
        REFUSE(fixture, UVEA_ERR_STATE,
               uvea_store_claim(fixture->store, 2, both, 2, &first, &fixture->context));
        assert_int_equal(first, 77);
    }
    assert_string_equal(list_pending(fixture, 9), "1:message 1 3:message 3 ");
    assert_string_equal(list_modifications(fixture, 9), "1:2:0:uniqueness:-:open:0:-:- ");
}

// ---- commits

void database_has_one_owner(void **state)
{
    struct fixture *fixture = *state;
    SUCCEED(fixture, uvea_store_own(fixture->store, uvea_party_at(2), &fixture->context));
    SUCCEED(fixture, uvea_store_own(fixture->store, uvea_party_at(2), &fixture->context));
    fixture_again(fixture);
    REFUSE(fixture, UVEA_ERR_STATE,
           uvea_store_own(fixture->store, uvea_party_at(0), &fixture->context));
    SUCCEED(fixture, uvea_store_own(fixture->store, uvea_party_at(2), &fixture->context));
}

static uint64_t frontier(struct fixture *fixture)
{
    uint64_t id = 99;
    SUCCEED(fixture, uvea_store_frontier(fixture->store, &id, &fixture->context));
    return id;
}

void commit_changes_everything_at_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 1);
    fixture_ingest(fixture, 1, 3);
    assert_int_equal(frontier(fixture), 0);
    (void)fixture_claim(fixture, 1, "uniqueness");
    (void)fixture_claim(fixture, 2, "reauth");
    const struct uvea_modification modifications[] = {
        {.id = 1, .serial = 2, .persisted = true, .result = "{\"r\":1}"},
        {.id = 2, .serial = 1, .persisted = true, .result = "{\"r\":2}"}};
    const struct uvea_store_commit commit = {
        .inserts = &sample_make(2, 0)->record,
        .insert_count = 1,
        .updates = &sample_make(1, 1)->record,
        .update_count = 1,
        .modifications = modifications,
        .modification_count = 2,
        .sequences = (const uint64_t[]){1, 2},
        .sequence_count = 2,
    };
    SUCCEED(fixture, uvea_store_commit(fixture->store, &commit, &fixture->context));
    fixture_again(fixture);
    assert_int_equal(frontier(fixture), 2);
    check_state(fixture, 3, 1, 2);
    assert_string_equal(list_modifications(fixture, 9),
                        "1:1:2:uniqueness:-:done:1:{\"r\":1}:- 2:2:1:reauth:-:done:1:{\"r\":2}:- ");
    static uint16_t eye[UVEA_RECORD_COEFFICIENTS];
    SUCCEED(fixture,
            uvea_store_read_eye(fixture->store, UVEA_EYE_LEFT, 1, 1, eye, &fixture->context));
    SUCCEED(fixture,
            uvea_store_read_eye(fixture->store, UVEA_EYE_LEFT, 2, 0, eye, &fixture->context));
}

void commit_refuses_what_was_not_claimed(void **state)
{
    struct fixture *fixture = *state;
    fixture_ingest(fixture, 1, 3);
    (void)fixture_claim(fixture, 1, "uniqueness");
    fixture_complete(fixture, 1, 1);
    (void)fixture_claim(fixture, 2, "uniqueness");
    const struct {
        uint64_t id;
        uint64_t sequence;
        bool persisted;
    } wrong[] = {
        {1, 2, false}, // completed already
        {3, 2, false}, // no such modification
        {2, 1, false}, // persisted already
        {2, 3, false}, // not claimed
        {2, 4, false}, // not here
        {2, 2, true},  // persisted, but no record named
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(wrong); i++) {
        struct uvea_modification modification = {
            .id = wrong[i].id, .persisted = wrong[i].persisted, .result = "{}"};
        struct uvea_store_commit commit = {.inserts = &sample_make(1, 0)->record,
                                           .insert_count = 1,
                                           .modifications = &modification,
                                           .modification_count = 1,
                                           .sequences = &wrong[i].sequence,
                                           .sequence_count = 1};
        REFUSE(fixture, UVEA_ERR_STATE,
               uvea_store_commit(fixture->store, &commit, &fixture->context));
    }
    uint64_t count, serial_max;
    SUCCEED(fixture, uvea_store_count(fixture->store, &count, &serial_max, &fixture->context));
    assert_int_equal(count, 0);
    assert_int_equal(frontier(fixture), 1);
    check_state(fixture, 3, 1, 1);
    fixture_complete(fixture, 2, 2);
}

void recovery_persists_and_releases(void **state)
{
    struct fixture *fixture = *state;
    fixture_ingest(fixture, 1, 6);
    fixture_complete(fixture, fixture_claim(fixture, 1, "uniqueness"), 1);
    for (uint64_t sequence = 2; sequence <= 4; sequence++) {
        (void)fixture_claim(fixture, sequence, "uniqueness");
    }
    check_state(fixture, 6, 2, 1);
    // Others have persisted up to 3; their rows for 4 are in progress everywhere and go.
    const uint64_t gone[] = {4};
    SUCCEED(fixture,
            uvea_store_repair(fixture->store,
                              &(struct uvea_store_repair){.delete_ids = gone, .delete_count = 1},
                              &fixture->context));
    SUCCEED(fixture, uvea_store_ingest_recover(fixture->store, 3, &fixture->context));
    check_state(fixture, 6, 3, 3);
    assert_string_equal(list_pending(fixture, 9), "4:message 4 5:message 5 6:message 6 ");
    assert_int_equal(fixture_claim(fixture, 4, "uniqueness"), 4);
    // A number that others have and this party has yet to hear of.
    SUCCEED(fixture, uvea_store_ingest_recover(fixture->store, 8, &fixture->context));
    check_state(fixture, 6, 0, 8);
    struct uvea_modification late = {.sequence = 5, .type = "uniqueness"};
    uint64_t id;
    REFUSE(fixture, UVEA_ERR_STATE,
           uvea_store_claim(fixture->store, 1, &late, 1, &id, &fixture->context));
    fixture_ingest(fixture, 7, 3);
    check_state(fixture, 9, 1, 8);
    assert_string_equal(list_pending(fixture, 9), "9:message 9 ");
    SUCCEED(fixture, uvea_store_ingest_recover(fixture->store, 0, &fixture->context));
    check_state(fixture, 9, 1, 8);
}

void newest_modifications_ascend(void **state)
{
    struct fixture *fixture = *state;
    assert_string_equal(list_modifications(fixture, 5), "");
    fixture_ingest(fixture, 1, 12);
    for (uint64_t sequence = 1; sequence <= 12; sequence++) {
        (void)fixture_claim(fixture, sequence, "x");
    }
    assert_string_equal(list_modifications(fixture, 3),
                        "10:10:0:x:-:open:0:-:- 11:11:0:x:-:open:0:-:- 12:12:0:x:-:open:0:-:- ");
    assert_string_equal(list_modifications(fixture, 0), "");
    assert_true(strncmp(list_modifications(fixture, SIZE_MAX), "1:1:0:x:", 8) == 0);
}

// ---- results

// Claims and completes messages 1..count of these types; ids are the same numbers.
static void complete_all(struct fixture *fixture, const char *const *types, size_t count)
{
    fixture_ingest(fixture, 1, count);
    for (size_t i = 0; i < count; i++) {
        fixture_complete(fixture, fixture_claim(fixture, i + 1, types[i]), i + 1);
    }
}

void results_are_published_once(void **state)
{
    struct fixture *fixture = *state;
    static const char *const types[] = {"reauth", "uniqueness", "reauth"};
    complete_all(fixture, types, 3);
    assert_string_equal(list_results(fixture, 0, 9), "");
    const uint64_t order[] = {2, 1, 2};
    SUCCEED(fixture, uvea_store_publish(fixture->store, order, 3, &fixture->context));
    SUCCEED(fixture, uvea_store_publish(fixture->store, order, 2, &fixture->context));
    const uint64_t last[] = {1, 3};
    SUCCEED(fixture, uvea_store_publish(fixture->store, last, 2, &fixture->context));
    static const char wanted[] = "1:2:2:uniqueness:{\"n\":2}:- 2:1:1:reauth:{\"n\":1}:- "
                                 "3:3:3:reauth:{\"n\":3}:- ";
    assert_string_equal(list_results(fixture, 0, 9), wanted);
    fixture_again(fixture);
    assert_string_equal(list_results(fixture, 0, SIZE_MAX), wanted);
    assert_string_equal(list_results(fixture, 1, 1), "2:1:1:reauth:{\"n\":1}:- ");
    assert_string_equal(list_results(fixture, 3, 9), "");
    assert_string_equal(list_results(fixture, UINT64_MAX, 9), "");
}

void results_need_a_completed_modification(void **state)
{
    struct fixture *fixture = *state;
    static const char *const types[] = {"reauth"};
    complete_all(fixture, types, 1);
    fixture_ingest(fixture, 2, 2);
    (void)fixture_claim(fixture, 2, "reauth");
    const uint64_t sequence = 3;
    struct uvea_modification silent = {.id = fixture_claim(fixture, 3, "reauth")};
    struct uvea_store_commit commit = {.modifications = &silent,
                                       .modification_count = 1,
                                       .sequences = &sequence,
                                       .sequence_count = 1};
    SUCCEED(fixture, uvea_store_commit(fixture->store, &commit, &fixture->context));
    static const uint64_t wrong[] = {2, 3, 4}; // in progress; without result; not there
    for (size_t i = 0; i < UVEA_COUNT_OF(wrong); i++) {
        const uint64_t ids[] = {1, wrong[i]};
        REFUSE(fixture, UVEA_ERR_STATE,
               uvea_store_publish(fixture->store, ids, 2, &fixture->context));
    }
    assert_string_equal(list_results(fixture, 0, 9), "");
    size_t replayed = 99;
    SUCCEED(fixture, uvea_store_replay(fixture->store, 9, &replayed, &fixture->context));
    assert_int_equal(replayed, 1);
    assert_string_equal(list_results(fixture, 0, 9), "1:1:1:reauth:{\"n\":1}:- ");
}

void replay_goes_by_type_then_id(void **state)
{
    struct fixture *fixture = *state;
    static const char *const types[] = {
        "recovery_update", "malformed",         "recovery_check", "reset_check", "reset_update",
        "reauth",          "identity_deletion", "uniqueness",     "uniqueness",  "reauth"};
    complete_all(fixture, types, UVEA_COUNT_OF(types));
    const uint64_t published[] = {9};
    SUCCEED(fixture, uvea_store_publish(fixture->store, published, 1, &fixture->context));
    size_t replayed = 99;
    SUCCEED(fixture, uvea_store_replay(fixture->store, 100, &replayed, &fixture->context));
    assert_int_equal(replayed, 9);
    assert_string_equal(
        list_results(fixture, 0, 99),
        "1:9:9:uniqueness:{\"n\":9}:- 2:8:8:uniqueness:{\"n\":8}:- "
        "3:7:7:identity_deletion:{\"n\":7}:- 4:6:6:reauth:{\"n\":6}:- 5:10:10:reauth:{\"n\":10}:- "
        "6:5:5:reset_update:{\"n\":5}:- 7:4:4:reset_check:{\"n\":4}:- "
        "8:3:3:recovery_check:{\"n\":3}:- 9:1:1:recovery_update:{\"n\":1}:- "
        "10:2:2:malformed:{\"n\":2}:- ");
    SUCCEED(fixture, uvea_store_replay(fixture->store, 100, &replayed, &fixture->context));
    assert_int_equal(replayed, 0);
}

void replay_looks_back_so_far_only(void **state)
{
    struct fixture *fixture = *state;
    static const char *const types[] = {"uniqueness", "uniqueness", "uniqueness"};
    complete_all(fixture, types, 3);
    fixture_ingest(fixture, 4, 1);
    (void)fixture_claim(fixture, 4, "uniqueness"); // in progress, and counts
    size_t replayed = 99;
    SUCCEED(fixture, uvea_store_replay(fixture->store, 2, &replayed, &fixture->context));
    assert_int_equal(replayed, 1);
    assert_string_equal(list_results(fixture, 0, 9), "1:3:3:uniqueness:{\"n\":3}:- ");
}

static enum uvea_error listing_batch(void *arg, const struct uvea_store_result *result)
{
    listing_add(arg, "%llu of %llu ", (unsigned long long)result->sequence,
                (unsigned long long)result->batch);
    return UVEA_OK;
}

// Whoever publishes them: the party that claimed them, or a repair that has them from a peer.
void results_name_their_batch(void **state)
{
    struct fixture *fixture = *state;
    struct listing listing = {.len = 0};
    fixture_ingest(fixture, 1, 4);
    const struct uvea_modification claims[] = {{.sequence = 1, .type = "reauth"},
                                               {.sequence = 2, .type = "reauth"},
                                               {.sequence = 3, .type = "reauth"},
                                               {.sequence = 4, .type = "reauth", .batch = 77}};
    uint64_t first;
    SUCCEED(fixture, uvea_store_claim(fixture->store, 1, claims, 1, &first, &fixture->context));
    SUCCEED(fixture, uvea_store_claim(fixture->store, 2, claims + 1, 3, &first, &fixture->context));
    fixture_complete(fixture, 1, 1);
    fixture_complete(fixture, 2, 2);
    const struct uvea_modification write[] = {{.id = 3, .type = "reauth", .result = "{}"},
                                              {.id = 4, .type = "reauth", .result = "{}"},
                                              {.id = 9, .type = "reauth", .result = "{}"}};
    const struct uvea_store_repair repair = {.write = write, .write_count = 3};
    SUCCEED(fixture, uvea_store_repair(fixture->store, &repair, &fixture->context));
    size_t replayed;
    SUCCEED(fixture, uvea_store_replay(fixture->store, 9, &replayed, &fixture->context));
    fixture_again(fixture);
    SUCCEED(fixture,
            uvea_store_results(fixture->store, 0, 9, listing_batch, &listing, &fixture->context));
    assert_string_equal(listing.text, "1 of 1 2 of 2 3 of 2 4 of 2 0 of 0 ");
}

// ---- repair

void repair_writes_deletes_and_restores(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 1);
    fixture_ingest(fixture, 1, 3);
    const struct uvea_modification claims[] = {
        {.sequence = 1, .type = "reauth", .s3_url = "u", .attributes = "{\"trace\":1}"},
        {.sequence = 2, .type = "uniqueness", .s3_url = "v"},
        {.sequence = 3, .type = "uniqueness"}};
    uint64_t first;
    SUCCEED(fixture, uvea_store_claim(fixture->store, 1, claims, 3, &first, &fixture->context));
    const struct uvea_modification write[] = {
        {.id = 1, .serial = 1, .type = "reauth", .s3_url = "u", .persisted = true, .result = "{}"},
        {.id = 2, .serial = 2, .type = "uniqueness", .persisted = true, .result = "[]"},
        {.id = 9, .type = "reset_check", .completed = true, .result = "{9}"}};
    const struct uvea_store_record records[] = {sample_make(1, 4)->record,
                                                sample_make(2, 0)->record};
    const uint64_t gone[] = {3};
    const struct uvea_store_repair repair = {.write = write,
                                             .write_count = 3,
                                             .delete_ids = gone,
                                             .delete_count = 1,
                                             .records = records,
                                             .record_count = 2};
    SUCCEED(fixture, uvea_store_repair(fixture->store, &repair, &fixture->context));
    assert_string_equal(list_modifications(fixture, 9),
                        "1:1:1:reauth:u:done:1:{}:{\"trace\":1} 2:2:2:uniqueness:-:done:1:[]:- "
                        "9:0:0:reset_check:-:done:0:{9}:- ");
    assert_int_equal(frontier(fixture), 9);
    static uint16_t eye[UVEA_RECORD_COEFFICIENTS];
    SUCCEED(fixture,
            uvea_store_read_eye(fixture->store, UVEA_EYE_RIGHT, 1, 4, eye, &fixture->context));
    assert_memory_equal(eye, sample_make(1, 4)->eye[UVEA_EYE_RIGHT], sizeof(eye));
    SUCCEED(fixture,
            uvea_store_read_eye(fixture->store, UVEA_EYE_LEFT, 2, 0, eye, &fixture->context));
    size_t replayed;
    SUCCEED(fixture, uvea_store_replay(fixture->store, 9, &replayed, &fixture->context));
    assert_string_equal(list_results(fixture, 0, 9),
                        "1:2:2:uniqueness:[]:- 2:1:1:reauth:{}:{\"trace\":1} "
                        "3:9:0:reset_check:{9}:- ");
}

void repair_is_all_or_nothing(void **state)
{
    struct fixture *fixture = *state;
    static const char *const types[] = {"uniqueness"};
    complete_all(fixture, types, 1);
    const struct uvea_modification write = {.id = 2, .type = "reauth", .result = "{}"};
    static const uint64_t wrong[] = {1, 7}; // completed; not there
    for (size_t i = 0; i < UVEA_COUNT_OF(wrong); i++) {
        const struct uvea_store_repair repair = {.write = &write,
                                                 .write_count = 1,
                                                 .delete_ids = &wrong[i],
                                                 .delete_count = 1,
                                                 .records = &sample_make(1, 0)->record,
                                                 .record_count = 1};
        REFUSE(fixture, UVEA_ERR_STATE,
               uvea_store_repair(fixture->store, &repair, &fixture->context));
    }
    assert_string_equal(list_modifications(fixture, 9), "1:1:0:uniqueness:-:done:0:{\"n\":1}:- ");
}
