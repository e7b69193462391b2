// Batches: intake, order of processing, requests that match each other, the mirror flag.
#include "oracle/service.h"
#include "tests/oracle/service_bench.h"

static struct service_bench *bench(uint32_t records)
{
    return service_open(&service_config, &service_gates, records);
}

static void expect_reason(const struct service_bench *b, size_t at, const char *reason)
{
    if (reason == NULL) {
        assert_null(b->rulings[at].error_reason);
    } else {
        assert_non_null(b->rulings[at].error_reason);
        assert_string_equal(b->rulings[at].error_reason, reason);
        assert_false(b->rulings[at].inserts || b->rulings[at].updates || b->rulings[at].matched);
        assert_false(b->rulings[at].search[0].run);
    }
}

// ---- intake

static void closed_gates_refuse(void **state)
{
    (void)state;
    const struct uvea_oracle_gates closed = {false, false, false, false};
    struct service_bench *b = service_open(&service_config, &closed, 2);
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    (void)service_add(b, UVEA_ORACLE_REAUTH, 9);
    (void)service_add(b, UVEA_ORACLE_DELETION, 0);
    (void)service_add(b, UVEA_ORACLE_RESET_CHECK, 0);
    (void)service_add(b, UVEA_ORACLE_RESET_UPDATE, 1);
    (void)service_add(b, UVEA_ORACLE_RECOVERY_CHECK, 0);
    (void)service_add(b, UVEA_ORACLE_RECOVERY_UPDATE, 1);
    (void)service_rule(b);
    expect_reason(b, 0, NULL);
    expect_reason(b, 1, "Reauth is disabled");
    expect_reason(b, 2, "Identity deletions are disabled");
    expect_reason(b, 3, "reset_check is disabled");
    expect_reason(b, 4, "reset_update is disabled");
    expect_reason(b, 5, "recovery_check is disabled");
    expect_reason(b, 6, "recovery_update is disabled"); // refused ones make no duplicate
    service_close(b);
}

static void or_rule_needs_serials_from_requests(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct uvea_oracle_config config = service_config;
        config.luc_enabled = (i & 1) != 0;
        config.luc_serial_ids_from_request = (i & 2) != 0;
        struct service_bench *b = service_open(&config, &service_gates, 1);
        service_copy(b, UVEA_ORACLE_REAUTH, 1, 1)->use_or_rule = true;
        (void)service_copy(b, UVEA_ORACLE_REAUTH, 1, 1);
        (void)service_rule(b);
        expect_reason(b, 0, i == 3 ? NULL : "LUC is not enabled for use_or_rule");
        expect_reason(b, 1, i == 3 ? "duplicate serial_id in batch" : NULL);
        service_close(b);
    }
}

static void unknown_serials_are_refused(void **state)
{
    (void)state;
    static const enum uvea_oracle_kind kinds[] = {
        UVEA_ORACLE_REAUTH,
        UVEA_ORACLE_DELETION,
        UVEA_ORACLE_RESET_UPDATE,
        UVEA_ORACLE_RECOVERY_UPDATE,
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct service_bench *b = bench(2);
        (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0); // becomes serial 3, too late
        (void)service_add(b, kinds[i], 0);
        (void)service_add(b, kinds[i], 3);
        (void)service_add(b, kinds[i], 3); // unknown again, no duplicate
        (void)service_add(b, kinds[i], UINT32_MAX);
        (void)service_add(b, kinds[i], 2);
        (void)service_rule(b);
        for (size_t at = 1; at <= 4; at++) {
            expect_reason(b, at, "unknown serial_id");
        }
        expect_reason(b, 5, NULL);
        assert_int_equal(b->rulings[4].serial, UINT32_MAX);
        service_close(b);
    }
}

static void second_mention_of_a_serial_is_refused(void **state)
{
    (void)state;
    struct service_bench *b = bench(3);
    service_add(b, UVEA_ORACLE_RESET_UPDATE, 1)->pair = NULL; // taken in, bad shares show later
    (void)service_add(b, UVEA_ORACLE_DELETION, 1);
    (void)service_add(b, UVEA_ORACLE_DELETION, 2);
    (void)service_copy(b, UVEA_ORACLE_REAUTH, 2, 2);
    (void)service_add(b, UVEA_ORACLE_RECOVERY_UPDATE, 2);
    (void)service_copy(b, UVEA_ORACLE_REAUTH, 3, 3);
    (void)service_rule(b);
    expect_reason(b, 0, "failed_to_process_iris_shares");
    expect_reason(b, 1, "duplicate serial_id in batch");
    expect_reason(b, 2, NULL);
    expect_reason(b, 3, "duplicate serial_id in batch");
    expect_reason(b, 4, "duplicate serial_id in batch");
    expect_reason(b, 5, NULL);
    service_close(b);
}

static void bad_shares_and_malformed_requests_are_refused(void **state)
{
    (void)state;
    static const enum uvea_oracle_kind kinds[] = {
        UVEA_ORACLE_UNIQUENESS,   UVEA_ORACLE_REAUTH,         UVEA_ORACLE_RESET_CHECK,
        UVEA_ORACLE_RESET_UPDATE, UVEA_ORACLE_RECOVERY_CHECK, UVEA_ORACLE_RECOVERY_UPDATE,
    };
    struct service_bench *b = bench(6);
    for (uint32_t i = 0; i < 6; i++) {
        service_add(b, kinds[i], i + 1)->pair = NULL;
    }
    service_add(b, UVEA_ORACLE_MALFORMED, 0)->pair = NULL;
    (void)service_add(b, UVEA_ORACLE_MALFORMED, 0);
    (void)service_rule(b);
    for (size_t at = 0; at < 6; at++) {
        expect_reason(b, at, "failed_to_process_iris_shares");
    }
    expect_reason(b, 6, "malformed_request");
    expect_reason(b, 7, "malformed_request");
    service_do(b);
    assert_int_equal(b->service.record_count, 6);
    service_close(b);
}

static void batch_sizes_are_bounded(void **state)
{
    (void)state;
    struct service_bench *b = bench(1);
    struct uvea_error_context context;
    assert_int_equal(uvea_oracle_rule(&b->service, b->orders, 0, b->rulings, &context),
                     UVEA_ERR_USAGE);
    assert_int_equal(uvea_oracle_rule(&b->service, b->orders, 65, b->rulings, &context),
                     UVEA_ERR_USAGE);
    for (unsigned i = 0; i < 64; i++) {
        service_add(b, UVEA_ORACLE_MALFORMED, 0)->pair = NULL;
    }
    (void)service_rule(b);
    service_close(b);
}

// ---- order of processing

static void searches_see_deletions_but_no_updates_of_their_batch(void **state)
{
    (void)state;
    struct service_bench *b = bench(4);
    (void)service_copy(b, UVEA_ORACLE_RESET_CHECK, 0, 1);
    (void)service_copy(b, UVEA_ORACLE_UNIQUENESS, 0, 2);
    (void)service_add(b, UVEA_ORACLE_RESET_UPDATE, 2);
    struct uvea_oracle_pair new = *service_pair(b);
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    *service_pair(b) = new;
    (void)service_add(b, UVEA_ORACLE_DELETION, 1); // last, and yet first
    (void)service_rule(b);
    assert_false(b->rulings[0].matched);
    assert_true(b->rulings[1].matched);
    assert_false(b->rulings[3].matched); // an update is no earlier request to match
    assert_int_equal(b->rulings[3].batch_match_count[0], 0);
    assert_int_equal(b->rulings[3].serial, 5);
    service_do(b);
    assert_int_equal(b->service.record_count, 5);
    service_close(b);
}

static void serials_are_given_out_in_order_of_arrival(void **state)
{
    (void)state;
    struct service_bench *b = bench(1);
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    (void)service_copy(b, UVEA_ORACLE_UNIQUENESS, 0, 1);
    service_add(b, UVEA_ORACLE_UNIQUENESS, 0)->skip_persistence = true;
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    (void)service_rule(b);
    assert_int_equal(b->rulings[0].serial, 2);
    assert_int_equal(b->rulings[1].serial, 0);
    assert_int_equal(b->rulings[2].serial, 0);
    assert_int_equal(b->rulings[3].serial, 3);
    struct uvea_oracle_pair last = b->pairs[3];
    assert_int_equal(uvea_oracle_apply(&b->service, b->orders, b->count, b->rulings), UVEA_OK);
    assert_memory_equal(&b->service.records[2].pair, &last, sizeof(last));
    service_close(b);
}

// ---- matches within a batch

// Two requests with one pair: the earlier one's kind decides whether the later is unique.
static void twin(enum uvea_oracle_kind first, bool skip, uint32_t of, bool blocks)
{
    struct service_bench *b = bench(2);
    struct uvea_oracle_order *order =
        of == 0 ? service_add(b, first, 2) : service_copy(b, first, 2, of);
    order->skip_persistence = skip;
    if (of != 0) { // near the record, and nearer to the twin, which is too far from the record
        for (unsigned eye = 0; eye < 2; eye++) {
            service_pair(b)->eye[eye] = flipped(service_pair(b)->eye[eye], 4000);
        }
    }
    (void)service_add(b, UVEA_ORACLE_RESET_CHECK, 0); // somebody else between them
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    for (unsigned eye = 0; eye < 2; eye++) {
        b->pairs[2].eye[eye] = b->pairs[0].eye[eye];
        for (unsigned bit = 4000; of != 0 && bit < 6000; bit++) {
            bit_flip(b->pairs[2].eye[eye].code, bit);
        }
    }
    const struct uvea_oracle_ruling *ruling = &service_rule(b)[2];
    assert_int_equal(ruling->search[0].match_count, 0);
    assert_int_equal(ruling->batch_match_count[0], 1);
    assert_int_equal(ruling->batch_matches[0][0], 0);
    assert_int_equal(ruling->matched, blocks);
    assert_int_equal(ruling->inserts, !blocks);
    assert_false(ruling->mirror_attack);
    service_close(b);
}

static void earlier_request_blocks_when_it_is_enrolled(void **state)
{
    (void)state;
    twin(UVEA_ORACLE_UNIQUENESS, false, 0, true);
    twin(UVEA_ORACLE_UNIQUENESS, true, 0, false);
    twin(UVEA_ORACLE_UNIQUENESS, false, 2, false); // matched itself
    twin(UVEA_ORACLE_REAUTH, false, 2, true);
    twin(UVEA_ORACLE_REAUTH, true, 2, true);
    twin(UVEA_ORACLE_REAUTH, false, 0, false); // failed
    twin(UVEA_ORACLE_RESET_CHECK, false, 0, false);
    twin(UVEA_ORACLE_RECOVERY_CHECK, false, 2, false);
}

static void chain_of_twins(void **state)
{
    (void)state;
    struct service_bench *b = bench(0);
    for (unsigned i = 0; i < 4; i++) {
        (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
        *service_pair(b) = b->pairs[0];
    }
    b->orders[0].pair = NULL; // refused: no later one is compared with it
    (void)service_rule(b);
    assert_true(b->rulings[1].inserts);
    for (unsigned i = 2; i < 4; i++) {
        assert_true(b->rulings[i].matched);
        assert_int_equal(b->rulings[i].batch_match_count[0], i - 1);
        assert_int_equal(b->rulings[i].batch_matches[0][0], 1);
    }
    service_close(b);
}

static void both_eyes_and_any_rotation_make_a_twin(void **state)
{
    (void)state;
    for (int by = 14; by <= 16; by++) {
        struct service_bench *b = bench(0);
        (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
        (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
        uvea_oracle_rotate(&b->pairs[0].eye[0], by, &b->pairs[1].eye[0]);
        uvea_oracle_rotate(&b->pairs[0].eye[1], -3, &b->pairs[1].eye[1]);
        assert_int_equal(service_rule(b)[1].matched, by <= 15);
        service_clear(b);
        (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
        (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
        b->pairs[1].eye[1] = b->pairs[0].eye[1]; // one eye is not enough
        assert_true(service_rule(b)[1].inserts);
        service_close(b);
    }
}

// ---- mirror

static void mirror_flag_is_the_batch_s_and_the_last_one_wins(void **state)
{
    (void)state;
    // per request: 0 absent, 1 false, 2 true; and whether the mirror search is run
    static const struct {
        unsigned flags[3];
        bool run;
    } table[] = {
        {{0, 0, 0}, false}, {{2, 0, 0}, true}, {{2, 1, 0}, false},
        {{1, 2, 0}, true},  {{1, 0, 2}, true}, {{2, 2, 1}, false},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct service_bench *b = bench(1);
        for (unsigned k = 0; k < 3; k++) {
            struct uvea_oracle_order *order = service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
            order->has_mirror_flag = table[i].flags[k] != 0;
            order->mirror_flag = table[i].flags[k] == 2;
        }
        struct uvea_oracle_order *check = service_add(b, UVEA_ORACLE_RESET_CHECK, 0);
        check->has_mirror_flag = true; // no member of a check
        check->mirror_flag = !table[i].run;
        (void)service_rule(b);
        for (unsigned k = 0; k < 4; k++) {
            assert_true(b->rulings[k].search[UVEA_ORACLE_NORMAL].run);
            assert_int_equal(b->rulings[k].search[UVEA_ORACLE_MIRROR].run, table[i].run);
        }
        service_close(b);
    }
}

static void flag_of_a_request_with_bad_shares_counts(void **state)
{
    (void)state;
    struct service_bench *b = bench(1);
    struct uvea_oracle_order *order = service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    order->pair = NULL;
    order->has_mirror_flag = true;
    order->mirror_flag = true;
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    assert_true(service_rule(b)[1].search[UVEA_ORACLE_MIRROR].run);
    service_close(b);
}

static void mirrored_twin_is_an_attack(void **state)
{
    (void)state;
    for (unsigned skip = 0; skip < 2; skip++) {
        struct service_bench *b = bench(1);
        service_add(b, UVEA_ORACLE_UNIQUENESS, 0)->skip_persistence = skip == 1;
        struct uvea_oracle_order *order = service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
        order->has_mirror_flag = true;
        order->mirror_flag = true;
        b->pairs[1] = service_mirrored(&b->pairs[0]);
        const struct uvea_oracle_ruling *ruling = &service_rule(b)[1];
        assert_int_equal(ruling->batch_match_count[UVEA_ORACLE_NORMAL], 0);
        assert_int_equal(ruling->batch_match_count[UVEA_ORACLE_MIRROR], 1);
        assert_true(ruling->mirror_attack); // whatever became of the first
        assert_int_equal(ruling->matched, skip == 0);
        assert_int_equal(ruling->inserts, skip == 1);
        service_close(b);
    }
}

static void mirror_match_with_the_database_is_an_attack_of_uniqueness_only(void **state)
{
    (void)state;
    struct service_bench *b = bench(3);
    struct uvea_oracle_pair mirrored = service_mirrored(&b->service.records[1].pair);
    struct uvea_oracle_order *order = service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    *service_pair(b) = mirrored;
    order->has_mirror_flag = true;
    order->mirror_flag = true;
    (void)service_add(b, UVEA_ORACLE_REAUTH, 2);
    *service_pair(b) = mirrored;
    (void)service_add(b, UVEA_ORACLE_RECOVERY_CHECK, 0);
    *service_pair(b) = mirrored;
    (void)service_rule(b);
    assert_true(b->rulings[0].matched);
    assert_true(b->rulings[0].mirror_attack);
    assert_int_equal(b->rulings[0].search[UVEA_ORACLE_MIRROR].match_count, 1);
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(b->rulings[i].search[UVEA_ORACLE_MIRROR].match_count, 1);
        assert_false(b->rulings[i].matched);
        assert_false(b->rulings[i].mirror_attack);
    }
    service_close(b);
}

static void supermatch_blocks_without_an_id(void **state)
{
    (void)state;
    for (uint32_t limit = 2; limit <= 3; limit++) {
        for (unsigned partial = 0; partial < 2; partial++) {
            struct uvea_oracle_config config = service_config;
            config.supermatch_limit = limit;
            config.return_partial_results = partial == 1;
            struct service_bench *b = service_open(&config, &service_gates, 3);
            struct uvea_oracle_template same = random_template(5);
            for (unsigned i = 0; i < 3; i++) {
                b->service.records[i].pair.eye[UVEA_ORACLE_LEFT] = same;
            }
            (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
            service_pair(b)->eye[UVEA_ORACLE_LEFT] = same;
            const struct uvea_oracle_ruling *ruling = service_rule(b);
            assert_int_equal(ruling->search[0].match_count, 0);
            assert_int_equal(ruling->matched, limit == 2 && partial == 1);
            assert_int_equal(ruling->inserts, !ruling->matched);
            service_close(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_gates_refuse),
        cmocka_unit_test(or_rule_needs_serials_from_requests),
        cmocka_unit_test(unknown_serials_are_refused),
        cmocka_unit_test(second_mention_of_a_serial_is_refused),
        cmocka_unit_test(bad_shares_and_malformed_requests_are_refused),
        cmocka_unit_test(batch_sizes_are_bounded),
        cmocka_unit_test(searches_see_deletions_but_no_updates_of_their_batch),
        cmocka_unit_test(serials_are_given_out_in_order_of_arrival),
        cmocka_unit_test(earlier_request_blocks_when_it_is_enrolled),
        cmocka_unit_test(chain_of_twins),
        cmocka_unit_test(both_eyes_and_any_rotation_make_a_twin),
        cmocka_unit_test(mirror_flag_is_the_batch_s_and_the_last_one_wins),
        cmocka_unit_test(flag_of_a_request_with_bad_shares_counts),
        cmocka_unit_test(mirrored_twin_is_an_attack),
        cmocka_unit_test(mirror_match_with_the_database_is_an_attack_of_uniqueness_only),
        cmocka_unit_test(supermatch_blocks_without_an_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
