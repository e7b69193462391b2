// Reading of command-line arguments: options by table, everything else positional.
#ifndef UVEA_SIM_CMD_ARGS_H
#define UVEA_SIM_CMD_ARGS_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum uvea_arg_kind {
    UVEA_ARG_FLAG, // to: bool, set to true
    UVEA_ARG_TEXT, // to: const char *
    UVEA_ARG_U64,  // to: uint64_t
    UVEA_ARG_INT,  // to: int64_t, may be negative
    UVEA_ARG_LIST, // to: struct uvea_arg_list; the option may be repeated
};

enum { UVEA_ARG_LIST_MAX = 64 };

struct uvea_arg_list {
    const char *at[UVEA_ARG_LIST_MAX];
    size_t count;
};

// An option with a value takes it as `--name VALUE` or `--name=VALUE`. What is not given keeps the
// value that `to` had. Texts point into argv.
struct uvea_arg_option {
    const char *name; // with its dashes
    enum uvea_arg_kind kind;
    void *to;
    bool *given; // may be NULL
};

struct uvea_arg_positionals {
    const char **at;
    size_t min;
    size_t max; // room in at
    size_t count;
    const char *what; // for sentences: "FILE"
};

// USAGE names the argument at fault: unknown, given twice, without its value, not a number, one too
// many, or missing. `--` ends the options.
UVEA_MUST_USE enum uvea_error uvea_args_parse(int argc, char **argv,
                                              const struct uvea_arg_option *options, size_t count,
                                              struct uvea_arg_positionals *positionals,
                                              struct uvea_error_context *context);

// Two numbers with `separator` between them ("3,4", "1..50"); `name` is the option for sentences.
UVEA_MUST_USE enum uvea_error uvea_args_parse_two(const char *name, const char *text,
                                                  const char *separator, uint64_t out[2],
                                                  struct uvea_error_context *context);

#endif
