// What the model decides and how it changes. Results as text are in test_service_json.c.
#include "oracle/service.h"
#include "tests/oracle/service_bench.h"

static struct service_bench *bench(uint32_t records)
{
    return service_open(&service_config, &service_gates, records);
}

// ---- one request

// Asks alone whether a pair is enrolled; the serial that matches on both eyes, or 0.
static uint32_t who_is(struct service_bench *b, const struct uvea_oracle_pair *pair)
{
    (void)service_add(b, UVEA_ORACLE_RESET_CHECK, 0);
    *service_pair(b) = *pair;
    const struct uvea_oracle_ruling *ruling = service_rule(b);
    uint32_t serial = 0;
    for (uint32_t i = 0; i < ruling->search[UVEA_ORACLE_NORMAL].record_count; i++) {
        serial = ruling->search[UVEA_ORACLE_NORMAL].records[i].matched ? i + 1 : serial;
    }
    assert_int_equal(ruling->matched, serial != 0);
    service_clear(b);
    return serial;
}

static void insert_gets_the_next_serial(void **state)
{
    (void)state;
    struct service_bench *b = bench(2);
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    const struct uvea_oracle_ruling *ruling = service_rule(b);
    assert_true(ruling->inserts);
    assert_false(ruling->matched);
    assert_int_equal(ruling->serial, 3);
    assert_int_equal(ruling->version, 0);
    assert_int_equal(b->service.record_count, 2); // ruling changes nothing
    struct uvea_oracle_pair pair = *service_pair(b);
    assert_int_equal(uvea_oracle_apply(&b->service, b->orders, b->count, b->rulings), UVEA_OK);
    service_clear(b);
    assert_int_equal(b->service.record_count, 3);
    assert_int_equal(who_is(b, &pair), 3);
    service_close(b);
}

// {kind} x {skip} x {match}: what is decided, and what is written.
static void kinds_by_skip_and_match(void **state)
{
    (void)state;
    static const struct {
        enum uvea_oracle_kind kind;
        bool skip;
        bool match;
        bool matched;
        bool inserts;
        bool updates;
    } table[] = {
        {UVEA_ORACLE_UNIQUENESS, false, false, false, true, false},
        {UVEA_ORACLE_UNIQUENESS, false, true, true, false, false},
        {UVEA_ORACLE_UNIQUENESS, true, false, false, false, false},
        {UVEA_ORACLE_UNIQUENESS, true, true, true, false, false},
        {UVEA_ORACLE_REAUTH, false, false, false, false, false},
        {UVEA_ORACLE_REAUTH, false, true, true, false, true},
        {UVEA_ORACLE_REAUTH, true, false, false, false, false},
        {UVEA_ORACLE_REAUTH, true, true, true, false, false},
        {UVEA_ORACLE_RESET_CHECK, false, false, false, false, false},
        {UVEA_ORACLE_RESET_CHECK, false, true, true, false, false},
        {UVEA_ORACLE_RESET_CHECK, true, true, true, false, false},
        {UVEA_ORACLE_RECOVERY_CHECK, false, false, false, false, false},
        {UVEA_ORACLE_RECOVERY_CHECK, false, true, true, false, false},
        {UVEA_ORACLE_RECOVERY_CHECK, true, true, true, false, false},
        {UVEA_ORACLE_RESET_UPDATE, false, false, false, false, true},
        {UVEA_ORACLE_RESET_UPDATE, false, true, false, false, true},
        {UVEA_ORACLE_RESET_UPDATE, true, false, false, false, true},
        {UVEA_ORACLE_RECOVERY_UPDATE, false, false, false, false, true},
        {UVEA_ORACLE_RECOVERY_UPDATE, false, true, false, false, true},
        {UVEA_ORACLE_DELETION, false, false, false, false, true},
        {UVEA_ORACLE_DELETION, true, true, false, false, true},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct service_bench *b = bench(2);
        struct uvea_oracle_order *order = table[i].match ? service_copy(b, table[i].kind, 2, 2)
                                                         : service_add(b, table[i].kind, 2);
        order->skip_persistence = table[i].skip;
        const struct uvea_oracle_ruling *ruling = service_rule(b);
        assert_null(ruling->error_reason);
        assert_int_equal(ruling->matched, table[i].matched);
        assert_int_equal(ruling->inserts, table[i].inserts);
        assert_int_equal(ruling->updates, table[i].updates);
        assert_int_equal(ruling->version, table[i].updates ? 1 : 0);
        assert_int_equal(uvea_oracle_apply(&b->service, b->orders, b->count, b->rulings), UVEA_OK);
        assert_int_equal(b->service.record_count, table[i].inserts ? 3 : 2);
        assert_int_equal(b->service.records[1].version, table[i].updates ? 1 : 0);
        assert_int_equal(b->service.records[1].deleted, table[i].kind == UVEA_ORACLE_DELETION);
        assert_int_equal(b->service.records[0].version, 0);
        service_close(b);
    }
}

// ---- what follows later

static void updated_identity_has_the_new_pair_only(void **state)
{
    (void)state;
    static const enum uvea_oracle_kind kinds[] = {UVEA_ORACLE_RESET_UPDATE,
                                                  UVEA_ORACLE_RECOVERY_UPDATE};
    for (size_t i = 0; i < 2; i++) {
        struct service_bench *b = bench(3);
        struct uvea_oracle_pair old = random_pair(2);
        (void)service_add(b, kinds[i], 2);
        struct uvea_oracle_pair new = *service_pair(b);
        service_do(b);
        assert_int_equal(who_is(b, &old), 0);
        assert_int_equal(who_is(b, &new), 2);
        assert_int_equal(b->service.records[1].version, 1);
        (void)service_add(b, kinds[i], 2);
        *service_pair(b) = new; // equal contents count up all the same
        service_do(b);
        assert_int_equal(b->service.records[1].version, 2);
        service_close(b);
    }
}

static void deleted_identity_is_gone_and_its_serial_with_it(void **state)
{
    (void)state;
    struct service_bench *b = bench(3);
    struct uvea_oracle_pair old = random_pair(3);
    service_add(b, UVEA_ORACLE_DELETION, 3)->pair = NULL;
    service_do(b);
    assert_int_equal(who_is(b, &old), 0);
    assert_true(b->service.records[2].deleted);
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    *service_pair(b) = old;
    const struct uvea_oracle_ruling *ruling = service_rule(b);
    assert_int_equal(ruling->serial, 4);
    assert_int_equal(uvea_oracle_apply(&b->service, b->orders, b->count, b->rulings), UVEA_OK);
    service_clear(b);
    assert_int_equal(who_is(b, &old), 4);

    (void)service_add(b, UVEA_ORACLE_DELETION, 3); // again
    ruling = service_rule(b);
    assert_null(ruling->error_reason);
    assert_int_equal(ruling->version, 2);
    service_clear(b);

    // An update brings it back to life.
    (void)service_add(b, UVEA_ORACLE_RECOVERY_UPDATE, 3);
    struct uvea_oracle_pair back = *service_pair(b);
    service_do(b);
    assert_false(b->service.records[2].deleted);
    assert_int_equal(who_is(b, &back), 3);
    service_close(b);
}

static void dummy_is_scanned_like_any_record(void **state)
{
    (void)state;
    struct service_bench *b = bench(2);
    (void)service_add(b, UVEA_ORACLE_DELETION, 1);
    service_do(b);
    struct uvea_oracle_pair zero;
    memset(&zero, 0, sizeof(zero));
    for (unsigned eye = 0; eye < 2; eye++) {
        memset(zero.eye[eye].mask, 0xff, sizeof(zero.eye[eye].mask));
    }
    assert_memory_equal(&b->service.records[0].pair, &zero, sizeof(zero));
    assert_int_equal(who_is(b, &zero), 1);
    service_close(b);
}

static void reauth_replaces_the_pair_unless_it_is_told_not_to(void **state)
{
    (void)state;
    struct service_bench *b = bench(2);
    (void)service_copy(b, UVEA_ORACLE_REAUTH, 1, 1);
    for (unsigned eye = 0; eye < 2; eye++) {
        service_pair(b)->eye[eye] = flipped(service_pair(b)->eye[eye], 1000);
    }
    struct uvea_oracle_pair given = *service_pair(b);
    service_do(b);
    assert_int_equal(b->service.records[0].version, 1);
    assert_memory_equal(&b->service.records[0].pair, &given, sizeof(given));

    service_copy(b, UVEA_ORACLE_REAUTH, 2, 2)->skip_persistence = true;
    service_pair(b)->eye[0] = flipped(service_pair(b)->eye[0], 1);
    assert_true(service_rule(b)->matched);
    service_clear(b);
    service_copy(b, UVEA_ORACLE_REAUTH, 2, 2)->skip_persistence = true;
    service_do(b);
    assert_int_equal(b->service.records[1].version, 0);
    service_close(b);
}

// ---- reauth rules

// left, right: whether that eye is the target's.
static bool reauth_holds(bool or_rule, bool left, bool right, uint32_t target, uint32_t of)
{
    struct service_bench *b = bench(3);
    struct uvea_oracle_pair enrolled = b->service.records[of - 1].pair;
    service_add(b, UVEA_ORACLE_REAUTH, target)->use_or_rule = or_rule;
    for (unsigned eye = 0; eye < 2; eye++) {
        if (eye == 0 ? left : right) {
            service_pair(b)->eye[eye] = enrolled.eye[eye];
        }
    }
    bool holds = service_rule(b)->matched;
    assert_int_equal(b->rulings[0].updates, holds);
    service_close(b);
    return holds;
}

static void reauth_rule(void **state)
{
    (void)state;
    assert_true(reauth_holds(false, true, true, 2, 2));
    assert_false(reauth_holds(false, true, false, 2, 2));
    assert_false(reauth_holds(false, false, true, 2, 2));
    assert_false(reauth_holds(false, false, false, 2, 2));
    assert_true(reauth_holds(true, true, true, 2, 2));
    assert_true(reauth_holds(true, true, false, 2, 2));
    assert_true(reauth_holds(true, false, true, 2, 2)); // the second eye, behind no first one
    assert_false(reauth_holds(true, false, false, 2, 2));
    assert_false(reauth_holds(false, true, true, 2, 3)); // somebody else's pair
    assert_false(reauth_holds(true, true, true, 2, 3));
}

static void reauth_target_is_looked_at_on_both_eyes_in_normal_orientation(void **state)
{
    (void)state;
    struct service_bench *b = bench(3);
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    b->orders[0].has_mirror_flag = true;
    b->orders[0].mirror_flag = true;
    (void)service_add(b, UVEA_ORACLE_REAUTH, 3);
    service_add(b, UVEA_ORACLE_REAUTH, 2)->use_or_rule = true;
    const struct uvea_oracle_ruling *rulings = service_rule(b);
    for (uint32_t i = 0; i < 3; i++) {
        const struct uvea_oracle_search *plain = rulings[1].search;
        const struct uvea_oracle_search *or_rule = rulings[2].search;
        assert_int_equal(plain[UVEA_ORACLE_NORMAL].records[i].second, i == 2);
        assert_int_equal(plain[UVEA_ORACLE_NORMAL].records[i].luc, false);
        assert_int_equal(plain[UVEA_ORACLE_MIRROR].records[i].second, false);
        assert_int_equal(or_rule[UVEA_ORACLE_NORMAL].records[i].second, i == 1);
        assert_int_equal(or_rule[UVEA_ORACLE_MIRROR].records[i].second, i == 1); // LUC set
    }
    service_close(b);
}

static void look_back_is_for_uniqueness_alone(void **state)
{
    (void)state;
    struct uvea_oracle_config config = service_config;
    config.luc_lookback_records = 1;
    struct service_bench *b = service_open(&config, &service_gates, 4);
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    (void)service_add(b, UVEA_ORACLE_REAUTH, 1);
    (void)service_add(b, UVEA_ORACLE_RESET_CHECK, 0);
    (void)service_add(b, UVEA_ORACLE_DELETION, 4);
    const struct uvea_oracle_ruling *rulings = service_rule(b);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(rulings[0].search[0].records[i].luc, i >= 2); // N + 1, deleted ones too
        assert_false(rulings[1].search[0].records[i].luc);
        assert_false(rulings[2].search[0].records[i].luc);
    }
    service_close(b);
}

static void checks_match_on_both_eyes_only(void **state)
{
    (void)state;
    struct service_bench *b = bench(2);
    struct uvea_oracle_order *order = service_copy(b, UVEA_ORACLE_RECOVERY_CHECK, 0, 2);
    const uint32_t named[] = {2};
    order->or_rule_serials = named; // no member of a check
    order->or_rule_count = 1;
    service_pair(b)->eye[UVEA_ORACLE_RIGHT] = random_template(77);
    const struct uvea_oracle_ruling *ruling = service_rule(b);
    assert_false(ruling->matched);
    assert_int_equal(ruling->search[0].partial_count[UVEA_ORACLE_LEFT], 1);
    assert_int_equal(ruling->search[0].partial_count[UVEA_ORACLE_RIGHT], 0);
    service_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insert_gets_the_next_serial),
        cmocka_unit_test(kinds_by_skip_and_match),
        cmocka_unit_test(updated_identity_has_the_new_pair_only),
        cmocka_unit_test(deleted_identity_is_gone_and_its_serial_with_it),
        cmocka_unit_test(dummy_is_scanned_like_any_record),
        cmocka_unit_test(reauth_replaces_the_pair_unless_it_is_told_not_to),
        cmocka_unit_test(reauth_rule),
        cmocka_unit_test(reauth_target_is_looked_at_on_both_eyes_in_normal_orientation),
        cmocka_unit_test(look_back_is_for_uniqueness_alone),
        cmocka_unit_test(checks_match_on_both_eyes_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
