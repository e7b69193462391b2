#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

enum {
    PPM = 1000000,
    CLOCK_READS_MAX = 1 << 20,    // in one step: more is taken for a loop that polls the clock
    UNWIND_STEPS_MAX = 100 * 1000 // after which unfinished tasks are dropped
};

// ---- clocks

uint64_t uvea_sim_clock_ns(const struct uvea_sim_node *node)
{
    unsigned __int128 run = (unsigned __int128)node->sim->now_ns * node->clock_rate / PPM;
    return node->clock_base_ns + (uint64_t)run;
}

uint64_t uvea_sim_clock_to_sim_ns(const struct uvea_sim_node *node, uint64_t local_ns)
{
    if (local_ns == UVEA_NEVER || local_ns <= node->clock_base_ns) {
        return local_ns == UVEA_NEVER ? UVEA_NEVER : 0;
    }
    unsigned __int128 run = (unsigned __int128)(local_ns - node->clock_base_ns) * PPM;
    unsigned __int128 sim_ns = (run + node->clock_rate - 1) / node->clock_rate;
    return sim_ns >= UVEA_NEVER ? UVEA_NEVER : (uint64_t)sim_ns;
}

uint64_t uvea_sim_op_now_ns(struct uvea_rt *rt)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_sim *sim = node->sim;
    if (++sim->clock_reads > CLOCK_READS_MAX && sim->running != NULL) {
        sim->spinning = sim->spinning || !node->dying;
        uvea_sim_fiber_yield(sim->fibers); // for good: nobody resumes it
    }
    return uvea_sim_clock_ns(node);
}

// ---- waiting

static void wait_list_append(struct uvea_sim_wait_list *list, struct uvea_task *task)
{
    task->wait_list = list;
    task->wait_next = NULL;
    task->wait_prev = list->last;
    if (list->last != NULL) {
        list->last->wait_next = task;
    } else {
        list->first = task;
    }
    list->last = task;
}

static void wait_list_remove(struct uvea_task *task)
{
    struct uvea_sim_wait_list *list = task->wait_list;
    if (list == NULL) {
        return;
    }
    if (task->wait_next != NULL) {
        task->wait_next->wait_prev = task->wait_prev;
    } else {
        list->last = task->wait_prev;
    }
    if (task->wait_prev != NULL) {
        task->wait_prev->wait_next = task->wait_next;
    } else {
        list->first = task->wait_next;
    }
    task->wait_list = NULL;
}

// ---- ready tasks

static void ready_append(struct uvea_sim_wait_list *list, struct uvea_task *task)
{
    task->ready_next = NULL;
    if (list->last != NULL) {
        list->last->ready_next = task;
    } else {
        list->first = task;
    }
    list->last = task;
}

static struct uvea_task *ready_take(struct uvea_sim_wait_list *list)
{
    struct uvea_task *task = list->first;
    list->first = task->ready_next;
    if (list->first == NULL) {
        list->last = NULL;
    }
    return task;
}

void uvea_sim_ready_move(struct uvea_sim_wait_list *from, const struct uvea_sim_node *node,
                         struct uvea_sim_wait_list *to)
{
    struct uvea_sim_wait_list others = {0};
    while (from->first != NULL) {
        struct uvea_task *task = ready_take(from);
        ready_append(task->node == node ? to : &others, task);
    }
    *from = others;
}

static void make_ready(struct uvea_task *task)
{
    struct uvea_sim_node *node = task->node;
    struct uvea_sim *sim = node->sim;
    UVEA_CHECK(!task->ready);
    task->ready = true;
    ready_append(node->dying         ? &sim->unwinding
                 : node->life.paused ? &node->life.held
                                     : &sim->ready,
                 task);
}

// ---- waiting and waking

void uvea_sim_wake(struct uvea_task *task, enum uvea_error error)
{
    if (task->ready) {
        return;
    }
    UVEA_CHECK(task->wait_kind != UVEA_SIM_WAIT_NONE);
    wait_list_remove(task);
    uvea_sim_queue_cancel(&task->node->sim->queue, &task->timer);
    task->woken_with = error;
    task->wait_kind = UVEA_SIM_WAIT_NONE;
    make_ready(task);
}

void uvea_sim_wake_first(struct uvea_sim_wait_list *list, enum uvea_error error)
{
    if (list->first != NULL) {
        uvea_sim_wake(list->first, error);
    }
}

void uvea_sim_wake_all(struct uvea_sim_wait_list *list, enum uvea_error error)
{
    while (list->first != NULL) {
        uvea_sim_wake(list->first, error);
    }
}

static void timer_fire(struct uvea_sim *sim, struct uvea_sim_event *event)
{
    (void)sim;
    uvea_sim_wake((struct uvea_task *)event, UVEA_ERR_TIMEOUT);
}

bool uvea_sim_refuses(struct uvea_sim_node *node)
{
    if (!node->dying) {
        return false;
    }
    (void)uvea_sim_op_now_ns(&node->rt); // which stops a task that calls for ever
    return true;
}

void uvea_sim_yield(struct uvea_sim *sim)
{
    make_ready(sim->running);
    uvea_sim_fiber_yield(sim->fibers);
}

// Waits that go on while tasks are made to return: these wait for each other, and a program that
// has not begun for nothing that will come.
static bool outlives_unwinding(enum uvea_sim_wait_kind kind)
{
    return kind == UVEA_SIM_WAIT_JOIN || kind == UVEA_SIM_WAIT_LOCK ||
           kind == UVEA_SIM_WAIT_SERVER || kind == UVEA_SIM_WAIT_START;
}

enum uvea_error uvea_sim_wait(struct uvea_sim_node *node, struct uvea_sim_wait_list *list,
                              enum uvea_sim_wait_kind kind, const void *object,
                              uint64_t deadline_ns)
{
    struct uvea_sim *sim = node->sim;
    struct uvea_task *task = sim->running;
    UVEA_CHECK(task != NULL && task->node == node);
    if (node->dying && !outlives_unwinding(kind)) {
        uvea_sim_yield(sim);
        return UVEA_ERR_CLOSED;
    }
    uint64_t until_ns = uvea_sim_clock_to_sim_ns(node, deadline_ns);
    if (until_ns <= sim->now_ns) {
        uvea_sim_yield(sim);
        return node->dying ? UVEA_ERR_CLOSED : UVEA_ERR_TIMEOUT;
    }
    task->wait_kind = kind;
    task->wait_object = object;
    task->wait_until_ns = until_ns;
    if (list != NULL) {
        wait_list_append(list, task);
    }
    if (until_ns != UVEA_NEVER) {
        uvea_sim_queue_schedule(&sim->queue, &task->timer, until_ns);
    }
    uvea_sim_fiber_yield(sim->fibers);
    if (node->dying) {
        return UVEA_ERR_CLOSED;
    }
    if (task->woken_with == UVEA_ERR_TIMEOUT && list != NULL) {
        uvea_sim_record_words(node, UVEA_SIM_EVENT_TIMEOUT, UVEA_SIM_NO_PEER, 0, task->name, NULL);
    }
    return task->woken_with;
}

// Sleeps as long as the simulation says, whatever the node's clock shows.
enum uvea_error uvea_sim_op_sleep_until(struct uvea_rt *rt, uint64_t deadline_ns)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_sim *sim = node->sim;
    if (node->stopped) {
        uvea_sim_yield(sim);
        return UVEA_ERR_CLOSED;
    }
    uint64_t start_ns = sim->now_ns;
    enum uvea_error error = uvea_sim_wait(node, NULL, UVEA_SIM_WAIT_SLEEP, NULL, deadline_ns);
    uvea_sim_record(node, UVEA_SIM_EVENT_SLEEP, UVEA_SIM_NO_PEER, sim->now_ns - start_ns,
                    sim->running->name);
    return error == UVEA_ERR_TIMEOUT ? UVEA_OK : error;
}

void uvea_sim_op_charge(struct uvea_rt *rt, enum uvea_charge what, uint64_t units)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_sim *sim = node->sim;
    UVEA_CHECK((unsigned)what < UVEA_CHARGE_COUNT);
    uint64_t cost_ns;
    if (__builtin_mul_overflow(units, sim->config.cost_ns[what], &cost_ns)) {
        cost_ns = UVEA_NEVER;
    }
    cost_ns = uvea_sim_slowed_ns(node, cost_ns);
    if (cost_ns == 0 || node->dying) {
        return;
    }
    uint64_t until_ns;
    if (__builtin_add_overflow(sim->now_ns, cost_ns, &until_ns)) {
        until_ns = UVEA_NEVER;
    }
    struct uvea_task *task = sim->running;
    UVEA_CHECK(task != NULL && task->node == node);
    task->wait_kind = UVEA_SIM_WAIT_CHARGE;
    task->wait_object = NULL;
    task->wait_until_ns = until_ns;
    uvea_sim_queue_schedule(&sim->queue, &task->timer, until_ns);
    uvea_sim_fiber_yield(sim->fibers);
    uvea_sim_record(node, UVEA_SIM_EVENT_CHARGE, UVEA_SIM_NO_PEER, cost_ns, task->name);
}

// ---- life of a task

static void task_main(void *arg)
{
    struct uvea_task *task = arg;
    task->begun = true;
    uvea_sim_record_words(task->node, UVEA_SIM_EVENT_SPAWN, UVEA_SIM_NO_PEER, 0, task->name, NULL);
    task->fn(task->arg);
    uvea_sim_record_words(task->node, UVEA_SIM_EVENT_EXIT, UVEA_SIM_NO_PEER, 0, task->name, NULL);
}

// The task is not ready yet.
static enum uvea_error task_make(struct uvea_sim_node *node, const char *name, uvea_task_fn *fn,
                                 void *arg, struct uvea_task **made)
{
    struct uvea_sim *sim = node->sim;
    struct uvea_task *task = uvea_mem_alloc(1, sizeof(*task));
    if (task == NULL) {
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error = uvea_sim_queue_reserve(&sim->queue, 1);
    if (error != UVEA_OK) {
        uvea_mem_free(task);
        return error;
    }
    error = uvea_sim_fiber_open(sim->fibers, task_main, task, &task->fiber);
    if (error != UVEA_OK) {
        uvea_sim_queue_release(&sim->queue, 1);
        uvea_mem_free(task);
        return error;
    }
    task->timer.fire = timer_fire;
    task->node = node;
    task->name = name;
    task->fn = fn;
    task->arg = arg;
    UVEA_SIM_LIST_ADD(sim->tasks, task);
    sim->live_tasks++;
    node->live_tasks++;
    *made = task;
    return UVEA_OK;
}

static void task_free(struct uvea_task *task)
{
    struct uvea_sim *sim = task->node->sim;
    UVEA_SIM_LIST_REMOVE(sim->tasks, task);
    uvea_sim_queue_cancel(&sim->queue, &task->timer);
    uvea_sim_queue_release(&sim->queue, 1);
    uvea_mem_free(task);
}

enum uvea_error uvea_sim_op_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn, void *arg,
                                  struct uvea_task **task)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    if (uvea_sim_refuses(node)) {
        return UVEA_ERR_CLOSED;
    }
    UVEA_TRY(task_make(node, name, fn, arg, task));
    make_ready(*task);
    return UVEA_OK;
}

enum uvea_error uvea_sim_start(struct uvea_sim *sim, unsigned node, const char *name,
                               uvea_task_fn *fn, void *arg)
{
    UVEA_CHECK(node < sim->config.node_count);
    struct uvea_task *task;
    if (uvea_sim_refuses(&sim->nodes[node])) {
        return UVEA_ERR_CLOSED;
    }
    UVEA_TRY(task_make(&sim->nodes[node], name, fn, arg, &task));
    task->detached = true;
    make_ready(task);
    return UVEA_OK;
}

static void start_fire(struct uvea_sim *sim, struct uvea_sim_event *event)
{
    struct uvea_task *task = (struct uvea_task *)event;
    (void)sim;
    task->timer.fire = timer_fire;
    uvea_sim_incarnation_begin(task->node);
    uvea_sim_wake(task, UVEA_OK);
}

enum uvea_error uvea_sim_start_at(struct uvea_sim_node *node, uint64_t at_ns, uvea_task_fn *fn,
                                  void *arg)
{
    struct uvea_task *task;
    UVEA_TRY(task_make(node, "main", fn, arg, &task));
    task->detached = true;
    task->is_program = true;
    task->timer.fire = start_fire;
    task->wait_kind = UVEA_SIM_WAIT_START;
    task->wait_until_ns = at_ns;
    if (at_ns != UVEA_NEVER) {
        uvea_sim_queue_schedule(&node->sim->queue, &task->timer, at_ns);
    }
    return UVEA_OK;
}

void uvea_sim_op_join(struct uvea_rt *rt, struct uvea_task *task)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(task->node == node && !task->detached && task->joiner.first == NULL);
    while (!task->finished) {
        (void)!uvea_sim_wait(node, &task->joiner, UVEA_SIM_WAIT_JOIN, task, UVEA_NEVER);
    }
    task_free(task);
}

// Resumes a task, which has been taken from the ready ones. False: it has returned.
static bool task_resume(struct uvea_task *task)
{
    struct uvea_sim_node *node = task->node;
    struct uvea_sim *sim = node->sim;
    task->ready = false;
    sim->running = task;
    sim->clock_reads = 0;
    bool finished = uvea_sim_fiber_resume(task->fiber);
    sim->running = NULL;
    if (!finished) {
        return true;
    }
    task->finished = true;
    sim->live_tasks--;
    node->live_tasks--;
    uvea_sim_wake_all(&task->joiner, UVEA_OK);
    if (task->detached) {
        task_free(task);
    }
    return false;
}

void uvea_sim_step(struct uvea_sim *sim)
{
    struct uvea_task *task = ready_take(&sim->ready);
    struct uvea_sim_node *node = task->node;
    if (!task_resume(task) && node->live_tasks == 0) {
        uvea_sim_incarnation_emptied(node);
    }
}

// ---- making tasks return. node NULL stands for every node.

static bool is_of(const struct uvea_task *task, const struct uvea_sim_node *node)
{
    return node == NULL || task->node == node;
}

static void task_drop(struct uvea_task *task)
{
    struct uvea_sim *sim = task->node->sim;
    if (!task->finished) {
        sim->live_tasks--;
        task->node->live_tasks--;
        sim->dropped_tasks += task->begun;
        if (!task->begun) {
            uvea_sim_fiber_cancel(task->fiber);
        }
    }
    task_free(task);
}

unsigned uvea_sim_tasks_drop(struct uvea_sim *sim, const struct uvea_sim_node *node)
{
    unsigned unjoined = 0;
    struct uvea_task *task;
    for (task = sim->tasks; task != NULL; task = task->next) {
        if (is_of(task, node)) {
            wait_list_remove(task); // some wait for each other
        }
    }
    task = sim->tasks;
    while (task != NULL) {
        struct uvea_task *next = task->next;
        if (is_of(task, node)) {
            unjoined += task->finished;
            task_drop(task);
        }
        task = next;
    }
    return unjoined;
}

static void dying_set(struct uvea_sim *sim, const struct uvea_sim_node *node, bool dying)
{
    for (unsigned i = 0; i < sim->config.node_count; i++) {
        if (node == NULL || node == &sim->nodes[i]) {
            sim->nodes[i].dying = dying;
        }
    }
}

static void wake_with_closed(struct uvea_sim *sim, const struct uvea_sim_node *node)
{
    for (struct uvea_task *task = sim->tasks; task != NULL; task = task->next) {
        enum uvea_sim_wait_kind kind = task->wait_kind;
        if (is_of(task, node) && kind != UVEA_SIM_WAIT_NONE && !outlives_unwinding(kind)) {
            uvea_sim_wake(task, UVEA_ERR_CLOSED);
        }
    }
}

void uvea_sim_tasks_unwind(struct uvea_sim *sim, const struct uvea_sim_node *node)
{
    UVEA_CHECK(sim->running == NULL && sim->unwinding.first == NULL);
    dying_set(sim, node, true);
    for (unsigned i = 0; i < sim->config.node_count; i++) {
        if (node == NULL || node == &sim->nodes[i]) {
            uvea_sim_ready_move(&sim->nodes[i].life.held, &sim->nodes[i], &sim->unwinding);
            uvea_sim_ready_move(&sim->ready, &sim->nodes[i], &sim->unwinding);
        }
    }
    wake_with_closed(sim, node);
    for (unsigned i = 0; i < UNWIND_STEPS_MAX && sim->unwinding.first != NULL; i++) {
        struct uvea_task *task = ready_take(&sim->unwinding);
        if (task->is_program && !task->begun) {
            task_drop(task); // killed before its first step: it has nothing to give back
        } else {
            (void)task_resume(task);
        }
    }
    sim->unwinding = (struct uvea_sim_wait_list){0}; // what is left here is dropped by the caller
}

void uvea_sim_tasks_unwound(struct uvea_sim *sim, const struct uvea_sim_node *node)
{
    dying_set(sim, node, false);
}
