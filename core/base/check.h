// Checks on the programmer, kept in every build. Input from a peer, a file or a user never gets
// here.
#ifndef UVEA_CORE_BASE_CHECK_H
#define UVEA_CORE_BASE_CHECK_H

// Prints the place and the condition, then aborts.
_Noreturn void uvea_check_failed(const char *file, int line, const char *condition);

// The condition must not depend on a secret.
#define UVEA_CHECK(condition)                                                                      \
    ((condition) ? (void)0 : uvea_check_failed(__FILE__, __LINE__, #condition))

#define UVEA_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
