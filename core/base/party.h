// The three parties and their order on the ring 0 -> 1 -> 2 -> 0.
#ifndef UVEA_CORE_BASE_PARTY_H
#define UVEA_CORE_BASE_PARTY_H

enum { UVEA_PARTY_COUNT = 3 };

// 0, 1 or 2.
struct uvea_party {
    unsigned char index;
};

// A neighbour, seen from one party.
enum uvea_peer {
    UVEA_PEER_NEXT, // index + 1 mod 3
    UVEA_PEER_PREV, // index - 1 mod 3
};
enum { UVEA_PEER_COUNT = 2 };

static inline struct uvea_party uvea_party_at(unsigned index)
{
    return (struct uvea_party){(unsigned char)(index % UVEA_PARTY_COUNT)};
}

static inline struct uvea_party uvea_party_peer(struct uvea_party party, enum uvea_peer peer)
{
    return uvea_party_at(party.index + (peer == UVEA_PEER_NEXT ? 1u : 2u));
}

// Which neighbour of `party` is `other`; other != party.
static inline enum uvea_peer uvea_party_side(struct uvea_party party, struct uvea_party other)
{
    return other.index == (party.index + 1u) % UVEA_PARTY_COUNT ? UVEA_PEER_NEXT : UVEA_PEER_PREV;
}

#endif
