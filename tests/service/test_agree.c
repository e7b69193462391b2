// The agreements over sessions: what differs at one party is noticed by all, and who is odd is
// named.
#include "core/base/mem.h"
#include "core/service/agree.h"
#include "core/service/digest.h"
#include "tests/scan/cluster.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

enum { SESSIONS = 8 };

struct bench {
    struct cluster cluster;
    struct uvea_agree agree[UVEA_PARTY_COUNT];
    unsigned difference[UVEA_PARTY_COUNT]; // what a party sees differently, by number; 0 is nothing
};

static int set_up(void **state)
{
    struct bench *bench = uvea_mem_alloc(1, sizeof(*bench));

    assert_non_null(bench);
    cluster_open(&bench->cluster, SESSIONS, 3, UVEA_PRF_AES128);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        bench->agree[i] = (struct uvea_agree){
            .rt = &bench->cluster.rt[i].rt,
            .party = uvea_party_at(i),
            .sessions = bench->cluster.at[i],
            .session_count = SESSIONS,
        };
    }
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    cluster_close(&bench->cluster);
    uvea_mem_free(bench);
    return 0;
}

// ---- drift

static enum uvea_error drift(struct cluster *cluster, unsigned party, void *arg,
                             struct uvea_error_context *context)
{
    const struct bench *bench = arg;

    (void)cluster;
    return uvea_agree_drift(&bench->agree[party], context);
}

static void a_spare_word_on_any_session_is_noticed_by_all(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    cluster_run(&bench->cluster, drift, bench);
    (void)uvea_prg_next_u32(bench->cluster.at[1][SESSIONS - 1]->prf.my);
    cluster_try(&bench->cluster, drift, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_DRIFT);
        assert_non_null(strstr(outcomes[i].context.text, "session 10"));
    }
}

// ---- state

static enum uvea_error compare_state(struct cluster *cluster, unsigned party, void *arg,
                                     struct uvea_error_context *context)
{
    const struct bench *bench = arg;

    (void)cluster;
    return uvea_agree_state(&bench->agree[party], 7 + bench->difference[party], context);
}

static void databases_that_differ_are_noticed_by_all(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    cluster_run(&bench->cluster, compare_state, bench);
    bench->difference[2] = 1;
    cluster_try(&bench->cluster, compare_state, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_STATE);
    }
}

// ---- what was opened and decided

// A batch with one thing about it that differs.
static enum uvea_error digest_batch(unsigned differs, uint8_t digest[UVEA_AGREE_DIGEST_BYTES])
{
    struct uvea_candidate candidate = {.index = 4 + (differs == 1),
                                       .anonymous = 6u + (differs == 2),
                                       .strict = 2u << (differs == 3)};
    uint32_t full = 5 + (differs == 4);
    uint32_t at = differs == 5;
    uint8_t seed[UVEA_PRF_SEED_BYTES] = {differs == 6};
    struct uvea_batch_entry entries[2] = {{.sequence = 9, .message = {.message_id = "one"}},
                                          {.sequence = 10 + (differs == 7),
                                           .modification_id = 3 + (differs == 8),
                                           .message = {.message_id = differs == 9 ? "2" : "two"},
                                           .error_reason = differs == 10 ? "reason" : NULL,
                                           .mutation = differs == 11,
                                           .serial = 1 + (differs == 12),
                                           .version = differs == 13}};
    const struct uvea_batch batch = {.id = 1 + (differs == 14),
                                     .entries = entries,
                                     .count = differs == 15 ? 1 : 2,
                                     .mirror = differs == 16,
                                     .record_count = 5 + (differs == 17)};
    struct uvea_batch_entry *entry = &entries[1];
    const int way = differs == 18 ? UVEA_ORIENTATION_MIRROR : UVEA_ORIENTATION_NORMAL;
    const int eye = differs == 19 ? UVEA_EYE_RIGHT : UVEA_EYE_LEFT;

    entry->search.eye[way][eye].candidates = &candidate;
    entry->search.eye[way][eye].candidate_count = differs == 20 ? 0 : 1;
    entry->search.batch[way].at = &at;
    entry->search.batch[way].count = 1;
    entry->search.batch[way].eye[eye].candidates = &candidate;
    entry->search.batch[way].eye[eye].candidate_count = differs == 21 ? 0 : 1;
    entry->outcome.matches[way].full.serials = &full;
    entry->outcome.matches[way].full.count = 1;
    entry->outcome.matches[way].supermatch = differs == 22;
    entry->outcome.decision =
        differs == 23 ? UVEA_DECISION_UNIQUE_INSERT : UVEA_DECISION_NO_MUTATION;
    entry->outcome.success = differs == 24;
    entry->outcome.mirror_attack = differs == 25;
    entry->message.kind = differs == 26 ? UVEA_MESSAGE_REAUTH : UVEA_MESSAGE_UNIQUENESS;
    return uvea_batch_digest(&batch, seed, digest);
}

enum { DIFFERENCES = 26 };

static enum uvea_error compare_digest(struct cluster *cluster, unsigned party, void *arg,
                                      struct uvea_error_context *context)
{
    const struct bench *bench = arg;
    uint8_t digest[UVEA_AGREE_DIGEST_BYTES];

    (void)cluster;
    UVEA_TRY(digest_batch(bench->difference[party], digest));
    return uvea_agree_digest(&bench->agree[party], 8, digest, context);
}

static void any_difference_names_the_odd_party(void **state)
{
    struct bench *bench = *state;

    for (unsigned differs = 0; differs <= DIFFERENCES; differs++) {
        const unsigned odd = differs % UVEA_PARTY_COUNT;
        struct cluster_outcome outcomes[UVEA_PARTY_COUNT];
        char name[32];
        memset(bench->difference, 0, sizeof(bench->difference));
        bench->difference[odd] = differs;
        (void)snprintf(name, sizeof(name), "batch 8: party %u opened", odd);
        cluster_try(&bench->cluster, compare_digest, bench, outcomes);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            if (outcomes[i].error != (differs == 0 ? UVEA_OK : UVEA_ERR_STATE)) {
                fail_msg("difference %u: %s", differs, uvea_error_name(outcomes[i].error));
            }
            assert_true(differs == 0 || strstr(outcomes[i].context.text, name) != NULL);
        }
    }
}

static void three_different_outcomes_name_nobody(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        bench->difference[i] = i + 1;
    }
    cluster_try(&bench->cluster, compare_digest, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_STATE);
        assert_non_null(strstr(outcomes[i].context.text, "all three"));
    }
}

// Party 1 speaks of something else; the others must say what they got instead.
static enum uvea_error compare_or_babble(struct cluster *cluster, unsigned party, void *arg,
                                         struct uvea_error_context *context)
{
    return party == 1 ? compare_state(cluster, party, arg, context)
                      : compare_digest(cluster, party, arg, context);
}

static void another_message_is_refused(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    cluster_try(&bench->cluster, compare_or_babble, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_not_equal(outcomes[i].error, UVEA_OK);
    }
    assert_non_null(strstr(outcomes[0].context.text, "party 1 sent"));
    assert_non_null(strstr(outcomes[2].context.text, "party 1 sent"));
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_spare_word_on_any_session_is_noticed_by_all),
        BENCH_TEST(databases_that_differ_are_noticed_by_all),
        BENCH_TEST(any_difference_names_the_odd_party),
        BENCH_TEST(three_different_outcomes_name_nobody),
        BENCH_TEST(another_message_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
