// Numbers and choices that a person writes in a file, an option or a variable.
#ifndef UVEA_CORE_BASE_PARSE_H
#define UVEA_CORE_BASE_PARSE_H

#include "core/base/error.h"

#include <stdint.h>

// Decimal digits only, low..high. what names the field in the sentence.
UVEA_MUST_USE enum uvea_error uvea_number_parse(const char *what, const char *text, uint64_t low,
                                                uint64_t high, uint64_t *value,
                                                struct uvea_error_context *context);

// Index of text in a list of choices separated by one space.
UVEA_MUST_USE enum uvea_error uvea_choice_parse(const char *what, const char *choices,
                                                const char *text, uint64_t *index,
                                                struct uvea_error_context *context);

#endif
