// A runtime for one party alone: its clock jumps over every sleep, its peers are a function of the
// test, and locks know whether they are held.
#ifndef UVEA_TESTS_COORD_FAKE_H
#define UVEA_TESTS_COORD_FAKE_H

#include "core/coord/coord.h"
#include "core/rt/rt.h"

#include <stdbool.h>

struct fake;

// Answers one request; may take time by adding to fake->now_ns. An answer later than the deadline
// is turned into a timeout at the deadline.
typedef enum uvea_error fake_peer_fn(struct fake *fake, unsigned party, const char *target,
                                     struct uvea_http_response *response);

struct fake {
    struct uvea_rt rt; // first
    uint64_t now_ns;
    uint64_t drawn; // of entropy
    unsigned locks_held;
    unsigned locks_open;
    unsigned requests;
    unsigned sleeps;
    uint64_t longest_sleep_ns;
    fake_peer_fn *peer;
    void *arg;
    struct uvea_coord *stop_after; // when set: stopped at stop_at_ns
    uint64_t stop_at_ns;
};

void fake_init(struct fake *fake, fake_peer_fn *peer, void *arg);

// Party 0 with the usual timing and a coord of its own.
struct uvea_coord_link fake_link(struct fake *fake);
void fake_link_close(struct uvea_coord_link *link);

// Fills a response.
void fake_answer(struct uvea_http_response *response, unsigned status, const char *body);

#endif
