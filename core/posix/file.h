// Files that a user names, read whole.
#ifndef UVEA_CORE_POSIX_FILE_H
#define UVEA_CORE_POSIX_FILE_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stddef.h>

// What a reader reserves at a time.
enum { UVEA_FILE_READ_BYTES = 1 << 16 };

// Appends the file's bytes. NOT_FOUND: it cannot be opened or read; LIMIT: longer than bytes_max;
// MEMORY. The sentence names the file. The buffer grows as it is filled, which leaves copies
// behind: for a secret, make room for bytes_max + 2 * UVEA_FILE_READ_BYTES before.
UVEA_MUST_USE enum uvea_error uvea_file_read(const char *path, size_t bytes_max,
                                             struct uvea_buf *out,
                                             struct uvea_error_context *context);

// The same from an open file; name: for sentences.
UVEA_MUST_USE enum uvea_error uvea_file_read_open(int file, const char *name, size_t bytes_max,
                                                  struct uvea_buf *out,
                                                  struct uvea_error_context *context);

#endif
