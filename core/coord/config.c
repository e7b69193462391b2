#include "core/base/party.h"
#include "core/coord/json.h"
#include "core/coord/sync.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 128, VALUE_BYTES = 80 };

// Where two values differ: the first such place in the order of the left one's members, then those
// that only the right one has. The pointers are NULL where a member is missing.
struct difference {
    char path[PATH_BYTES];
    const json_t *left;
    const json_t *right;
};

static void extend_path(char path[PATH_BYTES], size_t at, const char *name)
{
    (void)snprintf(path + at, PATH_BYTES - at, at == 0 ? "%s" : ".%s", name);
}

static bool are_objects(const json_t *left, const json_t *right)
{
    return json_is_object(left) && json_is_object(right);
}

// Recursion is as deep as what uvea_coord_json_load lets through.
static bool differs(json_t *left, json_t *right, struct difference *difference)
{
    const size_t at = strlen(difference->path);
    const char *name;
    json_t *member;

    if (!are_objects(left, right)) {
        difference->left = left;
        difference->right = right;
        return left == NULL || right == NULL || !json_equal(left, right);
    }
    json_object_foreach(left, name, member)
    {
        extend_path(difference->path, at, name);
        if (differs(member, json_object_get(right, name), difference)) {
            return true;
        }
    }
    json_object_foreach(right, name, member)
    {
        extend_path(difference->path, at, name);
        if (json_object_get(left, name) == NULL && differs(NULL, member, difference)) {
            return true;
        }
    }
    difference->path[at] = '\0';
    return false;
}

static void write_value(const json_t *value, char text[VALUE_BYTES])
{
    struct uvea_buf json = {0};

    if (value == NULL) {
        (void)snprintf(text, VALUE_BYTES, "nothing");
    } else if (uvea_coord_append_value(&json, value) == UVEA_OK) {
        const int shown = json.len < VALUE_BYTES ? (int)json.len : VALUE_BYTES - 4;
        (void)snprintf(text, VALUE_BYTES, "%.*s%s", shown, (const char *)json.data,
                       (size_t)shown < json.len ? "..." : "");
    } else {
        (void)snprintf(text, VALUE_BYTES, "?");
    }
    uvea_buf_deinit(&json);
}

enum uvea_error uvea_sync_check_config(const struct uvea_sync_state states[UVEA_PARTY_COUNT],
                                       struct uvea_error_context *context)
{
    for (unsigned party = 1; party < UVEA_PARTY_COUNT; party++) {
        struct difference difference = {.path = ""};
        char left[VALUE_BYTES];
        char right[VALUE_BYTES];

        if (differs(states[0].common_config, states[party].common_config, &difference)) {
            write_value(difference.left, left);
            write_value(difference.right, right);
            return uvea_error_set(context, UVEA_ERR_STATE,
                                  "configurations differ in %s: party 0 has %s, party %u has %s",
                                  difference.path, left, party, right);
        }
    }
    return UVEA_OK;
}
