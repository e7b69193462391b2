#include "core/coord/json.h"

#include "core/iris/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PARSER_DIGITS_MAX = 18 }; // every number of so many digits fits the parser

// ---- loading

// The number that begins at text[0]: its length, and whether it is whole and too long.
struct number {
    size_t bytes;
    bool too_long;
};

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct number measure_number(const uint8_t *text, size_t left)
{
    struct number number = {0};
    bool whole = true;

    while (number.bytes < left &&
           (is_digit(text[number.bytes]) || memchr("+-.eE", text[number.bytes], 5) != NULL)) {
        whole = whole && is_digit(text[number.bytes]);
        number.bytes++;
    }
    size_t next = number.bytes;
    while (next < left && is_space(text[next])) {
        next++;
    }
    // Leading zeros and numbers in the place of names stay, for the parser to refuse.
    const bool is_name = next < left && text[next] == ':';
    number.too_long = whole && number.bytes > PARSER_DIGITS_MAX && text[0] != '0' && !is_name;
    return number;
}

static size_t string_bytes(const uint8_t *text, size_t left)
{
    size_t bytes = 1;

    while (bytes < left && text[bytes] != '"') {
        bytes += text[bytes] == '\\' ? 2 : 1;
    }
    return bytes < left ? bytes + 1 : left;
}

static size_t plain_bytes(const uint8_t *text, size_t left)
{
    size_t bytes = 0;

    while (bytes < left && text[bytes] != '"' && text[bytes] != '-' && !is_digit(text[bytes])) {
        bytes++;
    }
    return bytes;
}

// The text with quotes around the numbers that the parser cannot hold.
static enum uvea_error quote_long_numbers(const uint8_t *text, size_t bytes, struct uvea_buf *out)
{
    size_t at = 0;

    UVEA_TRY(uvea_buf_reserve(out, bytes));
    while (at < bytes) {
        size_t run;
        bool quote = false;
        if (text[at] == '"') {
            run = string_bytes(text + at, bytes - at);
        } else if (is_digit(text[at]) || text[at] == '-') {
            const struct number number = measure_number(text + at, bytes - at);
            run = number.bytes;
            quote = number.too_long;
        } else {
            run = plain_bytes(text + at, bytes - at);
        }
        UVEA_TRY(uvea_buf_append(out, "\"", quote));
        UVEA_TRY(uvea_buf_append(out, text + at, run));
        UVEA_TRY(uvea_buf_append(out, "\"", quote));
        at += run;
    }
    return UVEA_OK;
}

enum uvea_error uvea_coord_json_load(const uint8_t *text, size_t bytes, size_t bytes_max,
                                     json_t **object, struct uvea_error_context *context)
{
    struct uvea_buf quoted = {0};

    *object = NULL;
    if (bytes > bytes_max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "JSON: %zu bytes, at most %zu are read",
                              bytes, bytes_max);
    }
    enum uvea_error error = quote_long_numbers(text, bytes, &quoted);
    if (error == UVEA_OK) {
        // Quotes make the text longer by a ninth at most.
        error = uvea_iris_load_object_within((const char *)quoted.data, quoted.len, quoted.len,
                                             object, context);
    } else {
        error = uvea_error_set(context, error, "JSON: out of memory");
    }
    uvea_buf_deinit(&quoted);
    return error;
}

// ---- members

static enum uvea_error no_such(struct uvea_error_context *context, const char *name,
                               const json_t *member, const char *wanted)
{
    return uvea_error_set(context, UVEA_ERR_FORMAT, "member %s %s%s", name,
                          member == NULL ? "is missing" : "is not ", member == NULL ? "" : wanted);
}

enum uvea_error uvea_coord_json_bool(const json_t *object, const char *name, bool *out,
                                     struct uvea_error_context *context)
{
    const json_t *member = json_object_get(object, name);

    if (!json_is_boolean(member)) {
        return no_such(context, name, member, "true or false");
    }
    *out = json_is_true(member);
    return UVEA_OK;
}

enum uvea_error uvea_coord_digits(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    bool fits = true;

    if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0')) {
        return UVEA_ERR_FORMAT;
    }
    for (const char *at = text; *at != '\0'; at++) {
        if (!is_digit((uint8_t)*at)) {
            return UVEA_ERR_FORMAT;
        }
        const uint64_t digit = (uint64_t)(*at - '0');
        fits = fits && value <= (UINT64_MAX - digit) / 10;
        value = fits ? value * 10 + digit : value;
    }
    if (!fits) {
        return UVEA_ERR_LIMIT;
    }
    *out = value;
    return UVEA_OK;
}

static enum uvea_error whole_number(const json_t *member, uint64_t *out)
{
    if (json_is_integer(member) && json_integer_value(member) >= 0) {
        *out = (uint64_t)json_integer_value(member);
        return UVEA_OK;
    }
    return json_is_string(member) ? uvea_coord_digits(json_string_value(member), out)
                                  : UVEA_ERR_FORMAT;
}

enum uvea_error uvea_coord_json_number(const json_t *object, const char *name, uint64_t max,
                                       uint64_t *out, struct uvea_error_context *context)
{
    const json_t *member = json_object_get(object, name);
    uint64_t value = 0;
    const enum uvea_error error = member == NULL ? UVEA_ERR_FORMAT : whole_number(member, &value);

    if (error == UVEA_ERR_FORMAT) {
        return no_such(context, name, member, "a whole number");
    }
    if (error != UVEA_OK || value > max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "member %s is more than %" PRIu64, name,
                              max);
    }
    *out = value;
    return UVEA_OK;
}

enum uvea_error uvea_coord_json_number_or_null(const json_t *object, const char *name, uint64_t max,
                                               bool *has, uint64_t *out,
                                               struct uvea_error_context *context)
{
    const json_t *member = json_object_get(object, name);

    if (member == NULL || json_is_null(member)) {
        *has = false;
        return UVEA_OK;
    }
    UVEA_TRY(uvea_coord_json_number(object, name, max, out, context));
    *has = true;
    return UVEA_OK;
}

enum uvea_error uvea_coord_json_string(const json_t *object, const char *name, size_t bytes_max,
                                       const char **out, struct uvea_error_context *context)
{
    const json_t *member = json_object_get(object, name);

    if (!json_is_string(member)) {
        return no_such(context, name, member, "a string");
    }
    if (json_string_length(member) > bytes_max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "member %s is longer than %zu bytes", name,
                              bytes_max);
    }
    *out = json_string_value(member);
    return UVEA_OK;
}

enum uvea_error uvea_coord_json_string_or_null(const json_t *object, const char *name,
                                               size_t bytes_max, const char **out,
                                               struct uvea_error_context *context)
{
    const json_t *member = json_object_get(object, name);

    if (member == NULL || json_is_null(member)) {
        *out = NULL;
        return UVEA_OK;
    }
    return uvea_coord_json_string(object, name, bytes_max, out, context);
}

enum uvea_error uvea_coord_json_array(const json_t *object, const char *name, size_t count_max,
                                      const json_t **out, struct uvea_error_context *context)
{
    const json_t *member = json_object_get(object, name);

    if (!json_is_array(member)) {
        return no_such(context, name, member, "a list");
    }
    if (json_array_size(member) > count_max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "member %s has more than %zu entries", name,
                              count_max);
    }
    *out = member;
    return UVEA_OK;
}

// ---- writing

enum uvea_error uvea_coord_append(struct uvea_buf *json, const char *text)
{
    return uvea_buf_append(json, text, strlen(text));
}

enum uvea_error uvea_coord_append_number(struct uvea_buf *json, uint64_t number)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    return uvea_coord_append(json, digits);
}

enum uvea_error uvea_coord_append_value(struct uvea_buf *json, const json_t *value)
{
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_PRESERVE_ORDER;
    const size_t bytes = json_dumpb(value, NULL, 0, flags);
    char *to = bytes == 0 ? NULL : (char *)uvea_buf_extend(json, bytes);

    if (to == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (json_dumpb(value, to, bytes, flags) != bytes) {
        json->len -= bytes;
        return UVEA_ERR_MEMORY;
    }
    return UVEA_OK;
}

enum uvea_error uvea_coord_append_string(struct uvea_buf *json, const char *text)
{
    if (text == NULL) {
        return uvea_coord_append(json, "null");
    }
    json_t *string = json_string(text);
    if (string == NULL) {
        return UVEA_ERR_FORMAT;
    }
    const enum uvea_error error = uvea_coord_append_value(json, string);
    json_decref(string);
    return error;
}
