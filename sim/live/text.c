#include "sim/live/text.h"

#include <stdarg.h>
#include <stdio.h>

void uvea_text_deinit(struct uvea_text *text)
{
    uvea_buf_deinit(&text->buf);
}

void uvea_text_put(struct uvea_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || uvea_buf_reserve(&text->buf, (size_t)len + 1) != UVEA_OK) {
        text->failed = true;
        return;
    }
    va_start(args, format);
    (void)vsnprintf((char *)text->buf.data + text->buf.len, (size_t)len + 1, format, args);
    va_end(args);
    text->buf.len += (size_t)len;
}

void uvea_text_quote(struct uvea_text *text, const char *value)
{
    uvea_text_put(text, "\"");
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            uvea_text_put(text, "\\%c", *c);
        } else if ((unsigned char)*c < ' ') {
            uvea_text_put(text, "\\x%02x", (unsigned char)*c);
        } else {
            uvea_text_put(text, "%c", *c);
        }
    }
    uvea_text_put(text, "\"");
}

void uvea_text_shell(struct uvea_text *text, const char *value)
{
    uvea_text_put(text, "'");
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\'') {
            uvea_text_put(text, "'\\''");
        } else {
            uvea_text_put(text, "%c", *c);
        }
    }
    uvea_text_put(text, "'");
}

enum uvea_error uvea_text_error(const struct uvea_text *text)
{
    return text->failed ? UVEA_ERR_MEMORY : UVEA_OK;
}
