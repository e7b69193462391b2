// Files that an operator names.
#ifndef UVEA_CORE_DAEMON_FILE_H
#define UVEA_CORE_DAEMON_FILE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/service/share_object.h"

#include <stddef.h>

// A key for share objects: base64 of the 32 bytes of its secret half, with or without a line end.
// USAGE: others than the file's owner may read or write it.
UVEA_MUST_USE enum uvea_error uvea_file_read_share_key(const char *path,
                                                       struct uvea_share_key_pair *pair,
                                                       struct uvea_error_context *context);

#endif
