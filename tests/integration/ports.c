#include "tests/integration/ports.h"

#include "tests/support/cmocka.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST = 10000, RANGES = 234 };
_Static_assert(FIRST + RANGES * PORTS_RANGE <= 25000, "other tests have fixed ports from there on");

static bool is_free(unsigned port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(made >= 0);
    const bool done = bind(made, (const struct sockaddr *)&address, sizeof(address)) == 0;
    (void)close(made);
    return done;
}

// Held by a name that lasts as long as the process does: an abstract one.
static bool claim(unsigned base)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "uvea-ports-%u", base);
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(made >= 0);
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (unsigned)len;
    if (bind(made, (const struct sockaddr *)&name, bytes) == 0) {
        return true;
    }
    (void)close(made);
    return false;
}

static bool all_free(unsigned base)
{
    bool all = true;
    for (unsigned i = 0; i < PORTS_RANGE && all; i++) {
        all = is_free(base + i);
    }
    return all;
}

unsigned ports_reserve(void)
{
    const unsigned start = (unsigned)getpid();
    for (unsigned i = 0; i < RANGES; i++) {
        const unsigned base = FIRST + (start + i) % RANGES * PORTS_RANGE;
        if (claim(base) && all_free(base)) {
            return base;
        }
    }
    fail_msg("of %d ranges of %d ports none is free", RANGES, PORTS_RANGE);
    return 0;
}
