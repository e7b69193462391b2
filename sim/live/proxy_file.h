// What the fault proxy is told: proxy.yaml.
//
//   seed: 1                    # of jitter and corruption; optional
//   links:
//     - name: p0-p1-mpc        # letters, digits, - and _, different ones
//       listen: 127.0.0.1:8021
//       dial: 127.0.0.1:8011
//       delay_ms: 20           # the following are optional, 0 means none
//       jitter_ms: 5           # up to so much more, drawn for each piece; order is kept
//       bytes_per_s: 1000000   # in each direction of each connection
//       cut_after_bytes: N     # a connection is reset after N bytes in both directions together
//       half_close_after_bytes: N    # after N bytes from the dialler, it is heard no more
//       corrupt_per_million: N # so many bytes in a million get one bit flipped
//       from_ms: 3000          # the last three happen from so long after the proxy's start
//       for_ms: 2000           # and so long only; 0: until the end
#ifndef UVEA_SIM_LIVE_PROXY_FILE_H
#define UVEA_SIM_LIVE_PROXY_FILE_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { UVEA_PROXY_LINKS_MAX = 64, UVEA_PROXY_TEXT_CHARS = 128 };

// How a link treats what it carries.
struct uvea_proxy_conditions {
    uint64_t delay_ms; // at most 60,000, as jitter_ms
    uint64_t jitter_ms;
    uint64_t bytes_per_s;
    uint64_t cut_after_bytes;
    uint64_t half_close_after_bytes;
    uint64_t corrupt_per_million;
    uint64_t from_ms;
    uint64_t for_ms;
};

struct uvea_proxy_link {
    char name[UVEA_PROXY_TEXT_CHARS];
    char listen[UVEA_PROXY_TEXT_CHARS]; // host:port, as dial
    char dial[UVEA_PROXY_TEXT_CHARS];
    struct uvea_proxy_conditions conditions;
};

struct uvea_proxy_file {
    uint64_t seed;
    size_t count;
    struct uvea_proxy_link links[UVEA_PROXY_LINKS_MAX];
};

// NOT_FOUND, IO, LIMIT, FORMAT: the sentence names file, line and key; out is unchanged then.
UVEA_MUST_USE enum uvea_error uvea_proxy_file_read(const char *file, struct uvea_proxy_file *out,
                                                   struct uvea_error_context *context);

#endif
