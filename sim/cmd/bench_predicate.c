#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/mpc/field_predicate.h"
#include "core/mpc/predicate.h"
#include "sim/cmd/bench.h"
#include "sim/gate/trio.h"

#include <stdint.h>
#include <stdio.h>

enum {
    REPETITIONS = 7,    // the best of these counts: nothing makes a computation faster by chance
    COMPARISONS = 8192, // of one measurement: all chunk sizes divide it
    CHUNK_MAX = 4096,
    ROTATIONS = UVEA_SPECTRAL_ROTATIONS,
};

// A predicate's work depends on no value, so all parties take the same numbers for shares.
struct room {
    const struct predicate *predicate;
    size_t chunk; // comparisons in one exchange
    uint16_t contributions[2 * CHUNK_MAX * ROTATIONS];
    uint64_t opened[UVEA_PARTY_COUNT][(CHUNK_MAX * ROTATIONS + 63) / 64];
};

typedef enum uvea_error judge_fn(struct uvea_session *session, const struct room *room,
                                 uint64_t *opened);

struct predicate {
    const char *name;
    judge_fn *judge;
};

static enum uvea_error ring_dense(struct uvea_session *session, const struct room *room,
                                  uint64_t *opened)
{
    return uvea_mpc_anonymous_match(session, UVEA_PREDICATE_DENSE, room->contributions,
                                    room->chunk * ROTATIONS, opened, NULL);
}

static enum uvea_error ring_two_term(struct uvea_session *session, const struct room *room,
                                     uint64_t *opened)
{
    return uvea_mpc_anonymous_match(session, UVEA_PREDICATE_TWO_TERM, room->contributions,
                                    room->chunk * ROTATIONS, opened, NULL);
}

static enum uvea_error field_full(struct uvea_session *session, const struct room *room,
                                  uint64_t *opened)
{
    return uvea_mpc_field_match(session, UVEA_FIELD_PREDICATE_FULL, room->contributions,
                                room->chunk * ROTATIONS, opened);
}

static enum uvea_error field_valid_range(struct uvea_session *session, const struct room *room,
                                         uint64_t *opened)
{
    return uvea_mpc_field_match(session, UVEA_FIELD_PREDICATE_VALID_RANGE, room->contributions,
                                room->chunk * ROTATIONS, opened);
}

static const struct predicate predicates[] = {
    {"ring, 66 gates (dense)", ring_dense},
    {"ring, 15 gates (two-term)", ring_two_term},
    {"field, 31 gates (full)", field_full},
    {"field, 23 gates (valid-range)", field_valid_range},
};

static enum uvea_error judge_all(struct uvea_session *session, void *arg)
{
    struct room *room = arg;
    for (size_t done = 0; done < COMPARISONS; done += room->chunk) {
        UVEA_TRY(room->predicate->judge(session, room, room->opened[session->party.index]));
    }
    return UVEA_OK;
}

// Processor seconds and sent bytes of one comparison at one party.
static enum uvea_error measure(struct room *room, double *seconds, double *bytes,
                               struct uvea_error_context *context)
{
    const struct uvea_gate_trio trio = {
        .seed = 1,
        .prf = UVEA_PRF_AES128,
        .fn = judge_all,
        .arg = room,
    };
    struct uvea_gate_meter meters[UVEA_PARTY_COUNT];
    uint64_t sent = 0;
    double best = 0;
    for (size_t i = 0; i < REPETITIONS; i++) {
        double start = uvea_bench_now_s();
        UVEA_TRY(uvea_gate_trio_run(&trio, meters, context));
        double taken = uvea_bench_now_s() - start;
        best = i == 0 || taken < best ? taken : best;
    }
    for (size_t i = 0; i < UVEA_PARTY_COUNT; i++) {
        sent += meters[i].frame_bytes;
    }
    *seconds = best / (COMPARISONS * UVEA_PARTY_COUNT);
    *bytes = (double)sent / (COMPARISONS * UVEA_PARTY_COUNT);
    return UVEA_OK;
}

static enum uvea_error measure_all(struct room *room, struct uvea_error_context *context)
{
    static const size_t chunks[] = {256, 1024, CHUNK_MAX};
    double first[UVEA_COUNT_OF(chunks)] = {0};
    for (size_t i = 0; i < UVEA_COUNT_OF(predicates); i++) {
        for (size_t j = 0; j < UVEA_COUNT_OF(chunks); j++) {
            double seconds;
            double bytes;
            room->predicate = &predicates[i];
            room->chunk = chunks[j];
            UVEA_TRY(measure(room, &seconds, &bytes, context));
            first[j] = i == 0 ? seconds : first[j];
            (void)printf("| %.2f | %.3f | %.1f | %zu | %s |\n", first[j] / seconds, 1e6 * seconds,
                         bytes, chunks[j], predicates[i].name);
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_bench_predicate(struct uvea_error_context *context)
{
    struct room *room = uvea_mem_alloc(1, sizeof(*room));
    if (room == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(room->contributions); i++) {
        room->contributions[i] = (uint16_t)(i * 40503 % UVEA_FIELD_PRIME);
    }
    (void)printf("| x dense | us | bytes sent | chunk | predicate |\n"
                 "|---:|---:|---:|---:|---|\n");
    enum uvea_error error = measure_all(room, context);
    uvea_mem_free(room);
    return error;
}
