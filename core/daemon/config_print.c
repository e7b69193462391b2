#include "core/daemon/config.h"

#include <stdio.h>
#include <string.h>

static enum uvea_error put(struct uvea_buf *out, const char *text)
{
    return uvea_buf_append(out, text, strlen(text));
}

// As a double-quoted scalar, which can hold any text.
static enum uvea_error put_quoted(struct uvea_buf *out, const char *text)
{
    UVEA_TRY(put(out, "\""));
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        char escaped[8];

        if (c == '"' || c == '\\') {
            (void)snprintf(escaped, sizeof(escaped), "\\%c", c);
        } else if (c < ' ' || c == 0x7f) {
            (void)snprintf(escaped, sizeof(escaped), "\\x%02x", c);
        } else {
            (void)snprintf(escaped, sizeof(escaped), "%c", c);
        }
        UVEA_TRY(put(out, escaped));
    }
    return put(out, "\"");
}

static enum uvea_error put_text(struct uvea_buf *out, const char *text)
{
    return put_quoted(out, text != NULL ? text : "");
}

static enum uvea_error put_list(struct uvea_buf *out, const struct uvea_config_value *value)
{
    UVEA_TRY(put(out, "["));
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        UVEA_TRY(put(out, i > 0 ? ", " : ""));
        UVEA_TRY(put_text(out, value->text[i]));
    }
    return put(out, "]");
}

static enum uvea_error put_value(struct uvea_buf *out, enum uvea_key key,
                                 const struct uvea_config_value *value)
{
    const struct uvea_key_info *info = uvea_key_info(key);

    if (info->kind == UVEA_KEY_NUMBER || info->kind == UVEA_KEY_CHOICE) {
        char text[UVEA_KEY_CHARS_MAX];

        uvea_key_format(key, value->number, text);
        return put(out, text);
    }
    if (uvea_key_is_list(key)) {
        return put_list(out, value);
    }
    return put_text(out, value->text[0]);
}

static enum uvea_error put_key(struct uvea_buf *out, enum uvea_key key,
                               const struct uvea_config_value *value)
{
    const struct uvea_key_info *info = uvea_key_info(key);
    const bool root = strcmp(info->section, "root") == 0;

    UVEA_TRY(put(out, root ? "" : "  "));
    if (info->kind == UVEA_KEY_SECRET) {
        UVEA_TRY(put(out, "# "));
        UVEA_TRY(put(out, info->name));
        return put(out, value->text[0] != NULL ? " is given and not shown\n" : " is not given\n");
    }
    UVEA_TRY(put(out, info->name));
    UVEA_TRY(put(out, ": "));
    UVEA_TRY(put_value(out, key, value));
    return put(out, "\n");
}

enum uvea_error uvea_config_print(const struct uvea_config *config, struct uvea_buf *out)
{
    const char *section = "root";

    for (unsigned key = 0; key < UVEA_KEY_COUNT; key++) {
        const struct uvea_key_info *info = uvea_key_info((enum uvea_key)key);

        if (strcmp(info->section, section) != 0) {
            section = info->section;
            UVEA_TRY(put(out, section));
            UVEA_TRY(put(out, ":\n"));
        }
        UVEA_TRY(put_key(out, (enum uvea_key)key, &config->values[key]));
    }
    return UVEA_OK;
}
