// What a test needs of the machine.
#ifndef UVEA_TESTS_SUPPORT_DESCRIPTORS_H
#define UVEA_TESTS_SUPPORT_DESCRIPTORS_H

#include "tests/support/cmocka.h"

#include <sys/resource.h>

// Skips the test where a process may not have so many files open.
static inline void need_descriptors(unsigned count)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < count) {
        print_message("skipped: the hard limit on open files is %llu, and %u are needed\n",
                      (unsigned long long)limit.rlim_max, count);
        skip();
    }
}

// Both ends of each may be in the test's process, and take two there.
static inline void need_connections(unsigned count)
{
    need_descriptors(4 * count + 256);
}

#endif
