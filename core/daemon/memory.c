#include "core/daemon/memory.h"

#include "core/base/parse.h"
#include "core/posix/file.h"
#include "core/scan/cold.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_BYTES_MAX = 1 << 16, // of a file of /proc or /sys
    PATH_BYTES = 4096,
    KB = 1024,
};

// ---- what is needed

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t blocks(uint64_t count, uint64_t size)
{
    return (count + size - 1) / size;
}

static uint64_t scanned_bytes(uint64_t records)
{
    const uint64_t block_bytes =
        UVEA_RESIDENT_BLOCK_RECORDS * (UVEA_RESIDENT_RECORD_BYTES + sizeof(uint16_t));

    return blocks(records, UVEA_RESIDENT_BLOCK_RECORDS) * block_bytes;
}

static uint64_t spectral_bytes(const struct uvea_search_config *search, uint64_t records)
{
    const struct uvea_spectral_kernel *kernel = search->spectral_kernel;

    return search->path == UVEA_SEARCH_NTT
               ? blocks(records, kernel->tile_records) * kernel->tile_bytes
               : 0;
}

static uint64_t cold_bytes(const struct uvea_node_config *config, uint64_t records)
{
    const struct uvea_policy *policy = &config->policy;
    const uint64_t window = policy->luc_enabled && policy->luc_lookback_records > 0
                                ? (uint64_t)policy->luc_lookback_records + 1
                                : 0;

    return (least(config->cold_cache_records, records) + least(window, records) +
            least(UVEA_COLD_PREFETCH_RECORDS, records)) *
           UVEA_RESIDENT_RECORD_BYTES;
}

// One pointer per block or tile that there may ever be.
static uint64_t table_bytes(const struct uvea_node_config *config)
{
    const struct uvea_search_config *search = &config->search;
    uint64_t slots = blocks(config->records_max, UVEA_RESIDENT_BLOCK_RECORDS);

    if (search->path == UVEA_SEARCH_NTT) {
        slots += blocks(config->records_max, search->spectral_kernel->tile_records);
    }
    return slots * sizeof(void *);
}

struct uvea_memory_need uvea_memory_need(const struct uvea_node_config *config, uint64_t records)
{
    struct uvea_memory_need need = {
        .records = records,
        .scanned_bytes = scanned_bytes(records),
        .spectral_bytes = spectral_bytes(&config->search, records),
        .cold_bytes = cold_bytes(config, records),
    };

    need.total_bytes = need.scanned_bytes + need.spectral_bytes + need.cold_bytes +
                       table_bytes(config) + UVEA_MEMORY_WORK_BYTES;
    return need;
}

uint64_t uvea_memory_records(const struct uvea_node_config *config, uint64_t bytes)
{
    uint64_t fits = 0;
    uint64_t over = (uint64_t)config->records_max + 1;

    while (over - fits > 1) {
        const uint64_t middle = fits + (over - fits) / 2;

        if (uvea_memory_need(config, middle).total_bytes <= bytes) {
            fits = middle;
        } else {
            over = middle;
        }
    }
    return fits;
}

// ---- what there is

// The text of a small file, with a NUL; false when it cannot be read.
static bool read_text(const char *root, const char *path, struct uvea_buf *out)
{
    char name[PATH_BYTES];

    uvea_buf_clear(out);
    (void)snprintf(name, sizeof(name), "%s%s", root, path);
    return uvea_file_read(name, TEXT_BYTES_MAX, out, NULL) == UVEA_OK &&
           uvea_buf_append(out, "", 1) == UVEA_OK;
}

// The number that stands behind a name at the start of a line.
static bool find_number(const char *text, const char *name, uint64_t *number)
{
    const size_t chars = strlen(name);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        char digits[24] = {0};

        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, name, chars) == 0) {
            line += chars;
            line += strspn(line, " \t");
            (void)snprintf(digits, sizeof(digits), "%.*s", (int)strspn(line, "0123456789"), line);
            return uvea_number_parse(name, digits, 0, UINT64_MAX, number, NULL) == UVEA_OK;
        }
    }
    return false;
}

static uint64_t machine_available(const char *root, struct uvea_buf *text)
{
    uint64_t kilobytes;

    if (read_text(root, "/proc/meminfo", text) &&
        find_number((const char *)text->data, "MemAvailable:", &kilobytes) &&
        kilobytes < UINT64_MAX / KB) {
        return kilobytes * KB;
    }
    return UINT64_MAX;
}

// How a version of cgroups names things.
struct hierarchy {
    const char *entry; // in /proc/self/cgroup, up to the path
    const char *mount;
    const char *limit;
    const char *used;
    const char *cache; // in memory.stat: what can be had back at once
};

static const struct hierarchy hierarchies[] = {
    {"0::", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

static bool read_number(const char *root, const struct hierarchy *hierarchy, const char *group,
                        const char *file, const char *name, uint64_t *number)
{
    struct uvea_buf text = {0};
    char path[PATH_BYTES];
    bool found;

    (void)snprintf(path, sizeof(path), "%s%s/%s", hierarchy->mount, group, file);
    found = read_text(root, path, &text) && find_number((const char *)text.data, name, number);
    uvea_buf_deinit(&text);
    return found;
}

// What is left of one group; UINT64_MAX without a limit.
static uint64_t group_available(const char *root, const struct hierarchy *hierarchy,
                                const char *group)
{
    uint64_t limit;
    uint64_t used;
    uint64_t cache = 0;

    if (!read_number(root, hierarchy, group, hierarchy->limit, "", &limit) ||
        !read_number(root, hierarchy, group, hierarchy->used, "", &used)) {
        return UINT64_MAX;
    }
    (void)read_number(root, hierarchy, group, "memory.stat", hierarchy->cache, &cache);
    used -= least(cache, used);
    return limit - least(used, limit);
}

// The group of this process in a hierarchy: "" when it is the topmost.
static void find_group(const struct hierarchy *hierarchy, const char *groups, char *group)
{
    const char *entry = strstr(groups, hierarchy->entry);
    const char *path = entry != NULL ? entry + strlen(hierarchy->entry) : "";
    size_t chars = strcspn(path, "\n");

    chars -= chars > 0 && path[chars - 1] == '/' ? 1 : 0;
    (void)snprintf(group, PATH_BYTES / 2, "%.*s", (int)chars, path);
}

static uint64_t groups_available(const char *root, const struct hierarchy *hierarchy,
                                 const char *groups)
{
    char group[PATH_BYTES / 2];
    uint64_t available = UINT64_MAX;
    char *slash = group;

    find_group(hierarchy, groups, group);
    while (slash != NULL) {
        available = least(available, group_available(root, hierarchy, group));
        slash = strrchr(group, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    }
    return available;
}

uint64_t uvea_memory_available(const char *root)
{
    struct uvea_buf text = {0};
    uint64_t available = machine_available(root, &text);

    if (read_text(root, "/proc/self/cgroup", &text)) {
        for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
            const char *groups = (const char *)text.data;

            available = least(available, groups_available(root, &hierarchies[i], groups));
        }
    }
    uvea_buf_deinit(&text);
    return available;
}

enum uvea_error uvea_memory_check(const struct uvea_memory_need *need, uint64_t memory_bytes_max,
                                  uint64_t available, struct uvea_error_context *context)
{
    const bool own = memory_bytes_max != 0 && memory_bytes_max <= available;
    const uint64_t limit = own ? memory_bytes_max : available;

    if (need->total_bytes <= limit) {
        return UVEA_OK;
    }
    return uvea_error_set(context, UVEA_ERR_LIMIT,
                          "%" PRIu64 " records take %" PRIu64 " bytes of memory, and %s %" PRIu64,
                          need->records, need->total_bytes,
                          own ? "scan.memory_bytes_max is" : "available are", limit);
}
