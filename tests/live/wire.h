// A network of machines that are network namespaces, with links of its own making: every packet
// takes a while and some are lost. Kernels without netem can do it too; what is needed is the right
// to make namespaces and TUN devices.
#ifndef UVEA_TESTS_LIVE_WIRE_H
#define UVEA_TESTS_LIVE_WIRE_H

#include <stdint.h>

enum { WIRE_MACHINES_MAX = 8 };

struct wire_config {
    unsigned machines;
    unsigned delay_ms;         // one way
    unsigned lost_per_million; // packets
    uint64_t seed;
};

// Makes namespaces named PREFIX0, PREFIX1, ... with addresses 10.77.0.1, 10.77.0.2, ..., and a
// process that carries their packets until wire_down. NULL, or a sentence that says what this
// machine will not do; nothing is left then.
const char *wire_up(const char *prefix, const struct wire_config *config);

// Packets that were carried and lost, as the process counted them.
struct wire_tally {
    uint64_t carried;
    uint64_t lost;
};
struct wire_tally wire_down(void);

#endif
