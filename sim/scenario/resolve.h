// From texts to values, with sentences that name file, line and key. Private to sim/scenario.
#ifndef UVEA_SIM_SCENARIO_RESOLVE_H
#define UVEA_SIM_SCENARIO_RESOLVE_H

#include "core/base/error.h"
#include "sim/scenario/raw.h"
#include "sim/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A place in the text, such as "requests[3].by".
struct uvea_path {
    char text[128];
};

struct uvea_path uvea_path_of(const char *where, const char *field);
struct uvea_path uvea_path_entry(const char *list, size_t index);

// The text a value came from, for sentences.
struct uvea_source {
    const char *name;
    const uint8_t *text;
    size_t len;
    struct uvea_error_context *context;
};

// Puts "file:line: " before the sentence already in the context, unless error is UVEA_OK.
UVEA_MUST_USE enum uvea_error uvea_resolve_place(const struct uvea_source *source, const char *path,
                                                 enum uvea_error error);
// FORMAT with a sentence and its place.
UVEA_MUST_USE UVEA_PRINTF(3, 4) enum uvea_error
    uvea_resolve_complain(const struct uvea_source *source, const char *path, const char *format,
                          ...);

UVEA_MUST_USE enum uvea_error uvea_resolve_number(const struct uvea_source *source,
                                                  const char *path, const char *text, uint64_t low,
                                                  uint64_t high, uint64_t *value);
// A text of NULL leaves the value as it is.
UVEA_MUST_USE enum uvea_error uvea_resolve_optional_number(const struct uvea_source *source,
                                                           const char *path, const char *text,
                                                           uint64_t low, uint64_t high,
                                                           uint64_t *value);
UVEA_MUST_USE enum uvea_error uvea_resolve_optional_choice(const struct uvea_source *source,
                                                           const char *path, const char *choices,
                                                           const char *text, uint64_t *value);
UVEA_MUST_USE enum uvea_error uvea_resolve_optional_bool(const struct uvea_source *source,
                                                         const char *path, const char *text,
                                                         bool *value);
// list->serials is owned by the caller.
UVEA_MUST_USE enum uvea_error uvea_resolve_serials(const struct uvea_source *source,
                                                   const char *path, char **texts, unsigned count,
                                                   struct uvea_serial_list *list);
// A copy owned by the caller.
UVEA_MUST_USE enum uvea_error uvea_resolve_text(const char *text, char **copy);

// Fill the lists of the scenario, which owns what was made also after a failure.
UVEA_MUST_USE enum uvea_error uvea_resolve_requests(const struct uvea_source *source,
                                                    const struct uvea_raw *raw,
                                                    struct uvea_scenario *scenario);
UVEA_MUST_USE enum uvea_error uvea_resolve_faults(const struct uvea_source *source,
                                                  const struct uvea_raw *raw,
                                                  struct uvea_scenario *scenario);

#endif
