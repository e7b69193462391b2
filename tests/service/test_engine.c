#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/service/engine.h"
#include "core/service/uniqueness.h"
#include "tests/scan/cluster.h"
#include "tests/scan/fixture.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum { SESSIONS = 8, RECORDS_MAX = 2 };

struct bench {
    struct cluster cluster;
    struct uvea_resident resident[UVEA_PARTY_COUNT];
    struct uvea_cold *cold[UVEA_PARTY_COUNT];
    struct uvea_search_config search;
    struct uvea_policy policy[UVEA_PARTY_COUNT];
    struct uvea_engine engine[UVEA_PARTY_COUNT];
    struct uvea_iris_upload upload[UVEA_PARTY_COUNT];
    struct uvea_buf shares[UVEA_PARTY_COUNT];
    struct uvea_uniqueness_request request[UVEA_PARTY_COUNT];
    struct uvea_response *response[UVEA_PARTY_COUNT];
    bool valid[UVEA_PARTY_COUNT];
    bool all_valid[UVEA_PARTY_COUNT];
};

static int set_up(void **state)
{
    struct bench *bench = uvea_mem_alloc(1, sizeof(*bench));

    if (bench == NULL) {
        return -1;
    }
    cluster_open(&bench->cluster, SESSIONS, 3, UVEA_PRF_AES128);
    bench->search = (struct uvea_search_config){
        .kernel = &uvea_ring_kernel_portable,
        .chunk_records_max = UVEA_SEARCH_CHUNK_RECORDS,
    };
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(uvea_resident_init(&bench->resident[i], RECORDS_MAX), UVEA_OK);
        bench->cold[i] = fixture_cold(&bench->cluster.rt[i].rt);
        bench->policy[i] =
            (struct uvea_policy){.return_partial_results = true, .supermatch_limit = 4000};
        bench->engine[i] = (struct uvea_engine){
            .rt = &bench->cluster.rt[i].rt,
            .party = uvea_party_at(i),
            .policy = &bench->policy[i],
            .resident = &bench->resident[i],
            .search =
                {
                    .rt = &bench->cluster.rt[i].rt,
                    .config = &bench->search,
                    .resident = &bench->resident[i],
                    .cold = bench->cold[i],
                    .sessions = bench->cluster.at[i],
                    .session_count = SESSIONS,
                },
        };
    }
    *state = bench;
    return 0;
}

static void forget_responses(struct bench *bench)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_response_free(bench->response[i]);
        bench->response[i] = NULL;
    }
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    forget_responses(bench);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_resident_deinit(&bench->resident[i]);
        uvea_cold_close(bench->cold[i]);
        uvea_buf_deinit(&bench->shares[i]);
    }
    cluster_close(&bench->cluster);
    uvea_mem_free(bench);
    return 0;
}

// ---- validity

static enum uvea_error agree(struct cluster *cluster, unsigned party, void *arg,
                             struct uvea_error_context *context)
{
    struct bench *bench = arg;

    (void)cluster;
    return uvea_engine_agree_valid(&bench->engine[party], bench->valid[party],
                                   &bench->all_valid[party], context);
}

static void one_invalid_share_is_invalid_everywhere(void **state)
{
    struct bench *bench = *state;

    for (unsigned valid = 0; valid < 8; valid++) {
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            bench->valid[i] = (valid >> i & 1) != 0;
        }
        cluster_run(&bench->cluster, agree, bench);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_int_equal(bench->all_valid[i], valid == 7);
        }
    }
}

// Party 1 speaks of something else; the others must say what they got instead.
static enum uvea_error agree_or_babble(struct cluster *cluster, unsigned party, void *arg,
                                       struct uvea_error_context *context)
{
    struct bench *bench = arg;
    const struct uvea_outcome outcome = {.decision = UVEA_DECISION_UNIQUE_INSERT};
    const struct uvea_search_result search = {.comparisons = 0};

    if (party != 1) {
        return agree(cluster, party, arg, context);
    }
    return uvea_engine_check_outcome(&bench->engine[1], &search, &outcome, context);
}

static void another_message_is_refused(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    cluster_try(&bench->cluster, agree_or_babble, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_PEER);
        assert_non_null(strstr(outcomes[i].context.text, i == 1 ? "want 32" : "party 1 sent"));
    }
}

// ---- drift

static enum uvea_error drift(struct cluster *cluster, unsigned party, void *arg,
                             struct uvea_error_context *context)
{
    struct bench *bench = arg;

    (void)cluster;
    return uvea_engine_check_drift(&bench->engine[party], context);
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

// ---- outcome

// What party 2 sees differently, by number; 0 is nothing.
static unsigned difference[UVEA_PARTY_COUNT];

static enum uvea_error compare_outcome(struct cluster *cluster, unsigned party, void *arg,
                                       struct uvea_error_context *context)
{
    struct bench *bench = arg;
    const unsigned differs = difference[party];
    struct uvea_candidate candidate = {.index = 4 + (differs == 1),
                                       .anonymous = 6u + (differs == 2),
                                       .strict = 2u << (differs == 3)};
    struct uvea_search_result search = {.comparisons = 1};
    uint32_t serial = 5 + (differs == 4);
    struct uvea_outcome outcome = {
        .decision = differs == 5 ? UVEA_DECISION_UNIQUE_INSERT : UVEA_DECISION_NO_MUTATION,
        .mirror_attack = differs == 6,
    };
    struct uvea_eye_result *eye =
        &search.eye[differs == 7 ? UVEA_ORIENTATION_MIRROR : UVEA_ORIENTATION_NORMAL]
                   [differs == 8 ? UVEA_EYE_RIGHT : UVEA_EYE_LEFT];

    (void)cluster;
    eye->candidates = &candidate;
    eye->candidate_count = differs == 9 ? 0 : 1;
    outcome.matches[UVEA_ORIENTATION_NORMAL].full.serials = &serial;
    outcome.matches[UVEA_ORIENTATION_NORMAL].full.count = 1;
    outcome.matches[UVEA_ORIENTATION_MIRROR].supermatch = differs == 10;
    bench->engine[party].requests = 7 + (differs == 11);
    bench->engine[party].run_seed[3] = differs == 12;
    return uvea_engine_check_outcome(&bench->engine[party], &search, &outcome, context);
}

static void any_difference_in_the_outcome_names_the_odd_party(void **state)
{
    struct bench *bench = *state;

    for (unsigned differs = 0; differs <= 12; differs++) {
        const unsigned odd = differs % UVEA_PARTY_COUNT;
        struct cluster_outcome outcomes[UVEA_PARTY_COUNT];
        char name[16];
        memset(difference, 0, sizeof(difference));
        difference[odd] = differs;
        (void)snprintf(name, sizeof(name), "party %u opened", odd);
        cluster_try(&bench->cluster, compare_outcome, bench, outcomes);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_int_equal(outcomes[i].error, differs == 0 ? UVEA_OK : UVEA_ERR_STATE);
            assert_true(differs == 0 || strstr(outcomes[i].context.text, name) != NULL);
        }
    }
}

static void three_different_outcomes_name_nobody(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        difference[i] = i + 1;
    }
    cluster_try(&bench->cluster, compare_outcome, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_STATE);
        assert_non_null(strstr(outcomes[i].context.text, "all three"));
    }
}

// ---- whole requests

static void share_request(struct bench *bench, struct uvea_chacha *rng,
                          const struct uvea_template_pair *pair)
{
    fixture_split(rng, pair, bench->upload);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_buf_clear(&bench->shares[i]);
        assert_int_equal(
            uvea_iris_encode_upload(uvea_party_at(i), &bench->upload[i], &bench->shares[i]),
            UVEA_OK);
        bench->request[i] = (struct uvea_uniqueness_request){
            .signup_id = "someone",
            .shares = bench->shares[i].data,
            .shares_bytes = bench->shares[i].len,
        };
    }
    forget_responses(bench);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        bench->response[i] = uvea_mem_alloc(1, sizeof(*bench->response[i]));
        assert_non_null(bench->response[i]);
    }
}

static enum uvea_error process(struct cluster *cluster, unsigned party, void *arg,
                               struct uvea_error_context *context)
{
    struct bench *bench = arg;

    (void)cluster;
    return uvea_uniqueness_process(&bench->engine[party], &bench->request[party],
                                   bench->response[party], context);
}

static void assert_stopped(struct bench *bench, enum uvea_error error, const char *says,
                           size_t records)
{
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    cluster_try(&bench->cluster, process, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, error);
        assert_non_null(strstr(outcomes[i].context.text, says));
        assert_int_equal(bench->resident[i].count, records);
        assert_int_equal(bench->response[i]->json.len, 0);
        assert_int_equal(bench->response[i]->serial, 0);
    }
}

static void drift_stops_a_request_before_it_inserts_or_answers(void **state)
{
    struct bench *bench = *state;
    struct uvea_template_pair pair;
    struct uvea_chacha rng;

    uvea_chacha_init_seeded(&rng, 1);
    fixture_pair(&rng, &pair);
    share_request(bench, &rng, &pair);
    (void)uvea_prg_next_u32(bench->cluster.at[1][5]->prf.prev);
    assert_stopped(bench, UVEA_ERR_DRIFT, "session 8", 0);
}

// Party 2 decides otherwise: with a limit of 0 a single partial match saturates.
static void disagreement_stops_a_request_before_it_inserts_or_answers(void **state)
{
    struct bench *bench = *state;
    struct uvea_template_pair pair;
    struct uvea_template_pair other;
    struct uvea_chacha rng;

    uvea_chacha_init_seeded(&rng, 2);
    fixture_pair(&rng, &pair);
    share_request(bench, &rng, &pair);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        fixture_insert(&bench->resident[i], bench->cold[i], UVEA_EYE_LEFT, &bench->upload[i]);
    }
    fixture_pair(&rng, &other);
    pair.eye[UVEA_EYE_RIGHT] = other.eye[UVEA_EYE_RIGHT];
    share_request(bench, &rng, &pair);
    bench->policy[2].supermatch_limit = 0;
    assert_stopped(bench, UVEA_ERR_STATE, "party 2 opened", 1);
}

static void a_full_database_stops_all_parties_by_name(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];
    struct uvea_template_pair pair;
    struct uvea_chacha rng;

    uvea_chacha_init_seeded(&rng, 4);
    for (unsigned n = 1; n <= RECORDS_MAX; n++) {
        fixture_pair(&rng, &pair);
        share_request(bench, &rng, &pair);
        cluster_run(&bench->cluster, process, bench);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_int_equal(bench->response[i]->serial, n);
            assert_int_equal(bench->resident[i].count, n);
        }
    }
    fixture_pair(&rng, &pair);
    share_request(bench, &rng, &pair);
    cluster_try(&bench->cluster, process, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_LIMIT);
        assert_non_null(strstr(outcomes[i].context.text, "record 3"));
        assert_int_equal(bench->response[i]->serial, 0);
    }
}

// ---- state

static enum uvea_error compare_state(struct cluster *cluster, unsigned party, void *arg,
                                     struct uvea_error_context *context)
{
    struct bench *bench = arg;

    (void)cluster;
    return uvea_engine_check_state(&bench->engine[party], context);
}

static void unequal_databases_are_found(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    cluster_run(&bench->cluster, compare_state, bench);
    fixture_insert(&bench->resident[0], bench->cold[0], UVEA_EYE_LEFT, &bench->upload[0]);
    cluster_try(&bench->cluster, compare_state, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_STATE);
        assert_non_null(strstr(outcomes[i].context.text, "another state"));
    }
}

// The records agree, so everything goes well until the checksums are compared after the insertion.
static void a_state_that_differs_is_found_after_the_insertion(void **state)
{
    struct bench *bench = *state;
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];
    struct uvea_template_pair pair;
    struct uvea_chacha rng;

    uvea_chacha_init_seeded(&rng, 6);
    fixture_pair(&rng, &pair);
    share_request(bench, &rng, &pair);
    bench->resident[1].checksum ^= 1;
    cluster_try(&bench->cluster, process, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_STATE);
        assert_non_null(strstr(outcomes[i].context.text, "another state"));
        assert_int_equal(bench->resident[i].count, 1);
    }
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(one_invalid_share_is_invalid_everywhere),
        BENCH_TEST(another_message_is_refused),
        BENCH_TEST(a_spare_word_on_any_session_is_noticed_by_all),
        BENCH_TEST(any_difference_in_the_outcome_names_the_odd_party),
        BENCH_TEST(three_different_outcomes_name_nobody),
        BENCH_TEST(drift_stops_a_request_before_it_inserts_or_answers),
        BENCH_TEST(disagreement_stops_a_request_before_it_inserts_or_answers),
        BENCH_TEST(a_full_database_stops_all_parties_by_name),
        BENCH_TEST(unequal_databases_are_found),
        BENCH_TEST(a_state_that_differs_is_found_after_the_insertion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
