#include "core/daemon/complaint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void uvea_complaints_deinit(struct uvea_complaints *complaints)
{
    uvea_buf_deinit(&complaints->text);
    complaints->count = 0;
}

void uvea_complain(struct uvea_complaints *complaints, const char *format, ...)
{
    struct uvea_error_context context;
    va_list args;

    if (++complaints->count > UVEA_COMPLAINTS_MAX) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(context.text, sizeof(context.text), format, args);
    va_end(args);
    // Without memory the count still says that there is something wrong.
    if (uvea_buf_append(&complaints->text, context.text, strlen(context.text)) == UVEA_OK) {
        (void)!uvea_buf_append(&complaints->text, "\n", 1);
    }
}

static const char *sentence(enum uvea_error error, const struct uvea_error_context *context)
{
    return context->text[0] != '\0' ? context->text : uvea_error_text(error);
}

void uvea_complain_of(struct uvea_complaints *complaints, enum uvea_error error,
                      const struct uvea_error_context *context)
{
    if (error != UVEA_OK) {
        uvea_complain(complaints, "%s", sentence(error, context));
    }
}

void uvea_complain_at(struct uvea_complaints *complaints, const char *where, enum uvea_error error,
                      const struct uvea_error_context *context)
{
    if (error != UVEA_OK) {
        uvea_complain(complaints, "%s: %s", where, sentence(error, context));
    }
}
