// Errors: one enumeration, and an optional context that carries the sentence a user reads.
#ifndef UVEA_CORE_BASE_ERROR_H
#define UVEA_CORE_BASE_ERROR_H

// name, short text
#define UVEA_ERRORS(X)                                                                             \
    X(OK, "ok")                                                                                    \
    X(USAGE, "the call or command was used wrongly")                                               \
    X(FORMAT, "malformed input")                                                                   \
    X(LIMIT, "a stated bound was exceeded")                                                        \
    X(CLOSED, "the stream or channel is closed")                                                   \
    X(RESET, "the connection was reset")                                                           \
    X(TIMEOUT, "the deadline passed")                                                              \
    X(PEER, "a peer broke the protocol")                                                           \
    X(DRIFT, "the parties' random streams are out of step")                                        \
    X(STATE, "an internal invariant does not hold")                                                \
    X(NOT_FOUND, "no such thing")                                                                  \
    X(MEMORY, "out of memory")                                                                     \
    X(IO, "input or output failed")                                                                \
    X(CRYPTO, "a cryptographic library call failed")                                               \
    X(IN_USE, "address already in use")                                                            \
    X(NOT_HERE, "no address of this machine")                                                      \
    X(DENIED, "permission denied")

enum uvea_error {
#define UVEA_ERROR_ENUM(name, text) UVEA_ERR_##name,
    UVEA_ERRORS(UVEA_ERROR_ENUM)
#undef UVEA_ERROR_ENUM
};
#define UVEA_OK UVEA_ERR_OK

#define UVEA_MUST_USE __attribute__((warn_unused_result))
#define UVEA_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))

// The sentence for a user: what, where (file, line, field). Never holds a share or a key.
struct uvea_error_context {
    char text[512];
};

// Short text of an error, for example "malformed input".
const char *uvea_error_text(enum uvea_error error);

// Its name without prefix, for example "FORMAT".
const char *uvea_error_name(enum uvea_error error);

// Writes the sentence into context (which may be NULL) and returns error, so that a caller can
// write `return uvea_error_set(context, UVEA_ERR_FORMAT, "...", ...)`.
UVEA_MUST_USE UVEA_PRINTF(3, 4) enum uvea_error
    uvea_error_set(struct uvea_error_context *context, enum uvea_error error, const char *format,
                   ...);
#ifdef __clang_analyzer__
// Tells the analyser, which looks at one file at a time, that a failed call is not UVEA_OK.
#define uvea_error_set(context, error, ...)                                                        \
    ((void)(uvea_error_set)(context, error, __VA_ARGS__), (error))
#endif

// Returns from the enclosing function when expr fails. Only before anything is acquired.
#define UVEA_TRY(expr)                                                                             \
    do {                                                                                           \
        enum uvea_error uvea_try_error_ = (expr);                                                  \
        if (uvea_try_error_ != UVEA_OK) {                                                          \
            return uvea_try_error_;                                                                \
        }                                                                                          \
    } while (0)

// Goes to the label cleanup when expr fails; the enclosing function declares `enum uvea_error
// error`.
#define UVEA_TRY_CLEANUP(expr)                                                                     \
    do {                                                                                           \
        error = (expr);                                                                            \
        if (error != UVEA_OK) {                                                                    \
            goto cleanup;                                                                          \
        }                                                                                          \
    } while (0)

#endif
