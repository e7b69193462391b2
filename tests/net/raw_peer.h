// A neighbour that is no mesh: it listens at its party's address, shakes hands byte by byte, writes
// down everything it is sent, and sends back what it is told to. Its answers to session validation
// are the other side's own frames, which is what an honest neighbour sends.
#ifndef UVEA_TESTS_NET_RAW_PEER_H
#define UVEA_TESTS_NET_RAW_PEER_H

#include "tests/net/trio.h"

enum { RAW_CONNECTIONS_MAX = 64, RAW_RECORD_MAX = 4096 };

struct raw_peer;

struct raw_connection {
    struct raw_peer *peer;
    struct uvea_stream *stream;
    struct uvea_task *task;
    uint32_t id;
    uint8_t hello[16]; // what the dialler sent in the handshake
    size_t hello_bytes;
    uint8_t record[RAW_RECORD_MAX]; // and after it, as much as fits
    size_t record_bytes;
    enum uvea_error end; // what the last read said, UVEA_OK for an orderly end
};

// Zero is a peer that echoes for ever.
struct raw_peer {
    size_t echo_bytes;     // data bytes sent back before the attack; 0: all
    const uint8_t *attack; // then sent on every connection; what comes is still written down
    size_t attack_bytes;
    bool end_after_attack;

    struct trio_party *party;
    struct uvea_listener *listener;
    struct raw_connection connections[RAW_CONNECTIONS_MAX];
    unsigned count;
};

void raw_peer_open(struct raw_peer *peer, struct trio_party *party);
// Serves the next count connections until the other side has ended all of them.
void raw_peer_serve(struct raw_peer *peer, unsigned count);
void raw_peer_close(struct raw_peer *peer);

// The newest connection with that id.
const struct raw_connection *raw_peer_find(const struct raw_peer *peer, uint32_t id);

#endif
