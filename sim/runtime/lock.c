// Locks. One thread runs everything, so a lock is contended only when its holder waited for
// something while it held it: the store's disk, or a charge.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

enum uvea_error uvea_sim_op_lock_open(struct uvea_rt *rt, struct uvea_lock **lock)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    if (uvea_sim_refuses(node)) {
        return UVEA_ERR_CLOSED;
    }
    struct uvea_lock *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->node = node;
    UVEA_SIM_LIST_ADD(node->sim->locks, made);
    *lock = made;
    return UVEA_OK;
}

// Outside a run, where there are no tasks, holder is NULL: it only counts that the lock is held.
void uvea_sim_op_lock_take(struct uvea_rt *rt, struct uvea_lock *lock)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(lock->node == node);
    while (lock->held) {
        UVEA_CHECK(node->sim->running != NULL && lock->holder != node->sim->running);
        (void)!uvea_sim_wait(node, &lock->takers, UVEA_SIM_WAIT_LOCK, lock, UVEA_NEVER);
    }
    lock->held = true;
    lock->holder = node->sim->running;
}

void uvea_sim_op_lock_release(struct uvea_rt *rt, struct uvea_lock *lock)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(lock->node == node && lock->held && lock->holder == node->sim->running);
    lock->held = false;
    lock->holder = NULL;
    uvea_sim_wake_first(&lock->takers, UVEA_OK);
}

void uvea_sim_op_lock_close(struct uvea_rt *rt, struct uvea_lock *lock)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(lock->node == node && !lock->held && lock->takers.first == NULL);
    UVEA_SIM_LIST_REMOVE(node->sim->locks, lock);
    uvea_mem_free(lock);
}

unsigned uvea_sim_locks_drop(struct uvea_sim *sim, const struct uvea_sim_node *node)
{
    unsigned dropped = 0;
    struct uvea_lock *lock = sim->locks;
    while (lock != NULL) {
        struct uvea_lock *next = lock->next;
        if (node == NULL || lock->node == node) {
            UVEA_SIM_LIST_REMOVE(sim->locks, lock);
            uvea_mem_free(lock);
            dropped++;
        }
        lock = next;
    }
    return dropped;
}
