#include "core/scan/fanout.h"

#include "core/base/check.h"
#include "core/base/mem.h"

struct strand {
    uvea_fanout_fn *fn;
    void *arg;
    size_t first;
    size_t items;
    size_t step;
    struct uvea_task *task;
    enum uvea_error error;
    struct uvea_error_context context;
};

static void run_strand(void *arg)
{
    struct strand *strand = arg;

    for (size_t item = strand->first; item < strand->items; item += strand->step) {
        strand->error = strand->fn(strand->arg, item, &strand->context);
        if (strand->error != UVEA_OK) {
            return;
        }
    }
}

static enum uvea_error run_in_caller(uvea_fanout_fn *fn, void *arg, size_t items,
                                     struct uvea_error_context *context)
{
    for (size_t item = 0; item < items; item++) {
        UVEA_TRY(fn(arg, item, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_fanout(struct uvea_rt *rt, const char *name, uvea_fanout_fn *fn, void *arg,
                            size_t items, size_t tasks_max, struct uvea_error_context *context)
{
    const size_t tasks = items < tasks_max ? items : tasks_max;
    enum uvea_error error = UVEA_OK;
    struct strand *strands;
    size_t started = 0;

    UVEA_CHECK(tasks_max >= 1 && tasks_max <= UVEA_FANOUT_TASKS_MAX);
    if (tasks <= 1) {
        return run_in_caller(fn, arg, items, context);
    }
    strands = uvea_mem_alloc(tasks, sizeof(*strands));
    if (strands == NULL) {
        return UVEA_ERR_MEMORY;
    }
    while (started < tasks && error == UVEA_OK) {
        struct strand *strand = &strands[started];
        *strand =
            (struct strand){.fn = fn, .arg = arg, .first = started, .items = items, .step = tasks};
        error = uvea_rt_spawn(rt, name, run_strand, strand, &strand->task);
        started += error == UVEA_OK;
    }
    for (size_t i = 0; i < started; i++) {
        uvea_rt_join(rt, strands[i].task);
        if (error == UVEA_OK && strands[i].error != UVEA_OK) {
            error = strands[i].error;
            if (context != NULL) {
                *context = strands[i].context;
            }
        }
    }
    uvea_mem_free(strands);
    return error;
}
