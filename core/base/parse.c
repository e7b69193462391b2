#include "core/base/parse.h"

#include <inttypes.h>
#include <string.h>

enum uvea_error uvea_number_parse(const char *what, const char *text, uint64_t low, uint64_t high,
                                  uint64_t *value, struct uvea_error_context *context)
{
    uint64_t number = 0;
    const char *digit = text;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (__builtin_mul_overflow(number, UINT64_C(10), &number) ||
            __builtin_add_overflow(number, (uint64_t)(*digit - '0'), &number)) {
            break;
        }
    }
    if (digit == text || *digit != '\0' || number < low || number > high) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s: '%s' is not a whole number from %" PRIu64 " to %" PRIu64, what,
                              text, low, high);
    }
    *value = number;
    return UVEA_OK;
}

enum uvea_error uvea_choice_parse(const char *what, const char *choices, const char *text,
                                  uint64_t *index, struct uvea_error_context *context)
{
    uint64_t at = 0;
    size_t len = strlen(text);
    for (const char *choice = choices; *choice != '\0'; at++) {
        size_t choice_len = strcspn(choice, " ");
        if (choice_len == len && memcmp(choice, text, len) == 0) {
            *index = at;
            return UVEA_OK;
        }
        choice += choice_len;
        choice += *choice == ' ';
    }
    return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: '%s' is not one of: %s", what, text,
                          choices);
}
