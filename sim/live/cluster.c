#include "sim/live/cluster.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "sim/live/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// What is being read: the tree's texts are borrowed until they are copied into the cluster.
struct reading {
    const struct uvea_tree *tree;
    struct uvea_cluster *cluster;
    struct uvea_error_context *context;
};

// ---- texts

static enum uvea_error copy(const char *text, size_t chars, char **out)
{
    char *made = uvea_mem_alloc(chars + 1, 1);
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    memcpy(made, text, chars);
    *out = made;
    return UVEA_OK;
}

static enum uvea_error keep(const char *text, char **out)
{
    return text == NULL ? UVEA_OK : copy(text, strlen(text), out);
}

// A relative path begins at the file's folder.
static enum uvea_error keep_path(const char *folder, const char *path, char **out)
{
    if (path[0] == '/') {
        return keep(path, out);
    }
    const size_t room = strlen(folder) + 1 + strlen(path) + 1;
    char *made = uvea_mem_alloc(room, 1);
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    (void)snprintf(made, room, "%s/%s", folder, path);
    *out = made;
    return UVEA_OK;
}

static bool is_url(const char *store)
{
    return strncmp(store, "postgres://", 11) == 0 || strncmp(store, "postgresql://", 13) == 0;
}

static enum uvea_error keep_store(const char *folder, const char *store, char **out)
{
    if (store == NULL || is_url(store)) {
        return keep(store, out);
    }
    return keep_path(folder, store, out);
}

static enum uvea_error keep_folder(const char *file, char **out)
{
    const char *slash = strrchr(file, '/');
    if (slash == NULL) {
        return keep(".", out);
    }
    return copy(file, slash == file ? 1 : (size_t)(slash - file), out);
}

// ---- parties

// host:port, of which the port is a number: the rest is for whoever dials it.
static bool is_address(const char *text)
{
    const char *colon = strrchr(text, ':');
    const size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0;
    return digits >= 1 && digits <= 5 && colon[1 + digits] == '\0' && colon > text;
}

// The path of a file that is there. path: of the mapping `node` that names it under `key`.
static enum uvea_error keep_file(const struct reading *reading, int node, const char *path,
                                 const char *key, const char *file, char **out)
{
    UVEA_TRY(keep_path(reading->cluster->folder, file, out));
    return access(*out, R_OK) == 0
               ? UVEA_OK
               : uvea_tree_refuse(reading->tree, uvea_tree_find(reading->tree, node, key), path,
                                  reading->context, "%s: %.200s: %s", key, *out, strerror(errno));
}

static enum uvea_error keep_party(const struct reading *reading, int node, const char *path,
                                  struct uvea_cluster_party *out)
{
    const char *http;
    const char *root;
    const char *key;
    const char *store = NULL;
    const char *schema = NULL;
    const char *log = NULL;
    const char *commands[3] = {NULL};
    const struct uvea_tree_field fields[] = {
        {"http", UVEA_TREE_TEXT, true, &http, 0},
        {"root", UVEA_TREE_TEXT, true, &root, 0},
        {"share_public_key", UVEA_TREE_TEXT, true, &key, 0},
        {"store", UVEA_TREE_TEXT, false, &store, 0},
        {"schema", UVEA_TREE_TEXT, false, &schema, 0},
        {"log", UVEA_TREE_TEXT, false, &log, 0},
        {"start", UVEA_TREE_TEXT, false, &commands[0], 0},
        {"stop", UVEA_TREE_TEXT, false, &commands[1], 0},
        {"kill", UVEA_TREE_TEXT, false, &commands[2], 0},
    };
    const struct uvea_tree *tree = reading->tree;
    struct uvea_error_context inner = {{0}};
    UVEA_TRY(uvea_tree_read(tree, node, path, fields, UVEA_COUNT_OF(fields), reading->context));
    if (!is_address(http)) {
        return uvea_tree_refuse(tree, uvea_tree_find(tree, node, "http"), path, reading->context,
                                "http: '%.80s' is not host:port", http);
    }
    if (uvea_iris_decode_base64(key, strlen(key), out->share_public_key,
                                sizeof(out->share_public_key), &inner) != UVEA_OK) {
        return uvea_tree_refuse(tree, uvea_tree_find(tree, node, "share_public_key"), path,
                                reading->context, "share_public_key: %.160s", inner.text);
    }
    if (schema != NULL && (store == NULL || !is_url(store))) {
        return uvea_tree_refuse(tree, uvea_tree_find(tree, node, "schema"), path, reading->context,
                                "schema: goes with a store that is a postgres:// URL");
    }
    UVEA_TRY(keep(http, &out->http));
    UVEA_TRY(keep_file(reading, node, path, "root", root, &out->root));
    UVEA_TRY(keep_store(reading->cluster->folder, store, &out->store));
    UVEA_TRY(keep(schema, &out->schema));
    if (log != NULL) {
        UVEA_TRY(keep_path(reading->cluster->folder, log, &out->log));
    }
    UVEA_TRY(keep(commands[0], &out->start));
    UVEA_TRY(keep(commands[1], &out->stop));
    return keep(commands[2], &out->kill);
}

static enum uvea_error keep_parties(const struct reading *reading, int node)
{
    size_t count;
    UVEA_TRY(uvea_tree_count(reading->tree, node, "parties", UVEA_PARTY_COUNT, UVEA_PARTY_COUNT,
                             &count, reading->context));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        char path[16];
        (void)snprintf(path, sizeof(path), "parties[%u]", i);
        UVEA_TRY(keep_party(reading, uvea_tree_item(reading->tree, node, i), path,
                            &reading->cluster->parties[i]));
    }
    return UVEA_OK;
}

// ---- the whole

static enum uvea_error keep_client(const struct reading *reading, int node)
{
    const char *key;
    const char *certificate;
    const struct uvea_tree_field fields[] = {
        {"key", UVEA_TREE_TEXT, true, &key, 0},
        {"certificate", UVEA_TREE_TEXT, true, &certificate, 0},
    };
    struct uvea_cluster *cluster = reading->cluster;
    UVEA_TRY(uvea_tree_read(reading->tree, node, "client", fields, UVEA_COUNT_OF(fields),
                            reading->context));
    UVEA_TRY(keep_file(reading, node, "client", "key", key, &cluster->client_key));
    return keep_file(reading, node, "client", "certificate", certificate,
                     &cluster->client_certificate);
}

static enum uvea_error keep_all(const struct reading *reading)
{
    int parties;
    int client;
    const struct uvea_tree_field fields[] = {
        {"parties", UVEA_TREE_NODE, true, &parties, 0},
        {"client", UVEA_TREE_NODE, true, &client, 0},
    };
    UVEA_TRY(uvea_tree_read(reading->tree, uvea_tree_root(reading->tree), "", fields,
                            UVEA_COUNT_OF(fields), reading->context));
    UVEA_TRY(keep_parties(reading, parties));
    return keep_client(reading, client);
}

enum uvea_error uvea_cluster_load(const char *file, struct uvea_cluster *cluster,
                                  struct uvea_error_context *context)
{
    struct uvea_cluster made = {.folder = NULL};
    struct uvea_tree *tree = NULL;
    UVEA_TRY(uvea_tree_open(file, &tree, context));
    const struct reading reading = {.tree = tree, .cluster = &made, .context = context};
    enum uvea_error error = keep_folder(file, &made.folder);
    if (error == UVEA_OK) {
        error = keep_all(&reading);
    }
    if (error == UVEA_ERR_MEMORY) {
        error = uvea_error_set(context, error, "%s: out of memory", file);
    }
    uvea_tree_close(tree);
    if (error != UVEA_OK) {
        uvea_cluster_deinit(&made);
        return error;
    }
    *cluster = made;
    return UVEA_OK;
}

void uvea_cluster_deinit(struct uvea_cluster *cluster)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_cluster_party *party = &cluster->parties[i];
        uvea_mem_free(party->http);
        uvea_mem_free(party->root);
        uvea_mem_free(party->store);
        uvea_mem_free(party->schema);
        uvea_mem_free(party->log);
        uvea_mem_free(party->start);
        uvea_mem_free(party->stop);
        uvea_mem_free(party->kill);
    }
    uvea_mem_free(cluster->folder);
    uvea_mem_free(cluster->client_key);
    uvea_mem_free(cluster->client_certificate);
    *cluster = (struct uvea_cluster){.folder = NULL};
}

struct uvea_tls_config uvea_cluster_tls(const struct uvea_cluster *cluster)
{
    struct uvea_tls_config config = {
        .key_file = cluster->client_key,
        .certificate_file = cluster->client_certificate,
        .own_party = -1,
    };
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        config.party_root_files[i] = cluster->parties[i].root;
    }
    return config;
}
