#include "core/scan/cold.h"

#include "core/base/mem.h"
#include "core/scan/frequency.h"

#include <stdbool.h>
#include <string.h>

// ---- shelves
//
// Each place that holds records is a shelf: pointers to entries in order of their serials, found by
// bisection. Putting one in moves the pointers behind it: 32 KB for the usual cache, next to a
// record of 38 KB that is copied and a read of the store that is saved or was just done. In return
// there is no hash table to size, and nothing depends on the order of its buckets.

struct entry {
    struct entry *used_before; // of the cache: neighbours in order of last use
    struct entry *used_after;
    uint32_t serial;
    uint16_t version;
    uint16_t eye[UVEA_RECORD_COEFFICIENTS];
};

struct shelf {
    struct entry **at; // owned, and so are the entries
    size_t count;
    size_t capacity;
};

static struct entry *entry_new(uint32_t serial, uint16_t version, const uint16_t *eye)
{
    struct entry *entry = uvea_mem_alloc(1, sizeof(*entry));

    if (entry != NULL) {
        entry->serial = serial;
        entry->version = version;
        if (eye != NULL) {
            memcpy(entry->eye, eye, sizeof(entry->eye));
        }
    }
    return entry;
}

static void entry_free(struct entry *entry)
{
    if (entry != NULL) {
        uvea_mem_wipe(entry, sizeof(*entry));
        uvea_mem_free(entry);
    }
}

// Where the serial stands, or would.
static size_t shelf_place(const struct shelf *shelf, uint32_t serial)
{
    size_t low = 0;
    size_t high = shelf->count;

    // Serials mostly come in ascending order.
    if (high > 0 && shelf->at[high - 1]->serial < serial) {
        return high;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (shelf->at[middle]->serial < serial) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct entry *shelf_find(const struct shelf *shelf, uint32_t serial)
{
    const size_t place = shelf_place(shelf, serial);

    return place < shelf->count && shelf->at[place]->serial == serial ? shelf->at[place] : NULL;
}

static struct entry *shelf_find_version(const struct shelf *shelf, uint32_t serial,
                                        uint16_t version)
{
    struct entry *entry = shelf_find(shelf, serial);

    return entry != NULL && entry->version == version ? entry : NULL;
}

static enum uvea_error shelf_reserve(struct shelf *shelf)
{
    const size_t capacity = shelf->capacity == 0 ? 16 : 2 * shelf->capacity;
    struct entry **at;

    if (shelf->count < shelf->capacity) {
        return UVEA_OK;
    }
    at = uvea_mem_alloc(capacity, sizeof(struct entry *));
    if (at == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (shelf->count > 0) {
        memcpy((void *)at, (const void *)shelf->at, shelf->count * sizeof(struct entry *));
    }
    uvea_mem_free((void *)shelf->at);
    shelf->at = at;
    shelf->capacity = capacity;
    return UVEA_OK;
}

// There is room, and no entry of this serial.
static void shelf_insert(struct shelf *shelf, struct entry *entry)
{
    const size_t place = shelf_place(shelf, entry->serial);

    memmove((void *)(shelf->at + place + 1), (const void *)(shelf->at + place),
            (shelf->count - place) * sizeof(struct entry *));
    shelf->at[place] = entry;
    shelf->count++;
}

// Takes the serial's entry off the shelf; NULL when there is none.
static struct entry *shelf_take(struct shelf *shelf, uint32_t serial)
{
    const size_t place = shelf_place(shelf, serial);
    struct entry *entry;

    if (place == shelf->count || shelf->at[place]->serial != serial) {
        return NULL;
    }
    entry = shelf->at[place];
    shelf->count--;
    memmove((void *)(shelf->at + place), (const void *)(shelf->at + place + 1),
            (shelf->count - place) * sizeof(struct entry *));
    return entry;
}

static void shelf_clear(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++) {
        entry_free(shelf->at[i]);
    }
    shelf->count = 0;
}

static void shelf_deinit(struct shelf *shelf)
{
    shelf_clear(shelf);
    uvea_mem_free((void *)shelf->at);
    *shelf = (struct shelf){0};
}

// ---- opening

struct uvea_cold {
    struct uvea_cold_config config;
    struct uvea_lock *lock; // NULL without a runtime
    struct shelf overlay;
    struct shelf window;
    struct shelf prefetched;
    struct shelf cached;
    struct entry *used_first; // of the cache: longest unused
    struct entry *used_last;
    struct uvea_frequency frequency; // of all reads, when there is a cache
    struct uvea_cold_stats stats;
};

static void lock(const struct uvea_cold *cold)
{
    if (cold->lock != NULL) {
        uvea_rt_lock_take(cold->config.rt, cold->lock);
    }
}

static void unlock(const struct uvea_cold *cold)
{
    if (cold->lock != NULL) {
        uvea_rt_lock_release(cold->config.rt, cold->lock);
    }
}

enum uvea_error uvea_cold_open(const struct uvea_cold_config *config, struct uvea_cold **cold)
{
    struct uvea_cold *opened;
    enum uvea_error error = UVEA_OK;

    if (config->cache_records > UVEA_COLD_RECORDS_MAX ||
        config->window_records > UVEA_COLD_RECORDS_MAX) {
        return UVEA_ERR_USAGE;
    }
    opened = uvea_mem_alloc(1, sizeof(*opened));
    if (opened == NULL) {
        return UVEA_ERR_MEMORY;
    }
    opened->config = *config;
    if (config->cache_records > 0) {
        UVEA_TRY_CLEANUP(uvea_frequency_init(&opened->frequency, config->cache_records));
    }
    if (config->rt != NULL) {
        UVEA_TRY_CLEANUP(uvea_rt_lock_open(config->rt, &opened->lock));
    }
cleanup:
    if (error != UVEA_OK) {
        uvea_cold_close(opened);
        return error;
    }
    *cold = opened;
    return UVEA_OK;
}

void uvea_cold_close(struct uvea_cold *cold)
{
    if (cold == NULL) {
        return;
    }
    if (cold->lock != NULL) {
        uvea_rt_lock_close(cold->config.rt, cold->lock);
    }
    shelf_deinit(&cold->overlay);
    shelf_deinit(&cold->window);
    shelf_deinit(&cold->prefetched);
    shelf_deinit(&cold->cached);
    uvea_frequency_deinit(&cold->frequency);
    uvea_mem_free(cold);
}

// ---- cache

static uint64_t key_of(uint32_t serial, uint16_t version)
{
    return (uint64_t)serial << 16 | version;
}

static void unlink_used(struct uvea_cold *cold, struct entry *entry)
{
    *(entry->used_before != NULL ? &entry->used_before->used_after : &cold->used_first) =
        entry->used_after;
    *(entry->used_after != NULL ? &entry->used_after->used_before : &cold->used_last) =
        entry->used_before;
    entry->used_before = NULL;
    entry->used_after = NULL;
}

static void link_used_last(struct uvea_cold *cold, struct entry *entry)
{
    entry->used_before = cold->used_last;
    *(cold->used_last != NULL ? &cold->used_last->used_after : &cold->used_first) = entry;
    cold->used_last = entry;
}

static void cache_drop(struct uvea_cold *cold, uint32_t serial)
{
    struct entry *entry = shelf_take(&cold->cached, serial);

    if (entry != NULL) {
        unlink_used(cold, entry);
        entry_free(entry);
    }
}

// Whether a record that was just read is to be kept: a full cache takes it when it was asked for
// more often lately than the entry that it would push out, the one longest unused.
static bool cache_admits(const struct uvea_cold *cold, uint32_t serial, uint16_t version)
{
    const struct entry *victim = cold->used_first;

    if (cold->config.cache_records == 0 || shelf_find(&cold->cached, serial) != NULL) {
        return false;
    }
    return cold->cached.count < cold->config.cache_records ||
           uvea_frequency_estimate(&cold->frequency, key_of(serial, version)) >
               uvea_frequency_estimate(&cold->frequency, key_of(victim->serial, victim->version));
}

// The cache admits the entry; takes it over. Without memory there is no caching.
static void cache_insert(struct uvea_cold *cold, struct entry *entry)
{
    if (cold->cached.count == cold->config.cache_records) {
        cache_drop(cold, cold->used_first->serial);
    }
    if (shelf_reserve(&cold->cached) != UVEA_OK) {
        entry_free(entry);
        return;
    }
    shelf_insert(&cold->cached, entry);
    link_used_last(cold, entry);
}

// ---- changes

static bool follows_window(const struct uvea_cold *cold, uint32_t serial, uint16_t version)
{
    const struct shelf *window = &cold->window;

    return cold->config.window_records > 0 && version == 0 &&
           (window->count == 0 || window->at[window->count - 1]->serial < serial);
}

// Takes entry over: a new serial, above all in the window.
static void window_append(struct uvea_cold *cold, struct entry *entry)
{
    struct shelf *window = &cold->window;

    if (window->count > 0 && window->at[window->count - 1]->serial + 1 != entry->serial) {
        shelf_clear(window);
    }
    if (window->count == cold->config.window_records) {
        entry_free(shelf_take(window, window->at[0]->serial));
    }
    shelf_insert(window, entry);
}

static void overwrite(struct entry *entry, uint16_t version, const uint16_t *eye)
{
    entry->version = version;
    memcpy(entry->eye, eye, sizeof(entry->eye));
}

// Makes what inserting an entry needs.
static enum uvea_error prepare(struct shelf *shelf, uint32_t serial, uint16_t version,
                               const uint16_t *eye, struct entry **entry)
{
    UVEA_TRY(shelf_reserve(shelf));
    *entry = entry_new(serial, version, eye);
    return *entry == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
}

static enum uvea_error put(struct uvea_cold *cold, uint32_t serial, uint16_t version,
                           const uint16_t *eye)
{
    struct entry *pending = shelf_find(&cold->overlay, serial);
    struct entry *recent = shelf_find(&cold->window, serial);
    struct entry *new_pending = NULL;
    struct entry *new_recent = NULL;
    enum uvea_error error;

    if (pending == NULL) {
        UVEA_TRY_CLEANUP(prepare(&cold->overlay, serial, version, eye, &new_pending));
    }
    if (recent == NULL && follows_window(cold, serial, version)) {
        UVEA_TRY_CLEANUP(prepare(&cold->window, serial, version, eye, &new_recent));
    }
    if (pending != NULL) {
        overwrite(pending, version, eye);
    } else {
        shelf_insert(&cold->overlay, new_pending);
    }
    if (recent != NULL) {
        overwrite(recent, version, eye);
    } else if (new_recent != NULL) {
        window_append(cold, new_recent);
    }
    entry_free(shelf_take(&cold->prefetched, serial));
    cache_drop(cold, serial);
    return UVEA_OK;
cleanup:
    entry_free(new_pending);
    entry_free(new_recent);
    return error;
}

enum uvea_error uvea_cold_put(struct uvea_cold *cold, uint32_t serial, uint16_t version,
                              const uint16_t eye[UVEA_RECORD_COEFFICIENTS])
{
    enum uvea_error error;

    lock(cold);
    error = put(cold, serial, version, eye);
    unlock(cold);
    return error;
}

void uvea_cold_acknowledge(struct uvea_cold *cold, uint32_t serial, uint16_t version)
{
    lock(cold);
    if (shelf_find_version(&cold->overlay, serial, version) != NULL) {
        entry_free(shelf_take(&cold->overlay, serial));
    }
    unlock(cold);
}

// ---- fetching ahead

static bool has_room(const struct uvea_cold *cold)
{
    return cold->prefetched.count < UVEA_COLD_PREFETCH_RECORDS;
}

static bool wants_prefetch(const struct uvea_cold *cold, uint32_t serial, uint16_t version)
{
    return shelf_find_version(&cold->overlay, serial, version) == NULL &&
           shelf_find_version(&cold->window, serial, version) == NULL &&
           shelf_find(&cold->prefetched, serial) == NULL &&
           shelf_find_version(&cold->cached, serial, version) == NULL;
}

// Reads outside the lock, which is held for short pieces only. Takes entry over.
static void prefetch_into(struct uvea_cold *cold, struct entry *entry)
{
    struct uvea_error_context ignored = {.text = ""};
    bool kept = false;

    if (cold->config.read(cold->config.arg, entry->serial, entry->version, entry->eye, &ignored) ==
        UVEA_OK) {
        lock(cold);
        if (has_room(cold) && wants_prefetch(cold, entry->serial, entry->version) &&
            shelf_reserve(&cold->prefetched) == UVEA_OK) {
            shelf_insert(&cold->prefetched, entry);
            kept = true;
        }
        unlock(cold);
    }
    if (!kept) {
        entry_free(entry);
    }
}

void uvea_cold_prefetch(struct uvea_cold *cold, const uint32_t *serials, const uint16_t *versions,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct entry *entry = NULL;
        bool room;
        lock(cold);
        room = has_room(cold);
        if (room && wants_prefetch(cold, serials[i], versions[i])) {
            entry = entry_new(serials[i], versions[i], NULL);
        }
        unlock(cold);
        if (!room) {
            return;
        }
        if (entry != NULL) {
            prefetch_into(cold, entry);
        }
    }
}

void uvea_cold_release_prefetched(struct uvea_cold *cold)
{
    lock(cold);
    shelf_clear(&cold->prefetched);
    unlock(cold);
}

// ---- reading

static bool copy_out(const struct entry *entry, uint16_t *out)
{
    if (entry == NULL) {
        return false;
    }
    memcpy(out, entry->eye, sizeof(entry->eye));
    return true;
}

// The read uses the reservation up; the cache may take it over.
static bool read_prefetched(struct uvea_cold *cold, uint32_t serial, uint16_t version,
                            uint16_t *out)
{
    struct entry *entry;

    if (!copy_out(shelf_find_version(&cold->prefetched, serial, version), out)) {
        return false;
    }
    entry = shelf_take(&cold->prefetched, serial);
    if (cache_admits(cold, serial, version)) {
        cache_insert(cold, entry);
    } else {
        entry_free(entry);
    }
    return true;
}

static bool read_cached(struct uvea_cold *cold, uint32_t serial, uint16_t version, uint16_t *out)
{
    struct entry *entry = shelf_find_version(&cold->cached, serial, version);

    if (!copy_out(entry, out)) {
        return false;
    }
    unlink_used(cold, entry);
    link_used_last(cold, entry);
    return true;
}

static bool read_at_hand(struct uvea_cold *cold, uint32_t serial, uint16_t version, uint16_t *out)
{
    uvea_frequency_record(&cold->frequency, key_of(serial, version));
    if (copy_out(shelf_find_version(&cold->overlay, serial, version), out)) {
        cold->stats.overlay++;
    } else if (copy_out(shelf_find_version(&cold->window, serial, version), out)) {
        cold->stats.window++;
    } else if (read_prefetched(cold, serial, version, out)) {
        cold->stats.prefetched++;
    } else if (read_cached(cold, serial, version, out)) {
        cold->stats.cached++;
    } else {
        return false;
    }
    return true;
}

static void keep_stored(struct uvea_cold *cold, uint32_t serial, uint16_t version,
                        const uint16_t *eye)
{
    cold->stats.stored++;
    if (cache_admits(cold, serial, version)) {
        struct entry *entry = entry_new(serial, version, eye);
        if (entry != NULL) {
            cache_insert(cold, entry);
        }
    }
}

enum uvea_error uvea_cold_read(struct uvea_cold *cold, uint32_t serial, uint16_t version,
                               uint16_t out[UVEA_RECORD_COEFFICIENTS],
                               struct uvea_error_context *context)
{
    struct uvea_error_context said = {.text = ""};
    enum uvea_error error;
    bool found;

    lock(cold);
    found = read_at_hand(cold, serial, version, out);
    unlock(cold);
    if (found) {
        return UVEA_OK;
    }
    error = cold->config.read(cold->config.arg, serial, version, out, &said);
    if (error != UVEA_OK) {
        uvea_mem_wipe(out, UVEA_RECORD_COEFFICIENTS * sizeof(*out));
        return uvea_error_set(
            context, error, "the other eye of record %u at version %u cannot be read: %.200s",
            (unsigned)serial, version, said.text[0] != '\0' ? said.text : uvea_error_text(error));
    }
    lock(cold);
    keep_stored(cold, serial, version, out);
    unlock(cold);
    return UVEA_OK;
}

struct uvea_cold_stats uvea_cold_stats(const struct uvea_cold *cold)
{
    struct uvea_cold_stats stats;

    lock(cold);
    stats = cold->stats;
    unlock(cold);
    return stats;
}
