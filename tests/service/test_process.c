// A batch between agreement and commit, at three parties of which one is not like the others: all
// stop, and which change was made in memory is as process.h says.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/service/process.h"
#include "tests/scan/cluster.h"
#include "tests/scan/fixture.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum { SESSIONS = 8, RECORDS_MAX = 2 };

struct bench {
    struct cluster cluster;
    struct uvea_chacha rng;
    struct uvea_resident resident[UVEA_PARTY_COUNT];
    struct uvea_cold *cold[UVEA_PARTY_COUNT];
    struct uvea_search_config search;
    struct uvea_policy policy[UVEA_PARTY_COUNT];
    struct uvea_process process[UVEA_PARTY_COUNT];
    struct uvea_iris_upload upload[UVEA_PARTY_COUNT];
    struct uvea_batch batch[UVEA_PARTY_COUNT]; // of one request
};

static int set_up(void **state)
{
    struct bench *bench = uvea_mem_alloc(1, sizeof(*bench));

    assert_non_null(bench);
    cluster_open(&bench->cluster, SESSIONS, 3, UVEA_PRF_AES128);
    uvea_chacha_init_seeded(&bench->rng, 1);
    bench->search = (struct uvea_search_config){
        .kernel = &uvea_ring_kernel_portable,
        .chunk_records_max = UVEA_SEARCH_CHUNK_RECORDS,
    };
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_process *process = &bench->process[i];
        assert_int_equal(uvea_resident_init(&bench->resident[i], RECORDS_MAX), UVEA_OK);
        bench->cold[i] = fixture_cold(&bench->cluster.rt[i].rt);
        bench->policy[i] =
            (struct uvea_policy){.return_partial_results = true, .supermatch_limit = 4000};
        process->rt = &bench->cluster.rt[i].rt;
        process->party = uvea_party_at(i);
        process->policy = &bench->policy[i];
        process->resident = &bench->resident[i];
        process->cold = bench->cold[i];
        process->search = (struct uvea_search){
            .rt = process->rt,
            .config = &bench->search,
            .resident = process->resident,
            .cold = process->cold,
            .sessions = bench->cluster.at[i],
            .session_count = SESSIONS,
        };
        process->agree = (struct uvea_agree){
            .rt = process->rt,
            .party = process->party,
            .sessions = bench->cluster.at[i],
            .session_count = SESSIONS,
        };
    }
    *state = bench;
    return 0;
}

// The uploads are the bench's.
static void forget_batches(struct bench *bench)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_batch *batch = &bench->batch[i];
        if (batch->count > 0) {
            batch->entries[0].upload = NULL;
        }
        uvea_batch_deinit(batch);
    }
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    forget_batches(bench);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_resident_deinit(&bench->resident[i]);
        uvea_cold_close(bench->cold[i]);
    }
    cluster_close(&bench->cluster);
    uvea_mem_free(bench);
    return 0;
}

// A batch of one uniqueness request.
static void ask(struct bench *bench, const struct uvea_template_pair *pair)
{
    forget_batches(bench);
    fixture_split(&bench->rng, pair, bench->upload);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_batch *batch = &bench->batch[i];
        assert_int_equal(uvea_batch_init(batch, 7, 1), UVEA_OK);
        batch->record_count = (uint32_t)bench->resident[i].count;
        batch->entries[0].sequence = 1;
        batch->entries[0].message =
            (struct uvea_message){.kind = UVEA_MESSAGE_UNIQUENESS, .id = "someone"};
        batch->entries[0].upload = &bench->upload[i];
        batch->entries[0].shares_valid = true;
    }
}

static void ask_for_somebody_new(struct bench *bench)
{
    struct uvea_template_pair pair;

    fixture_pair(&bench->rng, &pair);
    ask(bench, &pair);
}

static enum uvea_error process(struct cluster *cluster, unsigned party, void *arg,
                               struct uvea_error_context *context)
{
    struct bench *bench = arg;

    (void)cluster;
    return uvea_process_batch(&bench->process[party], &bench->batch[party], context);
}

static void assert_stopped(struct bench *bench, enum uvea_error error, const char *says,
                           size_t records)
{
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];

    cluster_try(&bench->cluster, process, bench, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (outcomes[i].error != error || strstr(outcomes[i].context.text, says) == NULL) {
            fail_msg("party %d: %s: %s", i, uvea_error_name(outcomes[i].error),
                     outcomes[i].context.text);
        }
        assert_int_equal(bench->resident[i].count, records);
        assert_int_equal(bench->batch[i].entries[0].result.len, 0);
    }
}

static void drift_stops_a_batch_before_it_inserts_or_answers(void **state)
{
    struct bench *bench = *state;

    ask_for_somebody_new(bench);
    (void)uvea_prg_next_u32(bench->cluster.at[1][5]->prf.prev);
    assert_stopped(bench, UVEA_ERR_DRIFT, "session 8", 0);
}

// Party 2 decides otherwise: with a limit of 0 a single partial match saturates.
static void disagreement_stops_a_batch_before_it_inserts_or_answers(void **state)
{
    struct bench *bench = *state;
    struct uvea_template_pair pair;
    struct uvea_template_pair other;

    fixture_pair(&bench->rng, &pair);
    ask(bench, &pair);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        fixture_insert(&bench->resident[i], bench->cold[i], UVEA_EYE_LEFT, &bench->upload[i]);
    }
    fixture_pair(&bench->rng, &other);
    pair.eye[UVEA_EYE_RIGHT] = other.eye[UVEA_EYE_RIGHT];
    ask(bench, &pair);
    bench->policy[2].supermatch_limit = 0;
    assert_stopped(bench, UVEA_ERR_STATE, "batch 7: party 2 opened", 1);
}

static void a_full_database_stops_all_parties_by_name(void **state)
{
    struct bench *bench = *state;

    for (unsigned n = 1; n <= RECORDS_MAX; n++) {
        ask_for_somebody_new(bench);
        cluster_run(&bench->cluster, process, bench);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_int_equal(bench->batch[i].entries[0].mutation, UVEA_MUTATION_INSERT);
            assert_int_equal(bench->batch[i].entries[0].serial, n);
            assert_true(bench->batch[i].entries[0].result.len > 0);
            assert_int_equal(bench->resident[i].count, n);
        }
    }
    ask_for_somebody_new(bench);
    assert_stopped(bench, UVEA_ERR_LIMIT, "record 3: the database holds 2 at most", 2);
}

static void unequal_databases_stop_a_batch_before_it_is_searched(void **state)
{
    struct bench *bench = *state;

    ask_for_somebody_new(bench);
    bench->resident[1].checksum ^= 1;
    assert_stopped(bench, UVEA_ERR_STATE, "another state", 0);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(bench->process[i].comparisons, 0);
        assert_int_equal(bench->cluster.rt[i].scores, 0);
    }
}

// Everything agrees until the checksums are compared after the insertion.
static struct uvea_resident *spoilt;

static enum uvea_error spoil_when_decided(struct uvea_rt *rt, enum uvea_point point)
{
    (void)rt;
    if (point == UVEA_POINT_DECIDED) {
        spoilt->checksum ^= 1;
    }
    return UVEA_OK;
}

static void a_state_that_differs_is_found_after_the_insertion(void **state)
{
    struct bench *bench = *state;
    struct uvea_rt *rt = &bench->cluster.rt[1].rt;
    const struct uvea_rt_ops *ops = rt->ops;
    struct uvea_rt_ops spoiling = *ops;

    ask_for_somebody_new(bench);
    spoiling.point = spoil_when_decided;
    rt->ops = &spoiling;
    spoilt = &bench->resident[1];
    assert_stopped(bench, UVEA_ERR_STATE, "another state", 1);
    rt->ops = ops;
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(drift_stops_a_batch_before_it_inserts_or_answers),
        BENCH_TEST(disagreement_stops_a_batch_before_it_inserts_or_answers),
        BENCH_TEST(a_full_database_stops_all_parties_by_name),
        BENCH_TEST(unequal_databases_stop_a_batch_before_it_is_searched),
        BENCH_TEST(a_state_that_differs_is_found_after_the_insertion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
