// What the ledger makes of results alone, where nobody sees what the parties do.
#include "core/base/check.h"
#include "tests/oracle/fixture.h"
#include "tests/support/cmocka.h"
#include "tests/world/ledger_rig.h"

#include <string.h>

// The puppets process the next messages as one batch, unseen.
static void do_unseen(struct rig *rig, size_t count)
{
    struct rig_batch batch;
    rig_process(rig, count, &batch);
    rig_apply(rig, &batch);
    rig_batch_free(&batch);
}

static uint64_t committed(const struct rig *rig)
{
    return uvea_ledger_verdict(rig->ledger).committed;
}

static void send_new(struct rig *rig, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, rig_fresh(rig));
    }
}

static void read_all(struct rig *rig, size_t first, size_t end)
{
    for (unsigned party = 0; party < 3; party++) {
        for (size_t at = first; at < end; at++) {
            rig_read(rig, party, at);
        }
    }
}

// Twice the same person in one batch: who is enrolled depends on what the batch holds.
static struct rig *three_batches(bool blind)
{
    struct rig *rig = blind ? rig_open_blind(3) : rig_open(3);
    const struct uvea_oracle_pair *first = rig_fresh(rig);
    const struct uvea_oracle_pair twin = *first;
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, first);
    rig_send(rig, UVEA_ORACLE_UNIQUENESS, 0, &twin);
    rig_send(rig, UVEA_ORACLE_DELETION, 2, NULL);
    rig_send(rig, UVEA_ORACLE_RESET_CHECK, 0, &twin);
    rig_send(rig, UVEA_ORACLE_REAUTH, 4, &twin);
    rig_send(rig, UVEA_ORACLE_MALFORMED, 0, NULL);
    return rig;
}

static void results_alone_give_the_same_verdict(void **state)
{
    (void)state;
    uint8_t hash[2][UVEA_LEDGER_HASH_BYTES];
    struct uvea_ledger_verdict verdict[2];
    for (unsigned blind = 0; blind < 2; blind++) {
        struct rig *rig = three_batches(blind == 1);
        static const size_t counts[] = {3, 1, 2};
        for (size_t i = 0; i < UVEA_COUNT_OF(counts); i++) {
            const size_t before = rig->applied;
            if (blind == 0) {
                rig_do(rig, counts[i]);
            } else {
                do_unseen(rig, counts[i]);
                read_all(rig, before, rig->applied);
            }
        }
        rig_expect_good(rig);
        assert_true(uvea_ledger_complete(rig->ledger));
        struct uvea_store *stores[3];
        struct uvea_error_context context = {.text = ""};
        rig_stores(rig, stores);
        assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
        rig_expect_good(rig);
        verdict[blind] = uvea_ledger_verdict(rig->ledger);
        assert_int_equal(uvea_ledger_hash(rig->ledger, 0, hash[blind]), UVEA_OK);
        rig_stores_free(stores);
        rig_close(rig);
    }
    assert_memory_equal(hash[0], hash[1], sizeof(hash[0]));
    assert_int_equal(verdict[0].batches, verdict[1].batches);
    assert_int_equal(verdict[0].errors, verdict[1].errors);
    assert_int_equal(verdict[0].records, verdict[1].records);
    assert_int_equal(verdict[1].results, 18);
}

static void batch_is_complete_when_a_later_one_shows(void **state)
{
    (void)state;
    struct rig *rig = rig_open_blind(2);
    send_new(rig, 5);
    do_unseen(rig, 2);
    do_unseen(rig, 2);
    rig_read(rig, 1, 0);
    assert_int_equal(committed(rig), 0);
    rig_read(rig, 1, 1);
    assert_int_equal(committed(rig), 0); // the third message may be of this batch
    rig_read(rig, 1, 2);
    assert_int_equal(committed(rig), 2);
    rig_read(rig, 0, 0);
    rig_read(rig, 2, 0);
    rig_read(rig, 1, 3);
    assert_int_equal(committed(rig), 2);
    do_unseen(rig, 1);
    rig_read(rig, 1, 4);
    assert_int_equal(committed(rig), 5); // nothing else was offered
    rig_expect_good(rig);
    rig_close(rig);
}

// A party that was started anew publishes by kind.
static void results_may_come_in_another_order(void **state)
{
    (void)state;
    struct rig *rig = rig_open_blind(2);
    send_new(rig, 4);
    do_unseen(rig, 1);
    do_unseen(rig, 2);
    do_unseen(rig, 1);
    rig_read(rig, 2, 3);
    rig_read(rig, 2, 1);
    rig_read(rig, 2, 0);
    assert_int_equal(committed(rig), 1);
    rig_read(rig, 2, 2);
    assert_int_equal(committed(rig), 4);
    rig_expect_good(rig);
    rig_close(rig);
}

// ---- what is wrong

static void batches_that_cannot_be_are_seen(void **state)
{
    (void)state;
    static const struct {
        uint64_t batch[4]; // that party 1 names for each message; all are of the first
        const char *says;
    } table[] = {
        {{0, 1, 1, 1}, "message 1 as of a batch that begins with message 0, which cannot be"},
        {{1, 3, 1, 1}, "message 2 as of a batch that begins with message 3, which cannot be"},
        {{1, 2, 1, 1},
         "message 3, is answered as of the batch that begins with message 1, but a "
         "batch ends with message 2"},
        {{1, 1, 2, 1},
         "message 3, is answered as of the batch that begins with message 2, but a "
         "batch ends with message 2"},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(table); i++) {
        struct rig *rig = rig_open_blind(2);
        send_new(rig, 4);
        do_unseen(rig, 4);
        memcpy(rig->batches, table[i].batch, sizeof(table[i].batch));
        for (size_t at = 0; at < 4; at++) {
            rig_read(rig, 1, at);
        }
        rig_expect_wrong(rig, UVEA_LEDGER_SAFETY, table[i].says);
        rig_close(rig);
    }
}

static void batch_that_is_too_long_is_seen(void **state)
{
    (void)state;
    struct rig *rig = rig_open_blind(2);
    send_new(rig, 9);
    do_unseen(rig, 9); // eight are allowed
    for (size_t at = 0; at < 9; at++) {
        rig_read(rig, 0, at);
    }
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                     "message 9 as of a batch that begins with message 1, which cannot be");
    rig_close(rig);
}

static void parties_must_name_one_batch(void **state)
{
    (void)state;
    struct rig *rig = rig_open_blind(2);
    send_new(rig, 2);
    do_unseen(rig, 2);
    rig_read(rig, 0, 0);
    rig_read(rig, 0, 1);
    assert_int_equal(committed(rig), 2);
    rig->batches[1] = 2;
    rig_read(rig, 2, 1);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                     "m-2: party 2 answers it as of a batch that begins with message 2, another "
                     "party with message 1");
    rig_close(rig);
}

static void wrong_answer_is_seen_when_its_batch_is_complete(void **state)
{
    (void)state;
    struct rig *rig = rig_open_blind(2);
    send_new(rig, 3);
    do_unseen(rig, 2);
    do_unseen(rig, 1);
    char *digit = strstr(rig->results[1][1], "\"serial_id\":4") + strlen("\"serial_id\":");
    *digit = '3';
    rig_read(rig, 1, 0);
    rig_read(rig, 1, 1);
    rig_expect_good(rig);
    rig_read(rig, 1, 2);
    rig_expect_wrong(rig, UVEA_LEDGER_SAFETY,
                     "m-2 (uniqueness): the result read from party 1 is not the oracle's: member "
                     "serial_id");
    assert_int_equal(uvea_ledger_verdict(rig->ledger).mismatches, 1);
    rig_close(rig);
}

static void missing_results_are_seen_at_the_end(void **state)
{
    (void)state;
    struct rig *rig = rig_open_blind(2);
    struct uvea_store *stores[3];
    struct uvea_error_context context = {.text = ""};
    send_new(rig, 2);
    do_unseen(rig, 2);
    rig_read(rig, 0, 0);
    rig_stores(rig, stores);
    assert_int_equal(uvea_ledger_finish(rig->ledger, stores, &context), UVEA_OK);
    rig_expect_wrong(rig, UVEA_LEDGER_LIVENESS, "m-1 (uniqueness) was taken but never committed");
    rig_stores_free(stores);
    rig_close(rig);
}

// ---- a second ledger

static enum uvea_error count_right(void *arg, const struct uvea_ledger_answer *answer)
{
    unsigned *right = arg;
    for (unsigned party = 0; party < 3; party++) {
        *right += answer->ruled && answer->right[party]->len == answer->read[party]->len &&
                  memcmp(answer->right[party]->data, answer->read[party]->data,
                         answer->right[party]->len) == 0;
    }
    return UVEA_OK;
}

static void second_ledger_hears_what_clients_do(void **state)
{
    (void)state;
    struct rig *rig = rig_open(0);
    struct rig *second = rig_open_blind(0);
    uint8_t hash[2][UVEA_LEDGER_HASH_BYTES];
    unsigned right = 0;
    uvea_ledger_repeat(rig->ledger, second->ledger);
    send_new(rig, 3);
    rig_do(rig, 2);
    rig_do(rig, 1);
    rig_expect_good(second);
    assert_true(uvea_ledger_complete(second->ledger));
    assert_int_equal(uvea_ledger_hash(rig->ledger, 0, hash[0]), UVEA_OK);
    assert_int_equal(uvea_ledger_hash(second->ledger, 0, hash[1]), UVEA_OK);
    assert_memory_equal(hash[0], hash[1], sizeof(hash[0]));
    assert_int_equal(uvea_ledger_answers(second->ledger, count_right, &right), UVEA_OK);
    assert_int_equal(right, 9);
    rig_close(rig);
    rig_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_alone_give_the_same_verdict),
        cmocka_unit_test(batch_is_complete_when_a_later_one_shows),
        cmocka_unit_test(results_may_come_in_another_order),
        cmocka_unit_test(batches_that_cannot_be_are_seen),
        cmocka_unit_test(batch_that_is_too_long_is_seen),
        cmocka_unit_test(parties_must_name_one_batch),
        cmocka_unit_test(wrong_answer_is_seen_when_its_batch_is_complete),
        cmocka_unit_test(missing_results_are_seen_at_the_end),
        cmocka_unit_test(second_ledger_hears_what_clients_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
