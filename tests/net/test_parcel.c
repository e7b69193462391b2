#include "core/base/check.h"
#include "core/net/mesh.h"
#include "core/net/parcel.h"
#include "sim/runtime/sim.h"
#include "tests/support/cmocka.h"

// Also called from tasks, where cmocka's assertions have no place.
static struct uvea_parcel *parcel_of(struct uvea_parcel_pool *pool, uint8_t byte)
{
    struct uvea_parcel *parcel = uvea_parcel_take(pool);
    UVEA_CHECK(parcel != NULL && parcel->bytes.len == 0);
    UVEA_CHECK(uvea_buf_append(&parcel->bytes, &byte, 1) == UVEA_OK);
    return parcel;
}

static void pool_reuses_memory(void **state)
{
    (void)state;
    struct uvea_parcel_pool pool = {.spare = NULL};
    struct uvea_parcel *first = parcel_of(&pool, 1);
    const uint8_t *memory = first->bytes.data;
    uvea_parcel_give(first);
    struct uvea_parcel *again = parcel_of(&pool, 2);
    assert_ptr_equal(again, first);
    assert_ptr_equal(again->bytes.data, memory);
    uvea_parcel_give(again);
    uvea_parcel_pool_deinit(&pool);
}

static void pool_keeps_a_few(void **state)
{
    (void)state;
    struct uvea_parcel_pool pool = {.spare = NULL};
    enum { TAKEN = 3 * UVEA_PARCEL_POOL_MAX };
    struct uvea_parcel *taken[TAKEN];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < TAKEN; i++) {
            taken[i] = parcel_of(&pool, (uint8_t)i);
        }
        for (size_t i = 0; i < TAKEN; i++) {
            uvea_parcel_give(taken[i]);
        }
        assert_int_equal(atomic_load(&pool.count), UVEA_PARCEL_POOL_MAX);
    }
    uvea_parcel_give(NULL);
    uvea_parcel_pool_deinit(&pool);
}

static void budget_counts_bytes_and_bookkeeping(void **state)
{
    (void)state;
    struct uvea_budget budget = {.bytes_max = 1000 + 2 * UVEA_MESH_FRAME_OVERHEAD_BYTES};
    assert_true(uvea_budget_take(&budget, 400));
    assert_true(uvea_budget_take(&budget, 600));
    assert_false(uvea_budget_take(&budget, 0));
    uvea_budget_give(&budget, 600);
    assert_false(uvea_budget_take(&budget, 601));
    assert_true(uvea_budget_take(&budget, 600));
    assert_false(uvea_budget_take(&budget, SIZE_MAX / 2));
    assert_int_equal(atomic_load(&budget.used), budget.bytes_max);
}

struct queue_test {
    struct uvea_rt *rt;
    struct uvea_parcel_queue queue;
    struct uvea_parcel_pool pool;
    uint8_t got[64];
    size_t got_count;
    enum uvea_error early;
    enum uvea_error late;
};

static void pop_task(void *arg)
{
    struct queue_test *test = arg;
    struct uvea_parcel *parcel;
    test->early = uvea_parcel_pop(&test->queue, uvea_rt_deadline_ns(test->rt, UVEA_MS), &parcel);
    while ((test->late = uvea_parcel_pop(&test->queue, UVEA_NEVER, &parcel)) == UVEA_OK) {
        test->got[test->got_count++] = parcel->bytes.data[0];
        uvea_parcel_give(parcel);
    }
}

static void push_some(struct queue_test *test, uint8_t first, uint8_t count)
{
    for (uint8_t i = 0; i < count; i++) {
        uvea_parcel_push(&test->queue, parcel_of(&test->pool, (uint8_t)(first + i)));
    }
}

static void queue_task(void *arg)
{
    struct queue_test *test = arg;
    UVEA_CHECK(uvea_parcel_queue_init(&test->queue, test->rt) == UVEA_OK);
    struct uvea_task *popper;
    UVEA_CHECK(uvea_rt_spawn(test->rt, "pop", pop_task, test, &popper) == UVEA_OK);
    UVEA_CHECK(uvea_rt_sleep_ns(test->rt, 2 * UVEA_MS) == UVEA_OK);
    push_some(test, 0, 10);
    UVEA_CHECK(uvea_rt_sleep_ns(test->rt, UVEA_MS) == UVEA_OK);
    push_some(test, 10, 20);
    uvea_parcel_queue_shut(&test->queue); // what is queued still comes out
    uvea_rt_join(test->rt, popper);
    push_some(test, 99, 1); // freed with the queue
    uvea_parcel_queue_deinit(&test->queue);
    uvea_parcel_pool_deinit(&test->pool);
}

static void queue_keeps_order_and_wakes(void **state)
{
    (void)state;
    struct uvea_sim_config config;
    uvea_sim_config_init(&config);
    struct uvea_sim *sim;
    assert_int_equal(uvea_sim_open(&config, &sim, NULL), UVEA_OK);
    struct queue_test test = {.rt = uvea_sim_rt(sim, 0)};
    assert_int_equal(uvea_sim_start(sim, 0, "test", queue_task, &test), UVEA_OK);
    struct uvea_sim_outcome outcome;
    uvea_sim_run(sim, &outcome);
    uvea_sim_close(sim);
    assert_int_equal(outcome.end, UVEA_SIM_FINISHED);
    assert_int_equal(outcome.open_channels, 0);
    assert_int_equal(test.early, UVEA_ERR_TIMEOUT);
    assert_int_equal(test.late, UVEA_ERR_CLOSED);
    assert_int_equal(test.got_count, 30);
    for (size_t i = 0; i < test.got_count; i++) {
        assert_int_equal(test.got[i], i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_reuses_memory),
        cmocka_unit_test(pool_keeps_a_few),
        cmocka_unit_test(budget_counts_bytes_and_bookkeeping),
        cmocka_unit_test(queue_keeps_order_and_wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
