// What is wrong with a configuration: all that can be found at once, a sentence each.
#ifndef UVEA_CORE_DAEMON_COMPLAINT_H
#define UVEA_CORE_DAEMON_COMPLAINT_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stddef.h>

enum { UVEA_COMPLAINTS_MAX = 100 }; // more are counted and not kept

// All zero is none.
struct uvea_complaints {
    struct uvea_buf text; // lines
    size_t count;
};

void uvea_complaints_deinit(struct uvea_complaints *complaints);

UVEA_PRINTF(2, 3) void uvea_complain(struct uvea_complaints *complaints, const char *format, ...);

// Keeps a failure's sentence, or its name when it has none; nothing for UVEA_OK.
void uvea_complain_of(struct uvea_complaints *complaints, enum uvea_error error,
                      const struct uvea_error_context *context);

// The same behind where it was found: "uvead.yaml:7: tls.key".
void uvea_complain_at(struct uvea_complaints *complaints, const char *where, enum uvea_error error,
                      const struct uvea_error_context *context);

#endif
