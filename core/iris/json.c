#include "core/iris/json.h"

#include <stdbool.h>
#include <string.h>

enum { TEXT_BYTES_MAX = 1 << 24, DEPTH_MAX = 16 };

// Where c stands next, or len.
static size_t find(const char *text, size_t at, size_t len, char c)
{
    const char *found = at < len ? memchr(text + at, c, len - at) : NULL;
    return found == NULL ? len : (size_t)(found - text);
}

// The closing quote of the string that begins at `at`, or len. Shares are strings of hundreds of
// kilobytes, so they are not looked at one character at a time.
static size_t end_of_string(const char *text, size_t at, size_t len)
{
    size_t quote = find(text, at, len, '"');
    for (;;) {
        const size_t escape = find(text, at, quote, '\\');
        if (escape == quote) {
            return quote;
        }
        at = escape + 2;
        if (at > quote) { // not before, so that many escapes take no longer than few
            quote = find(text, at, len, '"');
        }
    }
}

static bool nested_too_deep(const char *text, size_t len)
{
    unsigned depth = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '"') {
            i = end_of_string(text, i + 1, len);
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
        if (depth > DEPTH_MAX) {
            return true;
        }
    }
    return false;
}

// The parser's own sentence quotes the input, so only its kind and place are passed on.
static const char *sentence(enum json_error_code code)
{
    switch (code) {
    case json_error_out_of_memory:
        return "out of memory";
    case json_error_premature_end_of_input:
        return "the text ends early";
    case json_error_end_of_input_expected:
        return "text follows the value";
    case json_error_duplicate_key:
        return "an object has a member twice";
    case json_error_invalid_utf8:
    case json_error_null_byte_in_key:
    case json_error_null_character:
        return "a string holds an invalid character";
    default:
        return "syntax error";
    }
}

enum uvea_error uvea_iris_load_object(const char *text, size_t len, json_t **object,
                                      struct uvea_error_context *context)
{
    return uvea_iris_load_object_within(text, len, TEXT_BYTES_MAX, object, context);
}

enum uvea_error uvea_iris_load_object_within(const char *text, size_t len, size_t bytes_max,
                                             json_t **object, struct uvea_error_context *context)
{
    *object = NULL;
    if (len == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "JSON: there is no text, an object is wanted");
    }
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "JSON: the text begins with a byte order mark; it must not have one");
    }
    if (len > bytes_max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "JSON: %zu bytes, at most %zu are read", len,
                              bytes_max);
    }
    if (nested_too_deep(text, len)) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "JSON: nested more than %d deep", DEPTH_MAX);
    }
    json_error_t problem;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL) {
        enum json_error_code code = json_error_code(&problem);
        return uvea_error_set(
            context, code == json_error_out_of_memory ? UVEA_ERR_MEMORY : UVEA_ERR_FORMAT,
            "JSON: %s (line %d, column %d)", sentence(code), problem.line, problem.column);
    }
    if (!json_is_object(root)) {
        json_decref(root);
        return uvea_error_set(context, UVEA_ERR_FORMAT, "JSON: the text is not an object");
    }
    *object = root;
    return UVEA_OK;
}

enum uvea_error uvea_iris_get_string(const json_t *object, const char *name, const char **text,
                                     size_t *len, struct uvea_error_context *context)
{
    const json_t *member = json_object_get(object, name);
    if (member == NULL) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member %s is missing", name);
    }
    if (!json_is_string(member)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member %s is not a string", name);
    }
    *text = json_string_value(member);
    *len = json_string_length(member);
    return UVEA_OK;
}
