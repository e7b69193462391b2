#include "tests/iris/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

uint64_t sample_next(struct sample_rng *rng)
{
    // splitmix64
    rng->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = rng->state;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

uint16_t sample_draw(void *arg)
{
    return (uint16_t)sample_next(arg);
}

void sample_template(struct sample_rng *rng, struct uvea_template *out)
{
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        out->code[i] = sample_next(rng);
        uint64_t valid = 0;
        for (unsigned j = 0; j < 3; j++) {
            valid |= sample_next(rng) & UINT64_C(0x5555555555555555);
        }
        out->mask[i] = valid | valid << 1;
    }
}

unsigned sample_bit(const uint64_t *plane, size_t row, size_t column, size_t wavelet, size_t part)
{
    size_t index = 800 * row + 4 * column + 2 * wavelet + part;
    return (unsigned)(plane[index / 64] >> index % 64) & 1;
}

void sample_scores(const struct uvea_template *query, const struct uvea_template *record,
                   int rotation, int *code, int *mask)
{
    *code = 0;
    *mask = 0;
    for (size_t i = 0; i < (size_t)16 * 200 * 2 * 2; i++) {
        size_t row = i / 800;
        size_t column = i / 4 % 200;
        size_t wavelet = i / 2 % 2;
        size_t part = i % 2;
        size_t turned = (column + 200 + (size_t)rotation) % 200;
        int valid = (int)(sample_bit(query->mask, row, column, wavelet, part) &
                          sample_bit(record->mask, row, turned, wavelet, part));
        int differ = (int)(sample_bit(query->code, row, column, wavelet, part) ^
                           sample_bit(record->code, row, turned, wavelet, part));
        *code += valid * (1 - 2 * differ);
        *mask += part == 0 ? valid : 0;
    }
}

void sample_distance(const struct uvea_template *left, const struct uvea_template *right,
                     unsigned *different, unsigned *common)
{
    *different = 0;
    *common = 0;
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        uint64_t valid = left->mask[i] & right->mask[i];
        *common += (unsigned)__builtin_popcountll(valid);
        *different += (unsigned)__builtin_popcountll((left->code[i] ^ right->code[i]) & valid);
    }
}

FILE *sample_open(const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/irises/%s", UVEA_TEST_DATA, name);
    return fopen(path, "r");
}

bool sample_load(const char *name, struct uvea_template *out, size_t count)
{
    FILE *file = sample_open(name);
    if (file == NULL) {
        print_message("%s is absent\n", name);
        return false;
    }
    char *line = NULL;
    size_t room = 0;
    for (size_t i = 0; i < count; i++) {
        ssize_t len = getline(&line, &room, file);
        assert_true(len > 0);
        assert_int_equal(uvea_iris_decode_json(line, (size_t)len, &out[i], NULL), UVEA_OK);
    }
    assert_int_equal(getline(&line, &room, file), -1);
    free(line);
    (void)fclose(file);
    return true;
}
