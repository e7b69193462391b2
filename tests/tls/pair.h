// Two tasks on two nodes of the simulator with one connection between them, each end of it under
// TLS or bare. Party 1 listens as "p1", party 0 dials it.
#ifndef UVEA_TESTS_TLS_PAIR_H
#define UVEA_TESTS_TLS_PAIR_H

#include "core/tls/stream.h"
#include "sim/runtime/sim.h"
#include "tests/tls/pki.h"

enum { DIALS, LISTENS };

struct side;
typedef void side_fn(struct side *side);

struct side {
    struct pair *pair;
    struct uvea_rt *rt;
    struct uvea_tls *tls; // NULL: the act gets the bare stream
    const char *host;     // of the side that dials
    side_fn *act;
    struct uvea_stream *bare; // taken over by tls when there is one
    struct uvea_tls_stream *stream;
};

struct pair {
    struct uvea_sim *sim;
    struct side sides[2];
};

static const struct pki_leaf good_dialler = {PKI_PARTY_0, "p0", -10, 10};
static const struct pki_leaf good_listener = {PKI_PARTY_1, "p1", -10, 10};

// A simulation with nobody in it yet, both ends with good certificates under TLS; a test may change
// them before it runs the pair.
void pair_open(struct pair *pair, struct pki *pki, const struct uvea_sim_config *config);
// Puts another certificate in place.
void pair_replace(struct pair *pair, unsigned side, struct uvea_tls *tls);
// Runs both acts to their end, checks that everything was released, closes.
void pair_run(struct pair *pair, side_fn *dialler, side_fn *listener);

// ---- for acts. cmocka cannot leave a task's stack: what does not hold is noted, and pair_run
// fails.

void pair_note(bool holds, const char *file, int line, const char *what);
#define PAIR_EXPECT(condition) pair_note((condition), __FILE__, __LINE__, #condition)

void side_write(struct side *side, size_t from, size_t bytes, enum uvea_error expected);
// Reads up to `most` bytes in pieces; gives how many of the pattern came and how it ended: OK for
// the end of data, LIMIT when `most` had come first.
size_t side_read(struct side *side, size_t from, size_t most, enum uvea_error *end);
// The reason is exactly this.
void side_says(struct side *side, const char *reason);
uint8_t side_pattern(size_t at);

#endif
