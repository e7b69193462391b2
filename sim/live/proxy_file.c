#include "sim/live/proxy_file.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/live/tree.h"

#include <stdio.h>
#include <string.h>

enum { MS_MAX = 60000, WINDOW_MS_MAX = 86400000, MILLION = 1000000 };

static bool is_name(const char *text)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t len = strlen(text);
    return len < UVEA_PROXY_TEXT_CHARS && strspn(text, allowed) == len;
}

static bool is_address(const char *text)
{
    const char *colon = strrchr(text, ':');
    const size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0;
    return digits >= 1 && digits <= 5 && colon[1 + digits] == '\0' && colon > text &&
           strlen(text) < UVEA_PROXY_TEXT_CHARS;
}

static enum uvea_error check_texts(const struct uvea_tree *tree, int node, const char *path,
                                   const char *name, const char *const addresses[2],
                                   struct uvea_error_context *context)
{
    static const char *const keys[] = {"listen", "dial"};
    if (!is_name(name)) {
        return uvea_tree_refuse(tree, uvea_tree_find(tree, node, "name"), path, context,
                                "name: letters, digits, - and _ are wanted");
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(keys); i++) {
        if (!is_address(addresses[i])) {
            return uvea_tree_refuse(tree, uvea_tree_find(tree, node, keys[i]), path, context,
                                    "%s: '%.80s' is not host:port", keys[i], addresses[i]);
        }
    }
    return UVEA_OK;
}

static enum uvea_error check_twice(const struct uvea_tree *tree, int node, const char *path,
                                   const struct uvea_proxy_file *file, const char *name,
                                   struct uvea_error_context *context)
{
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->links[i].name, name) == 0) {
            return uvea_tree_refuse(tree, uvea_tree_find(tree, node, "name"), path, context,
                                    "name: %s is there already", name);
        }
    }
    return UVEA_OK;
}

static enum uvea_error read_link(const struct uvea_tree *tree, int node, const char *path,
                                 struct uvea_proxy_file *file, struct uvea_error_context *context)
{
    struct uvea_proxy_link *link = &file->links[file->count];
    struct uvea_proxy_conditions *conditions = &link->conditions;
    const char *name;
    const char *addresses[2];
    const struct uvea_tree_field fields[] = {
        {"name", UVEA_TREE_TEXT, true, &name, 0},
        {"listen", UVEA_TREE_TEXT, true, &addresses[0], 0},
        {"dial", UVEA_TREE_TEXT, true, &addresses[1], 0},
        {"delay_ms", UVEA_TREE_NUMBER, false, &conditions->delay_ms, MS_MAX},
        {"jitter_ms", UVEA_TREE_NUMBER, false, &conditions->jitter_ms, MS_MAX},
        {"bytes_per_s", UVEA_TREE_NUMBER, false, &conditions->bytes_per_s, UINT32_MAX},
        {"cut_after_bytes", UVEA_TREE_NUMBER, false, &conditions->cut_after_bytes, UINT64_MAX},
        {"half_close_after_bytes", UVEA_TREE_NUMBER, false, &conditions->half_close_after_bytes,
         UINT64_MAX},
        {"corrupt_per_million", UVEA_TREE_NUMBER, false, &conditions->corrupt_per_million, MILLION},
        {"from_ms", UVEA_TREE_NUMBER, false, &conditions->from_ms, WINDOW_MS_MAX},
        {"for_ms", UVEA_TREE_NUMBER, false, &conditions->for_ms, WINDOW_MS_MAX},
    };
    UVEA_TRY(uvea_tree_read(tree, node, path, fields, UVEA_COUNT_OF(fields), context));
    UVEA_TRY(check_texts(tree, node, path, name, addresses, context));
    UVEA_TRY(check_twice(tree, node, path, file, name, context));
    (void)snprintf(link->name, sizeof(link->name), "%s", name);
    (void)snprintf(link->listen, sizeof(link->listen), "%s", addresses[0]);
    (void)snprintf(link->dial, sizeof(link->dial), "%s", addresses[1]);
    file->count++;
    return UVEA_OK;
}

static enum uvea_error read_all(const struct uvea_tree *tree, struct uvea_proxy_file *file,
                                struct uvea_error_context *context)
{
    int links;
    size_t count;
    const struct uvea_tree_field fields[] = {
        {"seed", UVEA_TREE_NUMBER, false, &file->seed, UINT64_MAX},
        {"links", UVEA_TREE_NODE, true, &links, 0},
    };
    UVEA_TRY(
        uvea_tree_read(tree, uvea_tree_root(tree), "", fields, UVEA_COUNT_OF(fields), context));
    UVEA_TRY(uvea_tree_count(tree, links, "links", 1, UVEA_PROXY_LINKS_MAX, &count, context));
    for (size_t i = 0; i < count; i++) {
        char path[32];
        (void)snprintf(path, sizeof(path), "links[%zu]", i);
        UVEA_TRY(read_link(tree, uvea_tree_item(tree, links, i), path, file, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_proxy_file_read(const char *file, struct uvea_proxy_file *out,
                                     struct uvea_error_context *context)
{
    struct uvea_tree *tree = NULL;
    UVEA_TRY(uvea_tree_open(file, &tree, context));
    struct uvea_proxy_file *made = uvea_mem_alloc(1, sizeof(*made));
    enum uvea_error error = UVEA_ERR_MEMORY;
    if (made != NULL) {
        made->seed = 1;
        error = read_all(tree, made, context);
    }
    if (error == UVEA_OK) {
        *out = *made;
    }
    uvea_mem_free(made);
    uvea_tree_close(tree);
    return error;
}
