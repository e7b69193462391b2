// Files of the command. Input is read whole before anything is written; output appears under its
// name only when it is complete.
#ifndef UVEA_SIM_CMD_FILE_H
#define UVEA_SIM_CMD_FILE_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { UVEA_FILE_BYTES_MAX = 1 << 28 };

// Appends the contents of a file, "-" for standard input, at most UVEA_FILE_BYTES_MAX bytes.
// Errors as of uvea_file_read.
UVEA_MUST_USE enum uvea_error uvea_input_read(const char *path, struct uvea_buf *buf,
                                              struct uvea_error_context *context);

// One output. A regular file is written beside its place and renamed over it by publish; standard
// output, devices and pipes are written as they are. All zero: closed.
struct uvea_output {
    bool open;
    bool staged;
    int fd;
    char path[PATH_MAX];
    char temporary[PATH_MAX];
    struct uvea_buf pending;
};

// Whether an output can be made there, before the work whose result it will hold: nothing is left
// behind. path NULL or "-": yes. IO names the path.
UVEA_MUST_USE enum uvea_error uvea_output_check(const char *path,
                                                struct uvea_error_context *context);
// path NULL or "-" is standard output. A secret file is readable by its owner only.
UVEA_MUST_USE enum uvea_error uvea_output_open(struct uvea_output *out, const char *path,
                                               bool secret, struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_output_write(struct uvea_output *out, const void *bytes,
                                                size_t len, struct uvea_error_context *context);
UVEA_MUST_USE UVEA_PRINTF(3, 4) enum uvea_error
    uvea_output_print(struct uvea_output *out, struct uvea_error_context *context,
                      const char *format, ...);
// Everything written is on the disk, under the temporary name still.
UVEA_MUST_USE enum uvea_error uvea_output_seal(struct uvea_output *out,
                                               struct uvea_error_context *context);
// Gives a sealed output its name.
UVEA_MUST_USE enum uvea_error uvea_output_publish(struct uvea_output *out,
                                                  struct uvea_error_context *context);
// Releases; removes what was not published. Wipes what was pending.
void uvea_output_close(struct uvea_output *out);

// seal and publish in one call, for a single output.
UVEA_MUST_USE enum uvea_error uvea_output_finish(struct uvea_output *out,
                                                 struct uvea_error_context *context);

#endif
