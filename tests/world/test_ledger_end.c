// What the ledger makes of what clients are told and read, and of what is stored at the end.
#include "core/base/mem.h"
#include "sim/scenario/scenario.h"
#include "sim/world/expect.h"
#include "tests/oracle/fixture.h"
#include "tests/support/cmocka.h"
#include "tests/world/ledger_rig.h"

#include <stdio.h>
#include <string.h>

// ---- numbers

static void number_belongs_to_one_message_for_ever(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct rig *rig = rig_open(1);
        rig_send(rig, UVEA_ORACLE_DELETION, 1, NULL);
        (void)rig_offer(rig, UVEA_ORACLE_DELETION, 1, NULL);
        uvea_ledger_accept(rig->ledger, "m-1", 1); // told again
        rig_expect_good(rig);
        static const char *const says[] = {
            "message number 1 is given to m-1 and to m-2",
            "m-1 has two message numbers, 1 and 2",
            "m-2 is message number 3, but only 2 were sent",
            "number 2 is given to m-9, which is unsent",
            "number 0 is given to m-2, which is unsent",
        };
        switch (i) {
        case 0:
            uvea_ledger_accept(rig->ledger, "m-2", 1);
            break;
        case 1:
            uvea_ledger_accept(rig->ledger, "m-1", 2);
            break;
        case 2:
            uvea_ledger_accept(rig->ledger, "m-2", 3);
            break;
        case 3:
            uvea_ledger_accept(rig->ledger, "m-9", 2);
            break;
        default:
            uvea_ledger_accept(rig->ledger, "m-2", 0);
            break;
        }
        rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, says[i]);
        assert_int_equal(uvea_ledger_offer(rig->ledger, "m-1", &rig->orders[0], NULL),
                         UVEA_ERR_USAGE);
        rig_close(rig);
    }
}

static void batch_may_show_a_number_before_the_client_is_told(void **state)
{
    (void)state;
    struct rig *rig = rig_open(1);
    (void)rig_offer(rig, UVEA_ORACLE_DELETION, 1, NULL);
    rig_do(rig, 1);
    uvea_ledger_accept(rig->ledger, "m-1", 1);
    rig_expect_good(rig);
    (void)rig_offer(rig, UVEA_ORACLE_DELETION, 1, NULL);
    uvea_ledger_accept(rig->ledger, "m-2", 1);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, "is given to m-1 and to m-2");
    rig_close(rig);
}

// Two requests whose MessageIds cannot be read look alike until the clients are told.
static void unreadable_requests_are_told_apart_late(void **state)
{
    (void)state;
    static const struct uvea_expectation refused = {.error = "malformed_request"};
    struct rig *rig = rig_open(1);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(rig->keys[i], sizeof(rig->keys[i]), "u-%zu", i);
        rig->orders[i] =
            (struct uvea_oracle_order){.kind = UVEA_ORACLE_MALFORMED, .id = "", .message_id = ""};
        assert_int_equal(uvea_ledger_offer(rig->ledger, rig->keys[i], &rig->orders[i], &refused),
                         UVEA_OK);
    }
    rig->sent = 2;
    rig_do(rig, 2);
    uvea_ledger_accept(rig->ledger, "u-0", 2);
    uvea_ledger_accept(rig->ledger, "u-1", 1);
    rig_expect_good(rig);
    assert_true(uvea_ledger_complete(rig->ledger));
    rig_close(rig);
}

// ---- results

// A world in which two deletions are committed and no result is read.
static struct rig *two_done(void)
{
    struct rig *rig = rig_open(3);
    struct rig_batch batch;
    rig_send(rig, UVEA_ORACLE_DELETION, 1, NULL);
    rig_send(rig, UVEA_ORACLE_DELETION, 2, NULL);
    rig_send(rig, UVEA_ORACLE_DELETION, 3, NULL);
    rig_process(rig, 2, &batch);
    for (unsigned party = 0; party < 3; party++) {
        rig_processed(rig, &batch, party);
        rig_committed(rig, &batch, party);
    }
    rig_apply(rig, &batch);
    rig_batch_free(&batch);
    return rig;
}

static void tell(struct rig *rig, unsigned party, uint64_t number, uint64_t sequence,
                 const char *type, const char *body)
{
    const struct uvea_ledger_read read = {
        .number = number,
        .sequence = sequence,
        .batch = sequence <= RIG_MESSAGES_MAX ? rig->batches[sequence - 1] : 0,
        .type = type,
        .body = body,
        .bytes = strlen(body),
    };
    uvea_ledger_result(rig->ledger, uvea_party_at(party), &read);
}

static void wrong_results_are_seen(void **state)
{
    (void)state;
    static const struct {
        uint64_t number;
        uint64_t sequence;
        const char *type;
        const char *body; // NULL: the right one
        const char *says;
    } table[] = {
        {2, 1, "identity_deletion", NULL, "publishes it twice, as result 1 and as result 2"},
        {1, 2, "identity_deletion", NULL, "result 1 was message 1's and is now message 2's"},
        {1, 1, "identity_deletion", "{}", "party 1's result has changed since it was read"},
        {2, 2, "reauth", NULL, "publishes it as 'reauth', but it is identity_deletion"},
        {2, 2, "identity_deletion", "{", "is not the oracle's: member form"},
        {2, 2, "identity_deletion",
         "{\"node_id\":1,\"serial_id\":2,\"success\":false,\"error\":null,\"error_reason\":null}",
         "is not the oracle's: member success"},
        {2, 3, "identity_deletion",
         "{\"node_id\":1,\"serial_id\":3,\"success\":true,\"error\":null,\"error_reason\":null}",
         "party 1 has a result of it, but nobody has processed it"},
        {3, 4, "identity_deletion", NULL, "result 3 is of message 4: nobody sent it"},
        {4, 2, "identity_deletion", NULL, "there are not so many results"},
        {0, 2, "identity_deletion", NULL, "there are not so many results"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct rig *rig = two_done();
        tell(rig, 1, 1, 1, "identity_deletion", rig->results[0][1]);
        tell(rig, 1, 1, 1, "identity_deletion", rig->results[0][1]); // read again
        tell(rig, 0, 2, 1, "identity_deletion", rig->results[0][0]);
        rig_expect_good(rig);
        assert_int_equal(uvea_ledger_verdict(rig->ledger).results, 2);
        tell(rig, 1, table[i].number, table[i].sequence, table[i].type,
             table[i].body != NULL ? table[i].body : rig->results[table[i].sequence - 1][1]);
        rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, table[i].says);
        rig_close(rig);
    }
}

static void parties_that_answer_differently_are_counted_once(void **state)
{
    (void)state;
    struct rig *rig = two_done();
    tell(rig, 0, 1, 1, "identity_deletion", rig->results[0][0]);
    tell(rig, 1, 1, 1, "identity_deletion", rig->results[0][2]); // another party's
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, "parties 0 and 1 answer differently");
    tell(rig, 2, 1, 1, "identity_deletion", rig->results[0][2]);
    assert_int_equal(uvea_ledger_verdict(rig->ledger).disagreements, 1);
    assert_int_equal(uvea_ledger_verdict(rig->ledger).mismatches, 1);
    rig_close(rig);
}

// ---- expectations

static void expectations_are_held_against_the_ruling(void **state)
{
    (void)state;
    struct uvea_oracle_record records[3] = {{.matched = true}, {.prefiltered = true}, {.luc = 0}};
    struct uvea_oracle_ruling ruling = {.matched = true, .inserts = true, .serial = 4};
    ruling.search[0] = (struct uvea_oracle_search){.records = records, .record_count = 3};
    uint32_t one[] = {1, 2};
    uint32_t two[] = {2, 9};
    const struct {
        struct uvea_expectation expect;
        const char *says; // NULL: it is met
    } table[] = {
        {{.has_match = false}, NULL},
        {{.has_match = true, .match = true}, NULL},
        {{.has_match = true}, "expected match false"},
        {{.has_success = true, .success = true}, NULL},
        {{.has_success = true}, "expected success false"},
        {{.has_mirror_attack = true}, NULL},
        {{.has_mirror_attack = true, .mirror_attack = true}, "expected mirror_attack true"},
        {{.has_serial = true, .serial = 4}, NULL},
        {{.has_serial = true, .serial = 0}, "expected serial 0, the oracle gives 4"},
        {{.error = "none"}, NULL},
        {{.error = "unknown serial_id"}, "expected error 'unknown serial_id'"},
        {{.has_matched = true, .matched = {one, 1}}, NULL},
        {{.has_matched = true, .matched = {one, 2}}, "expected list matched has serial 2"},
        {{.has_matched = true, .matched = {NULL, 0}}, "expected list matched lacks serial 1"},
        {{.has_anonymous = true, .anonymous = {two, 1}}, NULL},
        {{.has_anonymous = true, .anonymous = {two, 2}}, "a serial that is not enrolled"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char reason[200] = "";
        bool met = uvea_expect_met(&table[i].expect, &ruling, reason, sizeof(reason));
        assert_int_equal(met, table[i].says == NULL);
        const char *says = table[i].says != NULL ? table[i].says : "";
        assert_non_null(strstr(reason, says));
    }
    ruling.error_reason = "unknown serial_id";
    ruling.inserts = false; // the serial is the one named
    char reason[200] = "";
    const struct uvea_expectation refused = {
        .error = "unknown serial_id", .has_serial = true, .serial = 0};
    assert_true(uvea_expect_met(&refused, &ruling, reason, sizeof(reason)));
}

static void unmet_expectation_is_no_fault_of_a_party(void **state)
{
    (void)state;
    static const struct uvea_expectation wrong = {.error = "Reauth is disabled"};
    struct rig *rig = rig_open(1);
    rig->orders[0] = (struct uvea_oracle_order){
        .kind = UVEA_ORACLE_DELETION, .id = "", .message_id = "m-1", .serial_id = 1};
    assert_int_equal(uvea_ledger_offer(rig->ledger, "m-1", &rig->orders[0], &wrong), UVEA_OK);
    rig->sent = 1;
    rig_do(rig, 1);
    rig_expect_wrong(
        rig, UVEA_LEDGER_EXPECTATION,
        "m-1 (identity_deletion): expected error 'Reauth is disabled', the oracle says "
        "'none'");
    rig_close(rig);
}

// ---- the end

// A finished run: inserted 4, deleted 1, updated 3, a refusal.
static struct rig *finished(void)
{
    struct rig *rig = rig_open(3);
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_send(rig, UVEA_ORACLE_DELETION, 1, NULL);
    rig_send(rig, UVEA_ORACLE_RESET_UPDATE, 3, rig_fresh(rig));
    rig_send(rig, UVEA_ORACLE_DELETION, 70, NULL);
    rig_do(rig, 2);
    rig_do(rig, 2);
    rig_expect_good(rig);
    return rig;
}

typedef void spoil_fn(struct uvea_store *store);

static void spoil_count(struct uvea_store *s)
{
    s->record_count--;
}
static void spoil_serial_max(struct uvea_store *s)
{
    s->serial_max++;
}
static void spoil_version(struct uvea_store *s)
{
    s->records[2].version++;
}
static void spoil_code(struct uvea_store *s)
{
    s->records[1].eye[0][5] ^= 1;
}
static void spoil_mask(struct uvea_store *s)
{
    s->records[3].eye[1][UVEA_SHARE_COEFFICIENTS] ^= 4;
}
static void spoil_dummy(struct uvea_store *s)
{
    s->records[0].eye[0][12799]++;
}
static void spoil_old(struct uvea_store *s)
{
    memcpy(s->records[2].eye, s->records[1].eye, sizeof(s->records[2].eye));
}
static void spoil_pending(struct uvea_store *s)
{
    s->ingest.pending = 1;
}
static void spoil_persisted(struct uvea_store *s)
{
    s->ingest.max_persisted = 3;
}
static void spoil_frontier(struct uvea_store *s)
{
    s->frontier = 2;
}
static void spoil_row_open(struct uvea_store *s)
{
    s->rows[1].modification.completed = false;
}
static void spoil_row_id(struct uvea_store *s)
{
    s->rows[0].modification.id = 0;
}
static void spoil_row_type(struct uvea_store *s)
{
    s->rows[0].modification.type = "reauth";
}
static void spoil_row_wrote(struct uvea_store *s)
{
    s->rows[2].modification.persisted = false;
}
static void spoil_row_serial(struct uvea_store *s)
{
    s->rows[0].modification.serial = 3;
}
static void spoil_row_owner(struct uvea_store *s)
{
    s->rows[0].modification.sequence = 2;
}
static void spoil_row_empty(struct uvea_store *s)
{
    s->rows[3].modification.result = NULL;
}
static void spoil_row_gone(struct uvea_store *s)
{
    s->row_count--;
}
static void spoil_text(struct uvea_store *s)
{
    s->rows[2].result.body = "{}";
}
static void spoil_gap(struct uvea_store *s)
{
    s->rows[3].result.number = 5;
}
static void spoil_twice(struct uvea_store *s)
{
    s->rows[3].result.sequence = 3;
}
static void spoil_gone(struct uvea_store *s)
{
    s->result_count--;
}
static void spoil_link(struct uvea_store *s)
{
    s->rows[0].result.modification_id = 2;
}
static void spoil_type(struct uvea_store *s)
{
    s->rows[0].result.type = "uniquenes";
}
static void spoil_sender(struct uvea_store *s)
{
    s->rows[3].result.sequence = 12;
}

static void what_one_store_has_wrong_is_seen(void **state)
{
    (void)state;
    static const struct {
        spoil_fn *spoil;
        const char *says;
    } table[] = {
        {spoil_count, "holds 3 records up to serial 4, the oracle 4"},
        {spoil_serial_max, "holds 4 records up to serial 5, the oracle 4"},
        {spoil_version, "record 3 has version 2, the oracle's 1"},
        {spoil_code, "serial 2 as shared by parties"},
        {spoil_mask, "serial 4 as shared by parties"},
        {spoil_dummy, "is not what the oracle has there, left eye (deleted)"},
        {spoil_old, "serial 3 as shared by parties"},
        {spoil_pending, "has 1 messages pending"},
        {spoil_persisted, "done with up to 3 of 4"},
        {spoil_frontier, "last commit ends with modification 2"},
        {spoil_row_open, "it is not completed"},
        {spoil_row_id, "its id is not the other parties'"},
        {spoil_row_type, "modification 1 should be of message 1 (m-1), but it has another type"},
        {spoil_row_wrote, "it says otherwise whether a record was changed"},
        {spoil_row_serial, "it has another serial"},
        {spoil_row_owner, "it belongs to another message"},
        {spoil_row_empty, "it has another result"},
        {spoil_row_gone, "3 modifications for 4 messages"},
        {spoil_text, "result 3 is of message 3, but it is not the oracle's"},
        {spoil_gap, "there is a gap before it"},
        {spoil_twice, "clients have read it under another number"},
        {spoil_gone, "has published 3 results for 4 messages"},
        {spoil_link, "it names another modification"},
        {spoil_type, "result 1 is of message 1, but it has another type"},
        {spoil_sender, "nobody sent that message"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        for (unsigned bad = 0; bad < 3; bad++) {
            struct rig *rig = finished();
            struct uvea_store *stores[3];
            struct uvea_error_context context = {.text = ""};
            rig_stores(rig, stores);
            table[i].spoil(stores[bad]);
            assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
            rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, table[i].says);
            rig_stores_free(stores);
            rig_close(rig);
        }
    }
}

static void every_pair_of_parties_has_every_record(void **state)
{
    (void)state;
    struct rig *rig = finished();
    struct uvea_store *stores[3];
    struct uvea_error_context context = {.text = ""};
    rig_stores(rig, stores);
    stores[2]->records[3].eye[1][100] ^= 1;
    assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, "serial 4 as shared by parties 1 and 2");
    assert_int_equal(uvea_ledger_verdict(rig->ledger).violations[UVEA_LEDGER_SAFETY], 2);
    rig_stores_free(stores);
    rig_close(rig);
}

static void many_records_are_read_in_blocks(void **state)
{
    (void)state;
    for (uint32_t records = 15; records <= 33; records += 1 + 15 * (records == 17)) {
        struct rig *rig = rig_open(records);
        struct uvea_store *stores[3];
        struct uvea_error_context context = {.text = ""};
        rig_send(rig, UVEA_ORACLE_DELETION, records, NULL);
        rig_do(rig, 1);
        rig_stores(rig, stores);
        assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
        rig_expect_good(rig);
        for (uint32_t index = 0; index < records; index++) {
            stores[index % 3]->records[index].eye[index % 2][index] ^= 2;
        }
        assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
        assert_int_equal(uvea_ledger_verdict(rig->ledger).violations[UVEA_LEDGER_SAFETY],
                         2 * records); // each in the two pairs that have the spoilt share
        rig_stores_free(stores);
        rig_close(rig);
    }
}

static void what_was_not_done_is_no_matter_of_safety(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct rig *rig = two_done();
        struct uvea_store *stores[3];
        struct uvea_error_context context = {.text = ""};
        rig_stores(rig, stores);
        if (i > 0) {
            rig_do(rig, 1);
            uvea_ledger_accept(rig->ledger, "m-3", 3);
        }
        if (i > 1) {
            (void)rig_offer(rig, UVEA_ORACLE_MALFORMED, 0, NULL);
        }
        static const char *const says[] = {
            "m-1 (identity_deletion): no result of it was read from party 0",
            "m-1 (identity_deletion): no result of it was read from party 0",
            "m-1 (identity_deletion): no result of it was read from party 0",
        };
        assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
        rig_expect_wrong(rig, UVEA_LEDGER_LIVENESS, says[i]);
        assert_int_equal(uvea_ledger_verdict(rig->ledger).violations[UVEA_LEDGER_LIVENESS],
                         i == 0 ? 7 : 6 + (i > 1));
        rig_stores_free(stores);
        rig_close(rig);
    }
}

static void last_commit_may_be_seen_in_the_stores_alone(void **state)
{
    (void)state;
    for (unsigned beyond = 0; beyond < 2; beyond++) {
        struct rig *rig = rig_open(2);
        struct rig_batch batch;
        struct uvea_store *stores[3];
        struct uvea_error_context context = {.text = ""};
        rig_send(rig, UVEA_ORACLE_DELETION, 1, NULL);
        rig_process(rig, 1, &batch);
        rig_processed(rig, &batch, 0);
        rig_apply(rig, &batch);
        rig_stores(rig, stores);
        stores[2]->ingest.max_persisted += beyond;
        assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
        assert_int_equal(uvea_ledger_verdict(rig->ledger).committed, 1);
        if (beyond == 1) {
            rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                             "party 2 is done with up to message 2, but nobody has processed that");
        } else {
            rig_expect_wrong(rig, UVEA_LEDGER_LIVENESS, "no result of it was read");
        }
        rig_stores_free(stores);
        rig_batch_free(&batch);
        rig_close(rig);
    }
}

static void broken_store_is_no_verdict(void **state)
{
    (void)state;
    struct rig *rig = finished();
    struct uvea_store *stores[3];
    struct uvea_error_context context = {.text = ""};
    rig_stores(rig, stores);
    stores[1]->broken = UVEA_ERR_IO;
    assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_ERR_IO);
    rig_expect_good(rig);
    rig_stores_free(stores);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_belongs_to_one_message_for_ever),
        cmocka_unit_test(batch_may_show_a_number_before_the_client_is_told),
        cmocka_unit_test(unreadable_requests_are_told_apart_late),
        cmocka_unit_test(wrong_results_are_seen),
        cmocka_unit_test(parties_that_answer_differently_are_counted_once),
        cmocka_unit_test(expectations_are_held_against_the_ruling),
        cmocka_unit_test(unmet_expectation_is_no_fault_of_a_party),
        cmocka_unit_test(what_one_store_has_wrong_is_seen),
        cmocka_unit_test(every_pair_of_parties_has_every_record),
        cmocka_unit_test(many_records_are_read_in_blocks),
        cmocka_unit_test(what_was_not_done_is_no_matter_of_safety),
        cmocka_unit_test(last_commit_may_be_seen_in_the_stores_alone),
        cmocka_unit_test(broken_store_is_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
