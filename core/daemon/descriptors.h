// Whether the limit on open files lets all pools be full at once: told at the start, as a process
// without descriptors serves nobody for a while, health checks included.
#ifndef UVEA_CORE_DAEMON_DESCRIPTORS_H
#define UVEA_CORE_DAEMON_DESCRIPTORS_H

#include "core/base/error.h"
#include "core/daemon/settings.h"

#include <stdint.h>

// What all pools together can take, with what is open anyway.
uint64_t uvea_descriptors_need(const struct uvea_settings *settings);

// How many this process may have open; core/posix raises that to the hard limit. UINT64_MAX: any
// number, or it cannot be found out.
uint64_t uvea_descriptors_limit(void);

// LIMIT: the sentence has both numbers.
UVEA_MUST_USE enum uvea_error uvea_descriptors_check(uint64_t need, uint64_t limit,
                                                     struct uvea_error_context *context);

#endif
