// Small YAML files of the live tools: mappings, sequences and texts, judged with their lines.
#ifndef UVEA_SIM_LIVE_TREE_H
#define UVEA_SIM_LIVE_TREE_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UVEA_TREE_BYTES_MAX = 1 << 20, UVEA_TREE_FIELDS_MAX = 32 };

struct uvea_tree;

// One document; its root is a mapping. NOT_FOUND, IO, LIMIT, FORMAT: the sentence names file and
// line.
UVEA_MUST_USE enum uvea_error uvea_tree_open(const char *file, struct uvea_tree **tree,
                                             struct uvea_error_context *context);
// NULL is allowed.
void uvea_tree_close(struct uvea_tree *tree);

// A node; 0 is none.
int uvea_tree_root(const struct uvea_tree *tree);

enum uvea_tree_kind {
    UVEA_TREE_TEXT,   // to: const char *, not empty, good while the tree is open
    UVEA_TREE_NUMBER, // to: uint64_t, decimal, at most `max`
    UVEA_TREE_NODE,   // to: int, a mapping or sequence
};

struct uvea_tree_field {
    const char *key;
    enum uvea_tree_kind kind;
    bool required;
    void *to; // left as it was when the key is not there
    uint64_t max;
};

// Reads a mapping. path: of the mapping, for sentences, "" for the root. FORMAT: no mapping, an
// unknown, missing or repeated key, a value of another kind.
UVEA_MUST_USE enum uvea_error uvea_tree_read(const struct uvea_tree *tree, int node,
                                             const char *path, const struct uvea_tree_field *fields,
                                             size_t count, struct uvea_error_context *context);

// The elements of a sequence: low..high of them.
UVEA_MUST_USE enum uvea_error uvea_tree_count(const struct uvea_tree *tree, int node,
                                              const char *path, size_t low, size_t high,
                                              size_t *count, struct uvea_error_context *context);
int uvea_tree_item(const struct uvea_tree *tree, int node, size_t index);

// A sentence about a node of the caller's own: "file:line: path: sentence". Returns FORMAT.
UVEA_MUST_USE UVEA_PRINTF(5, 6) enum uvea_error
    uvea_tree_refuse(const struct uvea_tree *tree, int node, const char *path,
                     struct uvea_error_context *context, const char *format, ...);

// The node of a key in a mapping that was read, for uvea_tree_refuse.
int uvea_tree_find(const struct uvea_tree *tree, int node, const char *key);

#endif
