#include "sim/live/cluster_make.h"

#include "core/base/buf.h"
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/live/certs.h"
#include "sim/live/output.h"
#include "sim/live/share_key.h"
#include "sim/live/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MESH_PORT = 10,
    MESH_PROXY_PORT = 20,
    HTTP_PROXY_PORT = 40,
    ROOT_DAYS = 3650,
    LEAF_DAYS = 365,
    DAY_S = 86400,
    CLOCK_SKEW_S = 3600,
    RECORDS_MAX = 64000000, // of uvead's service.records_max
};

// What is being made.
struct making {
    const struct uvea_cluster_plan *plan;
    char keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_CHARS + 1]; // public
    struct uvea_error_context *context;
};

static enum uvea_error path_of(const struct making *making, char path[PATH_MAX], const char *format,
                               unsigned party)
{
    char rest[64];
    (void)snprintf(rest, sizeof(rest), format, party);
    return (size_t)snprintf(path, PATH_MAX, "%s/%s", making->plan->directory, rest) < PATH_MAX
               ? UVEA_OK
               : uvea_error_set(making->context, UVEA_ERR_USAGE,
                                "the directory's name is too long");
}

// Whoever holds the URL may read every share of the database.
static enum uvea_error write_text(const struct making *making, const char *format, unsigned party,
                                  const struct uvea_buf *text)
{
    char path[PATH_MAX];
    UVEA_TRY(path_of(making, path, format, party));
    return uvea_live_write(path, text->data, text->len, making->plan->postgres_url != NULL,
                           making->plan->overwrite, making->context);
}

// ---- addresses

static unsigned mesh_port(const struct uvea_cluster_plan *plan, unsigned from, unsigned to)
{
    return plan->port +
           (plan->through_proxy && from != to ? MESH_PROXY_PORT + 3 * from + to : MESH_PORT + to);
}

static unsigned http_port(const struct uvea_cluster_plan *plan, unsigned from, unsigned to)
{
    return plan->port + (plan->through_proxy && from != to ? HTTP_PROXY_PORT + 3 * from + to : to);
}

typedef unsigned port_fn(const struct uvea_cluster_plan *plan, unsigned from, unsigned to);

// The three addresses as party `from` calls them.
static void put_addresses(struct uvea_text *text, const struct uvea_cluster_plan *plan,
                          const char *key, port_fn *port, unsigned from)
{
    uvea_text_put(text, "  %s: [", key);
    for (unsigned to = 0; to < UVEA_PARTY_COUNT; to++) {
        uvea_text_put(text, "%s\"%s:%u\"", to == 0 ? "" : ", ", plan->hosts[to],
                      port(plan, from, to));
    }
    uvea_text_put(text, "]\n");
}

// ---- a party's configuration

struct mapping {
    const char *key; // of uvead
    enum uvea_option option;
};

static void put_options(struct uvea_text *text, const struct uvea_scenario *scenario,
                        const struct mapping *mappings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char value[64];
        uvea_option_format(mappings[i].option, scenario->options[mappings[i].option], value);
        uvea_text_put(text, "  %s: %s\n", mappings[i].key, value);
    }
}

// Small waits at the start: the parties come up together.
static void put_network(struct uvea_text *text, const struct uvea_cluster_plan *plan,
                        unsigned party)
{
    static const struct mapping mesh[] = {
        {"sessions", UVEA_OPTION_root_sessions},
        {"connections", UVEA_OPTION_root_connections},
        {"value_bytes_max", UVEA_OPTION_network_value_bytes_max},
        {"recv_ms", UVEA_OPTION_network_recv_timeout_ms},
    };
    uvea_text_put(text, "mesh:\n  listen: \"%s:%u\"\n", plan->hosts[party],
                  mesh_port(plan, party, party));
    put_addresses(text, plan, "dial", mesh_port, party);
    put_options(text, plan->scenario, mesh, UVEA_COUNT_OF(mesh));
    uvea_text_put(text, "  start_jitter_ms: 100\n  retry_ms: 500\n");
    uvea_text_put(text, "http:\n  listen: \"%s:%u\"\n", plan->hosts[party],
                  http_port(plan, party, party));
    put_addresses(text, plan, "peers", http_port, party);
}

static void put_identity(struct uvea_text *text, const struct uvea_cluster_plan *plan,
                         unsigned party)
{
    uvea_text_put(text,
                  "tls:\n"
                  "  key: ../pki/p%u.key.pem\n"
                  "  certificate: ../pki/p%u.pem\n"
                  "  roots: [../pki/p0-root.pem, ../pki/p1-root.pem, ../pki/p2-root.pem]\n"
                  "  client_root: ../pki/client-root.pem\n"
                  "keys:\n"
                  "  share_key: share.key\n"
                  "store:\n",
                  party, party);
    if (plan->postgres_url != NULL) {
        uvea_text_put(text, "  postgres_url: ");
        uvea_text_quote(text, plan->postgres_url);
        uvea_text_put(text, "\n  schema: p%u\n", party);
    } else {
        uvea_text_put(text, "  sqlite: store.db\n");
    }
}

static void put_service(struct uvea_text *text, const struct uvea_cluster_plan *plan,
                        unsigned party)
{
    const struct mapping scan[] = {
        {"path", UVEA_OPTION_root_scan},
        {"predicate", UVEA_OPTION_root_predicate},
        {"field_predicate", UVEA_OPTION_root_field_predicate},
        {"full_scan_eye", UVEA_OPTION_service_full_scan_eye},
        {"chunk_records", UVEA_OPTION_root_chunk_records},
        {"kernels", (enum uvea_option)(UVEA_OPTION_kernels_p0 + party)},
    };
    static const struct mapping service[] = {
        {"batch_requests_max", UVEA_OPTION_service_batch_requests_max},
        {"records_max", UVEA_OPTION_service_record_limit},
        {"lookback", UVEA_OPTION_service_lookback},
        {"or_rule", UVEA_OPTION_service_or_rule},
        {"partial_results", UVEA_OPTION_service_partial_results},
        {"supermatch_limit", UVEA_OPTION_service_supermatch_limit},
        {"enable_reauth", UVEA_OPTION_service_enable_reauth},
        {"enable_reset", UVEA_OPTION_service_enable_reset},
        {"enable_recovery", UVEA_OPTION_service_enable_recovery},
        {"enable_deletion", UVEA_OPTION_service_enable_deletion},
        {"cold_cache_records", UVEA_OPTION_service_cold_cache},
        {"modifications_lookback", UVEA_OPTION_service_modifications_lookback},
    };
    uvea_text_put(text, "scan:\n");
    put_options(text, plan->scenario, scan, UVEA_COUNT_OF(scan));
    uvea_text_put(text, "service:\n");
    put_options(text, plan->scenario, service, UVEA_COUNT_OF(service));
}

static enum uvea_error make_party(struct making *making, unsigned party)
{
    struct uvea_text text = {.failed = false};
    char prf[64];
    uvea_option_format(UVEA_OPTION_root_prf, making->plan->scenario->options[UVEA_OPTION_root_prf],
                       prf);
    uvea_text_put(&text, "party: %u\nprf: %s\n", party, prf);
    put_network(&text, making->plan, party);
    put_identity(&text, making->plan, party);
    put_service(&text, making->plan, party);
    enum uvea_error error = uvea_text_error(&text);
    if (error == UVEA_OK) {
        error = write_text(making, "p%u/uvead.yaml", party, &text.buf);
    }
    uvea_text_deinit(&text);
    return error;
}

// ---- keys and certificates

static enum uvea_error make_key(struct making *making, unsigned party)
{
    char path[PATH_MAX];
    struct uvea_share_key_pair pair;
    UVEA_TRY(path_of(making, path, "p%u", party));
    UVEA_TRY(uvea_live_make_directory(path, true, making->context));
    UVEA_TRY(path_of(making, path, "p%u/share.key", party));
    UVEA_TRY(uvea_share_key_write(path, making->plan->overwrite, &pair, making->context));
    uvea_share_key_text(pair.public_key, making->keys[party]);
    uvea_mem_wipe(&pair, sizeof(pair));
    return UVEA_OK;
}

static enum uvea_error make_certificates(const struct making *making)
{
    const struct uvea_cluster_plan *plan = making->plan;
    const int64_t from_s = plan->now_s - CLOCK_SKEW_S;
    const struct uvea_certs_window root = {from_s, plan->now_s + (int64_t)ROOT_DAYS * DAY_S};
    const struct uvea_certs_window leaf = {from_s, plan->now_s + (int64_t)LEAF_DAYS * DAY_S};
    char pki[PATH_MAX];
    UVEA_TRY(path_of(making, pki, "pki", 0));
    UVEA_TRY(uvea_certs_init(pki, &root, plan->overwrite, making->context));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const char *const names[] = {plan->hosts[party], "localhost", "127.0.0.1"};
        const bool known = strcmp(names[0], names[1]) == 0 || strcmp(names[0], names[2]) == 0;
        UVEA_TRY(uvea_certs_issue_party(pki, uvea_party_at(party), names + known,
                                        UVEA_COUNT_OF(names) - known, &leaf, plan->overwrite,
                                        making->context));
    }
    return uvea_certs_issue_client(pki, "client", &leaf, plan->overwrite, making->context);
}

// ---- cluster.yaml

// One of the three commands: the program's own words, run in the cluster's folder.
static void put_command(struct uvea_text *text, const struct uvea_cluster_plan *plan,
                        const char *verb, unsigned party)
{
    struct uvea_text command = {.failed = false};
    uvea_text_shell(&command, plan->uvea);
    uvea_text_put(&command, " cluster %s . %u", verb, party);
    if (strcmp(verb, "start") == 0) {
        uvea_text_put(&command, " --uvead ");
        uvea_text_shell(&command, plan->uvead);
    }
    uvea_text_put(text, "    %s: ", verb);
    if (uvea_text_error(&command) == UVEA_OK) {
        uvea_text_quote(text, (const char *)command.buf.data);
    } else {
        text->failed = true;
    }
    uvea_text_put(text, "\n");
    uvea_text_deinit(&command);
}

static void put_party(struct uvea_text *text, const struct making *making, unsigned party)
{
    const struct uvea_cluster_plan *plan = making->plan;
    uvea_text_put(text,
                  "  - http: \"%s:%u\"\n    root: pki/p%u-root.pem\n    share_public_key: %s\n",
                  plan->hosts[party], http_port(plan, party, party), party, making->keys[party]);
    if (plan->postgres_url != NULL) {
        uvea_text_put(text, "    store: ");
        uvea_text_quote(text, plan->postgres_url);
        uvea_text_put(text, "\n    schema: p%u\n", party);
    } else {
        uvea_text_put(text, "    store: p%u/store.db\n", party);
    }
    uvea_text_put(text, "    log: p%u/uvead.log\n", party);
    put_command(text, plan, "start", party);
    put_command(text, plan, "stop", party);
    put_command(text, plan, "kill", party);
}

static enum uvea_error make_cluster_file(const struct making *making)
{
    struct uvea_text text = {.failed = false};
    uvea_text_put(&text, "parties:\n");
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        put_party(&text, making, party);
    }
    uvea_text_put(&text, "client:\n  key: pki/client.key.pem\n  certificate: pki/client.pem\n");
    enum uvea_error error = uvea_text_error(&text);
    if (error == UVEA_OK) {
        error = write_text(making, "cluster.yaml", 0, &text.buf);
    }
    uvea_text_deinit(&text);
    return error;
}

// ---- proxy.yaml

static void put_link(struct uvea_text *text, const struct uvea_cluster_plan *plan, unsigned from,
                     unsigned to, const char *what, port_fn *port)
{
    uvea_text_put(text, "  - {name: p%u-p%u-%s, listen: \"%s:%u\", dial: \"%s:%u\"}\n", from, to,
                  what, plan->hosts[from], port(plan, from, to), plan->hosts[to],
                  port(plan, to, to));
}

static enum uvea_error make_proxy_file(const struct making *making)
{
    struct uvea_text text = {.failed = false};
    uvea_text_put(&text, "seed: %" PRIu64 "\nlinks:\n",
                  making->plan->scenario->options[UVEA_OPTION_root_seed]);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT * UVEA_PARTY_COUNT; i++) {
        const unsigned from = i / UVEA_PARTY_COUNT;
        const unsigned to = i % UVEA_PARTY_COUNT;
        if (from != to) {
            put_link(&text, making->plan, from, to, "mpc", mesh_port);
            put_link(&text, making->plan, from, to, "http", http_port);
        }
    }
    enum uvea_error error = uvea_text_error(&text);
    if (error == UVEA_OK) {
        error = write_text(making, "proxy.yaml", 0, &text.buf);
    }
    uvea_text_deinit(&text);
    return error;
}

// ---- the whole

static enum uvea_error check(const struct making *making)
{
    const struct uvea_cluster_plan *plan = making->plan;
    const uint64_t records = plan->scenario->options[UVEA_OPTION_service_record_limit];
    if (plan->port < 1 || plan->port > UINT16_MAX - UVEA_CLUSTER_PORTS) {
        return uvea_error_set(making->context, UVEA_ERR_USAGE, "port %u: not in 1..%d", plan->port,
                              UINT16_MAX - UVEA_CLUSTER_PORTS);
    }
    if (records > RECORDS_MAX) {
        return uvea_error_set(making->context, UVEA_ERR_USAGE,
                              "service.record_limit: %" PRIu64 "; uvead has room for %d at most",
                              records, RECORDS_MAX);
    }
    return UVEA_OK;
}

// cluster.yaml comes last: where it is, everything is.
enum uvea_error uvea_cluster_make(const struct uvea_cluster_plan *plan,
                                  struct uvea_error_context *context)
{
    struct making making = {.plan = plan, .context = context};
    UVEA_TRY(check(&making));
    UVEA_TRY(uvea_live_make_directory(plan->directory, false, context));
    UVEA_TRY(make_certificates(&making));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(make_key(&making, party));
        UVEA_TRY(make_party(&making, party));
    }
    if (plan->through_proxy) {
        UVEA_TRY(make_proxy_file(&making));
    }
    return make_cluster_file(&making);
}
