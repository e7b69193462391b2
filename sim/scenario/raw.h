// A scenario as libcyaml reads it: structure checked, every value still text. Private to
// sim/scenario.
#ifndef UVEA_SIM_SCENARIO_RAW_H
#define UVEA_SIM_SCENARIO_RAW_H

#include "core/base/error.h"
#include "sim/scenario/option.h"

#include <stddef.h>
#include <stdint.h>

// Texts of one section, at their option's index; NULL where not given.
struct uvea_raw_section {
    char *values[UVEA_OPTION_COUNT];
};

struct uvea_raw_expect {
    char *match;
    char *mirror_attack;
    char *serial;
    char *success;
    char *error;
    char **matched;
    unsigned matched_count;
    char **anonymous;
    unsigned anonymous_count;
};

struct uvea_raw_request {
    char *type;
    char *kind;
    char *serial;
    char *use_or_rule;
    char *bad_share;
    char *how;
    char *party;
    char *enrolments;
    char *of;
    char *by;
    char *bits;
    char *index;
    char *eyes;
    char *threshold;
    char *place;
    char *skip_persistence;
    char *mirror_detection;
    char *repeat;
    char **or_rule;
    unsigned or_rule_count;
    struct uvea_raw_expect *expect;
};

struct uvea_raw_fault {
    char *kind;
    char *from;
    char *to;
    char *at_ms;
    char *for_ms;
    char *at_byte;
    char *point;
    char *nth;
    char *amount;
    char *what;
};

#define UVEA_RAW_SECTIONS(X)                                                                       \
    X(service)                                                                                     \
    X(client) X(database) X(network) X(kernels) X(clocks) X(crash) X(swarm) X(limits)

struct uvea_raw_templates {
    struct uvea_raw_section options; // first: option fields are offsets into it
    char *directory;
    char **files;
    unsigned files_count;
};

struct uvea_raw {
    struct uvea_raw_section options; // first: root options
#define UVEA_RAW_SECTION_MEMBER(name) struct uvea_raw_section *name;
    UVEA_RAW_SECTIONS(UVEA_RAW_SECTION_MEMBER)
#undef UVEA_RAW_SECTION_MEMBER
    struct uvea_raw_templates *templates;
    struct uvea_raw_request *requests;
    unsigned requests_count;
    struct uvea_raw_fault *faults;
    unsigned faults_count;
};

// Free with uvea_raw_free. The sentence names file, line and key. *raw is NULL for an empty text.
UVEA_MUST_USE enum uvea_error uvea_raw_load(const char *name, const uint8_t *text, size_t len,
                                            struct uvea_raw **raw,
                                            struct uvea_error_context *context);
void uvea_raw_free(struct uvea_raw *raw);

// The text given for an option, or NULL.
const char *uvea_raw_option(const struct uvea_raw *raw, enum uvea_option option);

#endif
