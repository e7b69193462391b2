// Reading of small JSON objects with string members. What is read may be secret: sentences name
// places and members, never contents.
#ifndef UVEA_CORE_IRIS_JSON_H
#define UVEA_CORE_IRIS_JSON_H

#include "core/base/error.h"

#include <jansson.h>
#include <stddef.h>

// Parses text, which must be one JSON object without duplicate members, at most 2^24 bytes long and
// nested at most 16 deep (the parser recurses, and tasks have small stacks). The caller releases
// *object with json_decref. FORMAT or LIMIT with a sentence; *object is then NULL.
UVEA_MUST_USE enum uvea_error uvea_iris_load_object(const char *text, size_t len, json_t **object,
                                                    struct uvea_error_context *context);

// The same for texts of up to bytes_max bytes.
UVEA_MUST_USE enum uvea_error uvea_iris_load_object_within(const char *text, size_t len,
                                                           size_t bytes_max, json_t **object,
                                                           struct uvea_error_context *context);

// The string member `name`; *text is owned by object. FORMAT when it is missing or not a string.
UVEA_MUST_USE enum uvea_error uvea_iris_get_string(const json_t *object, const char *name,
                                                   const char **text, size_t *len,
                                                   struct uvea_error_context *context);

#endif
