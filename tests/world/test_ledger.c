// What the ledger makes of batches as they are processed, committed and answered.
#include "core/base/mem.h"
#include "sim/scenario/scenario.h"
#include "tests/oracle/fixture.h"
#include "tests/support/cmocka.h"
#include "tests/world/ledger_rig.h"

#include <string.h>

// One message of each kind, two that are refused among them.
static void send_one_of_each(struct rig *rig)
{
    struct uvea_oracle_pair second = rig->model.records[1].pair;
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_send(rig, UVEA_ORACLE_REAUTH, 2, &second);
    rig_send(rig, UVEA_ORACLE_DELETION, 1, NULL);
    rig_send(rig, UVEA_ORACLE_RESET_CHECK, 0, &second);
    rig_send(rig, UVEA_ORACLE_RESET_UPDATE, 3, rig_fresh(rig));
    rig_send(rig, UVEA_ORACLE_RECOVERY_UPDATE, 99, rig_fresh(rig));
    rig_send(rig, UVEA_ORACLE_RECOVERY_CHECK, 0, NULL);
    rig_send(rig, UVEA_ORACLE_MALFORMED, 0, NULL);
}

static void good_run_passes(void **state)
{
    (void)state;
    uint8_t hash[2][UVEA_LEDGER_HASH_BYTES];
    for (unsigned round = 0; round < 2; round++) {
        struct rig *rig = rig_open(4);
        rig->random = round; // other shares, the same answers
        send_one_of_each(rig);
        rig_do(rig, 3);
        assert_false(uvea_ledger_complete(rig->ledger));
        rig_restart(rig);
        rig_do(rig, 5);
        rig_expect_good(rig);
        assert_true(uvea_ledger_complete(rig->ledger));
        struct uvea_ledger_verdict verdict = uvea_ledger_verdict(rig->ledger);
        assert_int_equal(verdict.accepted, 8);
        assert_int_equal(verdict.committed, 8);
        assert_int_equal(verdict.results, 24);
        assert_int_equal(verdict.errors, 3);
        assert_int_equal(verdict.batches, 2);
        assert_int_equal(verdict.records, 5);
        assert_int_equal(verdict.joined, 3);
        struct uvea_ledger_outcome outcome;
        assert_int_equal(uvea_ledger_outcome(rig->ledger, "m-1", &outcome), UVEA_OK);
        assert_true(outcome.ruled);
        assert_int_equal(outcome.serial, 5);
        assert_int_equal(outcome.sequence, 1);
        assert_int_equal(uvea_ledger_outcome(rig->ledger, "m-6", &outcome), UVEA_OK);
        assert_string_equal(outcome.error_reason, "unknown serial_id");
        assert_int_equal(uvea_ledger_outcome(rig->ledger, "m-9", &outcome), UVEA_ERR_NOT_FOUND);
        assert_true(uvea_ledger_model(rig->ledger)->records[0].deleted);
        struct uvea_store *stores[3];
        struct uvea_error_context context = {.text = ""};
        rig_stores(rig, stores);
        assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
        rig_expect_good(rig);
        assert_int_equal(uvea_ledger_hash(rig->ledger, 0, hash[round]), UVEA_OK);
        rig_stores_free(stores);
        rig_close(rig);
    }
    assert_memory_equal(hash[0], hash[1], sizeof(hash[0]));
}

// ---- a party that does wrong

typedef void spoil_fn(struct uvea_batch *batch);

static void spoil_text(struct uvea_batch *b)
{
    b->entries[3].result.data[20] ^= 1;
}
static void spoil_length(struct uvea_batch *b)
{
    b->entries[3].result.len--;
}
static void spoil_kind(struct uvea_batch *b)
{
    b->entries[3].message.kind = UVEA_MESSAGE_MALFORMED;
}
static void spoil_reason(struct uvea_batch *b)
{
    b->entries[0].error_reason = "unknown serial_id";
}
static void spoil_no_reason(struct uvea_batch *b)
{
    b->entries[5].error_reason = NULL;
}
static void spoil_serial(struct uvea_batch *b)
{
    b->entries[0].serial++;
}
static void spoil_version(struct uvea_batch *b)
{
    b->entries[1].version++;
}
static void spoil_mutation(struct uvea_batch *b)
{
    b->entries[2].mutation = UVEA_MUTATION_NONE;
}
static void spoil_gap(struct uvea_batch *b)
{
    b->entries[4].sequence++;
}
static void spoil_records(struct uvea_batch *b)
{
    b->record_count++;
}
static void spoil_missing(struct uvea_batch *b)
{
    b->entries[1].search.eye[0][1].candidate_count--;
}
static void spoil_extra(struct uvea_batch *b)
{
    struct uvea_eye_result *eye = &b->entries[0].search.eye[0][0];
    eye->candidates[eye->candidate_count++] = (struct uvea_candidate){2, 1, 0};
}
static void spoil_index(struct uvea_batch *b)
{
    b->entries[1].search.eye[0][0].candidates[0].index++;
}
static void spoil_strict(struct uvea_batch *b)
{
    b->entries[3].search.eye[0][1].candidates[0].strict = 0;
}
static void spoil_mirror(struct uvea_batch *b)
{
    struct uvea_eye_result *eye = &b->entries[1].search.eye[1][0];
    eye->candidates[eye->candidate_count++] = (struct uvea_candidate){1, 1, 1};
}
static void spoil_code(struct uvea_batch *b)
{
    b->entries[1].search.eye[0][0].codes.a[0]++;
}
static void spoil_mask(struct uvea_batch *b)
{
    b->entries[1].search.eye[0][1].masks.b[0]--;
}
static void spoil_distances(struct uvea_batch *b)
{
    b->entries[3].search.eye[0][0].codes.count--;
    b->entries[3].search.eye[0][0].masks.count--;
}
static void spoil_codes(struct uvea_batch *b)
{
    b->entries[3].search.eye[0][0].codes.count--;
}
static void spoil_id(struct uvea_batch *b)
{
    b->id++;
}
static void spoil_no_id(struct uvea_batch *b)
{
    b->id = 0;
}
static void spoil_row(struct uvea_batch *b)
{
    b->entries[0].modification_id++;
}
static void spoil_count(struct uvea_batch *b)
{
    b->count = 0;
}

static void what_one_party_does_wrong_is_seen(void **state)
{
    (void)state;
    static const struct {
        spoil_fn *spoil;
        const char *says;
    } table[] = {
        {spoil_text, "its result is not the oracle's"},
        {spoil_length, "its result is not the oracle's"},
        {spoil_kind, "it is read as malformed"},
        {spoil_reason, "its error is 'unknown serial_id', the oracle's 'none'"},
        {spoil_no_reason, "its error is 'none', the oracle's 'unknown serial_id'"},
        {spoil_serial, "it changes the records otherwise"},
        {spoil_version, "it changes the records otherwise"},
        {spoil_mutation, "it changes the records otherwise"},
        {spoil_gap, "do not follow each other"},
        {spoil_count, "do not follow each other"},
        {spoil_records, "records, the oracle with 4"},
        {spoil_missing, "other rotations are opened than the oracle has, serial 2, right eye"},
        {spoil_extra, "other rotations are opened than the oracle has, serial 3, left eye"},
        {spoil_index, "other rotations are opened than the oracle has, serial 2, left eye"},
        {spoil_strict, "other rotations are opened than the oracle has, serial 2, right eye"},
        {spoil_mirror, "left eye, mirror orientation"},
        {spoil_code, "the retained distance of serial 2, rotation 0, left eye is wrong"},
        {spoil_mask, "the retained distance of serial 2, rotation 0, right eye is wrong"},
        {spoil_distances, "distances are retained on the left eye"},
        {spoil_codes, "0 codes but 1 masks"},
        {spoil_id, "messages from 1 on are batch"},
        {spoil_no_id, "its number is not above"},
        {spoil_row, "messages from 1 on are batch"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct rig *rig = rig_open(4);
        struct rig_batch batch;
        send_one_of_each(rig);
        rig_process(rig, 8, &batch);
        const unsigned bad = i % 3;
        const size_t count = batch.batch[bad].count;
        table[i].spoil(&batch.batch[bad]);
        for (unsigned party = 0; party < 3; party++) {
            rig_processed(rig, &batch, party);
        }
        rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, table[i].says);
        batch.batch[bad].count = count;
        rig_batch_free(&batch);
        rig_close(rig);
    }
}

static void message_that_nobody_sent_is_seen(void **state)
{
    (void)state;
    struct rig *rig = rig_open(2);
    struct rig_batch batch;
    (void)rig_offer(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_process(rig, 1, &batch);
    batch.batch[0].entries[0].message.message_id = "m-7";
    rig_processed(rig, &batch, 0);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, "'m-7', which nobody sent");
    rig_batch_free(&batch);
    rig_close(rig);
}

// ---- commits

static void parties_may_lag_by_one_commit(void **state)
{
    (void)state;
    struct rig *rig = rig_open(2);
    struct rig_batch batch;
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_process(rig, 1, &batch);
    rig_processed(rig, &batch, 2);
    rig_committed(rig, &batch, 2);
    assert_int_equal(uvea_ledger_model(rig->ledger)->record_count, 3);
    rig_processed(rig, &batch, 0); // judged by the same ruling
    rig_committed(rig, &batch, 0);
    rig_processed(rig, &batch, 1);
    rig_committed(rig, &batch, 1);
    rig_expect_good(rig);
    assert_int_equal(uvea_ledger_verdict(rig->ledger).joined, 1);
    rig_committed(rig, &batch, 1);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, "party 1 commits batch 1, which it has committed");
    rig_batch_free(&batch);
    rig_close(rig);
}

static void commit_of_what_was_not_processed_is_seen(void **state)
{
    (void)state;
    struct rig *rig = rig_open(2);
    struct rig_batch batch;
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_process(rig, 1, &batch);
    rig_processed(rig, &batch, 0);
    rig_committed(rig, &batch, 1);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                     "party 1 commits batch 1, which it has not processed");
    rig_batch_free(&batch);
    rig_close(rig);
}

static void publication_comes_once_and_after_the_commit(void **state)
{
    (void)state;
    for (unsigned twice = 0; twice < 2; twice++) {
        struct rig *rig = rig_open(2);
        struct rig_batch batch;
        rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
        rig_process(rig, 1, &batch);
        rig_processed(rig, &batch, 0);
        if (twice == 1) {
            rig_committed(rig, &batch, 0);
            rig_published(rig, &batch, 0);
            rig_expect_good(rig);
        }
        rig_published(rig, &batch, 0);
        rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                         twice == 1 ? "which it has published" : "which it has not committed");
        rig_batch_free(&batch);
        rig_close(rig);
    }
}

static void batch_may_be_formed_anew_until_it_is_committed(void **state)
{
    (void)state;
    for (unsigned committed = 0; committed < 2; committed++) {
        struct rig *rig = rig_open(2);
        struct rig_batch first;
        struct rig_batch second;
        rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
        rig_send(rig, UVEA_ORACLE_DELETION, 1, NULL);
        rig_process(rig, 1, &first);
        for (unsigned party = 0; party < 3; party++) {
            rig_processed(rig, &first, party);
        }
        if (committed == 1) {
            rig_committed(rig, &first, 1);
        }
        rig_restart(rig);
        rig_process(rig, 2, &second);
        for (unsigned party = 0; party < 3; party++) {
            rig_processed(rig, &second, party);
        }
        if (committed == 1) {
            rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                             "it was committed before this process started");
        } else {
            rig_committed(rig, &second, 0);
            rig_committed(rig, &second, 1);
            rig_committed(rig, &second, 2);
            rig_expect_good(rig);
            assert_true(uvea_ledger_model(rig->ledger)->records[0].deleted);
        }
        rig_batch_free(&first);
        rig_batch_free(&second);
        rig_close(rig);
    }
}

static void the_same_batch_twice_is_seen_after_its_commit(void **state)
{
    (void)state;
    struct rig *rig = rig_open(2);
    struct rig_batch first;
    struct rig_batch again;
    rig_send(rig, UVEA_ORACLE_DELETION, 1, NULL);
    rig_process(rig, 1, &first);
    rig_process(rig, 1, &again);
    for (unsigned party = 0; party < 3; party++) {
        rig_processed(rig, &first, party);
    }
    rig_committed(rig, &first, 0);
    rig_processed(rig, &again, 0);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, "it does not begin where the batch before ended");
    rig_batch_free(&first);
    rig_batch_free(&again);
    rig_close(rig);
}

static void shares_of_another_life_are_not_put_together(void **state)
{
    (void)state;
    struct rig *rig = rig_open(2);
    struct rig_batch first;
    struct rig_batch second;
    struct uvea_oracle_pair known = rig->model.records[1].pair;
    rig_send(rig, UVEA_ORACLE_RESET_CHECK, 0, &known);
    rig_process(rig, 1, &first);
    rig_processed(rig, &first, 0);
    rig_processed(rig, &first, 1); // party 2 died
    rig_restart(rig);
    rig_process(rig, 1, &second);
    rig_processed(rig, &second, 2);
    rig_processed(rig, &second, 0);
    assert_int_equal(uvea_ledger_verdict(rig->ledger).joined, 0);
    rig_processed(rig, &second, 1);
    assert_int_equal(uvea_ledger_verdict(rig->ledger).joined, 1);
    rig_expect_good(rig);
    rig_batch_free(&first);
    rig_batch_free(&second);
    rig_close(rig);
}

// ---- a party that died at its commit

static void next_batch_shows_that_one_was_committed(void **state)
{
    (void)state;
    struct rig *rig = rig_open(2);
    struct rig_batch tried;
    struct rig_batch done;
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_process(rig, 1, &tried);
    rig_processed(rig, &tried, 0);
    rig_restart(rig);
    rig_process(rig, 2, &done);
    rig_processed(rig, &done, 1);
    rig_apply(rig, &done);
    rig_restart(rig);
    assert_int_equal(uvea_ledger_model(rig->ledger)->record_count, 2);
    rig_do(rig, 1);
    assert_int_equal(uvea_ledger_model(rig->ledger)->record_count, 5);
    for (unsigned party = 0; party < 3; party++) {
        rig_read(rig, party, 0);
        rig_read(rig, party, 1);
    }
    rig_expect_good(rig);
    assert_true(uvea_ledger_complete(rig->ledger));
    rig_batch_free(&tried);
    rig_batch_free(&done);
    rig_close(rig);
}

static void batch_that_skips_messages_is_seen(void **state)
{
    (void)state;
    struct rig *rig = rig_open(2);
    struct rig_batch tried;
    struct rig_batch skips;
    for (unsigned i = 0; i < 3; i++) {
        rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    }
    rig_process(rig, 1, &tried);
    rig_processed(rig, &tried, 0);
    rig_restart(rig);
    rig->applied = 2; // nobody has processed the second
    rig_process(rig, 1, &skips);
    rig_processed(rig, &skips, 0);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                     "processes messages 3 to 3, but the batches known to be committed end with "
                     "message 0");
    rig_batch_free(&tried);
    rig_batch_free(&skips);
    rig_close(rig);
}

static void result_shows_that_its_batch_was_committed(void **state)
{
    (void)state;
    for (unsigned ambiguous = 0; ambiguous < 2; ambiguous++) {
        struct rig *rig = rig_open(2);
        struct rig_batch one;
        struct rig_batch two;
        rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
        rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
        rig_process(rig, 1, &one);
        if (ambiguous == 1) {
            rig_processed(rig, &one, 0);
        }
        rig_restart(rig);
        rig_process(rig, 2, &two);
        rig_processed(rig, &two, 0);
        rig_apply(rig, &two);
        rig_read(rig, 1, 0);
        assert_int_equal(uvea_ledger_verdict(rig->ledger).committed, ambiguous == 1 ? 0 : 2);
        rig_read(rig, 1, 1); // only one batch has the second
        assert_int_equal(uvea_ledger_verdict(rig->ledger).committed, 2);
        rig_expect_good(rig);
        rig_batch_free(&one);
        rig_batch_free(&two);
        rig_close(rig);
    }
}

static void wrong_result_is_seen_once_it_can_be_judged(void **state)
{
    (void)state;
    struct rig *rig = rig_open(2);
    struct rig_batch one;
    struct rig_batch two;
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    rig_send(rig, UVEA_ORACLE_DELETION, 1, NULL);
    rig_process(rig, 1, &one);
    rig_processed(rig, &one, 0);
    rig_restart(rig);
    rig_process(rig, 2, &two);
    rig_processed(rig, &two, 0);
    rig_apply(rig, &two);
    char *digit = strstr(rig->results[0][1], "\"serial_id\":3") + strlen("\"serial_id\":");
    *digit = '4';
    rig_read(rig, 1, 0);
    rig_expect_good(rig);
    rig_committed(rig, &two, 0);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                     "the result read from party 1 is not the oracle's: member serial_id");
    rig_batch_free(&one);
    rig_batch_free(&two);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_run_passes),
        cmocka_unit_test(what_one_party_does_wrong_is_seen),
        cmocka_unit_test(message_that_nobody_sent_is_seen),
        cmocka_unit_test(parties_may_lag_by_one_commit),
        cmocka_unit_test(commit_of_what_was_not_processed_is_seen),
        cmocka_unit_test(publication_comes_once_and_after_the_commit),
        cmocka_unit_test(batch_may_be_formed_anew_until_it_is_committed),
        cmocka_unit_test(the_same_batch_twice_is_seen_after_its_commit),
        cmocka_unit_test(shares_of_another_life_are_not_put_together),
        cmocka_unit_test(next_batch_shows_that_one_was_committed),
        cmocka_unit_test(batch_that_skips_messages_is_seen),
        cmocka_unit_test(result_shows_that_its_batch_was_committed),
        cmocka_unit_test(wrong_result_is_seen_once_it_can_be_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
