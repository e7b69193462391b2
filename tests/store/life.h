// A party's life as a list of calls, each of which is acknowledged or not, and a look at what of it
// is stored. The life of every party is the same, so the number of steps says everything.
#ifndef UVEA_TESTS_STORE_LIFE_H
#define UVEA_TESTS_STORE_LIFE_H

#include "tests/store/fixture.h"

enum life_call {
    LIFE_OBJECT,   // a share object is stored
    LIFE_TOPIC,    // a request gets its number
    LIFE_INGEST,   // its message is stored
    LIFE_CLAIM,    // it is claimed
    LIFE_SPECTRUM, // its spectral row is stored
    LIFE_COMMIT,   // its record is inserted, and the one before goes to version 1
    LIFE_RESULT,   // its result is published
    LIFE_CALLS,
};

// How often each call was carried out.
struct life_progress {
    uint64_t done[LIFE_CALLS];
};

// Call number `step`, from 0.
enum uvea_error life_step(struct fixture *fixture, uint64_t step);

// Reads everything. What it is given must be what was written, else the test fails; an error of the
// store ends it.
enum uvea_error life_look(struct fixture *fixture, struct life_progress *progress);

// The number of steps that lead there; fails the test when none does.
uint64_t life_steps(const struct life_progress *progress);

#endif
