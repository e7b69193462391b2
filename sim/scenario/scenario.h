// A scenario: what a run is made of, read from YAML. Options stand in one array indexed by
// enum uvea_option; requests and faults are lists.
#ifndef UVEA_SIM_SCENARIO_SCENARIO_H
#define UVEA_SIM_SCENARIO_SCENARIO_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/rt/point.h"
#include "sim/scenario/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_SCENARIO_FILE_BYTES_MAX = 16 << 20,
    UVEA_SCENARIO_REQUESTS_MAX = 100000, // after `repeat` has been expanded
    UVEA_SCENARIO_LIST_MAX = 4096,       // serials in one list
};

#define UVEA_REQUEST_KINDS                                                                         \
    "new duplicate mirrored rotated flipped threshold zero-overlap template former"
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
    UVEA_PLAN_FORMER,       // the pair the target had before it was last written or deleted
};

// What a request asks for. RESTART is no request: the client waits for all answers, then has one
// party or all of them restarted. MIX stands for one request of a drawn mix (service.md 11).
#define UVEA_REQUEST_TYPES                                                                         \
    "uniqueness reauth deletion reset-check reset-update recovery-check recovery-update "          \
    "malformed mix restart"
enum uvea_request_plan_type {
    UVEA_PLAN_UNIQUENESS,
    UVEA_PLAN_REAUTH,
    UVEA_PLAN_DELETION,
    UVEA_PLAN_RESET_CHECK,
    UVEA_PLAN_RESET_UPDATE,
    UVEA_PLAN_RECOVERY_CHECK,
    UVEA_PLAN_RECOVERY_UPDATE,
    UVEA_PLAN_MALFORMED,
    UVEA_PLAN_MIX,
    UVEA_PLAN_RESTART,
};

// Whether a request of this type sends somebody's eyes.
bool uvea_plan_sends_eyes(enum uvea_request_plan_type type);

// What is wrong with a malformed request, or how a party is restarted.
#define UVEA_MALFORMED_CHOICES "no-type unknown-type bad-json missing-member wrong-type duplicate"
enum uvea_plan_malformed {
    UVEA_PLAN_NO_TYPE,
    UVEA_PLAN_UNKNOWN_TYPE,
    UVEA_PLAN_BAD_JSON,
    UVEA_PLAN_MISSING_MEMBER,
    UVEA_PLAN_WRONG_TYPE,
    UVEA_PLAN_DUPLICATE_MEMBER,
    UVEA_PLAN_MALFORMED_COUNT,
};
#define UVEA_RESTART_CHOICES "stop kill"
enum uvea_plan_restart { UVEA_PLAN_STOP, UVEA_PLAN_KILL };

// A party, all of them, or none.
#define UVEA_PARTY_CHOICES "p0 p1 p2 all none"
enum uvea_plan_party { UVEA_PLAN_PARTY_ALL = 3, UVEA_PLAN_PARTY_NONE = 4 };

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
    bool has_success;
    bool success; // of a reauth
    char *error;  // owned; "none" for no error; NULL: not given
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
    unsigned line;  // of its `of` or of itself, for sentences; 0: not known
    enum uvea_request_plan_type type;
    enum uvea_request_plan_kind kind; // whose eyes; not of DELETION, MALFORMED, RESTART
    uint64_t of; // target's serial; 0 draws one of the living when the request is made
    bool has_serial;
    uint64_t serial;  // REAUTH, updates, DELETION: the serial named; without: the target's, or one
                      // drawn; any number may be given
    bool use_or_rule; // REAUTH
    enum uvea_plan_party bad_share; // whose share is spoilt
    uint64_t how;                   // enum uvea_plan_malformed or uvea_plan_restart
    enum uvea_plan_party party;     // RESTART: whom
    bool enrols;                    // MIX: one of the first requests, which enrol
    bool mixed; // drawn for a MIX: where nobody is left to be a target, a new person enrols instead
    int by;     // ROTATED: columns to the right, -200..200
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

// name, text, fields it needs (letters below), meaning
//   f from: the node          t to: the other end of a link   b at_byte
//   m at_ms, from the start   d for_ms                        p point
//   n nth (1 when not given)  a amount                        w what: an HTTP fault
#define UVEA_FAULTS(X)                                                                             \
    X(RESET, "reset", "ftb", "the link breaks after so many bytes")                                \
    X(STALL, "stall", "ftmd", "one direction of a link stands still")                              \
    X(PARTITION, "partition", "fmd", "the node is cut off from all others")                        \
    X(PARTITION_IN, "partition-in", "fmd", "nothing reaches the node")                             \
    X(PARTITION_OUT, "partition-out", "fmd", "nothing leaves the node")                            \
    X(DISCONNECT, "disconnect", "ftm", "all connections between two nodes break")                  \
    X(CRASH, "crash", "fm", "the process dies, and is started again")                              \
    X(CRASH_AT_POINT, "crash-at-point", "fmpn", "it dies at a named point, armed at at_ms")        \
    X(CRASH_AT_STEP, "crash-at-step", "fma", "it dies so many steps after at_ms")                  \
    X(CRASH_AT_WRITE, "crash-at-write", "fma", "it dies inside its amount-th write after at_ms")   \
    X(STOP, "stop", "fm", "the process is asked to stop, and is started again")                    \
    X(PAUSE, "pause", "fmd", "the process stands still")                                           \
    X(SLOW, "slow", "fmda", "computing takes amount percent of the usual time")                    \
    X(HTTP, "http", "fmdaw", "its server misbehaves, amount times in 1,000,000 requests")          \
    X(DISK_ERROR, "disk-error", "fmda", "reads, writes and syncs fail, amount in 1,000,000")       \
    X(DISK_FAIL_NTH, "disk-fail-nth", "fma", "the amount-th read, write or sync fails")            \
    X(DISK_FULL, "disk-full", "fmda", "there is room for amount more bytes")                       \
    X(DISK_STALL, "disk-stall", "fmda", "each sync takes amount ms")                               \
    X(DISK_LYING, "disk-lying", "fmd", "syncs do nothing")                                         \
    X(DISK_WIPED, "disk-wiped", "fm", "the process dies and its disk is empty")                    \
    X(DISK_FOREIGN, "disk-foreign", "ftm", "it dies and gets a copy of another party's disk")      \
    X(DISK_STALE, "disk-stale", "fmd", "it dies and gets its disk of for_ms earlier")              \
    X(DISK_ROT, "disk-rot", "fm", "it dies and one bit of its disk is flipped")                    \
    X(CLOCK_STEP, "clock-step", "fma", "its wall clock goes forward by amount ms")                 \
    X(CLOCK_BACK, "clock-back", "fma", "its wall clock goes back by amount ms")                    \
    X(CLOCK_SET, "clock-set", "fma", "its wall clock shows amount seconds since 1970")             \
    X(MEMORY, "memory", "fma", "its amount-th allocation from now fails")                          \
    X(MEMORY_ALL, "memory-all", "fma", "so do all after it")

enum uvea_fault_plan_kind {
#define UVEA_FAULT_ENUM(name, text, fields, meaning) UVEA_FAULT_##name,
    UVEA_FAULTS(UVEA_FAULT_ENUM)
#undef UVEA_FAULT_ENUM
        UVEA_FAULT_COUNT,
};

struct uvea_fault_info {
    const char *text;
    const char *fields;
    const char *meaning;
};
const struct uvea_fault_info *uvea_fault_info(enum uvea_fault_plan_kind kind);
// Whether it does damage that cannot be repaired: a scenario that lists it is of class hostile.
bool uvea_fault_is_hostile(enum uvea_fault_plan_kind kind);

#define UVEA_NODE_CHOICES "p0 p1 p2 client"
enum { UVEA_SCENARIO_FAULTS_MAX = 256 };
// Only the fields of its kind count.
struct uvea_fault_plan {
    enum uvea_fault_plan_kind kind;
    unsigned from; // node: 0..2 parties, 3 client
    unsigned to;
    uint64_t at_ms;
    uint64_t for_ms;
    uint64_t at_byte;
    enum uvea_point point;
    uint64_t nth;
    uint64_t amount;
    unsigned what; // index in UVEA_HTTP_FAULT_CHOICES
};
// In the order of struct uvea_sim_http_faults.
#define UVEA_HTTP_FAULT_CHOICES                                                                    \
    "status-409 status-5xx no-answer lost-answer reset duplicate truncated empty wrong-type "      \
    "stale slow"

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

// A copy with memory of its own.
UVEA_MUST_USE enum uvea_error uvea_scenario_copy(const struct uvea_scenario *in,
                                                 struct uvea_scenario *out);

// Appends the scenario as YAML that reads back as the same: options that differ from their
// defaults, template files, requests, faults.
UVEA_MUST_USE enum uvea_error uvea_scenario_write(const struct uvea_scenario *scenario,
                                                  struct uvea_buf *yaml);

#endif
