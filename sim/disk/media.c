#include "sim/disk/media.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <string.h>

enum {
    SECTOR = UVEA_SIM_SECTOR_BYTES,
    CHUNK = UVEA_DISK_CHUNK_BYTES,
};
_Static_assert(UVEA_DISK_CHUNK_SECTORS % 64 == 0, "a bit for every sector");

static size_t least(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

static bool bit_get(const uint64_t *bits, unsigned at)
{
    return (bits[at / 64] >> at % 64 & 1) != 0;
}

static void bit_set(uint64_t *bits, unsigned at)
{
    bits[at / 64] |= UINT64_C(1) << at % 64;
}

// ---- making and unmaking

struct uvea_disk_file *uvea_disk_file_make(const char *name)
{
    struct uvea_disk_file *file = uvea_mem_alloc(1, sizeof(*file));
    if (file == NULL || name == NULL) {
        return file;
    }
    size_t bytes = strlen(name) + 1;
    file->name = uvea_mem_alloc(bytes, 1);
    if (file->name == NULL) {
        uvea_mem_free(file);
        return NULL;
    }
    memcpy(file->name, name, bytes);
    return file;
}

void uvea_disk_file_free(struct uvea_disk_file *file)
{
    if (file == NULL) {
        return;
    }
    for (size_t i = 0; i < file->chunk_count; i++) {
        uvea_mem_free(file->chunks[i]);
        uvea_mem_free(file->shadows[i]);
    }
    uvea_mem_free(file->chunks);
    uvea_mem_free(file->shadows);
    uvea_mem_free(file->dirty);
    uvea_mem_free(file->name);
    uvea_mem_free(file);
}

static struct uvea_disk_shadow *spare_take(struct uvea_disk_spare *spare)
{
    struct uvea_disk_shadow *shadow = spare->first;
    if (shadow == NULL) {
        return uvea_mem_alloc(1, sizeof(*shadow));
    }
    spare->first = shadow->next;
    spare->count--;
    memset(shadow, 0, offsetof(struct uvea_disk_shadow, low));
    return shadow;
}

static void spare_give(struct uvea_disk_spare *spare, struct uvea_disk_shadow *shadow)
{
    if (spare->count == UVEA_DISK_SPARE_MAX) {
        uvea_mem_free(shadow);
        return;
    }
    shadow->next = spare->first;
    spare->first = shadow;
    spare->count++;
}

void uvea_disk_spare_deinit(struct uvea_disk_spare *spare)
{
    while (spare->first != NULL) {
        struct uvea_disk_shadow *shadow = spare->first;
        spare->first = shadow->next;
        uvea_mem_free(shadow);
    }
    spare->count = 0;
}

// A longer table with the old one's entries; NULL when memory is short.
static void *longer(const void *old, size_t old_count, size_t count, size_t size)
{
    void *table = uvea_mem_alloc(count, size);
    if (table != NULL && old_count > 0) {
        memcpy(table, old, old_count * size);
    }
    return table;
}

static enum uvea_error reserve(struct uvea_disk_file *file, uint64_t size)
{
    uint64_t need = (size + CHUNK - 1) / CHUNK;
    if (need <= file->chunk_count) {
        return UVEA_OK;
    }
    if (need > UINT32_MAX / 2) {
        return UVEA_ERR_LIMIT;
    }
    size_t count = (size_t)need + file->chunk_count / 2;
    uint8_t **chunks = longer(file->chunks, file->chunk_count, count, sizeof(*chunks));
    struct uvea_disk_shadow **shadows =
        longer(file->shadows, file->chunk_count, count, sizeof(*shadows));
    uint32_t *dirty = longer(file->dirty, file->dirty_count, count, sizeof(*dirty));
    if (chunks == NULL || shadows == NULL || dirty == NULL) {
        uvea_mem_free(chunks);
        uvea_mem_free(shadows);
        uvea_mem_free(dirty);
        return UVEA_ERR_MEMORY;
    }
    uvea_mem_free(file->chunks);
    uvea_mem_free(file->shadows);
    uvea_mem_free(file->dirty);
    file->chunks = chunks;
    file->shadows = shadows;
    file->dirty = dirty;
    file->chunk_count = count;
    return UVEA_OK;
}

// ---- reading and changing

size_t uvea_disk_file_read(const struct uvea_disk_file *file, uint64_t offset, uint8_t *out,
                           size_t bytes)
{
    if (offset >= file->size) {
        return 0;
    }
    size_t total = least(bytes, file->size - offset);
    for (size_t done = 0; done < total;) {
        uint64_t at = offset + done;
        const uint8_t *chunk = at / CHUNK < file->chunk_count ? file->chunks[at / CHUNK] : NULL;
        size_t part = least(total - done, CHUNK - at % CHUNK);
        if (chunk == NULL) {
            memset(out + done, 0, part);
        } else {
            memcpy(out + done, chunk + at % CHUNK, part);
        }
        done += part;
    }
    return total;
}

// The chunk and its shadow are there afterwards.
static enum uvea_error prepare(struct uvea_disk_file *file, struct uvea_disk_spare *spare,
                               size_t index)
{
    if (file->chunks[index] == NULL) {
        file->chunks[index] = uvea_mem_alloc(CHUNK, 1);
    }
    if (file->chunks[index] == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (file->shadows[index] == NULL) {
        file->shadows[index] = spare_take(spare);
        if (file->shadows[index] == NULL) {
            return UVEA_ERR_MEMORY;
        }
        file->dirty[file->dirty_count++] = (uint32_t)index;
    }
    return UVEA_OK;
}

// Sets the durable contents of a sector aside before it changes for the first time since the sync.
static void set_aside(struct uvea_disk_shadow *shadow, const uint8_t *chunk, unsigned sector)
{
    if (!bit_get(shadow->written, sector) && !bit_get(shadow->cut, sector)) {
        memcpy(shadow->old + (size_t)sector * SECTOR, chunk + (size_t)sector * SECTOR, SECTOR);
    }
}

static void note_written(struct uvea_disk_shadow *shadow, unsigned sector, size_t low, size_t high)
{
    if (!bit_get(shadow->written, sector)) {
        bit_set(shadow->written, sector);
        shadow->low[sector] = (uint16_t)low;
        shadow->high[sector] = (uint16_t)high;
        return;
    }
    shadow->low[sector] = (uint16_t)least(shadow->low[sector], low);
    if (shadow->high[sector] < high) {
        shadow->high[sector] = (uint16_t)high;
    }
}

// from NULL: zeros by a truncation. The range lies in one chunk, which is prepared.
static void change(struct uvea_disk_file *file, size_t index, size_t start, const uint8_t *from,
                   size_t bytes)
{
    struct uvea_disk_shadow *shadow = file->shadows[index];
    uint8_t *chunk = file->chunks[index];
    for (size_t done = 0; done < bytes;) {
        unsigned sector = (unsigned)((start + done) / SECTOR);
        size_t low = (start + done) % SECTOR;
        size_t part = least(bytes - done, SECTOR - low);
        set_aside(shadow, chunk, sector);
        if (from != NULL) {
            note_written(shadow, sector, low, low + part);
        } else {
            bit_set(shadow->cut, sector);
            if (part == SECTOR) {
                shadow->written[sector / 64] &= ~(UINT64_C(1) << sector % 64);
            }
        }
        done += part;
    }
    if (from != NULL) {
        memcpy(chunk + start, from, bytes);
    } else {
        memset(chunk + start, 0, bytes);
    }
}

enum uvea_error uvea_disk_file_write(struct uvea_disk_file *file, struct uvea_disk_spare *spare,
                                     uint64_t offset, const uint8_t *from, size_t bytes)
{
    UVEA_TRY(reserve(file, offset + bytes));
    for (size_t done = 0; done < bytes;) {
        size_t index = (size_t)((offset + done) / CHUNK);
        size_t start = (size_t)((offset + done) % CHUNK);
        size_t part = least(bytes - done, CHUNK - start);
        UVEA_TRY(prepare(file, spare, index));
        change(file, index, start, from + done, part);
        done += part;
        if (file->size < offset + done) {
            file->size = offset + done;
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_disk_file_truncate(struct uvea_disk_file *file, struct uvea_disk_spare *spare,
                                        uint64_t size)
{
    UVEA_TRY(reserve(file, size));
    for (uint64_t at = size; at < file->size;) {
        size_t index = (size_t)(at / CHUNK);
        size_t start = (size_t)(at % CHUNK);
        if (index < file->chunk_count && file->chunks[index] != NULL) {
            UVEA_TRY(prepare(file, spare, index));
            change(file, index, start, NULL, CHUNK - start);
        }
        at += CHUNK - start;
    }
    file->size = size;
    file->size_min = least(file->size_min, size);
    return UVEA_OK;
}

// ---- sync and crash

bool uvea_disk_file_pending(const struct uvea_disk_file *file)
{
    return file->dirty_count > 0 || file->size != file->size_durable;
}

// What the file is now is what is durable.
static void settle(struct uvea_disk_file *file, struct uvea_disk_spare *spare)
{
    uint64_t used = (file->size + CHUNK - 1) / CHUNK;
    for (size_t i = 0; i < file->dirty_count; i++) {
        size_t index = file->dirty[i];
        spare_give(spare, file->shadows[index]);
        file->shadows[index] = NULL;
        if (index >= used) {
            uvea_mem_free(file->chunks[index]);
            file->chunks[index] = NULL;
        }
    }
    file->dirty_count = 0;
    file->size_durable = file->size;
    file->size_min = file->size;
}

void uvea_disk_file_sync(struct uvea_disk_file *file, struct uvea_disk_spare *spare)
{
    settle(file, spare);
}

// How a crash treats written sectors, and whether a truncation comes undone.
enum fate { FATE_KEEP, FATE_LOSE, FATE_SPOIL, FATE_DRAW };

static enum fate draw_fate(struct uvea_sim_random *random)
{
    uint64_t drawn = uvea_sim_random_below(random, 8);
    return drawn == 0 ? FATE_KEEP : drawn == 1 ? FATE_LOSE : FATE_DRAW;
}

// What a sector is when what was written to it is lost: its durable bytes, but zeros from cut_at.
static void restore(uint8_t *data, const struct uvea_disk_shadow *shadow, unsigned sector,
                    size_t cut_at)
{
    memcpy(data, shadow->old + (size_t)sector * SECTOR, SECTOR);
    memset(data + cut_at, 0, SECTOR - cut_at);
}

static void crash_written(uint8_t *data, const struct uvea_disk_shadow *shadow, unsigned sector,
                          size_t cut_at, enum fate fate, struct uvea_sim_random *random,
                          struct uvea_disk_toll *toll)
{
    if (fate == FATE_DRAW) {
        fate = (enum fate)uvea_sim_random_below(random, 3);
    }
    if (fate == FATE_LOSE) {
        toll->lost++;
        restore(data, shadow, sector, cut_at);
    } else if (fate == FATE_SPOIL) {
        toll->spoiled++;
        uvea_sim_random_fill(random, data + shadow->low[sector],
                             (size_t)shadow->high[sector] - shadow->low[sector]);
    }
}

// cut_from: where a truncation that took place began; UINT64_MAX when there was none.
static void crash_chunk(struct uvea_disk_file *file, size_t index, uint64_t cut_from,
                        enum fate fate, struct uvea_sim_random *random, struct uvea_disk_toll *toll)
{
    const struct uvea_disk_shadow *shadow = file->shadows[index];
    for (unsigned sector = 0; sector < UVEA_DISK_CHUNK_SECTORS; sector++) {
        uint64_t at = (uint64_t)index * CHUNK + (uint64_t)sector * SECTOR;
        uint8_t *data = file->chunks[index] + (size_t)sector * SECTOR;
        size_t cut_at = cut_from <= at ? 0 : least(cut_from - at, SECTOR);
        if (bit_get(shadow->written, sector)) {
            crash_written(data, shadow, sector, cut_at, fate, random, toll);
        } else if (bit_get(shadow->cut, sector)) {
            restore(data, shadow, sector, cut_at);
        }
    }
}

// From `from` to the new size: nothing, all, or a part of what was added reached the medium.
static uint64_t draw_size(uint64_t from, uint64_t to, enum fate fate,
                          struct uvea_sim_random *random)
{
    if (to <= from || fate == FATE_LOSE) {
        return from;
    }
    switch (fate == FATE_KEEP ? 0 : uvea_sim_random_below(random, 3)) {
    case 0:
        return to;
    case 1:
        return from;
    default:
        return from + uvea_sim_random_below(random, (to - from) / SECTOR + 1) * SECTOR;
    }
}

static void zero_behind(struct uvea_disk_file *file)
{
    for (uint64_t at = file->size; at < (uint64_t)file->chunk_count * CHUNK;) {
        uint8_t *chunk = file->chunks[at / CHUNK];
        size_t start = (size_t)(at % CHUNK);
        if (chunk != NULL) {
            memset(chunk + start, 0, CHUNK - start);
        }
        at += CHUNK - start;
    }
}

void uvea_disk_file_crash(struct uvea_disk_file *file, struct uvea_disk_spare *spare,
                          struct uvea_sim_random *random, struct uvea_disk_toll *toll)
{
    if (!uvea_disk_file_pending(file)) {
        return;
    }
    enum fate fate = draw_fate(random);
    bool cut = file->size_min < file->size_durable;
    bool cut_kept = cut && uvea_sim_random_chance(random, 1, 2);
    // In the order of the file, whatever order it was written in.
    for (size_t index = 0; index < file->chunk_count; index++) {
        if (file->shadows[index] != NULL) {
            crash_chunk(file, index, cut_kept ? file->size_min : UINT64_MAX, fate, random, toll);
        }
    }
    file->size =
        draw_size(cut_kept ? file->size_min : file->size_durable, file->size, fate, random);
    zero_behind(file);
    settle(file, spare);
}

// ---- copies and rot

struct uvea_disk_file *uvea_disk_file_copy(const struct uvea_disk_file *file)
{
    struct uvea_disk_file *copy = uvea_disk_file_make(file->name);
    if (copy == NULL || reserve(copy, file->size) != UVEA_OK) {
        goto failed;
    }
    for (size_t i = 0; i < copy->chunk_count && i < file->chunk_count; i++) {
        if (file->chunks[i] == NULL) {
            continue;
        }
        copy->chunks[i] = uvea_mem_alloc(CHUNK, 1);
        if (copy->chunks[i] == NULL) {
            goto failed;
        }
        memcpy(copy->chunks[i], file->chunks[i], CHUNK);
    }
    copy->size = copy->size_durable = copy->size_min = file->size;
    return copy;
failed:
    uvea_disk_file_free(copy);
    return NULL;
}

enum uvea_error uvea_disk_file_flip(struct uvea_disk_file *file, uint64_t offset, unsigned bit)
{
    UVEA_CHECK(offset < file->size && bit < 8);
    UVEA_TRY(reserve(file, file->size));
    size_t index = (size_t)(offset / CHUNK);
    if (file->chunks[index] == NULL) {
        file->chunks[index] = uvea_mem_alloc(CHUNK, 1);
    }
    if (file->chunks[index] == NULL) {
        return UVEA_ERR_MEMORY;
    }
    file->chunks[index][offset % CHUNK] ^= (uint8_t)(1u << bit);
    if (file->shadows[index] != NULL) {
        file->shadows[index]->old[offset % CHUNK] ^= (uint8_t)(1u << bit);
    }
    return UVEA_OK;
}
