#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/scan/policy.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum { LIST_MAX = 8 };

#define NO_ROTATION 0u
#define UNROTATED (1u << UVEA_ROTATION_MAX)

// ---- LUC set

struct luc_case {
    const char *name;
    struct uvea_policy policy;
    uint32_t or_rule[LIST_MAX];
    size_t or_rule_count;
    size_t records;
    uint32_t want[LIST_MAX];
    size_t want_count;
};

static const struct luc_case luc_cases[] = {
    {"disabled", {false, 500, true, true, 4000}, {1, 2}, 2, 9, {0}, 0},
    {"nothing asked", {true, 0, true, true, 4000}, {0}, 0, 9, {0}, 0},
    {"look-back of 1 takes two", {true, 1, false, false, 4000}, {0}, 0, 9, {7, 8}, 2},
    {"look-back of 2 takes three", {true, 2, false, false, 4000}, {0}, 0, 9, {6, 7, 8}, 3},
    {"look-back covers all", {true, 8, false, false, 4000}, {0}, 0, 3, {0, 1, 2}, 3},
    {"look-back exactly covers", {true, 2, false, false, 4000}, {0}, 0, 3, {0, 1, 2}, 3},
    {"largest look-back", {true, UINT32_MAX, false, false, 4000}, {0}, 0, 2, {0, 1}, 2},
    {"empty database", {true, 5, true, false, 4000}, {1}, 1, 0, {0}, 0},
    {"serials not allowed", {true, 0, false, false, 4000}, {1, 2}, 2, 9, {0}, 0},
    {"serials unsorted and twice", {true, 0, true, false, 4000}, {5, 2, 5}, 3, 9, {1, 4}, 2},
    {"serials unknown", {true, 0, true, false, 4000}, {0, 10, 9, UINT32_MAX}, 4, 9, {8}, 1},
    {"serials and look-back overlap", {true, 1, true, false, 4000}, {9, 1, 8}, 3, 9, {0, 7, 8}, 3},
};

static void luc_set_is_or_rule_and_newest(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(luc_cases); i++) {
        const struct luc_case *one = &luc_cases[i];
        uint32_t *indices = NULL;
        size_t count = 99;
        print_message("%s\n", one->name);
        assert_int_equal(uvea_policy_luc_set(&one->policy, one->or_rule, one->or_rule_count,
                                             one->records, &indices, &count),
                         UVEA_OK);
        assert_int_equal(count, one->want_count);
        assert_memory_equal(indices, one->want, count * sizeof(*indices));
        uvea_mem_free(indices);
    }
}

// ---- decisions

// One candidate; the list ends with index END.
#define END UINT32_MAX
struct eye {
    struct uvea_candidate at[LIST_MAX];
};
#define NONE                                                                                       \
    {                                                                                              \
        {                                                                                          \
            {                                                                                      \
                END, 0, 0                                                                          \
            }                                                                                      \
        }                                                                                          \
    }

struct decision_case {
    const char *name;
    struct eye eye[UVEA_ORIENTATION_COUNT][UVEA_EYE_COUNT];
    uint32_t luc[LIST_MAX];
    size_t luc_count;
    uint32_t full[UVEA_ORIENTATION_COUNT][LIST_MAX]; // serials, ends with 0
    enum uvea_decision decision;
    bool skip;
    bool attack;
};

#define HIT(index)                                                                                 \
    {                                                                                              \
        index, UNROTATED | 1u, UNROTATED                                                           \
    }
#define NEAR(index)                                                                                \
    {                                                                                              \
        index, UNROTATED, NO_ROTATION                                                              \
    }
#define STOP                                                                                       \
    {                                                                                              \
        END, 0, 0                                                                                  \
    }
#define EYE(...)                                                                                   \
    {                                                                                              \
        {                                                                                          \
            __VA_ARGS__, STOP                                                                      \
        }                                                                                          \
    }

#define INSERT UVEA_DECISION_UNIQUE_INSERT
#define SKIPPED UVEA_DECISION_UNIQUE_INSERT_SKIPPED
#define NO_MUTATION UVEA_DECISION_NO_MUTATION

// clang-format off
static const struct decision_case decision_cases[] = {
    {"nothing found",
     {{NONE, NONE}, {NONE, NONE}}, {0}, 0, {{0}, {0}}, INSERT, false, false},
    {"nothing found, not to be kept",
     {{NONE, NONE}, {NONE, NONE}}, {0}, 0, {{0}, {0}}, SKIPPED, true, false},
    {"both eyes",
     {{EYE(HIT(3)), EYE(HIT(3))}, {NONE, NONE}}, {0}, 0, {{4}, {0}}, NO_MUTATION, false, false},
    {"both eyes, asked to skip",
     {{EYE(HIT(3)), EYE(HIT(3))}, {NONE, NONE}}, {0}, 0, {{4}, {0}}, NO_MUTATION, true, false},
    {"left eye only",
     {{EYE(HIT(3)), NONE}, {NONE, NONE}}, {0}, 0, {{0}, {0}}, INSERT, false, false},
    {"each eye of another record",
     {{EYE(HIT(3)), EYE(HIT(4))}, {NONE, NONE}}, {0}, 0, {{0}, {0}}, INSERT, false, false},
    {"second eye anonymous only",
     {{EYE(HIT(3)), EYE(NEAR(3))}, {NONE, NONE}}, {0}, 0, {{0}, {0}}, INSERT, false, false},
    {"several, with near ones between",
     {{EYE(HIT(0), NEAR(1), HIT(2), HIT(5)), EYE(HIT(0), HIT(1), NEAR(2), HIT(5))}, {NONE, NONE}}, {0}, 0, {{1, 6}, {0}}, NO_MUTATION, false, false},
    {"left eye of a LUC record",
     {{EYE(HIT(3)), NONE}, {NONE, NONE}}, {2, 3}, 2, {{4}, {0}}, NO_MUTATION, false, false},
    {"right eye of a LUC record",
     {{NONE, EYE(HIT(3))}, {NONE, NONE}}, {3}, 1, {{4}, {0}}, NO_MUTATION, false, false},
    {"LUC record only near",
     {{EYE(NEAR(3)), EYE(NEAR(3))}, {NONE, NONE}}, {3}, 1, {{0}, {0}}, INSERT, false, false},
    {"LUC names another record",
     {{EYE(HIT(3)), NONE}, {NONE, NONE}}, {2, 4}, 2, {{0}, {0}}, INSERT, false, false},
    {"search and LUC together, each once",
     {{EYE(HIT(1), HIT(3)), EYE(HIT(1), HIT(6))}, {NONE, NONE}}, {1, 6}, 2, {{2, 7}, {0}}, NO_MUTATION, false, false},
    {"mirrored face",
     {{NONE, NONE}, {EYE(HIT(2)), EYE(HIT(2))}}, {0}, 0, {{0}, {3}}, NO_MUTATION, false, true},
    {"mirrored face, asked to skip",
     {{NONE, NONE}, {EYE(HIT(2)), EYE(HIT(2))}}, {0}, 0, {{0}, {3}}, NO_MUTATION, true, true},
    {"mirrored and straight",
     {{EYE(HIT(2)), EYE(HIT(2))}, {EYE(HIT(2), HIT(3)), EYE(HIT(2), HIT(3))}}, {0}, 0, {{3}, {3, 4}}, NO_MUTATION, false, false},
    {"mirrored one eye",
     {{NONE, NONE}, {EYE(HIT(2)), NONE}}, {0}, 0, {{0}, {0}}, INSERT, false, false},
    {"mirrored one eye of a LUC record",
     {{EYE(HIT(5)), NONE}, {EYE(HIT(2)), NONE}}, {2}, 1, {{0}, {3}}, NO_MUTATION, false, true},
    {"last record there can be",
     {{EYE(HIT(UINT32_MAX - 1)), EYE(HIT(UINT32_MAX - 1))}, {NONE, NONE}}, {0}, 0, {{UINT32_MAX}, {0}}, NO_MUTATION, false, false},
};
// clang-format on

static void borrow_result(const struct decision_case *one, struct uvea_search_result *result)
{
    *result = (struct uvea_search_result){0};
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            const struct uvea_candidate *at = one->eye[way][eye].at;
            struct uvea_eye_result *to = &result->eye[way][eye];
            to->candidates = (struct uvea_candidate *)at;
            while (at[to->candidate_count].index != END) {
                to->candidate_count++;
            }
        }
    }
}

static void check_full_list(const uint32_t *want, const struct uvea_match_list *got)
{
    size_t count = 0;

    while (want[count] != 0) {
        count++;
    }
    assert_int_equal(got->count, count);
    assert_int_equal(got->total, count);
    assert_memory_equal(got->serials, want, count * sizeof(*want));
    assert_null(got->strict);
}

static void check_partial_list(const struct uvea_eye_result *eye, const struct uvea_match_list *got)
{
    size_t at = 0;

    for (size_t i = 0; i < eye->candidate_count; i++) {
        if (eye->candidates[i].strict != 0) {
            assert_int_equal(got->serials[at], eye->candidates[i].index + 1);
            assert_int_equal(got->strict[at], eye->candidates[i].strict);
            at++;
        }
    }
    assert_int_equal(got->count, at);
    assert_int_equal(got->total, at);
}

static void decisions_follow_the_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(decision_cases); i++) {
        const struct decision_case *one = &decision_cases[i];
        const struct uvea_policy policy = {.supermatch_limit = UVEA_POLICY_SUPERMATCH_DEFAULT};
        struct uvea_search_result result;
        struct uvea_outcome outcome;
        print_message("%s\n", one->name);
        borrow_result(one, &result);
        const struct uvea_policy_job job = {.kind = UVEA_POLICY_UNIQUENESS,
                                            .luc = one->luc,
                                            .luc_count = one->luc_count,
                                            .skip_persistence = one->skip};
        assert_int_equal(uvea_policy_decide(&policy, &job, &result, &outcome), UVEA_OK);
        assert_int_equal(outcome.decision, one->decision);
        assert_int_equal(outcome.mirror_attack, one->attack);
        assert_false(outcome.partial_results);
        for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
            check_full_list(one->full[way], &outcome.matches[way].full);
            for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
                check_partial_list(&result.eye[way][eye], &outcome.matches[way].partial[eye]);
            }
        }
        uvea_policy_outcome_deinit(&outcome);
        assert_null(outcome.matches[0].full.serials);
    }
}

// ---- many matches

static const struct uvea_policy_job plain_job = {.kind = UVEA_POLICY_UNIQUENESS};

static struct uvea_candidate *many_hits(size_t count)
{
    struct uvea_candidate *candidates = uvea_mem_alloc(count, sizeof(*candidates));

    assert_non_null(candidates);
    for (size_t i = 0; i < count; i++) {
        candidates[i] = (struct uvea_candidate){(uint32_t)i, UNROTATED, UNROTATED};
    }
    return candidates;
}

static void lists_are_cut_and_counts_are_not(void **state)
{
    static const size_t sizes[] = {UVEA_POLICY_IDS_MAX - 1, UVEA_POLICY_IDS_MAX,
                                   UVEA_POLICY_IDS_MAX + 1, 3000};
    const struct uvea_policy policy = {.return_partial_results = true,
                                       .supermatch_limit = UVEA_POLICY_SUPERMATCH_DEFAULT};

    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(sizes); i++) {
        struct uvea_candidate *hits = many_hits(sizes[i]);
        struct uvea_search_result result = {0};
        struct uvea_outcome outcome;
        const size_t kept = sizes[i] < 2048 ? sizes[i] : 2048;
        result.eye[UVEA_ORIENTATION_NORMAL][UVEA_EYE_LEFT] =
            (struct uvea_eye_result){.candidates = hits, .candidate_count = sizes[i]};
        result.eye[UVEA_ORIENTATION_NORMAL][UVEA_EYE_RIGHT] =
            (struct uvea_eye_result){.candidates = hits, .candidate_count = sizes[i]};
        assert_int_equal(uvea_policy_decide(&policy, &plain_job, &result, &outcome), UVEA_OK);
        const struct uvea_match_list *full = &outcome.matches[UVEA_ORIENTATION_NORMAL].full;
        const struct uvea_match_list *left =
            &outcome.matches[UVEA_ORIENTATION_NORMAL].partial[UVEA_EYE_LEFT];
        assert_int_equal(full->count, kept);
        assert_int_equal(full->total, sizes[i]);
        assert_int_equal(full->serials[kept - 1], kept);
        assert_int_equal(left->count, kept);
        assert_int_equal(left->total, sizes[i]);
        assert_int_equal(left->strict[kept - 1], UNROTATED);
        assert_true(outcome.partial_results);
        uvea_policy_outcome_deinit(&outcome);
        uvea_mem_free(hits);
    }
}

struct supermatch_case {
    size_t hits;
    enum uvea_orientation way;
    enum uvea_eye eye;
    uint32_t limit;
    bool partial_results;
    bool saturated;
};

static const struct supermatch_case supermatch_cases[] = {
    {4000, UVEA_ORIENTATION_NORMAL, UVEA_EYE_LEFT, 4000, true, false},
    {4001, UVEA_ORIENTATION_NORMAL, UVEA_EYE_LEFT, 4000, true, true},
    {4001, UVEA_ORIENTATION_NORMAL, UVEA_EYE_RIGHT, 4000, true, true},
    {4001, UVEA_ORIENTATION_NORMAL, UVEA_EYE_LEFT, 4000, false, false},
    {4001, UVEA_ORIENTATION_MIRROR, UVEA_EYE_RIGHT, 4000, true, true},
    {4001, UVEA_ORIENTATION_MIRROR, UVEA_EYE_LEFT, 4000, false, false},
    {3, UVEA_ORIENTATION_NORMAL, UVEA_EYE_LEFT, 3, true, false},
    {4, UVEA_ORIENTATION_NORMAL, UVEA_EYE_LEFT, 3, true, true},
    {0, UVEA_ORIENTATION_NORMAL, UVEA_EYE_LEFT, 0, true, false},
};

static void too_many_matches_on_an_eye_are_a_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(supermatch_cases); i++) {
        const struct supermatch_case *one = &supermatch_cases[i];
        const struct uvea_policy policy = {.return_partial_results = one->partial_results,
                                           .supermatch_limit = one->limit};
        struct uvea_candidate *hits = many_hits(one->hits);
        struct uvea_search_result result = {0};
        struct uvea_outcome outcome;
        result.eye[one->way][one->eye] =
            (struct uvea_eye_result){.candidates = hits, .candidate_count = one->hits};
        assert_int_equal(uvea_policy_decide(&policy, &plain_job, &result, &outcome), UVEA_OK);
        assert_int_equal(outcome.matches[one->way].supermatch, one->saturated);
        assert_int_equal(outcome.decision,
                         one->saturated ? UVEA_DECISION_NO_MUTATION : UVEA_DECISION_UNIQUE_INSERT);
        assert_int_equal(outcome.mirror_attack,
                         one->saturated && one->way == UVEA_ORIENTATION_MIRROR);
        assert_int_equal(outcome.matches[one->way].full.total, 0);
        uvea_policy_outcome_deinit(&outcome);
        uvea_mem_free(hits);
    }
}

// Anonymous candidates alone never saturate: only strict matches count.
static void near_records_do_not_saturate(void **state)
{
    const struct uvea_policy policy = {.return_partial_results = true, .supermatch_limit = 2};
    struct uvea_candidate near[] = {NEAR(0), HIT(1), NEAR(2), HIT(3)};
    struct uvea_search_result result = {0};
    struct uvea_outcome outcome;

    (void)state;
    result.eye[UVEA_ORIENTATION_NORMAL][UVEA_EYE_LEFT] =
        (struct uvea_eye_result){.candidates = near, .candidate_count = UVEA_COUNT_OF(near)};
    assert_int_equal(uvea_policy_decide(&policy, &plain_job, &result, &outcome), UVEA_OK);
    assert_int_equal(outcome.decision, UVEA_DECISION_UNIQUE_INSERT);
    assert_int_equal(outcome.matches[UVEA_ORIENTATION_NORMAL].partial[UVEA_EYE_LEFT].total, 2);
    uvea_policy_outcome_deinit(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(luc_set_is_or_rule_and_newest),
        cmocka_unit_test(decisions_follow_the_rules),
        cmocka_unit_test(lists_are_cut_and_counts_are_not),
        cmocka_unit_test(too_many_matches_on_an_eye_are_a_match),
        cmocka_unit_test(near_records_do_not_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
