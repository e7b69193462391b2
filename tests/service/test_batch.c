// Intake of a batch: every kind against every gate, the order of the checks, duplicates, serials
// that do not exist, the mirror flag; the hash that the parties compare.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/service/batch.h"
#include "core/service/results.h"
#include "tests/support/cmocka.h"

#include <stdio.h>

enum { RECORDS = 20 };

static const struct uvea_gates all_open = {true, true, true, true};
static const struct uvea_policy luc = {.luc_enabled = true, .luc_serial_ids_from_request = true};

// A batch of these messages, none admitted yet.
static struct uvea_batch batch_of(const struct uvea_message *messages, size_t count)
{
    struct uvea_batch batch;
    assert_int_equal(uvea_batch_init(&batch, 1, count), UVEA_OK);
    batch.record_count = RECORDS;
    for (size_t i = 0; i < count; i++) {
        batch.entries[i].message = messages[i];
        batch.entries[i].sequence = 100 + i;
    }
    return batch;
}

static void admit_all(struct uvea_batch *batch, const struct uvea_gates *gates,
                      const struct uvea_policy *policy)
{
    for (size_t i = 0; i < batch->count; i++) {
        uvea_batch_admit(batch, i, gates, policy);
    }
}

static void assert_reason(const char *found, const char *want)
{
    if (want == NULL) {
        assert_null(found);
    } else {
        assert_non_null(found);
        assert_string_equal(found, want);
    }
}

static const char *reason_of(const struct uvea_message *message, const struct uvea_gates *gates,
                             const struct uvea_policy *policy)
{
    struct uvea_batch batch = batch_of(message, 1);
    admit_all(&batch, gates, policy);
    const char *reason = batch.entries[0].error_reason;
    uvea_batch_deinit(&batch);
    return reason;
}

// What a shut gate says; NULL: no gate is asked.
static void each_kind_has_its_gate(void **state)
{
    enum { NONE, REAUTH, RESET, RECOVERY, DELETION };
    static const struct {
        enum uvea_message_kind kind;
        int gate;
        const char *shut;
    } rows[] = {
        {UVEA_MESSAGE_UNIQUENESS, NONE, NULL},
        {UVEA_MESSAGE_REAUTH, REAUTH, "Reauth is disabled"},
        {UVEA_MESSAGE_IDENTITY_DELETION, DELETION, "Identity deletions are disabled"},
        {UVEA_MESSAGE_RESET_CHECK, RESET, "reset_check is disabled"},
        {UVEA_MESSAGE_RESET_UPDATE, RESET, "reset_update is disabled"},
        {UVEA_MESSAGE_RECOVERY_CHECK, RECOVERY, "recovery_check is disabled"},
        {UVEA_MESSAGE_RECOVERY_UPDATE, RECOVERY, "recovery_update is disabled"},
    };
    (void)state;
    for (unsigned open = 0; open < 16; open++) {
        const struct uvea_gates gates = {
            .enable_reauth = (open & 1) != 0,
            .enable_reset = (open & 2) != 0,
            .enable_recovery = (open & 4) != 0,
            .enable_deletion = (open & 8) != 0,
        };
        for (size_t i = 0; i < UVEA_COUNT_OF(rows); i++) {
            const struct uvea_message message = {.kind = rows[i].kind, .serial_id = 7};
            const bool shut = rows[i].gate != NONE && (open >> (rows[i].gate - 1) & 1) == 0;
            assert_reason(reason_of(&message, &gates, &luc), shut ? rows[i].shut : NULL);
        }
        const struct uvea_message bad = {.kind = UVEA_MESSAGE_MALFORMED};
        assert_reason(reason_of(&bad, &gates, &luc), "malformed_request");
    }
}

static void one_eye_needs_the_luc_rule(void **state)
{
    const struct uvea_message one_eye = {
        .kind = UVEA_MESSAGE_REAUTH, .serial_id = 1, .use_or_rule = true};
    const struct uvea_message both_eyes = {.kind = UVEA_MESSAGE_REAUTH, .serial_id = 1};
    (void)state;
    for (unsigned bits = 0; bits < 4; bits++) {
        const struct uvea_policy policy = {.luc_enabled = (bits & 1) != 0,
                                           .luc_serial_ids_from_request = (bits & 2) != 0,
                                           .luc_lookback_records = 5};
        assert_reason(reason_of(&one_eye, &all_open, &policy),
                      bits == 3 ? NULL : "LUC is not enabled for use_or_rule");
        assert_reason(reason_of(&both_eyes, &all_open, &policy), NULL);
    }
}

// An earlier check hides the later ones.
static void checks_have_an_order(void **state)
{
    const struct uvea_gates shut = {0};
    const struct uvea_policy no_luc = {0};
    const struct uvea_message reauth = {
        .kind = UVEA_MESSAGE_REAUTH, .serial_id = RECORDS + 1, .use_or_rule = true};
    const struct uvea_message update = {.kind = UVEA_MESSAGE_RESET_UPDATE};
    (void)state;
    assert_reason(reason_of(&reauth, &shut, &no_luc), UVEA_REASON_REAUTH);
    assert_reason(reason_of(&reauth, &all_open, &no_luc), UVEA_REASON_NO_LUC);
    assert_reason(reason_of(&reauth, &all_open, &luc), UVEA_REASON_UNKNOWN_SERIAL);
    assert_reason(reason_of(&update, &shut, &luc), UVEA_REASON_RESET_UPDATE);
    assert_reason(reason_of(&update, &all_open, &luc), UVEA_REASON_UNKNOWN_SERIAL);
}

static void serials_must_exist(void **state)
{
    static const enum uvea_message_kind kinds[] = {
        UVEA_MESSAGE_REAUTH, UVEA_MESSAGE_IDENTITY_DELETION, UVEA_MESSAGE_RESET_UPDATE,
        UVEA_MESSAGE_RECOVERY_UPDATE};
    static const struct {
        uint32_t serial;
        bool known;
    } serials[] = {
        {0, false}, {1, true}, {RECORDS, true}, {RECORDS + 1, false}, {UINT32_MAX, false}};
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(kinds); i++) {
        for (size_t j = 0; j < UVEA_COUNT_OF(serials); j++) {
            const struct uvea_message message = {.kind = kinds[i], .serial_id = serials[j].serial};
            struct uvea_batch batch = batch_of(&message, 1);
            admit_all(&batch, &all_open, &luc);
            assert_reason(batch.entries[0].error_reason,
                          serials[j].known ? NULL : "unknown serial_id");
            batch.entries[0].error_reason = NULL;
            batch.record_count = 0;
            admit_all(&batch, &all_open, &luc);
            assert_reason(batch.entries[0].error_reason, "unknown serial_id");
            uvea_batch_deinit(&batch);
        }
    }
}

// Any kind that names a serial after any other that does.
static void one_serial_is_named_once_in_a_batch(void **state)
{
    (void)state;
    for (unsigned first = 0; first < UVEA_MESSAGE_MALFORMED; first++) {
        for (unsigned second = 0; second < UVEA_MESSAGE_MALFORMED; second++) {
            const struct uvea_message messages[] = {
                {.kind = (enum uvea_message_kind)first, .serial_id = 5},
                {.kind = (enum uvea_message_kind)second, .serial_id = 6},
                {.kind = (enum uvea_message_kind)second, .serial_id = 5},
            };
            const bool both = uvea_message_has_target(messages[0].kind) &&
                              uvea_message_has_target(messages[2].kind);
            struct uvea_batch batch = batch_of(messages, UVEA_COUNT_OF(messages));
            admit_all(&batch, &all_open, &luc);
            assert_reason(batch.entries[0].error_reason, NULL);
            assert_reason(batch.entries[1].error_reason, NULL);
            assert_reason(batch.entries[2].error_reason,
                          both ? "duplicate serial_id in batch" : NULL);
            uvea_batch_deinit(&batch);
        }
    }
}

// What was rejected is no first of its serial, and neither is what was rejected as a duplicate.
static void rejected_requests_do_not_count(void **state)
{
    const struct uvea_gates no_deletion = {true, true, true, false};
    const struct uvea_message messages[] = {
        {.kind = UVEA_MESSAGE_IDENTITY_DELETION, .serial_id = 5},           // gate
        {.kind = UVEA_MESSAGE_REAUTH, .serial_id = 5, .use_or_rule = true}, // no LUC
        {.kind = UVEA_MESSAGE_MALFORMED, .serial_id = 5},
        {.kind = UVEA_MESSAGE_RESET_UPDATE, .serial_id = 5},
        {.kind = UVEA_MESSAGE_REAUTH, .serial_id = 5},
        {.kind = UVEA_MESSAGE_REAUTH, .serial_id = 99},
        {.kind = UVEA_MESSAGE_REAUTH, .serial_id = 99},
        {.kind = UVEA_MESSAGE_REAUTH, .serial_id = 4},
    };
    static const char *const want[] = {
        UVEA_REASON_DELETION,         UVEA_REASON_NO_LUC,         UVEA_REASON_MALFORMED,      NULL,
        UVEA_REASON_DUPLICATE_SERIAL, UVEA_REASON_UNKNOWN_SERIAL, UVEA_REASON_UNKNOWN_SERIAL, NULL,
    };
    const struct uvea_policy no_luc = {0};
    struct uvea_batch batch = batch_of(messages, UVEA_COUNT_OF(messages));
    (void)state;
    admit_all(&batch, &no_deletion, &no_luc);
    for (size_t i = 0; i < UVEA_COUNT_OF(want); i++) {
        assert_reason(batch.entries[i].error_reason, want[i]);
    }
    uvea_batch_deinit(&batch);
}

static void the_last_mirror_flag_counts(void **state)
{
    const struct uvea_message plain = {.kind = UVEA_MESSAGE_UNIQUENESS};
    const struct uvea_message on = {
        .kind = UVEA_MESSAGE_UNIQUENESS, .has_mirror_flag = true, .mirror_flag = true};
    const struct uvea_message off = {.kind = UVEA_MESSAGE_UNIQUENESS, .has_mirror_flag = true};
    const struct uvea_message other = {.kind = UVEA_MESSAGE_RESET_CHECK};
    const struct uvea_message bad = {.kind = UVEA_MESSAGE_MALFORMED};
    const struct {
        struct uvea_message messages[4];
        bool want;
    } cases[] = {
        {{plain, plain, other, bad}, false}, {{on, plain, other, bad}, true},
        {{other, on, plain, plain}, true},   {{on, off, plain, plain}, false},
        {{off, on, other, bad}, true},       {{on, on, plain, off}, false},
    };
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        struct uvea_batch batch = batch_of(cases[i].messages, 4);
        assert_false(batch.mirror);
        admit_all(&batch, &all_open, &luc);
        assert_int_equal(batch.mirror, cases[i].want);
        uvea_batch_deinit(&batch);
    }
}

// ---- the hash

static void assert_sha(const struct uvea_batch *batch, const char *hex)
{
    uint8_t sha[32];
    char text[65];
    assert_int_equal(uvea_batch_sha(batch, sha), UVEA_OK);
    for (size_t i = 0; i < sizeof(sha); i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", sha[i]);
    }
    assert_string_equal(text, hex);
}

static void the_hash_is_over_all_ids_in_order(void **state)
{
    const struct uvea_message messages[] = {
        {.kind = UVEA_MESSAGE_UNIQUENESS, .message_id = "abc"},
        {.kind = UVEA_MESSAGE_MALFORMED, .message_id = "not this"},
        {.kind = UVEA_MESSAGE_IDENTITY_DELETION, .message_id = "d"},
    };
    struct uvea_batch batch = batch_of(messages, 3);
    (void)state;
    // rejected or not
    admit_all(&batch, &all_open, &luc);
    assert_reason(batch.entries[2].error_reason, UVEA_REASON_UNKNOWN_SERIAL);
    assert_sha(&batch,
               "6c2fe9bec24e240b5280f65ec4633b9e7fea3ab0e4041c75727df7e23e470983"); // abc101d
    batch.entries[1].sequence = UINT64_MAX;
    assert_sha(
        &batch,
        "d2b5067ace0339e2602f7961fc6213533b2e07dce0ba8240c41800fbff2d62f3"); // abc18446744073709551615d
    batch.count = 1;
    assert_sha(&batch, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    batch.count = 0;
    assert_sha(&batch, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    uvea_batch_deinit(&batch);
}

// ---- life

static void batches_are_bounded(void **state)
{
    struct uvea_batch batch = {.count = 9};
    (void)state;
    assert_int_equal(uvea_batch_init(&batch, 3, UVEA_BATCH_REQUESTS_MAX + 1), UVEA_ERR_LIMIT);
    assert_int_equal(batch.count, 0);
    uvea_batch_deinit(&batch);
    assert_int_equal(uvea_batch_init(&batch, 3, UVEA_BATCH_REQUESTS_MAX), UVEA_OK);
    assert_int_equal(batch.id, 3);
    assert_int_equal(batch.count, UVEA_BATCH_REQUESTS_MAX);
    batch.entries[7].upload = uvea_mem_alloc(1, sizeof(*batch.entries[7].upload));
    assert_int_equal(uvea_buf_append(&batch.entries[8].result, "x", 1), UVEA_OK);
    assert_int_equal(uvea_message_parse((const uint8_t *)"{}", 2, &batch.entries[63].message),
                     UVEA_OK);
    uvea_batch_deinit(&batch);
    assert_null(batch.entries);
    assert_int_equal(batch.count, 0);
    assert_int_equal(uvea_batch_init(&batch, 4, 0), UVEA_OK);
    uvea_batch_deinit(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_gate),
        cmocka_unit_test(one_eye_needs_the_luc_rule),
        cmocka_unit_test(checks_have_an_order),
        cmocka_unit_test(serials_must_exist),
        cmocka_unit_test(one_serial_is_named_once_in_a_batch),
        cmocka_unit_test(rejected_requests_do_not_count),
        cmocka_unit_test(the_last_mirror_flag_counts),
        cmocka_unit_test(the_hash_is_over_all_ids_in_order),
        cmocka_unit_test(batches_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
