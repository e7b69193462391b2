// A scenario: what a run is made of, read from YAML. Options stand in one array indexed by
// enum uvea_option; requests and faults are lists.
#ifndef UVEA_SIM_SCENARIO_SCENARIO_H
#define UVEA_SIM_SCENARIO_SCENARIO_H

#include "core/base/error.h"
#include "sim/scenario/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_SCENARIO_FILE_BYTES_MAX = 16 << 20,
    UVEA_SCENARIO_REQUESTS_MAX = 100000, // after `repeat` has been expanded
    UVEA_SCENARIO_LIST_MAX = 4096,       // serials in one list
};

#define UVEA_REQUEST_KINDS "new duplicate mirrored rotated flipped threshold zero-overlap template"
enum uvea_request_plan_kind {
    UVEA_PLAN_NEW,          // a fresh pair from the generator
    UVEA_PLAN_DUPLICATE,    // the target's pair as it is enrolled
    UVEA_PLAN_MIRRORED,     // the target's eyes exchanged and mirrored
    UVEA_PLAN_ROTATED,      // the target's pair rotated right by `by` columns
    UVEA_PLAN_FLIPPED,      // `bits` valid code bits of the target inverted in the chosen eye(s)
    UVEA_PLAN_THRESHOLD,    // flips chosen to be just below, at or just above a threshold
    UVEA_PLAN_ZERO_OVERLAP, // masks valid nowhere; with a target: valid only where the target's is
                            // not
    UVEA_PLAN_TEMPLATE,     // entry `index` of the template files
};

#define UVEA_EYE_CHOICES "left right both"
enum uvea_plan_eyes { UVEA_PLAN_LEFT, UVEA_PLAN_RIGHT, UVEA_PLAN_BOTH };

#define UVEA_THRESHOLD_CHOICES "strict anonymous"
enum uvea_plan_threshold { UVEA_PLAN_STRICT, UVEA_PLAN_ANONYMOUS };

#define UVEA_PLACE_CHOICES "below at above"
enum uvea_plan_place { UVEA_PLAN_BELOW, UVEA_PLAN_AT, UVEA_PLAN_ABOVE };

struct uvea_serial_list {
    uint32_t *serials;
    size_t count;
};

// What a scenario says the right answer is; the oracle's answer is held against it, so that a
// mistake in the scenario or in the oracle is seen as well. Fields that were not given are not
// compared.
struct uvea_expectation {
    bool has_match;
    bool match;
    bool has_mirror_attack;
    bool mirror_attack;
    bool has_serial;
    uint64_t serial; // 0: none was given out
    bool has_matched;
    struct uvea_serial_list matched; // normal orientation, both eyes
    bool has_anonymous;
    struct uvea_serial_list
        anonymous; // records that pass the anonymous threshold on the scanned eye
};

struct uvea_request_plan {
    unsigned entry; // of the scenario's list, for sentences; repetitions share it
    enum uvea_request_plan_kind kind;
    uint64_t of;    // target's serial; 0 draws one when the request is made
    int by;         // ROTATED: columns to the right, -200..200
    uint64_t bits;  // FLIPPED: 0..12800
    uint64_t index; // TEMPLATE: 1-based
    enum uvea_plan_eyes eyes;
    enum uvea_plan_threshold threshold;
    enum uvea_plan_place place;
    bool skip_persistence;
    bool mirror_detection; // full_face_mirror_attacks_detection_enabled; true unless said otherwise
    struct uvea_serial_list or_rule;
    struct uvea_expectation expect;
};

#define UVEA_FAULT_KINDS "reset stall partition"
enum uvea_fault_plan_kind { UVEA_FAULT_RESET, UVEA_FAULT_STALL, UVEA_FAULT_PARTITION };

#define UVEA_NODE_CHOICES "p0 p1 p2 client"
struct uvea_fault_plan {
    enum uvea_fault_plan_kind kind;
    unsigned from; // node: 0..2 parties, 3 client
    unsigned to;
    uint64_t at_ms;   // STALL, PARTITION: when it begins
    uint64_t for_ms;  // how long
    uint64_t at_byte; // RESET: after so many bytes on the direction from -> to
};

struct uvea_scenario {
    uint64_t options[UVEA_OPTION_COUNT];
    char *template_directory; // where template files are; NULL: the scenario's own directory
    char **template_files;
    size_t template_file_count;
    struct uvea_request_plan *requests;
    size_t request_count;
    struct uvea_fault_plan *faults;
    size_t fault_count;
};

// Reads and checks a scenario file. overrides: "key=value" from the command line. Sentences name
// file, line and key (or the override). Nothing is allocated on failure. Deinit with
// uvea_scenario_deinit.
UVEA_MUST_USE enum uvea_error uvea_scenario_load(const char *path, const char *const *overrides,
                                                 size_t override_count,
                                                 struct uvea_scenario *scenario,
                                                 struct uvea_error_context *context);

// The same from memory; name stands for the file in sentences.
UVEA_MUST_USE enum uvea_error uvea_scenario_parse(const char *name, const uint8_t *text, size_t len,
                                                  const char *const *overrides,
                                                  size_t override_count,
                                                  struct uvea_scenario *scenario,
                                                  struct uvea_error_context *context);

void uvea_scenario_deinit(struct uvea_scenario *scenario);

#endif
