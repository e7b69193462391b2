// A short story of eight requests that three parties must live through whatever happens to them:
// each has the same outcome, once, and the databases are alike at the end.
#ifndef UVEA_TESTS_SERVICE_STORY_H
#define UVEA_TESTS_SERVICE_STORY_H

#include "tests/service/fleet.h"

enum { STORY_PEOPLE = 3 };

struct story {
    struct fleet fleet;
    struct uvea_template_pair people[STORY_PEOPLE];
};

struct story *story_open(uint64_t seed);
void story_close(struct story *story);

// Runs the fleet; the requests wait for each other's results.
void story_tell(struct story *story);

#endif
