#include "core/base/check.h"
#include "core/scan/fanout.h"
#include "tests/scan/cluster.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum { ITEMS_MAX = 600, NOTHING_FAILS = ITEMS_MAX };

struct record {
    size_t tasks;
    size_t fails_at[2];
    _Atomic unsigned ran[ITEMS_MAX];
    _Atomic unsigned clock;
    unsigned order[ITEMS_MAX];
};

static enum uvea_error note_item(void *arg, size_t item, struct uvea_error_context *context)
{
    struct record *record = arg;

    record->ran[item]++;
    record->order[item] = ++record->clock;
    for (size_t i = 0; i < UVEA_COUNT_OF(record->fails_at); i++) {
        if (item == record->fails_at[i]) {
            return uvea_error_set(context, UVEA_ERR_STATE, "item %zu", item);
        }
    }
    return UVEA_OK;
}

static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 255, 256, 257, 513};
static const size_t task_counts[] = {1, 2, 3, 8, 32, 256};

static void every_item_runs_once_in_order_on_its_task(void **state)
{
    (void)state;
    for (size_t s = 0; s < UVEA_COUNT_OF(sizes); s++) {
        for (size_t t = 0; t < UVEA_COUNT_OF(task_counts); t++) {
            struct record record = {.fails_at = {NOTHING_FAILS, NOTHING_FAILS}};
            struct cluster_rt rt;
            const size_t tasks = task_counts[t] < sizes[s] ? task_counts[t] : sizes[s];
            cluster_rt_init(&rt);
            assert_int_equal(
                uvea_fanout(&rt.rt, "note", note_item, &record, sizes[s], task_counts[t], NULL),
                UVEA_OK);
            assert_int_equal(rt.spawned, tasks > 1 ? tasks : 0);
            for (size_t i = 0; i < sizes[s]; i++) {
                assert_int_equal(record.ran[i], 1);
                assert_true(i < tasks || record.order[i - tasks] < record.order[i]);
            }
        }
    }
}

// The failing tasks stop, the others finish, and the first task's sentence is the one reported.
static void first_failing_task_is_reported(void **state)
{
    struct record record = {.fails_at = {6, 9}};
    struct uvea_error_context context = {{0}};
    struct cluster_rt rt;

    (void)state;
    cluster_rt_init(&rt);
    assert_int_equal(uvea_fanout(&rt.rt, "note", note_item, &record, 20, 4, &context),
                     UVEA_ERR_STATE);
    assert_string_equal(context.text, "item 9"); // task 1; item 6 is task 2's
    for (size_t i = 0; i < 20; i++) {
        const bool stopped = (i % 4 == 2 && i > 6) || (i % 4 == 1 && i > 9);
        assert_int_equal(record.ran[i], stopped ? 0 : 1);
    }
}

static void failure_in_the_caller_is_reported(void **state)
{
    struct record record = {.fails_at = {1, NOTHING_FAILS}};
    struct uvea_error_context context = {{0}};
    struct cluster_rt rt;

    (void)state;
    cluster_rt_init(&rt);
    assert_int_equal(uvea_fanout(&rt.rt, "note", note_item, &record, 3, 1, &context),
                     UVEA_ERR_STATE);
    assert_string_equal(context.text, "item 1");
    assert_int_equal(record.ran[2], 0);
}

// ---- a runtime that refuses to start a task

static unsigned spawns_left;
static enum uvea_error (*real_spawn)(struct uvea_rt *rt, const char *name, uvea_task_fn *fn,
                                     void *arg, struct uvea_task **task);

static enum uvea_error failing_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn,
                                     void *arg, struct uvea_task **task)
{
    if (spawns_left == 0) {
        return UVEA_ERR_LIMIT;
    }
    spawns_left--;
    return real_spawn(rt, name, fn, arg, task);
}

static void refused_task_is_reported_after_the_others_ended(void **state)
{
    struct record record = {.fails_at = {NOTHING_FAILS, NOTHING_FAILS}};
    struct cluster_rt rt;
    struct uvea_rt_ops ops;

    (void)state;
    cluster_rt_init(&rt);
    ops = *rt.rt.ops;
    real_spawn = ops.spawn;
    ops.spawn = failing_spawn;
    rt.rt.ops = &ops;
    spawns_left = 2;
    assert_int_equal(uvea_fanout(&rt.rt, "note", note_item, &record, 9, 3, NULL), UVEA_ERR_LIMIT);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(record.ran[i], i % 3 < 2 ? 1 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_runs_once_in_order_on_its_task),
        cmocka_unit_test(first_failing_task_is_reported),
        cmocka_unit_test(failure_in_the_caller_is_reported),
        cmocka_unit_test(refused_task_is_reported_after_the_others_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
