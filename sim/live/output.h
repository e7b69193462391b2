// Files that the live tools make: whole under their name or not there at all.
#ifndef UVEA_SIM_LIVE_OUTPUT_H
#define UVEA_SIM_LIVE_OUTPUT_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

// secret: mode 0600, else 0644. Not overwrite: USAGE when there is one already. IO.
UVEA_MUST_USE enum uvea_error uvea_live_write(const char *file, const void *bytes, size_t len,
                                              bool secret, bool overwrite,
                                              struct uvea_error_context *context);

// Makes the directory unless it is there. secret: mode 0700, also of one that was there; else 0755.
UVEA_MUST_USE enum uvea_error uvea_live_make_directory(const char *directory, bool secret,
                                                       struct uvea_error_context *context);

#endif
