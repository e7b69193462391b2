// The event queue against a list that is searched from end to end.
#include "sim/runtime/state.h"
#include "tests/support/cmocka.h"

enum { EVENTS = 200, OPERATIONS = 20000 };

struct entry {
    struct uvea_sim_event event;
    bool scheduled;
    uint64_t time_ns;
    uint64_t order;
};

static struct entry *first_of(struct entry *entries)
{
    struct entry *first = NULL;
    for (unsigned i = 0; i < EVENTS; i++) {
        struct entry *at = &entries[i];
        if (at->scheduled && (first == NULL || at->time_ns < first->time_ns ||
                              (at->time_ns == first->time_ns && at->order < first->order))) {
            first = at;
        }
    }
    return first;
}

static void pop_one(struct uvea_sim_queue *queue, struct entry *entries)
{
    struct entry *expected = first_of(entries);
    assert_int_equal(uvea_sim_queue_next_ns(queue),
                     expected != NULL ? expected->time_ns : UVEA_NEVER);
    if (expected != NULL) {
        assert_ptr_equal(uvea_sim_queue_pop(queue), &expected->event);
        assert_int_equal(expected->event.place, 0);
        expected->scheduled = false;
    }
}

static void test_order_by_time_then_sequence(void **state)
{
    (void)state;
    static struct entry entries[EVENTS];
    struct uvea_sim_queue queue = {0};
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "queue");
    for (unsigned i = 0; i < EVENTS; i++) {
        assert_int_equal(uvea_sim_queue_reserve(&queue, 1), UVEA_OK);
    }
    for (uint64_t order = 0; order < OPERATIONS; order++) {
        struct entry *at = &entries[uvea_sim_random_below(&random, EVENTS)];
        switch (uvea_sim_random_below(&random, 4)) {
        case 0:
            uvea_sim_queue_cancel(&queue, &at->event);
            at->scheduled = false;
            break;
        case 1:
            pop_one(&queue, entries);
            break;
        default:
            at->time_ns = uvea_sim_random_below(&random, 50);
            at->order = order;
            at->scheduled = true;
            uvea_sim_queue_schedule(&queue, &at->event, at->time_ns);
        }
    }
    for (unsigned i = 0; i <= EVENTS; i++) {
        pop_one(&queue, entries);
    }
    assert_int_equal(queue.count, 0);
    uvea_sim_queue_release(&queue, EVENTS);
    uvea_sim_queue_deinit(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_by_time_then_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
