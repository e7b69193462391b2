// The scalar options of a scenario: one table gives every option's key, type, default, bounds and
// meaning. Reading a file, --set, the printed list of derived options and the reference page all
// work from this table, so none of them can miss an option.
#ifndef UVEA_SIM_SCENARIO_OPTION_H
#define UVEA_SIM_SCENARIO_OPTION_H

#include "core/base/error.h"
#include "core/base/parse.h"

#include <stddef.h>
#include <stdint.h>

#define UVEA_KERNEL_CHOICES "auto portable avx2 avx512 neon neon-i8mm"

// section, name, kind, default, minimum, maximum or list of choices, meaning
#define UVEA_OPTIONS(NUMBER, CHOICE)                                                               \
    NUMBER(root, seed, 1, 0, UINT64_MAX, "where all randomness of the run comes from")             \
    NUMBER(root, people, 0, 0, UINT64_MAX,                                                         \
           "seed of the generated templates alone, for runs that differ in nothing else; 0: seed") \
    CHOICE(root, class, "recoverable", "recoverable hostile",                                      \
           "whether everything must be answered in the end, or only nothing answered wrongly")     \
    CHOICE(root, prf, "aes128", "aes128 chacha8", "generator of the pairwise random streams")      \
    CHOICE(root, predicate, "dense", "dense two-term",                                             \
           "anonymous predicate: 66 AND gates, or two terms and 15 AND gates")                     \
    CHOICE(root, scan, "ring", "ring ntt", "how the full scan scores and judges")                  \
    CHOICE(root, field_predicate, "full", "full valid-range",                                      \
           "with scan ntt: 31 AND gates, right for every representative, or 23 for valid scores")  \
    NUMBER(root, sessions, 24, 8, 256, "MPC sessions per generation, a multiple of 8")             \
    NUMBER(root, connections, 16, 1, 256, "connections to each peer that carry the sessions")      \
    NUMBER(root, chunk_records, 4096, 1, 4096, "records scored and judged in one exchange")        \
    CHOICE(service, full_scan_eye, "left", "left right",                                           \
           "the eye of which every record is scored")                                              \
    CHOICE(service, partial_results, "true", "false true", "whether one-eye matches are returned") \
    NUMBER(service, lookback, 0, 0, 100000,                                                        \
           "N+1 newest records matched under the OR rule; 0 switches it off")                      \
    CHOICE(service, or_rule, "true", "false true",                                                 \
           "whether or_rule_serial_ids of a request are honoured")                                 \
    NUMBER(service, supermatch_limit, 4000, 1, 1000000,                                            \
           "more strict matches than this on one eye saturate a request")                          \
    NUMBER(service, record_limit, 1000000, 1, 100000000, "records a party has room for")           \
    NUMBER(service, batch_requests_max, 1, 1, 64, "requests processed together at most")           \
    CHOICE(service, enable_reauth, "true", "false true", "whether reauth requests are taken")      \
    CHOICE(service, enable_reset, "true", "false true", "whether reset requests are taken")        \
    CHOICE(service, enable_recovery, "true", "false true", "whether recovery requests are taken")  \
    CHOICE(service, enable_deletion, "true", "false true", "whether deletion requests are taken")  \
    NUMBER(service, cold_cache, 4096, 0, 1048576,                                                  \
           "records of the eye that is not scanned kept in memory; changes no answer")             \
    NUMBER(service, modifications_lookback, 328, 1, 4096,                                          \
           "newest modifications that parties compare when they start")                            \
    NUMBER(client, window, 1, 1, 256, "requests under way before the next one is sent")            \
    NUMBER(client, pause_ms, 0, 0, 1000000, "mean of the exponential pause before each request")   \
    CHOICE(database, source, "generated", "generated templates",                                   \
           "records made from the seed, or the templates of the template files")                   \
    NUMBER(database, records, 256, 0, 1000000, "records enrolled before the first request")        \
    CHOICE(database, masks, "realistic", "realistic full", "masks of generated templates")         \
    CHOICE(templates, pairing, "same", "same pairs",                                               \
           "one template for both eyes, or consecutive lines as left and right")                   \
    NUMBER(network, latency_us, 500, 0, 60000000, "one-way delay of every link")                   \
    NUMBER(network, jitter_us, 100, 0, 60000000, "mean of the exponential delay added to it")      \
    NUMBER(network, bandwidth_mbit, 1000, 0, 1000000, "per direction; 0 is unlimited")             \
    NUMBER(network, piece_bytes_max, 16384, 1, 16384, "longest piece a write is cut into")         \
    NUMBER(network, buffer_bytes, 4194304, 1, 1073741824,                                          \
           "bytes under way per direction before a writer waits")                                  \
    NUMBER(network, value_bytes_max, 67108864, 1024, 4294967295, "longest value a party accepts")  \
    NUMBER(network, recv_timeout_ms, 10000, 1, 3600000, "how long a party waits for a message")    \
    CHOICE(network, tls, "off", "off on",                                                          \
           "whether the parties' connections are under TLS, by OpenSSL with the seed's entropy")   \
    CHOICE(kernels, p0, "auto", UVEA_KERNEL_CHOICES, "score kernels of party 0")                   \
    CHOICE(kernels, p1, "auto", UVEA_KERNEL_CHOICES, "score kernels of party 1")                   \
    CHOICE(kernels, p2, "auto", UVEA_KERNEL_CHOICES, "score kernels of party 2")                   \
    NUMBER(clocks, p0_drift_ppm, 0, 0, 1000, "how much too fast party 0's clock runs")             \
    NUMBER(clocks, p1_drift_ppm, 0, 0, 1000, "how much too fast party 1's clock runs")             \
    NUMBER(clocks, p2_drift_ppm, 0, 0, 1000, "how much too fast party 2's clock runs")             \
    NUMBER(clocks, p0_offset_ms, 0, 0, 1000000, "how far party 0's clock is ahead")                \
    NUMBER(clocks, p1_offset_ms, 0, 0, 1000000, "how far party 1's clock is ahead")                \
    NUMBER(clocks, p2_offset_ms, 0, 0, 1000000, "how far party 2's clock is ahead")                \
    NUMBER(crash, p0_step, 0, 0, UINT64_MAX,                                                       \
           "party 0's first process dies instead of this step of its tasks; 0: it does not")       \
    NUMBER(crash, p1_step, 0, 0, UINT64_MAX, "the same for party 1")                               \
    NUMBER(crash, p2_step, 0, 0, UINT64_MAX, "the same for party 2")                               \
    CHOICE(swarm, faults, "off", "off on",                                                         \
           "whether the seed draws faults beside those that the scenario lists")                   \
    CHOICE(swarm, network, "draw", "off draw on", "delays, stalls, resets, partitions")            \
    CHOICE(swarm, http, "draw", "off draw on", "409 storms, 5xx, stale, cut, lost, slow answers")  \
    CHOICE(swarm, process, "draw", "off draw on", "crashes, pauses, crash loops, stops")           \
    CHOICE(swarm, storage, "draw", "off draw on",                                                  \
           "I/O errors, full or slow disk, crash inside a write")                                  \
    CHOICE(swarm, clock, "draw", "off draw on", "offsets, drift and steps of the clocks")          \
    CHOICE(swarm, memory, "draw", "off draw on", "allocations that fail")                          \
    CHOICE(swarm, malformed, "draw", "off draw on", "requests and shares that are no good")        \
    CHOICE(swarm, hostile, "draw", "off draw on",                                                  \
           "damage beyond repair: emptied, foreign, stale or rotten disks, lying syncs")           \
    CHOICE(swarm, tls, "draw", "off draw on", "TLS between the parties, in one seed of sixteen")   \
    NUMBER(swarm, faults_s, 60, 1, 100000, "simulated seconds after which drawn faults stop")      \
    NUMBER(swarm, recovery_s, 600, 1, 100000,                                                      \
           "simulated seconds after that in which everything must be answered")                    \
    NUMBER(limits, steps, 100000000, 1, UINT64_MAX, "task switches before the run is stopped")     \
    NUMBER(limits, sim_s, 3600, 1, 100000000, "simulated seconds before the run is stopped")

enum uvea_option {
#define UVEA_OPTION_NUMBER_ENUM(section, name, value, low, high, meaning)                          \
    UVEA_OPTION_##section##_##name,
#define UVEA_OPTION_CHOICE_ENUM(section, name, value, choices, meaning)                            \
    UVEA_OPTION_##section##_##name,
    UVEA_OPTIONS(UVEA_OPTION_NUMBER_ENUM, UVEA_OPTION_CHOICE_ENUM)
#undef UVEA_OPTION_NUMBER_ENUM
#undef UVEA_OPTION_CHOICE_ENUM
        UVEA_OPTION_COUNT,
};

struct uvea_option_info {
    const char *section; // "root" for a key that stands alone
    const char *name;
    const char *choices; // separated by one space; NULL for a number
    const char *meaning;
    const char *value; // the default as text
    uint64_t low;
    uint64_t high; // bounds of a number
};

const struct uvea_option_info *uvea_option_info(enum uvea_option option);

// "network.latency_us", or "seed" for the root section. Fits 64 characters.
void uvea_option_key(enum uvea_option option, char key[64]);

// UVEA_OPTION_COUNT when there is none of that name.
enum uvea_option uvea_option_find(const char *key, size_t len);

// A number in bounds, or the index of a choice. The sentence names the key and what is allowed.
UVEA_MUST_USE enum uvea_error uvea_option_parse(enum uvea_option option, const char *text,
                                                uint64_t *value,
                                                struct uvea_error_context *context);

// The value as it would be written in a scenario.
void uvea_option_format(enum uvea_option option, uint64_t value, char text[64]);

#endif
