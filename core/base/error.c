#include "core/base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static const char *const texts[] = {
#define UVEA_ERROR_TEXT(name, text) text,
    UVEA_ERRORS(UVEA_ERROR_TEXT)
#undef UVEA_ERROR_TEXT
};

static const char *const names[] = {
#define UVEA_ERROR_NAME(name, text) #name,
    UVEA_ERRORS(UVEA_ERROR_NAME)
#undef UVEA_ERROR_NAME
};

const char *uvea_error_text(enum uvea_error error)
{
    return (size_t)error < sizeof(texts) / sizeof(texts[0]) ? texts[error] : "unknown error";
}

const char *uvea_error_name(enum uvea_error error)
{
    return (size_t)error < sizeof(names) / sizeof(names[0]) ? names[error] : "UNKNOWN";
}

#undef uvea_error_set
enum uvea_error uvea_error_set(struct uvea_error_context *context, enum uvea_error error,
                               const char *format, ...)
{
    if (context != NULL) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(context->text, sizeof(context->text), format, args);
        va_end(args);
    }
    return error;
}
