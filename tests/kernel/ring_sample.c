#include "tests/kernel/ring_sample.h"

#include "core/base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct party_room {
    struct uvea_iris_share query_share[UVEA_PARTY_COUNT];
    struct uvea_iris_share record_share[UVEA_PARTY_COUNT];
    struct uvea_ring_query query;
    uint16_t record[UVEA_RECORD_COEFFICIENTS];
};

void ring_sample_record(const struct uvea_iris_share *share, uint16_t *out)
{
    memcpy(out, share->code, sizeof(share->code));
    memcpy(out + UVEA_SHARE_COEFFICIENTS, share->mask, UVEA_MASK_COEFFICIENTS * sizeof(*out));
}

void ring_sample_fill(struct sample_rng *rng, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = sample_draw(rng);
    }
}

void ring_sample_sums(const struct uvea_template *query, const struct uvea_template *record,
                      uint16_t sums[UVEA_SCORES_PER_RECORD])
{
    struct party_room *room = uvea_mem_alloc(1, sizeof(*room));
    assert_non_null(room);
    struct sample_rng rng = {query->code[0] + record->mask[3]};
    uvea_iris_split(query, sample_draw, &rng, room->query_share);
    uvea_iris_split(record, sample_draw, &rng, room->record_share);
    memset(sums, 0, UVEA_SCORES_PER_RECORD * sizeof(*sums));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const uint16_t *records[1] = {room->record};
        uint16_t scores[UVEA_SCORES_PER_RECORD];
        ring_sample_record(&room->record_share[i], room->record);
        uvea_ring_query_prepare(uvea_party_at(i), room->query_share[i].code,
                                room->query_share[i].mask, &room->query);
        uvea_ring_kernel_portable.scores(&room->query, records, 1, scores);
        for (size_t j = 0; j < UVEA_SCORES_PER_RECORD; j++) {
            sums[j] = (uint16_t)(sums[j] + scores[j]);
        }
    }
    uvea_mem_free(room);
}
