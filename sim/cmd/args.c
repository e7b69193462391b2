#include "sim/cmd/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 32 };

// Decimal digits only: strtoull alone would take signs, spaces and hexadecimal.
static bool parse_u64(const char *text, size_t len, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value)) {
            return false;
        }
    }
    *out = value;
    return len > 0;
}

static bool parse_int(const char *text, int64_t *out)
{
    bool negative = text[0] == '-';
    uint64_t magnitude;
    if (!parse_u64(text + negative, strlen(text + negative), &magnitude) || magnitude > INT64_MAX) {
        return false;
    }
    *out = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static enum uvea_error store(const struct uvea_arg_option *option, const char *value,
                             struct uvea_error_context *context)
{
    switch (option->kind) {
    case UVEA_ARG_FLAG:
        *(bool *)option->to = true;
        return UVEA_OK;
    case UVEA_ARG_TEXT:
        *(const char **)option->to = value;
        return UVEA_OK;
    case UVEA_ARG_U64:
        if (parse_u64(value, strlen(value), option->to)) {
            return UVEA_OK;
        }
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s: '%s' is not a number from 0 to 2^64-1",
                              option->name, value);
    case UVEA_ARG_INT:
        if (parse_int(value, option->to)) {
            return UVEA_OK;
        }
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s: '%s' is not a whole number",
                              option->name, value);
    case UVEA_ARG_LIST: {
        struct uvea_arg_list *list = option->to;
        if (list->count < UVEA_ARG_LIST_MAX) {
            list->at[list->count++] = value;
            return UVEA_OK;
        }
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s is given more than %d times",
                              option->name, UVEA_ARG_LIST_MAX);
    }
    }
    return UVEA_ERR_STATE;
}

static const struct uvea_arg_option *find(const struct uvea_arg_option *options, size_t count,
                                          const char *arg, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(options[i].name) == len && memcmp(options[i].name, arg, len) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

// Reads the option at argv[*at] and its value; *at is then the last argument read.
static enum uvea_error parse_option(int argc, char **argv, int *at,
                                    const struct uvea_arg_option *options, size_t count,
                                    bool seen[OPTIONS_MAX], struct uvea_error_context *context)
{
    const char *arg = argv[*at];
    const char *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    size_t len = equals == NULL ? strlen(arg) : (size_t)(equals - arg);
    const struct uvea_arg_option *option = find(options, count, arg, len);
    if (option == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "unknown option '%.*s'", (int)len, arg);
    }
    if (seen[option - options] && option->kind != UVEA_ARG_LIST) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s is given twice", option->name);
    }
    seen[option - options] = true;
    const char *value = equals == NULL ? NULL : equals + 1;
    if (option->kind == UVEA_ARG_FLAG && value != NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s takes no value", option->name);
    }
    if (option->kind != UVEA_ARG_FLAG && value == NULL) {
        if (*at + 1 == argc) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "%s needs a value", option->name);
        }
        value = argv[++*at];
    }
    UVEA_TRY(store(option, value, context));
    if (option->given != NULL) {
        *option->given = true;
    }
    return UVEA_OK;
}

enum uvea_error uvea_args_parse(int argc, char **argv, const struct uvea_arg_option *options,
                                size_t count, struct uvea_arg_positionals *positionals,
                                struct uvea_error_context *context)
{
    bool seen[OPTIONS_MAX] = {false};
    bool options_ended = false;
    if (count > OPTIONS_MAX) {
        return UVEA_ERR_LIMIT;
    }
    for (int at = 0; at < argc; at++) {
        if (!options_ended && strcmp(argv[at], "--") == 0) {
            options_ended = true;
        } else if (!options_ended && argv[at][0] == '-' && argv[at][1] != '\0') {
            UVEA_TRY(parse_option(argc, argv, &at, options, count, seen, context));
        } else if (positionals->count < positionals->max) {
            positionals->at[positionals->count++] = argv[at];
        } else {
            return uvea_error_set(context, UVEA_ERR_USAGE, "unexpected argument '%s'", argv[at]);
        }
    }
    if (positionals->count < positionals->min) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s is missing", positionals->what);
    }
    return UVEA_OK;
}

enum uvea_error uvea_args_parse_two(const char *name, const char *text, const char *separator,
                                    uint64_t out[2], struct uvea_error_context *context)
{
    const char *middle = strstr(text, separator);
    uint64_t found[2];
    if (middle == NULL || !parse_u64(text, (size_t)(middle - text), &found[0]) ||
        !parse_u64(middle + strlen(separator), strlen(middle + strlen(separator)), &found[1])) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s: '%s' is not two numbers A%sB", name,
                              text, separator);
    }
    memcpy(out, found, sizeof(found));
    return UVEA_OK;
}
