#include "core/base/chacha.h"
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/scan/cold.h"
#include "core/scan/frequency.h"
#include "tests/scan/cluster.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum {
    SERIALS_MAX = 6000,
    GONE = UINT16_MAX, // version of what is not stored
};

// ---- a store whose eyes tell serial and version

struct store {
    uint16_t version[SERIALS_MAX + 1];
    bool broken;
    _Atomic uint64_t reads;
};

static void fill_eye(uint32_t serial, uint16_t version, uint16_t *eye)
{
    for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
        eye[i] = (uint16_t)(serial * 40503u + version * 257u + i);
    }
}

static bool eye_is(uint32_t serial, uint16_t version, const uint16_t *eye)
{
    for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
        if (eye[i] != (uint16_t)(serial * 40503u + version * 257u + i)) {
            return false;
        }
    }
    return true;
}

static enum uvea_error read_store(void *arg, uint32_t serial, uint16_t version,
                                  uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                  struct uvea_error_context *context)
{
    struct store *store = arg;

    store->reads++;
    if (store->broken) {
        out[0] = 0x5ec7; // half a record
        return uvea_error_set(context, UVEA_ERR_IO, "the disk is gone");
    }
    if (store->version[serial] != version) {
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "stored is another version");
    }
    fill_eye(serial, version, out);
    return UVEA_OK;
}

struct bench {
    struct store store;
    struct uvea_cold *cold;
    uint16_t eye[UVEA_RECORD_COEFFICIENTS];
    struct uvea_error_context context;
};

static struct bench *open_bench(struct uvea_rt *rt, size_t cache, size_t window)
{
    struct bench *bench = uvea_mem_alloc(1, sizeof(*bench));

    UVEA_CHECK(bench != NULL);
    const struct uvea_cold_config config = {
        .rt = rt,
        .cache_records = cache,
        .window_records = window,
        .read = read_store,
        .arg = &bench->store,
    };
    assert_int_equal(uvea_cold_open(&config, &bench->cold), UVEA_OK);
    return bench;
}

static void close_bench(struct bench *bench)
{
    uvea_cold_close(bench->cold);
    uvea_mem_free(bench);
}

static void put(struct bench *bench, uint32_t serial, uint16_t version)
{
    fill_eye(serial, version, bench->eye);
    assert_int_equal(uvea_cold_put(bench->cold, serial, version, bench->eye), UVEA_OK);
}

static void assert_reads(struct bench *bench, uint32_t serial, uint16_t version)
{
    memset(bench->eye, 0xff, sizeof(bench->eye));
    assert_int_equal(uvea_cold_read(bench->cold, serial, version, bench->eye, &bench->context),
                     UVEA_OK);
    assert_true(eye_is(serial, version, bench->eye));
}

static void assert_missing(struct bench *bench, uint32_t serial, uint16_t version)
{
    assert_int_equal(uvea_cold_read(bench->cold, serial, version, bench->eye, &bench->context),
                     UVEA_ERR_NOT_FOUND);
}

static void prefetch(struct bench *bench, uint32_t serial, uint16_t version)
{
    uvea_cold_prefetch(bench->cold, &serial, &version, 1);
}

static void assert_stats(const struct bench *bench, uint64_t overlay, uint64_t window,
                         uint64_t prefetched, uint64_t cached, uint64_t stored)
{
    const struct uvea_cold_stats stats = uvea_cold_stats(bench->cold);

    assert_int_equal(stats.overlay, overlay);
    assert_int_equal(stats.window, window);
    assert_int_equal(stats.prefetched, prefetched);
    assert_int_equal(stats.cached, cached);
    assert_int_equal(stats.stored, stored);
}

// ---- one source after the other

static void impossible_sizes_are_refused(void **state)
{
    const struct uvea_cold_config cache = {.cache_records = UVEA_COLD_RECORDS_MAX + 1,
                                           .read = read_store};
    const struct uvea_cold_config window = {.window_records = UVEA_COLD_RECORDS_MAX + 1,
                                            .read = read_store};
    struct uvea_cold *cold = NULL;

    (void)state;
    assert_int_equal(uvea_cold_open(&cache, &cold), UVEA_ERR_USAGE);
    assert_int_equal(uvea_cold_open(&window, &cold), UVEA_ERR_USAGE);
    assert_null(cold);
    uvea_cold_close(NULL);
}

static void an_uncommitted_change_is_read_until_it_is_acknowledged(void **state)
{
    struct bench *bench = open_bench(NULL, 4, 0);

    (void)state;
    bench->store.version[7] = GONE;
    put(bench, 7, 0);
    put(bench, 7, 1);
    put(bench, 3, 5);
    assert_reads(bench, 7, 1);
    assert_reads(bench, 3, 5);
    assert_stats(bench, 2, 0, 0, 0, 0);
    assert_missing(bench, 7, 0);
    // Acknowledging an older version leaves the newer one.
    uvea_cold_acknowledge(bench->cold, 7, 0);
    uvea_cold_acknowledge(bench->cold, 8, 0);
    assert_reads(bench, 7, 1);
    bench->store.version[7] = 1;
    uvea_cold_acknowledge(bench->cold, 7, 1);
    assert_reads(bench, 7, 1);
    assert_reads(bench, 3, 5);
    assert_stats(bench, 4, 0, 0, 0, 1);
    close_bench(bench);
}

static void the_window_holds_the_newest_serials(void **state)
{
    struct bench *bench = open_bench(NULL, 0, 3);

    (void)state;
    for (uint32_t serial = 10; serial <= 14; serial++) {
        put(bench, serial, 0);
        uvea_cold_acknowledge(bench->cold, serial, 0);
    }
    bench->store.version[11] = GONE;
    assert_missing(bench, 11, 0);
    for (uint32_t serial = 12; serial <= 14; serial++) {
        assert_reads(bench, serial, 0);
    }
    assert_stats(bench, 0, 3, 0, 0, 0);
    // An update of one of them is an update there; one of another record does not enter.
    put(bench, 13, 1);
    put(bench, 2, 9);
    uvea_cold_acknowledge(bench->cold, 13, 1);
    uvea_cold_acknowledge(bench->cold, 2, 9);
    assert_reads(bench, 13, 1);
    assert_reads(bench, 12, 0);
    assert_missing(bench, 2, 9);
    assert_stats(bench, 0, 5, 0, 0, 0);
    // A gap starts it anew.
    put(bench, 16, 0);
    uvea_cold_acknowledge(bench->cold, 16, 0);
    bench->store.version[14] = GONE;
    assert_missing(bench, 14, 0);
    assert_reads(bench, 16, 0);
    put(bench, 17, 0);
    uvea_cold_acknowledge(bench->cold, 17, 0);
    assert_reads(bench, 16, 0);
    assert_reads(bench, 17, 0);
    assert_stats(bench, 0, 8, 0, 0, 0);
    close_bench(bench);
}

// Without a cache a reservation is good for one read; with one it moves there.
static void a_reservation_is_used_once(void **state)
{
    struct bench *bench = open_bench(NULL, 0, 0);

    (void)state;
    prefetch(bench, 5, 0);
    prefetch(bench, 5, 0);
    assert_int_equal(bench->store.reads, 1);
    assert_reads(bench, 5, 0);
    assert_reads(bench, 5, 0);
    assert_stats(bench, 0, 0, 1, 0, 1);
    close_bench(bench);

    bench = open_bench(NULL, 1, 0);
    prefetch(bench, 5, 0);
    assert_reads(bench, 5, 0);
    assert_reads(bench, 5, 0);
    assert_stats(bench, 0, 0, 1, 1, 0);
    prefetch(bench, 5, 0); // at hand already
    assert_int_equal(bench->store.reads, 1);
    close_bench(bench);
}

static void what_was_fetched_ahead_gives_way_to_a_change(void **state)
{
    struct bench *bench = open_bench(NULL, 4, 0);

    (void)state;
    prefetch(bench, 5, 0);
    put(bench, 5, 1);
    bench->store.version[5] = 1;
    uvea_cold_acknowledge(bench->cold, 5, 1);
    assert_missing(bench, 5, 0);
    assert_reads(bench, 5, 1);
    assert_stats(bench, 0, 0, 0, 0, 1);
    // So does what is cached.
    put(bench, 5, 2);
    uvea_cold_acknowledge(bench->cold, 5, 2);
    bench->store.version[5] = 2;
    assert_missing(bench, 5, 1);
    assert_reads(bench, 5, 2);
    assert_stats(bench, 0, 0, 0, 0, 2);
    // And what is released is gone.
    prefetch(bench, 6, 0);
    uvea_cold_release_prefetched(bench->cold);
    assert_reads(bench, 6, 0);
    assert_stats(bench, 0, 0, 0, 0, 3);
    close_bench(bench);
}

static void reservations_are_bounded(void **state)
{
    struct bench *bench = open_bench(NULL, 0, 0);
    uint32_t serials[UVEA_COLD_PREFETCH_RECORDS + 10];
    uint16_t versions[UVEA_COLD_PREFETCH_RECORDS + 10] = {0};

    (void)state;
    for (uint32_t i = 0; i < UVEA_COUNT_OF(serials); i++) {
        serials[i] = (uint32_t)UVEA_COUNT_OF(serials) - i;
    }
    uvea_cold_prefetch(bench->cold, serials, versions, UVEA_COUNT_OF(serials));
    assert_int_equal(bench->store.reads, UVEA_COLD_PREFETCH_RECORDS);
    for (size_t i = 0; i < UVEA_COUNT_OF(serials); i++) {
        assert_reads(bench, serials[i], 0);
    }
    assert_stats(bench, 0, 0, UVEA_COLD_PREFETCH_RECORDS, 0, 10);
    close_bench(bench);
}

// Errors on the way ahead are forgotten; those of a read are not.
static void a_failing_store_fails_the_read(void **state)
{
    struct bench *bench = open_bench(NULL, 4, 0);

    (void)state;
    bench->store.broken = true;
    prefetch(bench, 9, 0);
    bench->store.broken = false;
    assert_reads(bench, 9, 0);
    assert_stats(bench, 0, 0, 0, 0, 1);
    bench->store.broken = true;
    assert_reads(bench, 9, 0); // cached
    memset(bench->eye, 0xff, sizeof(bench->eye));
    assert_int_equal(uvea_cold_read(bench->cold, 10, 2, bench->eye, &bench->context), UVEA_ERR_IO);
    assert_non_null(strstr(bench->context.text, "record 10 at version 2"));
    assert_non_null(strstr(bench->context.text, "the disk is gone"));
    for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
        assert_int_equal(bench->eye[i], 0);
    }
    assert_int_equal(uvea_cold_read(bench->cold, 10, 2, bench->eye, NULL), UVEA_ERR_IO);
    bench->store.broken = false;
    bench->store.version[10] = 2;
    assert_reads(bench, 10, 2);
    assert_stats(bench, 0, 0, 0, 1, 2);
    close_bench(bench);
}

// ---- cache

static void the_cache_is_bounded(void **state)
{
    enum { CACHE = 5, SERIALS = 40 };
    struct bench *bench = open_bench(NULL, CACHE, 0);

    (void)state;
    for (int round = 0; round < 4; round++) {
        const uint64_t before = uvea_cold_stats(bench->cold).cached;
        for (uint32_t serial = 1; serial <= SERIALS; serial++) {
            assert_reads(bench, serial, 0);
        }
        assert_int_equal(uvea_cold_stats(bench->cold).cached - before, round == 0 ? 0 : CACHE);
    }
    close_bench(bench);
}

// A sweep over records that are read once does not push out those that are read often.
static void what_is_read_often_stays(void **state)
{
    enum { CACHE = 4 };
    struct bench *bench = open_bench(NULL, CACHE, 0);
    uint64_t before;

    (void)state;
    for (int round = 0; round < 5; round++) {
        for (uint32_t serial = 1; serial <= CACHE; serial++) {
            assert_reads(bench, serial, 0);
        }
    }
    for (uint32_t serial = 100; serial < 200; serial++) {
        assert_reads(bench, serial, 0);
    }
    before = uvea_cold_stats(bench->cold).cached;
    for (uint32_t serial = 1; serial <= CACHE; serial++) {
        assert_reads(bench, serial, 0);
    }
    assert_int_equal(uvea_cold_stats(bench->cold).cached, before + CACHE);
    close_bench(bench);
}

// What becomes popular gets in, in the place of what was used longest ago.
static void popularity_is_earned_and_lost(void **state)
{
    struct bench *bench = open_bench(NULL, 2, 0);
    uint64_t stored;

    (void)state;
    assert_reads(bench, 1, 0);
    assert_reads(bench, 2, 0);
    assert_reads(bench, 1, 0); // 2 is the one longest unused
    assert_reads(bench, 3, 0); // once, like 2: stays out
    assert_reads(bench, 3, 0); // twice: pushes 2 out
    assert_stats(bench, 0, 0, 0, 1, 4);
    assert_reads(bench, 3, 0);
    assert_reads(bench, 1, 0);
    assert_stats(bench, 0, 0, 0, 3, 4);
    // Everything is forgotten after long enough.
    for (uint32_t serial = 1000; serial < 5000; serial++) {
        assert_reads(bench, serial, 0);
    }
    for (int n = 0; n < 8; n++) {
        assert_reads(bench, 5, 0);
    }
    stored = uvea_cold_stats(bench->cold).stored;
    assert_reads(bench, 5, 0);
    assert_int_equal(uvea_cold_stats(bench->cold).stored, stored);
    close_bench(bench);
}

static void frequencies_are_never_underestimated_before_they_are_halved(void **state)
{
    struct uvea_frequency frequency = {0};
    unsigned exact = 0;

    (void)state;
    uvea_frequency_record(&frequency, 1);
    assert_int_equal(uvea_frequency_estimate(&frequency, 1), 0);
    assert_int_equal(uvea_frequency_init(&frequency, 64), UVEA_OK);
    // 64 keys, 1 to 9 times each: below the 640 that halve.
    for (uint64_t key = 0; key < 64; key++) {
        for (uint64_t n = 0; n <= key % 9; n++) {
            uvea_frequency_record(&frequency, key << 16);
        }
    }
    for (uint64_t key = 0; key < 64; key++) {
        assert_in_range(uvea_frequency_estimate(&frequency, key << 16), key % 9 + 1, 15);
        exact += uvea_frequency_estimate(&frequency, key << 16) == key % 9 + 1;
    }
    assert_in_range(exact, 60, 64);
    for (int n = 0; n < 400; n++) {
        uvea_frequency_record(&frequency, UINT64_MAX);
    }
    assert_in_range(uvea_frequency_estimate(&frequency, UINT64_MAX), UVEA_FREQUENCY_MAX / 2,
                    UVEA_FREQUENCY_MAX);
    assert_in_range(uvea_frequency_estimate(&frequency, UINT64_C(8) << 16), 4, 8);
    uvea_frequency_deinit(&frequency);
}

// ---- anything in any order

struct model {
    uint16_t version[SERIALS_MAX + 1]; // current
    uint32_t count;
};

static void commit(struct bench *bench, const struct model *model, uint32_t serial)
{
    bench->store.version[serial] = model->version[serial];
    uvea_cold_acknowledge(bench->cold, serial, model->version[serial]);
}

// One step of a party's life. Whatever it was, the current version of a record reads as what was
// written last, and any other version does not read.
static void live(struct bench *bench, struct model *model, struct uvea_chacha *rng)
{
    const uint32_t draw = uvea_chacha_next_u32(rng) % 16;
    const uint32_t serial = uvea_chacha_next_u32(rng) % model->count + 1;

    if (draw == 0) {
        model->count++;
        put(bench, model->count, 0);
        bench->store.version[model->count] = GONE;
    } else if (draw == 1) {
        put(bench, serial, ++model->version[serial]);
    } else if (draw <= 4) {
        commit(bench, model, serial);
    } else if (draw <= 6) {
        prefetch(bench, serial, model->version[serial]);
    } else if (draw == 7) {
        uvea_cold_release_prefetched(bench->cold);
    } else if (draw == 8) {
        assert_missing(bench, serial, (uint16_t)(model->version[serial] + 1));
    } else if (draw == 9) {
        commit(bench, model, model->count);
        assert_reads(bench, model->count, model->version[model->count]);
    } else {
        // Half of the reads are of a few records.
        const uint32_t at = draw < 13 ? serial % 4 + 1 : serial;
        assert_reads(bench, at, model->version[at]);
    }
}

static struct uvea_cold_stats live_long(size_t cache, size_t window, uint64_t seed)
{
    struct bench *bench = open_bench(NULL, cache, window);
    struct model *model = uvea_mem_alloc(1, sizeof(*model));
    struct uvea_cold_stats stats;
    struct uvea_chacha rng;

    assert_non_null(model);
    uvea_chacha_init_seeded(&rng, seed);
    model->count = 20;
    for (int step = 0; step < 1500; step++) {
        live(bench, model, &rng);
    }
    for (uint32_t serial = 1; serial <= model->count; serial++) {
        assert_reads(bench, serial, model->version[serial]);
    }
    stats = uvea_cold_stats(bench->cold);
    uvea_mem_free(model);
    close_bench(bench);
    return stats;
}

static void sizes_change_where_from_but_never_what(void **state)
{
    static const size_t caches[] = {0, 1, 2, 7, UVEA_COLD_CACHE_RECORDS};
    static const size_t windows[] = {0, 1, 3, 501};
    uint64_t total = 0;

    (void)state;
    for (size_t c = 0; c < UVEA_COUNT_OF(caches); c++) {
        for (size_t w = 0; w < UVEA_COUNT_OF(windows); w++) {
            const struct uvea_cold_stats stats = live_long(caches[c], windows[w], 11);
            const struct uvea_cold_stats again = live_long(caches[c], windows[w], 11);
            const uint64_t sum =
                stats.overlay + stats.window + stats.prefetched + stats.cached + stats.stored;
            assert_memory_equal(&stats, &again, sizeof(stats));
            assert_int_equal(stats.cached > 0, caches[c] > 0);
            assert_int_equal(stats.window > 0, windows[w] > 0);
            assert_true(stats.overlay > 0 && stats.prefetched > 0 && stats.stored > 0);
            total = total == 0 ? sum : total;
            assert_int_equal(sum, total);
        }
    }
}

// ---- many tasks at once

enum { TASKS = 6, SHARED = 40 };

struct reader {
    struct bench *bench;
    uint32_t first;
    unsigned wrong;
};

static void read_and_prefetch(void *arg)
{
    struct reader *reader = arg;
    uint16_t *eye = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*eye));

    for (uint32_t n = 0; n < 400 && eye != NULL; n++) {
        const uint32_t serial = (reader->first + n * 7) % SHARED + 1;
        const uint32_t next = serial % SHARED + 1;
        const uint16_t version = 0;
        uvea_cold_prefetch(reader->bench->cold, &next, &version, 1);
        reader->wrong += uvea_cold_read(reader->bench->cold, serial, 0, eye, NULL) != UVEA_OK ||
                         !eye_is(serial, 0, eye);
    }
    reader->wrong += eye == NULL;
    uvea_mem_free(eye);
}

static void tasks_read_at_once(void **state)
{
    struct cluster_rt rt;
    struct bench *bench;
    struct reader readers[TASKS];
    struct uvea_task *tasks[TASKS];
    struct uvea_cold_stats stats;

    (void)state;
    cluster_rt_init(&rt);
    bench = open_bench(&rt.rt, 8, 4);
    for (uint32_t serial = SHARED - 5; serial <= SHARED; serial++) {
        put(bench, serial, 0);
    }
    for (uint32_t i = 0; i < TASKS; i++) {
        readers[i] = (struct reader){.bench = bench, .first = i};
        assert_int_equal(uvea_rt_spawn(&rt.rt, "reader", read_and_prefetch, &readers[i], &tasks[i]),
                         UVEA_OK);
    }
    for (int i = 0; i < TASKS; i++) {
        uvea_rt_join(&rt.rt, tasks[i]);
        assert_int_equal(readers[i].wrong, 0);
    }
    stats = uvea_cold_stats(bench->cold);
    assert_int_equal(stats.overlay + stats.prefetched + stats.cached + stats.stored, TASKS * 400);
    close_bench(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(an_uncommitted_change_is_read_until_it_is_acknowledged),
        cmocka_unit_test(the_window_holds_the_newest_serials),
        cmocka_unit_test(a_reservation_is_used_once),
        cmocka_unit_test(what_was_fetched_ahead_gives_way_to_a_change),
        cmocka_unit_test(reservations_are_bounded),
        cmocka_unit_test(a_failing_store_fails_the_read),
        cmocka_unit_test(the_cache_is_bounded),
        cmocka_unit_test(what_is_read_often_stays),
        cmocka_unit_test(popularity_is_earned_and_lost),
        cmocka_unit_test(frequencies_are_never_underestimated_before_they_are_halved),
        cmocka_unit_test(sizes_change_where_from_but_never_what),
        cmocka_unit_test(tasks_read_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
