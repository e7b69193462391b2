// What parties do about what they find of each other at start-up.
#include "core/coord/sync.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { LOOKBACK = 8 };

// One row in short: id, serial, type, key, state, result.
enum row_state { OPEN, DONE, KEPT }; // in progress; completed; completed and persisted

static void add(struct uvea_sync_state *state, uint64_t id, const char *type, uint32_t serial,
                const char *key, enum row_state row_state)
{
    const struct uvea_modification row = {
        .id = id,
        .sequence = 100 + id,
        .serial = serial,
        .type = type,
        .s3_url = key,
        .completed = row_state != OPEN,
        .persisted = row_state == KEPT,
        .result = row_state == OPEN ? NULL : "{\"node_id\":9}",
        .attributes = "{\"TraceID\":1}",
    };
    assert_int_equal(uvea_sync_state_add(state, &row), UVEA_OK);
}

struct fixture {
    struct uvea_sync_state states[UVEA_PARTY_COUNT];
    struct uvea_sync_plan plan;
    struct uvea_error_context context;
};

static void set_up(struct fixture *fixture, uint64_t records)
{
    *fixture = (struct fixture){0};
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        fixture->states[p].db_len = records;
    }
}

static enum uvea_error plan_for(struct fixture *fixture, unsigned party)
{
    uvea_sync_plan_deinit(&fixture->plan);
    fixture->context.text[0] = '\0';
    return uvea_sync_make_plan(fixture->states, uvea_party_at(party), LOOKBACK, &fixture->plan,
                               &fixture->context);
}

static void tear_down(struct fixture *fixture)
{
    uvea_sync_plan_deinit(&fixture->plan);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_sync_state_deinit(&fixture->states[p]);
    }
}

static void expect_plan(struct fixture *fixture, unsigned party, size_t writes, size_t deletes)
{
    if (plan_for(fixture, party) != UVEA_OK) {
        fail_msg("%s", fixture->context.text);
    }
    assert_int_equal(fixture->plan.write_count, writes);
    assert_int_equal(fixture->plan.delete_count, deletes);
}

// Every party finds the same fault, names it, and plans nothing.
static void expect_refusal(struct fixture *fixture, const char *says)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        assert_int_equal(plan_for(fixture, party), UVEA_ERR_STATE);
        if (strstr(fixture->context.text, says) == NULL) {
            fail_msg("says '%s' instead of '%s'", fixture->context.text, says);
        }
        assert_null(fixture->plan.write);
        assert_null(fixture->plan.delete_ids);
    }
    tear_down(fixture);
}

static void nothing_to_do(void **state)
{
    struct fixture fixture;
    (void)state;
    set_up(&fixture, 5);
    expect_plan(&fixture, 0, 0, 0);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        add(&fixture.states[p], 1, "uniqueness", 5, "k", KEPT);
        add(&fixture.states[p], 2, "malformed", 0, NULL, DONE);
    }
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        expect_plan(&fixture, p, 0, 0);
        assert_int_equal(fixture.plan.max_persisted, 0);
    }
    fixture.states[1].has_max_persisted = true;
    fixture.states[1].max_persisted = 7;
    fixture.states[2].has_max_persisted = true;
    fixture.states[2].max_persisted = 5;
    expect_plan(&fixture, 0, 0, 0);
    assert_int_equal(fixture.plan.max_persisted, 7);
    tear_down(&fixture);
}

static void what_nobody_finished_is_dropped(void **state)
{
    struct fixture fixture;
    (void)state;
    set_up(&fixture, 5);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        add(&fixture.states[p], 3, "uniqueness", 5, "k", KEPT);
    }
    add(&fixture.states[0], 4, "reauth", 2, "r", OPEN);
    add(&fixture.states[0], 5, "uniqueness", 0, "u", OPEN);
    add(&fixture.states[1], 4, "reauth", 2, "r", OPEN);
    expect_plan(&fixture, 0, 0, 2);
    assert_int_equal(fixture.plan.delete_ids[0], 4);
    assert_int_equal(fixture.plan.delete_ids[1], 5);
    expect_plan(&fixture, 1, 0, 1);
    expect_plan(&fixture, 2, 0, 0);
    tear_down(&fixture);
}

static void what_somebody_finished_is_rolled_forward(void **state)
{
    struct fixture fixture;
    (void)state;
    set_up(&fixture, 5);
    fixture.states[1].db_len = 6;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const bool done = p == 1;
        add(&fixture.states[p], 4, "reauth", 2, "r", done ? KEPT : OPEN);
        add(&fixture.states[p], 5, "uniqueness", done ? 6 : 0, "u", done ? KEPT : OPEN);
        add(&fixture.states[p], 6, "reset_check", 0, "c", done ? DONE : OPEN);
    }
    expect_plan(&fixture, 1, 0, 0);
    expect_plan(&fixture, 2, 3, 0);
    for (size_t i = 0; i < 3; i++) {
        const struct uvea_modification *row = &fixture.plan.write[i];
        assert_int_equal(row->id, 4 + i);
        assert_int_equal(row->sequence, 104 + i);
        assert_true(row->completed);
        assert_int_equal(row->persisted, i < 2);
        assert_string_equal(row->result, "{\"node_id\":2}");
        assert_string_equal(row->attributes, "{\"TraceID\":1}");
    }
    assert_int_equal(fixture.plan.write[1].serial, 6);
    assert_string_equal(fixture.plan.write[1].s3_url, "u");
    tear_down(&fixture);
}

static void a_result_that_is_none_is_refused(void **state)
{
    struct fixture fixture;
    (void)state;
    set_up(&fixture, 5);
    const struct uvea_modification row = {
        .id = 1, .type = "reset_check", .completed = true, .result = "{\"node\":0}"};
    add(&fixture.states[0], 1, "reset_check", 0, NULL, OPEN);
    assert_int_equal(uvea_sync_state_add(&fixture.states[1], &row), UVEA_OK);
    add(&fixture.states[2], 1, "reset_check", 0, NULL, OPEN);
    assert_int_equal(plan_for(&fixture, 0), UVEA_ERR_STATE);
    assert_non_null(strstr(fixture.context.text, "modification 1: the result of party 1"));
    tear_down(&fixture);
}

static void copies_must_not_contradict_each_other(void **state)
{
    static const struct {
        const char *type;
        const char *key;
        uint32_t serial;
        enum row_state state;
        const char *says;
    } others[] = {
        {"uniqueness", "k", 3, KEPT,
         "modification 9: parties 0 and 2 contradict each other in "
         "request_type"},
        {"reauth", "l", 3, KEPT, "parties 0 and 2 contradict each other in s3_url"},
        {"reauth", NULL, 3, OPEN, "parties 0 and 2 contradict each other in s3_url"},
        {"reauth", "k", 4, OPEN, "parties 0 and 2 contradict each other in serial_id"},
        {"reauth", "k", 0, KEPT, "parties 0 and 2 contradict each other in serial_id"},
        {"reauth", "k", 3, DONE, "parties 0 and 2 contradict each other in persisted"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct fixture fixture;
        set_up(&fixture, 5);
        add(&fixture.states[0], 9, "reauth", 3, "k", KEPT);
        add(&fixture.states[1], 9, "reauth", 3, "k", OPEN);
        add(&fixture.states[2], 9, others[i].type, others[i].serial, others[i].key,
            others[i].state);
        expect_refusal(&fixture, others[i].says);
    }
}

static void a_change_needs_what_makes_it(void **state)
{
    static const struct {
        const char *type;
        uint32_t serial;
        const char *key;
        const char *says;
    } rows[] = {
        {"uniqueness", 0, "k", "modification 9 changed a record but has no serial_id"},
        {"uniqueness", 6, NULL, "modification 9 changed a record but has no s3_url"},
        {"reauth", 3, NULL, "has no s3_url"},
        {"reset_update", 3, NULL, "has no s3_url"},
        {"recovery_update", 0, "k", "has no serial_id"},
        {"identity_deletion", 0, NULL, "has no serial_id"},
        {"reset_check", 3, "k", "of type reset_check and cannot have changed a record"},
        {"malformed", 3, "k", "of type malformed and cannot have changed a record"},
        {"uniqueness", 5, "k",
         "(uniqueness) of record 5 does not fit party 1, which has 5 records"},
        {"uniqueness", 7, "k", "does not fit party 1"},
        {"reauth", 6, "k", "of record 6 does not fit party 1"},
        {"identity_deletion", 6, NULL, "of record 6 does not fit party 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture fixture;
        set_up(&fixture, 5);
        add(&fixture.states[0], 9, rows[i].type, rows[i].serial, rows[i].key, KEPT);
        add(&fixture.states[1], 9, rows[i].type, 0, rows[i].key, OPEN);
        add(&fixture.states[2], 9, rows[i].type, rows[i].serial, rows[i].key, KEPT);
        expect_refusal(&fixture, rows[i].says);
    }
}

static void a_deletion_needs_no_key(void **state)
{
    struct fixture fixture;
    (void)state;
    set_up(&fixture, 5);
    add(&fixture.states[0], 9, "identity_deletion", 5, NULL, KEPT);
    add(&fixture.states[1], 9, "identity_deletion", 5, NULL, OPEN);
    add(&fixture.states[2], 9, "identity_deletion", 5, NULL, OPEN);
    expect_plan(&fixture, 1, 1, 0);
    tear_down(&fixture);
}

static void emptied_and_foreign_databases_are_refused(void **state)
{
    struct fixture fixture;
    (void)state;
    // Nothing but records.
    set_up(&fixture, 1000);
    fixture.states[2].db_len = 0;
    expect_refusal(&fixture, "party 0 would have 1000 records, party 1 1000, party 2 0");

    // Emptied, with a history.
    set_up(&fixture, 6);
    fixture.states[2].db_len = 0;
    add(&fixture.states[0], 3, "reset_check", 0, "k", DONE);
    add(&fixture.states[1], 3, "reset_check", 0, "k", DONE);
    expect_refusal(&fixture, "modification 3 is completed elsewhere, but party 2 has lost it");

    // An old copy that has as many records.
    set_up(&fixture, 6);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        add(&fixture.states[p], 3, "reset_check", 0, "k", DONE);
    }
    add(&fixture.states[0], 4, "reauth", 2, "k", KEPT);
    add(&fixture.states[2], 4, "reauth", 2, "k", KEPT);
    expect_refusal(&fixture, "modification 4 is completed elsewhere, but party 1 has lost it");

    // Records gone from under the history.
    set_up(&fixture, 6);
    fixture.states[0].db_len = 5;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        add(&fixture.states[p], 3, "uniqueness", 6, "k", KEPT);
    }
    expect_refusal(&fixture, "party 0 would have 5 records, party 1 6, party 2 6");

    // Behind by more than can be shown.
    set_up(&fixture, 6);
    add(&fixture.states[0], 20, "reset_check", 0, "k", DONE);
    add(&fixture.states[1], 11, "reset_check", 0, "k", DONE);
    add(&fixture.states[2], 20, "reset_check", 0, "k", DONE);
    expect_refusal(&fixture, "party 0 has completed modification 20, party 1 only 11: further "
                             "apart than 8");
}

static void unfinished_ids_must_be_the_newest(void **state)
{
    struct fixture fixture;
    (void)state;
    set_up(&fixture, 6);
    add(&fixture.states[0], 3, "reset_check", 0, "k", OPEN);
    add(&fixture.states[1], 3, "reset_check", 0, "k", OPEN);
    add(&fixture.states[2], 4, "reset_check", 0, "k", OPEN);
    expect_refusal(&fixture, "modification 3 is unfinished, but party 2 is past it");
}

static void windows_may_begin_at_different_ids(void **state)
{
    struct fixture fixture;
    (void)state;
    set_up(&fixture, 6);
    for (uint64_t id = 1; id <= 8; id++) {
        add(&fixture.states[0], id, "reset_check", 0, "k", DONE);
    }
    for (unsigned p = 1; p < UVEA_PARTY_COUNT; p++) {
        for (uint64_t id = 2; id <= 9; id++) {
            add(&fixture.states[p], id, "reset_check", 0, "k", id < 9 ? DONE : OPEN);
        }
    }
    expect_plan(&fixture, 0, 0, 0);
    expect_plan(&fixture, 1, 0, 1);
    tear_down(&fixture);
}

// ---- any crash: a model of three stores that go through batches in step and die anywhere

enum { ROWS = 40, BATCH_MAX = 4 };

struct model_row {
    unsigned kind; // 0 uniqueness, 1 a check, 2 an update
    uint32_t serial;
    bool persisted;
};

struct model_party {
    size_t claimed; // rows there are
    size_t completed;
    uint32_t records;
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

static void fill_state(const struct model_row *rows, const struct model_party *party,
                       struct uvea_sync_state *state)
{
    static const char *const types[] = {"uniqueness", "reset_check", "reset_update"};
    const size_t first = party->claimed > LOOKBACK ? party->claimed - LOOKBACK : 0;
    state->db_len = party->records;
    for (size_t i = first; i < party->claimed; i++) {
        const bool completed = i < party->completed;
        const uint32_t serial = rows[i].kind == 2 || completed ? rows[i].serial : 0;
        add(state, i + 1, types[rows[i].kind], serial, "k",
            !completed ? OPEN : (rows[i].persisted ? KEPT : DONE));
    }
}

static void apply_plan(struct model_party *party, const struct uvea_sync_plan *plan)
{
    for (size_t i = 0; i < plan->write_count; i++) {
        const struct uvea_modification *row = &plan->write[i];
        assert_int_equal(row->id, party->completed + 1);
        party->completed++;
        if (row->persisted && strcmp(row->type, "uniqueness") == 0) {
            party->records++;
            assert_int_equal(row->serial, party->records);
        }
    }
    assert_int_equal(party->claimed - party->completed, plan->delete_count);
    party->claimed -= plan->delete_count;
}

static void repair_all(const struct model_row *rows, struct model_party parties[UVEA_PARTY_COUNT])
{
    struct fixture fixture;
    struct model_party after[UVEA_PARTY_COUNT];
    set_up(&fixture, 0);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        fill_state(rows, &parties[p], &fixture.states[p]);
    }
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        after[p] = parties[p];
        if (plan_for(&fixture, p) != UVEA_OK) {
            fail_msg("party %u: %s", p, fixture.context.text);
        }
        apply_plan(&after[p], &fixture.plan);
    }
    tear_down(&fixture);
    memcpy(parties, after, sizeof(after));
    for (unsigned p = 1; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(parties[p].claimed, parties[0].claimed);
        assert_int_equal(parties[p].completed, parties[0].completed);
        assert_int_equal(parties[p].records, parties[0].records);
    }
}

static void any_crash_is_repaired(void **state)
{
    (void)state;
    for (uint64_t run = 1; run <= 2000; run++) {
        uint64_t seed = run * UINT64_C(0x9E3779B97F4A7C15);
        struct model_row rows[ROWS];
        struct model_party parties[UVEA_PARTY_COUNT] = {{0, 0, 3}, {0, 0, 3}, {0, 0, 3}};
        size_t at = 0;
        while (at + BATCH_MAX < ROWS) {
            // A batch is decided, then each party gets as far as it gets: nobody commits before all
            // have claimed.
            const size_t count = 1 + draw(&seed, BATCH_MAX);
            const unsigned how = draw(&seed, 4); // 0, 1: all commit; 2: some do; 3: none
            uint32_t records = parties[0].records;
            for (size_t i = at; i < at + count; i++) {
                rows[i] =
                    (struct model_row){.kind = draw(&seed, 3), .persisted = draw(&seed, 2) == 1};
                rows[i].serial = rows[i].kind == 2 ? 1 + draw(&seed, parties[0].records) : 0;
                rows[i].persisted = rows[i].persisted && rows[i].kind != 1;
                if (rows[i].kind == 0 && rows[i].persisted) {
                    rows[i].serial = ++records;
                }
            }
            for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
                const bool claims = how < 3 || draw(&seed, 2) == 1;
                const bool commits = how < 2 || (how == 2 && draw(&seed, 2) == 1);
                parties[p].claimed = claims ? at + count : at;
                parties[p].completed = commits ? at + count : at;
                parties[p].records = commits ? records : parties[p].records;
            }
            repair_all(rows, parties);
            repair_all(rows, parties); // again, and nothing is left to do
            at = parties[0].claimed;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(what_nobody_finished_is_dropped),
        cmocka_unit_test(what_somebody_finished_is_rolled_forward),
        cmocka_unit_test(a_result_that_is_none_is_refused),
        cmocka_unit_test(copies_must_not_contradict_each_other),
        cmocka_unit_test(a_change_needs_what_makes_it),
        cmocka_unit_test(a_deletion_needs_no_key),
        cmocka_unit_test(emptied_and_foreign_databases_are_refused),
        cmocka_unit_test(unfinished_ids_must_be_the_newest),
        cmocka_unit_test(windows_may_begin_at_different_ids),
        cmocka_unit_test(any_crash_is_repaired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
