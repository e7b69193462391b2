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

// ---- every kind of request, alone and behind others in its batch

enum { BATCH = 5 };

struct kind_case {
    const char *name;
    enum uvea_policy_kind kind;
    struct eye eye[UVEA_ORIENTATION_COUNT][UVEA_EYE_COUNT];
    uint32_t luc; // one index, END for none
    uint32_t target;
    bool or_rule;
    bool skip;
    uint32_t batch[UVEA_ORIENTATION_COUNT][BATCH]; // positions, ends with END
    bool blocks[BATCH];
    uint32_t full[UVEA_ORIENTATION_COUNT][LIST_MAX];
    enum uvea_decision decision;
    bool success;
    bool attack;
};

#define UNIQUENESS UVEA_POLICY_UNIQUENESS
#define REAUTH UVEA_POLICY_REAUTH
#define CHECK UVEA_POLICY_CHECK
#define UPDATE UVEA_DECISION_REAUTH_UPDATE
#define ALONE                                                                                      \
    {{END}, {END}},                                                                                \
    {                                                                                              \
        0                                                                                          \
    }

// clang-format off
static const struct kind_case kind_cases[] = {
    {"reauth, both eyes", REAUTH, {{EYE(HIT(3)), EYE(HIT(3))}, {NONE, NONE}}, END, 3, false, false,
     ALONE, {{4}, {0}}, UPDATE, true, false},
    {"reauth, both eyes, not to be written", REAUTH, {{EYE(HIT(3)), EYE(HIT(3))}, {NONE, NONE}}, END, 3, false, true,
     ALONE, {{4}, {0}}, UPDATE, true, false},
    {"reauth, nothing found", REAUTH, {{NONE, NONE}, {NONE, NONE}}, END, 3, false, false,
     ALONE, {{0}, {0}}, NO_MUTATION, false, false},
    {"reauth, left eye only", REAUTH, {{EYE(HIT(3)), EYE(NEAR(3))}, {NONE, NONE}}, END, 3, false, false,
     ALONE, {{0}, {0}}, NO_MUTATION, false, false},
    {"reauth, right eye only", REAUTH, {{NONE, EYE(HIT(3))}, {NONE, NONE}}, END, 3, false, false,
     ALONE, {{0}, {0}}, NO_MUTATION, false, false},
    {"reauth by OR, left eye only", REAUTH, {{EYE(HIT(3)), EYE(NEAR(3))}, {NONE, NONE}}, END, 3, true, false,
     ALONE, {{4}, {0}}, UPDATE, true, false},
    {"reauth by OR, right eye only", REAUTH, {{NONE, EYE(HIT(3))}, {NONE, NONE}}, END, 3, true, false,
     ALONE, {{4}, {0}}, UPDATE, true, false},
    {"reauth by OR, both eyes", REAUTH, {{EYE(HIT(3)), EYE(HIT(3))}, {NONE, NONE}}, END, 3, true, false,
     ALONE, {{4}, {0}}, UPDATE, true, false},
    {"reauth by OR, near only", REAUTH, {{EYE(NEAR(3)), EYE(NEAR(3))}, {NONE, NONE}}, END, 3, true, false,
     ALONE, {{0}, {0}}, NO_MUTATION, false, false},
    {"reauth by OR, one eye of another record", REAUTH, {{EYE(HIT(2)), NONE}, {NONE, NONE}}, END, 3, true, false,
     ALONE, {{0}, {0}}, NO_MUTATION, false, false},
    {"reauth, another record matches", REAUTH, {{EYE(HIT(2)), EYE(HIT(2))}, {NONE, NONE}}, END, 3, false, false,
     ALONE, {{3}, {0}}, NO_MUTATION, false, false},
    {"reauth, target and another record", REAUTH, {{EYE(HIT(2), HIT(3)), EYE(HIT(2), HIT(3))}, {NONE, NONE}}, END, 3, false, false,
     ALONE, {{3, 4}, {0}}, UPDATE, true, false},
    {"reauth, first record", REAUTH, {{EYE(HIT(0)), EYE(HIT(0))}, {NONE, NONE}}, END, 0, false, false,
     ALONE, {{1}, {0}}, UPDATE, true, false},
    {"reauth is not by mirrors", REAUTH, {{NONE, NONE}, {EYE(HIT(3)), EYE(HIT(3))}}, END, 3, true, false,
     ALONE, {{0}, {4}}, NO_MUTATION, false, false},
    {"reauth knows no LUC set", REAUTH, {{EYE(HIT(2)), NONE}, {NONE, NONE}}, 2, 3, true, false,
     ALONE, {{0}, {0}}, NO_MUTATION, false, false},
    {"reauth is not kept back by its batch", REAUTH, {{EYE(HIT(3)), EYE(HIT(3))}, {NONE, NONE}}, END, 3, false, false,
     {{1, END}, {END}}, {true, true, true}, {{4}, {0}}, UPDATE, true, false},

    {"check, nothing found", CHECK, {{NONE, NONE}, {NONE, NONE}}, END, END, false, false,
     ALONE, {{0}, {0}}, NO_MUTATION, false, false},
    {"check, both eyes", CHECK, {{EYE(HIT(3)), EYE(HIT(3), HIT(4))}, {NONE, NONE}}, END, END, false, false,
     ALONE, {{4}, {0}}, NO_MUTATION, false, false},
    {"check knows no LUC set", CHECK, {{EYE(HIT(3)), NONE}, {NONE, NONE}}, 3, END, true, false,
     ALONE, {{0}, {0}}, NO_MUTATION, false, false},
    {"check finds no attack", CHECK, {{NONE, NONE}, {EYE(HIT(3)), EYE(HIT(3))}}, END, END, false, false,
     ALONE, {{0}, {4}}, NO_MUTATION, false, false},
    {"check behind its twin", CHECK, {{NONE, NONE}, {NONE, NONE}}, END, END, false, false,
     {{0, 2, END}, {END}}, {true, true, true}, {{0}, {0}}, NO_MUTATION, false, false},

    {"behind a twin that is inserted", UNIQUENESS, {{NONE, NONE}, {NONE, NONE}}, END, END, false, false,
     {{2, END}, {END}}, {false, false, true}, {{0}, {0}}, NO_MUTATION, false, false},
    {"behind a twin that changed nothing", UNIQUENESS, {{NONE, NONE}, {NONE, NONE}}, END, END, false, false,
     {{2, END}, {END}}, {true, true, false}, {{0}, {0}}, INSERT, false, false},
    {"behind a twin that changed nothing, to skip", UNIQUENESS, {{NONE, NONE}, {NONE, NONE}}, END, END, false, true,
     {{2, END}, {END}}, {true, true, false}, {{0}, {0}}, SKIPPED, false, false},
    {"behind two twins, one inserted", UNIQUENESS, {{NONE, NONE}, {NONE, NONE}}, END, END, false, false,
     {{0, 4, END}, {END}}, {false, true, true, true, true}, {{0}, {0}}, NO_MUTATION, false, false},
    {"mirrored twin that is inserted", UNIQUENESS, {{NONE, NONE}, {NONE, NONE}}, END, END, false, false,
     {{END}, {0, END}}, {true}, {{0}, {0}}, NO_MUTATION, false, true},
    {"mirrored twin that changed nothing: an attack all the same", UNIQUENESS, {{NONE, NONE}, {NONE, NONE}}, END, END, false, false,
     {{END}, {0, END}}, {false}, {{0}, {0}}, INSERT, false, true},
    {"straight and mirrored twin: no attack", UNIQUENESS, {{NONE, NONE}, {NONE, NONE}}, END, END, false, false,
     {{1, END}, {0, END}}, {true, false}, {{0}, {0}}, NO_MUTATION, false, false},
    {"straight twin that changed nothing, mirrored record", UNIQUENESS, {{NONE, NONE}, {EYE(HIT(2)), EYE(HIT(2))}}, END, END, false, false,
     {{1, END}, {END}}, {false, false}, {{0}, {3}}, NO_MUTATION, false, false},
    {"straight record, mirrored twin", UNIQUENESS, {{EYE(HIT(2)), EYE(HIT(2))}, {NONE, NONE}}, END, END, false, false,
     {{END}, {1, END}}, {false, true}, {{3}, {0}}, NO_MUTATION, false, false},
    {"uniqueness is no reauth", UNIQUENESS, {{EYE(HIT(3)), NONE}, {NONE, NONE}}, END, 3, true, false,
     ALONE, {{0}, {0}}, INSERT, false, false},
    {"LUC record behind a twin that changed nothing", UNIQUENESS, {{NONE, EYE(HIT(3))}, {NONE, NONE}}, 3, END, false, false,
     {{0, END}, {END}}, {false}, {{4}, {0}}, NO_MUTATION, false, false},
};
// clang-format on

static void borrow_batch(const struct kind_case *one, struct uvea_search_result *result)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        struct uvea_search_batch *to = &result->batch[way];
        to->at = (uint32_t *)one->batch[way];
        while (to->at[to->count] != END) {
            to->count++;
        }
    }
}

static void check_batch_matches(const struct uvea_search_result *result,
                                const struct uvea_outcome *outcome)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        const size_t count = result->batch[way].count;
        assert_int_equal(outcome->batch_matches[way].count, count);
        if (count > 0) {
            assert_ptr_not_equal(outcome->batch_matches[way].at, result->batch[way].at);
            assert_memory_equal(outcome->batch_matches[way].at, result->batch[way].at,
                                count * sizeof(uint32_t));
        }
    }
}

static void each_kind_has_its_rules(void **state)
{
    const struct uvea_policy policy = {
        .luc_enabled = true,
        .luc_serial_ids_from_request = true,
        .return_partial_results = true,
        .supermatch_limit = UVEA_POLICY_SUPERMATCH_DEFAULT,
    };

    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(kind_cases); i++) {
        const struct kind_case *one = &kind_cases[i];
        struct decision_case eyes = {0};
        struct uvea_search_result result;
        struct uvea_outcome outcome;
        const struct uvea_policy_job job = {
            .kind = one->kind,
            .luc = &one->luc,
            .luc_count = one->luc != END ? 1 : 0,
            .target = one->target,
            .use_or_rule = one->or_rule,
            .skip_persistence = one->skip,
            .earlier_blocks = one->blocks,
            .earlier_count = BATCH,
        };
        print_message("%s\n", one->name);
        memcpy(eyes.eye, one->eye, sizeof(eyes.eye));
        borrow_result(&eyes, &result);
        borrow_batch(one, &result);
        assert_int_equal(uvea_policy_decide(&policy, &job, &result, &outcome), UVEA_OK);
        assert_int_equal(outcome.decision, one->decision);
        assert_int_equal(outcome.success, one->success);
        assert_int_equal(outcome.mirror_attack, one->attack);
        assert_true(outcome.partial_results);
        check_batch_matches(&result, &outcome);
        for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
            check_full_list(one->full[way], &outcome.matches[way].full);
            for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
                check_partial_list(&result.eye[way][eye], &outcome.matches[way].partial[eye]);
            }
        }
        uvea_policy_outcome_deinit(&outcome);
        assert_null(outcome.batch_matches[0].at);
        assert_false(outcome.success);
    }
}

// The target's rule is looked up in what matched, not in the list that is cut.
static void a_target_beyond_the_cut_still_counts(void **state)
{
    enum { HITS = UVEA_POLICY_IDS_MAX + 10 };
    const struct uvea_policy policy = {.supermatch_limit = UVEA_POLICY_SUPERMATCH_DEFAULT};
    const struct uvea_policy_job job = {.kind = UVEA_POLICY_REAUTH, .target = HITS - 1};
    struct uvea_candidate *hits = many_hits(HITS);
    struct uvea_search_result result = {0};
    struct uvea_outcome outcome;

    (void)state;
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        result.eye[UVEA_ORIENTATION_NORMAL][eye] =
            (struct uvea_eye_result){.candidates = hits, .candidate_count = HITS};
    }
    assert_int_equal(uvea_policy_decide(&policy, &job, &result, &outcome), UVEA_OK);
    assert_true(outcome.success);
    assert_int_equal(outcome.decision, UVEA_DECISION_REAUTH_UPDATE);
    assert_int_equal(outcome.matches[UVEA_ORIENTATION_NORMAL].full.count, UVEA_POLICY_IDS_MAX);
    uvea_policy_outcome_deinit(&outcome);
    uvea_mem_free(hits);
}

// Saturation is no match of the target, and a straight saturation makes a mirrored twin no attack.
static void saturation_counts_for_uniqueness_only(void **state)
{
    static const bool blocks[] = {false};
    const struct uvea_policy policy = {.return_partial_results = true, .supermatch_limit = 3};
    struct uvea_policy_job job = {
        .kind = UVEA_POLICY_REAUTH,
        .target = 9,
        .use_or_rule = true,
        .earlier_blocks = blocks,
        .earlier_count = 1,
    };
    struct uvea_candidate *hits = many_hits(4);
    struct uvea_search_result result = {0};
    uint32_t twin = 0;
    struct uvea_outcome outcome;

    (void)state;
    result.eye[UVEA_ORIENTATION_NORMAL][UVEA_EYE_LEFT] =
        (struct uvea_eye_result){.candidates = hits, .candidate_count = 4};
    result.batch[UVEA_ORIENTATION_MIRROR].at = &twin;
    result.batch[UVEA_ORIENTATION_MIRROR].count = 1;
    assert_int_equal(uvea_policy_decide(&policy, &job, &result, &outcome), UVEA_OK);
    assert_false(outcome.success);
    assert_true(outcome.matches[UVEA_ORIENTATION_NORMAL].supermatch);
    uvea_policy_outcome_deinit(&outcome);
    job.kind = UVEA_POLICY_UNIQUENESS;
    assert_int_equal(uvea_policy_decide(&policy, &job, &result, &outcome), UVEA_OK);
    assert_int_equal(outcome.decision, UVEA_DECISION_NO_MUTATION);
    assert_false(outcome.mirror_attack);
    uvea_policy_outcome_deinit(&outcome);
    uvea_mem_free(hits);
}

// ---- many matches

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
        cmocka_unit_test(each_kind_has_its_rules),
        cmocka_unit_test(a_target_beyond_the_cut_still_counts),
        cmocka_unit_test(saturation_counts_for_uniqueness_only),
        cmocka_unit_test(lists_are_cut_and_counts_are_not),
        cmocka_unit_test(too_many_matches_on_an_eye_are_a_match),
        cmocka_unit_test(near_records_do_not_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
