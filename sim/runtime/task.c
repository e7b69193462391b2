#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

#include <inttypes.h>
#include <stdio.h>

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
        sim->spinning = true;
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

static void make_ready(struct uvea_task *task)
{
    struct uvea_sim *sim = task->node->sim;
    UVEA_CHECK(!task->ready);
    task->ready = true;
    task->ready_next = NULL;
    if (sim->ready.last != NULL) {
        sim->ready.last->ready_next = task;
    } else {
        sim->ready.first = task;
    }
    sim->ready.last = task;
}

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

bool uvea_sim_dying(const struct uvea_sim_node *node)
{
    return node->sim->unwinding;
}

void uvea_sim_yield(struct uvea_sim *sim)
{
    make_ready(sim->running);
    uvea_sim_fiber_yield(sim->fibers);
}

// What tasks do for each other also while they are made to return.
static bool outlives_unwinding(enum uvea_sim_wait_kind kind)
{
    return kind == UVEA_SIM_WAIT_JOIN || kind == UVEA_SIM_WAIT_LOCK || kind == UVEA_SIM_WAIT_SERVER;
}

enum uvea_error uvea_sim_wait(struct uvea_sim_node *node, struct uvea_sim_wait_list *list,
                              enum uvea_sim_wait_kind kind, const void *object,
                              uint64_t deadline_ns)
{
    struct uvea_sim *sim = node->sim;
    struct uvea_task *task = sim->running;
    UVEA_CHECK(task != NULL && task->node == node);
    if (sim->unwinding && !outlives_unwinding(kind)) {
        uvea_sim_yield(sim);
        return UVEA_ERR_CLOSED;
    }
    uint64_t until_ns = uvea_sim_clock_to_sim_ns(node, deadline_ns);
    if (until_ns <= sim->now_ns) {
        uvea_sim_yield(sim);
        return sim->unwinding ? UVEA_ERR_CLOSED : UVEA_ERR_TIMEOUT;
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
    if (cost_ns == 0 || sim->unwinding) {
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
    uvea_sim_record_words(task->node, UVEA_SIM_EVENT_SPAWN, UVEA_SIM_NO_PEER, 0, task->name, NULL);
    task->fn(task->arg);
    uvea_sim_record_words(task->node, UVEA_SIM_EVENT_EXIT, UVEA_SIM_NO_PEER, 0, task->name, NULL);
}

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
    make_ready(task);
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
    return node->sim->unwinding ? UVEA_ERR_CLOSED : task_make(node, name, fn, arg, task);
}

enum uvea_error uvea_sim_start(struct uvea_sim *sim, unsigned node, const char *name,
                               uvea_task_fn *fn, void *arg)
{
    UVEA_CHECK(node < sim->config.node_count);
    struct uvea_task *task;
    UVEA_TRY(task_make(&sim->nodes[node], name, fn, arg, &task));
    task->detached = true;
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

void uvea_sim_step(struct uvea_sim *sim)
{
    struct uvea_task *task = sim->ready.first;
    sim->ready.first = task->ready_next;
    if (sim->ready.first == NULL) {
        sim->ready.last = NULL;
    }
    task->ready = false;
    sim->running = task;
    sim->clock_reads = 0;
    bool finished = uvea_sim_fiber_resume(task->fiber);
    sim->running = NULL;
    if (!finished) {
        return;
    }
    task->finished = true;
    sim->live_tasks--;
    uvea_sim_wake_all(&task->joiner, UVEA_OK);
    if (task->detached) {
        task_free(task);
    }
}

void uvea_sim_tasks_close(struct uvea_sim *sim)
{
    sim->unwinding = true;
    for (struct uvea_task *task = sim->tasks; task != NULL; task = task->next) {
        enum uvea_sim_wait_kind kind = task->wait_kind;
        if (!task->finished && kind != UVEA_SIM_WAIT_NONE && !outlives_unwinding(kind)) {
            uvea_sim_wake(task, UVEA_ERR_CLOSED);
        }
    }
    for (unsigned i = 0; i < UNWIND_STEPS_MAX && sim->ready.first != NULL; i++) {
        uvea_sim_step(sim);
    }
    while (sim->tasks != NULL) {
        task_free(sim->tasks);
    }
}

// ---- what tasks wait for

static const char *peer_name(const struct uvea_stream *stream)
{
    return stream->connection->ends[1 - stream->end].node->name;
}

static void describe_stream(const struct uvea_stream *stream, const char *verb, char *text,
                            size_t bytes)
{
    (void)snprintf(text, bytes, "%s %s (connection %" PRIu64 ", %s)", verb, peer_name(stream),
                   stream->connection->number, stream->connection->address);
}

static void describe_wait(const struct uvea_task *task, char *text, size_t bytes)
{
    const void *object = task->wait_object;
    switch (task->wait_kind) {
    case UVEA_SIM_WAIT_NONE:
        (void)snprintf(text, bytes, task->ready ? "is ready to run" : "runs without ever waiting");
        break;
    case UVEA_SIM_WAIT_SLEEP:
        (void)snprintf(text, bytes, "sleeps");
        break;
    case UVEA_SIM_WAIT_CHARGE:
        (void)snprintf(text, bytes, "computes");
        break;
    case UVEA_SIM_WAIT_JOIN:
        (void)snprintf(text, bytes, "joins task '%s'", ((const struct uvea_task *)object)->name);
        break;
    case UVEA_SIM_WAIT_SEND:
        (void)snprintf(text, bytes, "sends into a full channel of %zu",
                       ((const struct uvea_channel *)object)->capacity);
        break;
    case UVEA_SIM_WAIT_RECEIVE:
        (void)snprintf(text, bytes, "receives from an empty channel of %zu",
                       ((const struct uvea_channel *)object)->capacity);
        break;
    case UVEA_SIM_WAIT_ACCEPT:
        (void)snprintf(text, bytes, "accepts at %s",
                       ((const struct uvea_listener *)object)->address);
        break;
    case UVEA_SIM_WAIT_DIAL:
        (void)snprintf(text, bytes, "dials %s",
                       ((const struct uvea_sim_connection *)object)->address);
        break;
    case UVEA_SIM_WAIT_READ:
        describe_stream(object, "reads from", text, bytes);
        break;
    case UVEA_SIM_WAIT_WRITE:
        describe_stream(object, "writes to", text, bytes);
        break;
    case UVEA_SIM_WAIT_LOCK:
        (void)snprintf(text, bytes, "takes a lock that task '%s' holds",
                       ((const struct uvea_lock *)object)->holder->name);
        break;
    case UVEA_SIM_WAIT_SERVER:
        (void)snprintf(text, bytes, "closes the HTTP server at %s",
                       uvea_sim_http_server_address(object));
        break;
    }
}

static int describe_task(const struct uvea_task *task, char *text, size_t bytes)
{
    char what[160];
    char until[48] = "";
    describe_wait(task, what, sizeof(what));
    if (task->wait_kind != UVEA_SIM_WAIT_NONE && task->wait_until_ns != UVEA_NEVER) {
        uint64_t us = task->wait_until_ns / 1000;
        (void)snprintf(until, sizeof(until), ", until %" PRIu64 ".%06" PRIu64 " s", us / 1000000,
                       us % 1000000);
    }
    return snprintf(text, bytes, "%s task '%s' %s%s\n", task->node->name, task->name, what, until);
}

void uvea_sim_describe_blocked(const struct uvea_sim *sim, char *text, size_t bytes)
{
    enum { REST_BYTES = 64 }; // for the last line
    const struct uvea_task *task = sim->tasks;
    size_t used = 0;
    unsigned left = sim->live_tasks;
    text[0] = '\0';
    while (task != NULL && task->next != NULL) {
        task = task->next;
    }
    for (; task != NULL; task = task->prev) { // oldest first
        char line[320];
        if (task->finished) {
            continue;
        }
        size_t line_bytes = (size_t)describe_task(task, line, sizeof(line));
        line_bytes = line_bytes < sizeof(line) ? line_bytes : sizeof(line) - 1;
        if (used + line_bytes + REST_BYTES > bytes) {
            (void)snprintf(text + used, bytes - used, "and %u more tasks\n", left);
            return;
        }
        (void)snprintf(text + used, bytes - used, "%s", line);
        used += line_bytes;
        left--;
    }
}
