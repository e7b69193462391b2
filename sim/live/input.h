// Files that the live tools read.
#ifndef UVEA_SIM_LIVE_INPUT_H
#define UVEA_SIM_LIVE_INPUT_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stddef.h>

// Appends the whole file; makes room for bytes_max at once. NOT_FOUND, IO, LIMIT: longer than that.
// The sentence names the file.
UVEA_MUST_USE enum uvea_error uvea_live_read(const char *file, size_t bytes_max,
                                             struct uvea_buf *buf,
                                             struct uvea_error_context *context);

#endif
