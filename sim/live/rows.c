#include "sim/live/rows.h"

#include "core/base/mem.h"

#include <jansson.h>
#include <string.h>

// ---- keeping

static void row_deinit(struct uvea_row *row)
{
    uvea_mem_free(row->key);
    uvea_mem_free(row->kind);
    uvea_mem_free(row->oracle);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_mem_free(row->party[party]);
    }
}

void uvea_rows_deinit(struct uvea_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        row_deinit(&rows->at[i]);
    }
    uvea_mem_free(rows->at);
    *rows = (struct uvea_rows){.count = 0};
}

static enum uvea_error copy(const char *text, size_t chars, char **out)
{
    char *made = uvea_mem_alloc(chars + 1, 1);
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (chars > 0) {
        memcpy(made, text, chars);
    }
    *out = made;
    return UVEA_OK;
}

static void forget_nulls(json_t *object)
{
    const char *name;
    void *next;
    json_t *value;
    json_object_foreach_safe(object, next, name, value)
    {
        if (json_is_null(value)) {
            (void)json_object_del(object, name);
        }
    }
}

// What is no object is kept as it is.
static enum uvea_error copy_outcome(const struct uvea_buf *body, char **out)
{
    json_t *object = json_loadb((const char *)body->data, body->len, JSON_REJECT_DUPLICATES, NULL);
    struct uvea_buf text = {.len = 0};
    enum uvea_error error = UVEA_OK;
    if (!json_is_object(object)) {
        json_decref(object);
        return copy((const char *)body->data, body->len, out);
    }
    (void)json_object_del(object, "node_id");
    forget_nulls(object);
    const size_t bytes = json_dumpb(object, NULL, 0, JSON_COMPACT | JSON_SORT_KEYS);
    uint8_t *room = uvea_buf_extend(&text, bytes);
    if (room == NULL ||
        json_dumpb(object, (char *)room, bytes, JSON_COMPACT | JSON_SORT_KEYS) != bytes) {
        error = UVEA_ERR_MEMORY;
    } else {
        error = copy((const char *)room, bytes, out);
    }
    uvea_buf_deinit(&text);
    json_decref(object);
    return error;
}

static enum uvea_error fill(const struct uvea_ledger_answer *answer, struct uvea_row *row)
{
    UVEA_TRY(copy(answer->key, strlen(answer->key), &row->key));
    UVEA_TRY(copy(answer->kind, strlen(answer->kind), &row->kind));
    UVEA_TRY(copy_outcome(answer->right[0], &row->oracle));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(copy_outcome(answer->read[party], &row->party[party]));
    }
    return UVEA_OK;
}

static enum uvea_error make_room(struct uvea_rows *rows)
{
    if (rows->count < rows->capacity) {
        return UVEA_OK;
    }
    const size_t capacity = 2 * rows->capacity + 64;
    struct uvea_row *grown = uvea_mem_alloc(capacity, sizeof(*grown));
    if (grown == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (rows->count > 0) {
        memcpy(grown, rows->at, rows->count * sizeof(*grown));
    }
    uvea_mem_free(rows->at);
    rows->at = grown;
    rows->capacity = capacity;
    return UVEA_OK;
}

enum uvea_error uvea_rows_add(void *arg, const struct uvea_ledger_answer *answer)
{
    struct uvea_rows *rows = arg;
    struct uvea_row row = {.key = NULL};
    UVEA_TRY(make_room(rows));
    const enum uvea_error error = fill(answer, &row);
    if (error != UVEA_OK) {
        row_deinit(&row);
        return error;
    }
    rows->at[rows->count++] = row;
    return UVEA_OK;
}

// ---- comparing

// Both runs have them in one order, so that the next one is mostly it.
static const struct uvea_row *find(const struct uvea_rows *rows, size_t near, const char *key)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct uvea_row *row = &rows->at[(near + i) % rows->count];
        if (strcmp(row->key, key) == 0) {
            return row;
        }
    }
    return NULL;
}

// Whether two outcomes of one request differ, and whose.
static bool differ(const struct uvea_row *left, const struct uvea_row *right, int *who)
{
    *who = -1;
    if (strcmp(left->kind, right->kind) != 0 || strcmp(left->oracle, right->oracle) != 0) {
        return true;
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (strcmp(left->party[party], right->party[party]) != 0) {
            *who = (int)party;
            return true;
        }
    }
    return false;
}

size_t uvea_rows_compare(const struct uvea_rows *left, const struct uvea_rows *right,
                         uvea_rows_differ_fn *fn, void *arg)
{
    size_t differing = 0;
    for (size_t i = 0; i < left->count; i++) {
        struct uvea_row_difference difference = {
            .left = &left->at[i], .right = find(right, i, left->at[i].key), .party = -1};
        if (difference.right == NULL ||
            differ(difference.left, difference.right, &difference.party)) {
            differing++;
            fn(arg, &difference);
        }
    }
    for (size_t i = 0; i < right->count; i++) {
        if (find(left, i, right->at[i].key) == NULL) {
            differing++;
            fn(arg, &(struct uvea_row_difference){.right = &right->at[i], .party = -1});
        }
    }
    return differing;
}
