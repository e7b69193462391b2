// The keys of uvead's configuration: one table gives each key's name, kind, default, bounds and
// meaning. The file, the environment, --print-config and the reference page all work from this
// table, so none of them can miss a key.
#ifndef UVEA_CORE_DAEMON_KEY_H
#define UVEA_CORE_DAEMON_KEY_H

#include "core/base/error.h"
#include "core/base/party.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// NUMBER: section, name, default, minimum, maximum, meaning. CHOICE: section, name, default,
// choices, meaning. TEXT: section, name, kind, default, meaning. A default of NULL means that the
// key must be given, "" that it may be left out.
#define UVEA_KEYS(NUMBER, CHOICE, TEXT)                                                            \
    CHOICE(root, party, NULL, "0 1 2", "which of the three this process is")                       \
    TEXT(root, environment, NAME, "dev", "name of the deployment; the same at all three")          \
    TEXT(root, image_name, NAME, "uvea", "what runs here, for peers' logs and /health")            \
    CHOICE(root, prf, "aes128", "aes128 chacha8",                                                  \
           "generator of the pairwise random streams; the same at all three")                      \
    TEXT(mesh, listen, ADDRESS, NULL, "where peers' MPC connections are taken")                    \
    TEXT(mesh, dial, ADDRESSES, NULL, "where each party's MPC connections are taken; own ignored") \
    NUMBER(mesh, sessions, 24, 8, 65536, "MPC sessions, a multiple of 8; the same at all three")   \
    NUMBER(mesh, connections, 16, 1, 1024, "connections to each peer that carry the sessions")     \
    NUMBER(mesh, value_bytes_max, 67108864, 1024, 4294967295, "longest value accepted")            \
    NUMBER(mesh, queue_bytes_max, 268435456, 65536, 1099511627776,                                 \
           "bytes queued per connection and direction before a sender waits")                      \
    NUMBER(mesh, handshake_ms, 5000, 1, 600000, "from accept to the end of a handshake")           \
    NUMBER(mesh, start_jitter_ms, 3000, 0, 600000,                                                 \
           "random wait before each connection is dialled")                                        \
    NUMBER(mesh, retry_ms, 2000, 1, 600000, "pause before a connection is dialled again")          \
    NUMBER(mesh, connect_ms, 60000, 1, 3600000, "for all connections together")                    \
    NUMBER(mesh, recv_ms, 10000, 1, 3600000, "how long a message of a peer is waited for")         \
    NUMBER(mesh, drain_ms, 1000, 0, 600000,                                                        \
           "how long queued messages may take to leave at an end")                                 \
    TEXT(http, listen, ADDRESS, NULL, "where peers, clients and monitoring call")                  \
    TEXT(http, peers, ADDRESSES, NULL, "where each party's HTTP is served; own ignored")           \
    NUMBER(http, connections_max, 64, 4, 65536, "connections at once")                             \
    NUMBER(http, handshake_ms, 5000, 1, 600000, "from accept to the end of the TLS handshake")     \
    NUMBER(http, idle_ms, 60000, 1, 3600000, "how long a connection may have no whole request")    \
    CHOICE(tls, enabled, "true", "false true",                                                     \
           "false: everything in the clear, for measurements; on loopback addresses only")         \
    TEXT(tls, key, FILE, "", "own private key, PEM, readable by its owner only")                   \
    TEXT(tls, certificate, FILE, "", "own certificate, then its intermediates, PEM")               \
    TEXT(tls, roots, FILES, "", "each party's root certificate, PEM; all different")               \
    TEXT(tls, client_root, FILE, "", "root of those who may call HTTP beside the parties")         \
    CHOICE(tls, allow_tls_1_2, "false", "false true", "whether TLS 1.2 is taken beside 1.3")       \
    TEXT(keys, share_key, FILE, NULL,                                                              \
         "base64 of the 32 secret bytes that open share objects, readable by its owner only")      \
    TEXT(keys, previous_share_key, FILE, "", "the one before, for older objects")                  \
    TEXT(store, sqlite, FILE, "", "database file; this or postgres_url")                           \
    TEXT(store, postgres_url, SECRET, "", "libpq URL; never printed, best given by environment")   \
    TEXT(store, schema, NAME, "uvea", "PostgreSQL schema; each party has its own")                 \
    CHOICE(scan, path, "ring", "ring ntt", "how the full scan scores; the same at all three")      \
    CHOICE(scan, predicate, "dense", "dense two-term",                                             \
           "anonymous predicate of the ring path; the same at all three")                          \
    CHOICE(scan, field_predicate, "full", "full valid-range",                                      \
           "anonymous predicate of the ntt path; the same at all three")                           \
    CHOICE(scan, full_scan_eye, "left", "left right",                                              \
           "the eye of which every record is scored; the same at all three")                       \
    NUMBER(scan, chunk_records, 4096, 1, 4096,                                                     \
           "records scored and judged in one exchange; the same at all three")                     \
    CHOICE(scan, kernels, "auto", "auto portable avx2 avx512 neon neon-i8mm", "score kernels")     \
    TEXT(scan, cpus, CPUS, "", "processors that scan workers are pinned to, such as 2-15,18")      \
    NUMBER(scan, memory_bytes_max, 0, 0, UINT64_MAX,                                               \
           "memory that the database may take; 0: what the machine or its cgroup has")             \
    NUMBER(service, batch_requests_max, 1, 1, 64, "requests in a batch; the same at all three")    \
    NUMBER(service, records_max, 18000000, 1, 64000000,                                            \
           "records there is room for; the same at all three")                                     \
    NUMBER(service, lookback, 500, 0, 1048575,                                                     \
           "N+1 newest records matched under the OR rule; 0: none; the same at all three")         \
    CHOICE(service, luc, "true", "false true",                                                     \
           "whether there is an OR rule; the same at all three")                                   \
    CHOICE(service, or_rule, "true", "false true",                                                 \
           "whether or_rule_serial_ids of a request count; the same at all three")                 \
    CHOICE(service, partial_results, "true", "false true",                                         \
           "whether one-eye matches are returned; the same at all three")                          \
    NUMBER(service, supermatch_limit, 4000, 1, 4294967295,                                         \
           "more strict matches on one eye saturate a request; the same at all three")             \
    CHOICE(service, enable_reauth, "true", "false true", "reauth; the same at all three")          \
    CHOICE(service, enable_reset, "true", "false true", "reset; the same at all three")            \
    CHOICE(service, enable_recovery, "true", "false true", "recovery; the same at all three")      \
    CHOICE(service, enable_deletion, "true", "false true", "deletion; the same at all three")      \
    NUMBER(service, cold_cache_records, 4096, 0, 1048576,                                          \
           "records of the eye that is not scanned kept in memory")                                \
    NUMBER(service, modifications_lookback, 328, 1, 4096,                                          \
           "newest modifications compared at a start; the same at all three")                      \
    NUMBER(service, processing_ms, 600000, 1, 86400000, "one batch from agreement to commit")      \
    NUMBER(service, drain_ms, 10000, 0, 86400000, "how long a stop waits for the batch in work")   \
    NUMBER(service, ingest_ms, 20, 1, 86400000, "pause between two looks at an empty topic")       \
    NUMBER(service, ingest_backoff_min_ms, 200, 1, 86400000,                                       \
           "first pause after a failed look, then doubling")                                       \
    NUMBER(service, ingest_backoff_max_ms, 5000, 1, 86400000, "longest such pause")                \
    NUMBER(coordination, lag_min_ms, 5, 1, 600000, "first pause while a peer is behind")           \
    NUMBER(coordination, lag_max_ms, 100, 1, 600000, "longest such pause")                         \
    NUMBER(coordination, transport_ms, 1000, 1, 600000, "pause after a failed HTTP attempt")       \
    NUMBER(coordination, attempt_ms, 10000, 1, 600000, "one HTTP attempt")                         \
    NUMBER(coordination, startup_ms, 300000, 1, 86400000, "each start-up agreement")               \
    NUMBER(coordination, silence_ms, 60000, 1, 86400000,                                           \
           "how long a peer may give no usable answer during a batch")                             \
    NUMBER(coordination, behind_ms, 600000, 1, 86400000, "agreements on a batch in all")           \
    NUMBER(coordination, idle_ms, 20, 1, 600000, "pause between agreements on an empty batch")     \
    NUMBER(coordination, heartbeat_ms, 2000, 1, 600000, "between two looks at a peer")             \
    NUMBER(coordination, heartbeat_initial_retries, 10, 0, 100000,                                 \
           "failures allowed until a peer was heard once")                                         \
    NUMBER(coordination, heartbeat_failures, 3, 1, 1000, "failures in a row that end the party")   \
    CHOICE(log, level, "info", "debug info warn error", "least level that is written")             \
    NUMBER(log, refusals_per_minute, 60, 1, 1000000,                                               \
           "lines about strangers turned away; the rest is counted")                               \
    CHOICE(process, core_dumps, "false", "false true",                                             \
           "whether a crash may leave an image of memory, with keys and shares")

enum uvea_key {
#define UVEA_KEY_ENUM(section, name, ...) UVEA_KEY_##section##_##name,
    UVEA_KEYS(UVEA_KEY_ENUM, UVEA_KEY_ENUM, UVEA_KEY_ENUM)
#undef UVEA_KEY_ENUM
        UVEA_KEY_COUNT,
};

// How a value is written. NUMBER: decimal digits. ADDRESS: host:port, an IPv6 host in brackets.
// FILE: a path. CPUS: numbers and ranges between commas. The last two are lists of three, in party
// order.
enum uvea_key_kind {
    UVEA_KEY_NUMBER,
    UVEA_KEY_CHOICE,
    UVEA_KEY_NAME, // 1 to 63 printable characters without space
    UVEA_KEY_ADDRESS,
    UVEA_KEY_FILE,
    UVEA_KEY_SECRET, // any text; never printed
    UVEA_KEY_CPUS,
    UVEA_KEY_ADDRESSES,
    UVEA_KEY_FILES,
};

struct uvea_key_info {
    const char *section; // "root" for a key that stands alone
    const char *name;
    const char *value;   // the default as text; NULL: must be given; "": may be left out
    const char *choices; // separated by one space; NULL for other kinds
    const char *meaning;
    uint64_t low;
    uint64_t high; // bounds of a number
    enum uvea_key_kind kind;
};

enum {
    UVEA_KEY_CHARS_MAX = 64,         // of a name in any spelling, with the end
    UVEA_KEY_VALUE_CHARS_MAX = 4095, // of a value
    UVEA_KEY_CPUS_MAX = 1024,        // processors 0..1023
};

const struct uvea_key_info *uvea_key_info(enum uvea_key key);

// Whether its value is a list of three.
bool uvea_key_is_list(enum uvea_key key);

// "mesh.listen", or "party" for the root section.
void uvea_key_name(enum uvea_key key, char name[UVEA_KEY_CHARS_MAX]);
// "UVEA__MESH__LISTEN" or "UVEA__PARTY".
void uvea_key_variable(enum uvea_key key, char name[UVEA_KEY_CHARS_MAX]);

// UVEA_KEY_COUNT when there is none of that name.
enum uvea_key uvea_key_find(const char *name);
enum uvea_key uvea_key_find_variable(const char *name);
bool uvea_key_is_section(const char *name);

// The key whose name differs least from this one, or UVEA_KEY_COUNT when none is near. section: not
// the key itself but its section has that name.
enum uvea_key uvea_key_nearest(const char *name, bool *section);

// Judges one text as a value of the key (an element, for a list). what: whence it is, with the key,
// for the sentence. number: of a NUMBER its value, of a CHOICE the index, else 0. FORMAT: the
// sentence says what is allowed and repeats the text unless that is a secret.
UVEA_MUST_USE enum uvea_error uvea_key_parse(enum uvea_key key, const char *what, const char *text,
                                             uint64_t *number, struct uvea_error_context *context);

// The text of a NUMBER or CHOICE, as it would be written.
void uvea_key_format(enum uvea_key key, uint64_t number, char text[UVEA_KEY_CHARS_MAX]);

// The processors of a CPUS text that is good, in its order: at most UVEA_KEY_CPUS_MAX. Returns
// their number.
size_t uvea_key_cpus(const char *text, unsigned cpus[UVEA_KEY_CPUS_MAX]);

#endif
