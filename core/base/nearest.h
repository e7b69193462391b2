// The name that was meant, among those that there are.
#ifndef UVEA_CORE_BASE_NEAREST_H
#define UVEA_CORE_BASE_NEAREST_H

#include <stdbool.h>

enum { UVEA_NEAREST_CHARS_MAX = 64 }; // of a name, with the end; longer ones are near to nothing

// Begin with name set and all else zero.
struct uvea_nearest {
    const char *name; // borrowed
    unsigned edits;   // that make the best candidate of it; meaningful once there is one
    bool found;
};

// Whether the candidate is nearer than all before, and near enough to be meant: by less than three
// edits (a character put in, left out or replaced) or a third of the name, and by no more than half
// of the candidate.
bool uvea_nearest_try(struct uvea_nearest *nearest, const char *candidate);

#endif
