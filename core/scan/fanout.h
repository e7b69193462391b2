// Work on many sessions at once: item i runs on task i mod tasks, in order within a task.
// Every party must use the same counts, so that the same items follow each other everywhere.
#ifndef UVEA_CORE_SCAN_FANOUT_H
#define UVEA_CORE_SCAN_FANOUT_H

#include "core/base/error.h"
#include "core/rt/rt.h"

#include <stddef.h>

enum { UVEA_FANOUT_TASKS_MAX = 256 };

typedef enum uvea_error uvea_fanout_fn(void *arg, size_t item, struct uvea_error_context *context);

// (blocks) Runs fn(arg, item) for all items on min(items, tasks_max) tasks and waits for all of
// them; with one task, in the caller. A task stops at its first failure, the others go on. Returns
// the failure of the first task that has one, with its context. name: a literal. tasks_max is
// 1..UVEA_FANOUT_TASKS_MAX.
UVEA_MUST_USE enum uvea_error uvea_fanout(struct uvea_rt *rt, const char *name, uvea_fanout_fn *fn,
                                          void *arg, size_t items, size_t tasks_max,
                                          struct uvea_error_context *context);

#endif
