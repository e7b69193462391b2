#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>

void uvea_check_failed(const char *file, int line, const char *condition)
{
    (void)fprintf(stderr, "uvea: %s:%d: check failed: %s\n", file, line, condition);
    abort();
}
