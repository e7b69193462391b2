#include "core/rt/point.h"

#include <string.h>

static const char *const texts[UVEA_POINT_COUNT] = {
#define POINT_TEXT(name, text, what) text,
    UVEA_POINTS(POINT_TEXT)
#undef POINT_TEXT
};

const char *uvea_point_text(enum uvea_point point)
{
    return texts[point];
}

enum uvea_point uvea_point_find(const char *text)
{
    int point = 0;

    while (point < UVEA_POINT_COUNT && strcmp(texts[point], text) != 0) {
        point++;
    }
    return (enum uvea_point)point;
}
