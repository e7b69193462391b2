#include "core/scan/frequency.h"

#include "core/base/mem.h"

enum {
    ROWS = 4,
    COUNTERS_PER_ENTRY = 8,
    WIDTH_MIN = 512,
    PERIOD_PER_ENTRY = 10,
    PERIOD_MIN = 640,
};

enum uvea_error uvea_frequency_init(struct uvea_frequency *frequency, size_t entries)
{
    size_t width = WIDTH_MIN;
    uint8_t *counters;

    while (width < entries * COUNTERS_PER_ENTRY) {
        width *= 2;
    }
    counters = uvea_mem_alloc(ROWS, width);
    if (counters == NULL) {
        return UVEA_ERR_MEMORY;
    }
    *frequency = (struct uvea_frequency){
        .counters = counters,
        .width = width,
        .period = entries < PERIOD_MIN / PERIOD_PER_ENTRY ? PERIOD_MIN : entries * PERIOD_PER_ENTRY,
    };
    return UVEA_OK;
}

void uvea_frequency_deinit(struct uvea_frequency *frequency)
{
    uvea_mem_free(frequency->counters);
    *frequency = (struct uvea_frequency){0};
}

// splitmix64: neighbouring serials must not share counters in every row.
static uint64_t mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static size_t counter_of(const struct uvea_frequency *frequency, uint64_t key, unsigned row)
{
    return row * frequency->width + (size_t)(mix(key * ROWS + row) & (frequency->width - 1));
}

static void halve(struct uvea_frequency *frequency)
{
    for (size_t i = 0; i < ROWS * frequency->width; i++) {
        frequency->counters[i] /= 2;
    }
    frequency->recorded = 0;
}

void uvea_frequency_record(struct uvea_frequency *frequency, uint64_t key)
{
    if (frequency->counters == NULL) {
        return;
    }
    for (unsigned row = 0; row < ROWS; row++) {
        uint8_t *counter = &frequency->counters[counter_of(frequency, key, row)];
        *counter += *counter < UVEA_FREQUENCY_MAX;
    }
    if (++frequency->recorded >= frequency->period) {
        halve(frequency);
    }
}

unsigned uvea_frequency_estimate(const struct uvea_frequency *frequency, uint64_t key)
{
    unsigned least = UVEA_FREQUENCY_MAX;

    if (frequency->counters == NULL) {
        return 0;
    }
    for (unsigned row = 0; row < ROWS; row++) {
        const unsigned count = frequency->counters[counter_of(frequency, key, row)];
        least = count < least ? count : least;
    }
    return least;
}
