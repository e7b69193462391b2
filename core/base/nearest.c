#include "core/base/nearest.h"

#include <stddef.h>
#include <string.h>

enum { EDITS_MAX = 2 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    const unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

// Both are shorter than UVEA_NEAREST_CHARS_MAX.
static unsigned edits(const char *a, const char *b)
{
    const size_t columns = strlen(b);
    unsigned row[UVEA_NEAREST_CHARS_MAX];
    for (size_t j = 0; j <= columns; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        unsigned corner = row[0]++;
        for (size_t j = 0; j < columns; j++) {
            const unsigned above = row[j + 1];
            row[j + 1] = least(above + 1, row[j] + 1, corner + (a[i] != b[j] ? 1 : 0));
            corner = above;
        }
    }
    return row[columns];
}

bool uvea_nearest_try(struct uvea_nearest *nearest, const char *candidate)
{
    const size_t chars = strnlen(nearest->name, UVEA_NEAREST_CHARS_MAX);
    const size_t candidate_chars = strnlen(candidate, UVEA_NEAREST_CHARS_MAX);
    if (chars == UVEA_NEAREST_CHARS_MAX || candidate_chars == UVEA_NEAREST_CHARS_MAX) {
        return false;
    }
    const unsigned found = edits(nearest->name, candidate);
    if ((found > EDITS_MAX && found >= chars / 3) || 2 * (size_t)found > candidate_chars ||
        (nearest->found && found >= nearest->edits)) {
        return false;
    }
    nearest->edits = found;
    nearest->found = true;
    return true;
}
