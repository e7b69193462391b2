// Tasks are threads.
#include "core/base/mem.h"
#include "core/posix/state.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

struct uvea_task {
    pthread_t thread;
    const char *name;
    uvea_task_fn *fn;
    void *arg;
};

static void *run(void *arg)
{
    struct uvea_task *task = arg;
    char shown[16]; // as much as the kernel keeps
    (void)snprintf(shown, sizeof(shown), "%s", task->name);
    (void)pthread_setname_np(pthread_self(), shown);
    task->fn(task->arg);
    return NULL;
}

// Scan workers stay on processors of their own, so that the records they read stay near.
static bool pin(struct uvea_posix *posix, const char *name, pthread_attr_t *attributes)
{
    if (posix->config.cpu_count == 0 || strncmp(name, "scan", 4) != 0) {
        return true;
    }
    unsigned turn = atomic_fetch_add(&posix->pin_next, 1);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(posix->config.cpus[turn % posix->config.cpu_count], &set);
    return pthread_attr_setaffinity_np(attributes, sizeof(set), &set) == 0;
}

static bool start(struct uvea_posix *posix, struct uvea_task *task)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    bool good = pthread_attr_setstacksize(&attributes, UVEA_POSIX_STACK_BYTES) == 0 &&
                pin(posix, task->name, &attributes) &&
                pthread_create(&task->thread, &attributes, run, task) == 0;
    (void)pthread_attr_destroy(&attributes);
    return good;
}

enum uvea_error uvea_posix_op_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn,
                                    void *arg, struct uvea_task **task)
{
    struct uvea_task *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    *made = (struct uvea_task){.name = name, .fn = fn, .arg = arg};
    if (!start(uvea_posix_of(rt), made)) {
        uvea_mem_free(made);
        return UVEA_ERR_MEMORY;
    }
    *task = made;
    return UVEA_OK;
}

void uvea_posix_op_join(struct uvea_rt *rt, struct uvea_task *task)
{
    (void)rt;
    (void)pthread_join(task->thread, NULL);
    uvea_mem_free(task);
}
