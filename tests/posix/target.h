// A listener under attack: what a stranger can do before it is known is the same for HTTP and for
// the mesh. After each attack there is one more line about it, no more memory than before, and
// whoever has a right to be there has not noticed.
#ifndef UVEA_TESTS_POSIX_TARGET_H
#define UVEA_TESTS_POSIX_TARGET_H

#include "tests/posix/attacker.h"

struct target {
    const char *address;
    struct pki *pki;
    struct web_lines *lines;
    void (*check)(void);       // fails the test when a real peer has been hurt
    const char *tells_timeout; // in the line about a handshake that takes too long
    int today;                 // in days, as in tests/tls/pki.h
    long process;              // whose memory it is; 0: the test's own

    unsigned seen; // lines
    size_t resident_bytes;
};

// Begins to measure.
void target_init(struct target *target);

// So many lines have come since the last call, now or soon, and nothing else has happened.
void target_expect_lines(struct target *target, unsigned count);
// One, which says this.
void target_expect_line(struct target *target, const char *says);

// One attack each.
void target_meets_stem(struct target *target, const char *stem, const char *says);
void target_meets_bytes(struct target *target, const void *bytes, size_t len, const char *says);

// A request of one whom the target knows: text, then filler times 'x'. status 0: any answer, or
// none.
struct target_request {
    const char *text;
    size_t filler;
    unsigned status;
    const char *says;
};
void target_meets_request(struct target *target, const char *stem,
                          const struct target_request *request);

// Many of one kind.
void target_meets_bad_requests(struct target *target, const char *stem);
void target_meets_wrong_certificates(struct target *target);
void target_meets_what_is_not_tls(struct target *target);
void target_meets_slow_hello(struct target *target);
// Opened, and held until there is a line about each of them; meanwhile is called in between.
void target_meets_silent_ones(struct target *target, unsigned count, void (*meanwhile)(void));

#endif
