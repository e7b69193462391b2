// Text that is put together piece by piece; failures are kept for the end.
#ifndef UVEA_SIM_LIVE_TEXT_H
#define UVEA_SIM_LIVE_TEXT_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>

// All zero is empty. The buffer always ends with a NUL behind len, once something was put.
struct uvea_text {
    struct uvea_buf buf;
    bool failed;
};

void uvea_text_deinit(struct uvea_text *text);

UVEA_PRINTF(2, 3) void uvea_text_put(struct uvea_text *text, const char *format, ...);

// As a double-quoted scalar of YAML, whatever it holds.
void uvea_text_quote(struct uvea_text *text, const char *value);

// As one word of a shell.
void uvea_text_shell(struct uvea_text *text, const char *value);

// MEMORY when something could not be put.
UVEA_MUST_USE enum uvea_error uvea_text_error(const struct uvea_text *text);

#endif
