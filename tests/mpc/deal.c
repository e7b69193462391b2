#include "tests/mpc/deal.h"

#include "core/base/chacha.h"
#include "core/base/mem.h"
#include "tests/mpc/cmocka_all.h"

#include <inttypes.h>

void deal_random(struct dealt *dealt, size_t count, uint64_t seed)
{
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, seed);
    dealt->count = count;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        dealt->part[p] = uvea_mem_alloc(count, sizeof(uint64_t));
        assert_non_null(dealt->part[p]);
        uvea_chacha_fill(&rng, (uint8_t *)dealt->part[p], count * sizeof(uint64_t));
    }
}

void deal_sum(struct dealt *dealt, const uint64_t *secret, size_t count, uint64_t seed)
{
    deal_random(dealt, count, seed);
    for (size_t i = 0; i < count; i++) {
        dealt->part[2][i] = secret[i] - dealt->part[0][i] - dealt->part[1][i];
    }
}

void deal_free(struct dealt *dealt)
{
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_mem_free(dealt->part[p]);
    }
    *dealt = (struct dealt){0};
}

uint64_t dealt_sum(const struct dealt *dealt, size_t i)
{
    return dealt->part[0][i] + dealt->part[1][i] + dealt->part[2][i];
}

uint64_t dealt_xor(const struct dealt *dealt, size_t i)
{
    return dealt->part[0][i] ^ dealt->part[1][i] ^ dealt->part[2][i];
}

enum uvea_error same_u64(const char *what, size_t i, uint64_t got, uint64_t want)
{
    if (got != want) {
        print_error("%s [%zu]: got %016" PRIx64 ", want %016" PRIx64 "\n", what, i, got, want);
        return UVEA_ERR_STATE;
    }
    return UVEA_OK;
}
