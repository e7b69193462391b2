// Both predicate circuits in the clear over every pair of terms, 64 pairs to a word. The circuits
// are written here a second time, but their constants are those of core/mpc, so that a wrong one
// shows. Source: ntt.md 4.1, 4.2.
#include "core/base/mem.h"
#include "core/mpc/field_threshold.h"
#include "sim/gate/check.h"

#include <stdbool.h>
#include <string.h>

enum {
    PRIME = UVEA_GATE_PRIME,
    BITS = UVEA_FIELD_Y_BITS,
    WORDS = 8, // side by side, for the compiler to vectorise
    LANES = 64 * WORDS,
    BLOCKS = (PRIME + LANES - 1) / LANES,
    TABLE_WORDS = (2 * PRIME + LANES) / 64 + 2,
};

// Bit i of table word i / 64, for i = 0..2p-1 and zero behind: what holds of i mod p.
struct table {
    uint64_t words[TABLE_WORDS];
};

struct planes {
    uint64_t bit[BITS][WORDS];
};

struct pairs {
    struct table accepted;          // i mod p >= 32768
    struct table valid;             // i mod p is the Y of a valid score
    struct planes numbers[BLOCKS];  // bit planes of LANES consecutive numbers
    uint64_t inside[BLOCKS][WORDS]; // of these, the ones below p
};

static void fill_table(struct table *table, uint32_t low, uint32_t high)
{
    for (uint32_t i = 0; i < 2 * PRIME; i++) {
        bool holds = i % PRIME >= low && i % PRIME <= high;
        table->words[i / 64] |= (uint64_t)holds << i % 64;
    }
}

static void fill(struct pairs *pairs)
{
    fill_table(&pairs->accepted, 32768, PRIME - 1);
    fill_table(&pairs->valid, 768, 51968);
    for (uint32_t i = 0; i < BLOCKS * LANES; i++) {
        uint32_t block = i / LANES;
        uint32_t word = i % LANES / 64;
        for (unsigned k = 0; k < BITS; k++) {
            pairs->numbers[block].bit[k][word] |= (uint64_t)(i >> k & 1) << i % 64;
        }
        pairs->inside[block][word] |= (uint64_t)(i < PRIME) << i % 64;
    }
}

// The 64 bits of the table from bit `first` on.
static inline uint64_t table_bits(const struct table *table, uint32_t first)
{
    uint64_t low = table->words[first / 64] >> first % 64;
    // Shifted in two steps, because 64 is one too many for one.
    uint64_t high = table->words[first / 64 + 1] << 1 << (63 - first % 64);
    return low | high;
}

// ---- the circuits, as in core/mpc/field_predicate.c

// 31 ANDs: W = u + v, L = [W mod 32768 >= limit], answer w_15 xor (L and (w_15 xor w_16)).
static void full_circuit(const struct planes *v, uint32_t u, uint64_t answer[WORDS])
{
    uint64_t carry[WORDS] = {0};
    uint64_t least[WORDS] = {0};
    uint64_t sum[WORDS] = {0};
    for (unsigned k = 0; k < BITS; k++) {
        const uint64_t bit = -(uint64_t)(u >> k & 1);
        const uint64_t limit = -(uint64_t)(UVEA_FIELD_Y_LIMIT >> k & 1);
        for (unsigned w = 0; w < WORDS; w++) {
            uint64_t gate = (v->bit[k][w] ^ carry[w]) & (bit ^ carry[w]);
            sum[w] = v->bit[k][w] ^ bit ^ carry[w];
            carry[w] ^= gate;
        }
        for (unsigned w = 0; k == 0 && w < WORDS; w++) {
            least[w] = sum[w]; // bit 0 of the limit is 1
        }
        for (unsigned w = 0; k > 0 && k < UVEA_FIELD_Y_LIMIT_BITS && w < WORDS; w++) {
            uint64_t gate = sum[w] & least[w];
            least[w] = (limit & gate) | (~limit & (sum[w] ^ least[w] ^ gate));
        }
    }
    for (unsigned w = 0; w < WORDS; w++) {
        answer[w] = sum[w] ^ (least[w] & (sum[w] ^ carry[w]));
    }
}

// The carry out of z + not bound + 1 over planes first..15, which is [z >= bound] of the numbers
// made of these planes: one AND each.
static void not_below(const struct planes *z, uint32_t bound, unsigned first, uint64_t out[WORDS])
{
    for (unsigned w = 0; w < WORDS; w++) {
        out[w] = UINT64_MAX;
    }
    for (unsigned k = first; k < BITS; k++) {
        const uint64_t not_bit = (uint64_t)(bound >> k & 1) - 1;
        for (unsigned w = 0; w < WORDS; w++) {
            out[w] ^= (z->bit[k][w] ^ out[w]) & (not_bit ^ out[w]);
        }
    }
}

// 23 ANDs: [z >= a] xor [z >= b] xor [a > b].
static void range_circuit(const struct planes *z, struct uvea_field_bounds bounds,
                          uint64_t answer[WORDS])
{
    uint64_t fine[WORDS];
    uint64_t coarse[WORDS];
    not_below(z, bounds.a, 0, fine);
    not_below(z, bounds.b, UVEA_FIELD_Y_COARSE_SHIFT, coarse);
    for (unsigned w = 0; w < WORDS; w++) {
        answer[w] = fine[w] ^ coarse[w] ^ -(uint64_t)bounds.a_above_b;
    }
}

// ---- all pairs

static void wrong_pair(struct uvea_gate_run *run, const char *circuit, uint32_t first,
                       uint32_t base, uint64_t wrong)
{
    uint32_t second = base + (uint32_t)__builtin_ctzll(wrong);
    uvea_gate_wrong(run, "the %s circuit is wrong for the pair (%u, %u): the sum mod p is %u",
                    circuit, first, second, (first + second) % PRIME);
    run->result->wrong += (uint64_t)__builtin_popcountll(wrong) - 1;
}

// One first term with every second one. Returns how many pairs were compared.
static uint64_t full_row(struct uvea_gate_run *run, const struct pairs *pairs, uint32_t u)
{
    uint64_t compared = 0;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        uint64_t answer[WORDS];
        full_circuit(&pairs->numbers[block], u, answer);
        for (uint32_t w = 0; w < WORDS; w++) {
            uint32_t base = block * LANES + 64 * w;
            uint64_t lanes = pairs->inside[block][w];
            uint64_t wrong = (answer[w] ^ table_bits(&pairs->accepted, u + base)) & lanes;
            compared += (uint64_t)__builtin_popcountll(lanes);
            if (wrong != 0) {
                wrong_pair(run, "full", u, base, wrong);
            }
        }
    }
    return compared;
}

static uint64_t range_row(struct uvea_gate_run *run, const struct pairs *pairs, uint32_t y)
{
    const struct uvea_field_bounds bounds = uvea_field_bounds_of((uint16_t)y);
    uint64_t compared = 0;
    for (uint32_t block = 0; block < BLOCKS; block++) {
        uint64_t answer[WORDS];
        range_circuit(&pairs->numbers[block], bounds, answer);
        for (uint32_t w = 0; w < WORDS; w++) {
            uint32_t base = block * LANES + 64 * w;
            uint64_t lanes = pairs->inside[block][w] & table_bits(&pairs->valid, y + base);
            uint64_t wrong = (answer[w] ^ table_bits(&pairs->accepted, y + base)) & lanes;
            compared += (uint64_t)__builtin_popcountll(lanes);
            if (wrong != 0) {
                wrong_pair(run, "valid-range", y, base, wrong);
            }
        }
    }
    return compared;
}

enum uvea_error uvea_gate_pairs(struct uvea_gate_run *run)
{
    struct pairs *pairs = uvea_mem_alloc(1, sizeof(*pairs));
    if (pairs == NULL) {
        return UVEA_ERR_MEMORY;
    }
    fill(pairs);
    uint64_t full = 0;
    uint64_t range = 0;
    for (uint32_t first = 0; first < PRIME; first++) {
        full += full_row(run, pairs, first);
        range += range_row(run, pairs, first);
        if (first % 1024 == 0) {
            uvea_gate_progress(run, first, PRIME);
        }
    }
    uvea_mem_free(pairs);
    uvea_gate_count_cases(run, full + range);
    uvea_gate_covered(run,
                      "%llu pairs of terms through the circuit of 31 AND gates, and of them the "
                      "%llu with a valid sum through that of 23",
                      (unsigned long long)full, (unsigned long long)range);
    return UVEA_OK;
}
