#include "core/base/mem.h"
#include "core/mpc/convert.h"
#include "sim/cmd/bench.h"
#include "sim/gate/trio.h"

#include <stdint.h>

enum {
    EYES = 16,
    SHARE_VALUES = UVEA_FIELD_EYE_VALUES,
};

// What a conversion costs depends on no value, so all parties take the same numbers for shares.
struct room {
    uint16_t share[SHARE_VALUES];
    struct uvea_convert_source sources[EYES];
    struct uvea_field_eye out[UVEA_PARTY_COUNT][EYES];
};

static enum uvea_error convert(struct uvea_session *session, void *arg)
{
    struct room *room = arg;
    return uvea_mpc_convert_eyes(session, room->sources, EYES, room->out[session->party.index]);
}

static void fill(struct room *room)
{
    for (size_t i = 0; i < SHARE_VALUES; i++) {
        room->share[i] = (uint16_t)(i * 40503);
    }
    for (size_t i = 0; i < EYES; i++) {
        room->sources[i] = (struct uvea_convert_source){
            .code = room->share,
            .mask = room->share + UVEA_FIELD_CODE_VALUES,
        };
    }
}

enum uvea_error uvea_bench_conversion(double *seconds, struct uvea_error_context *context)
{
    struct room *room = uvea_mem_alloc(1, sizeof(*room));
    if (room == NULL) {
        return UVEA_ERR_MEMORY;
    }
    fill(room);
    const struct uvea_gate_trio trio = {
        .seed = 1,
        .prf = UVEA_PRF_AES128,
        .fn = convert,
        .arg = room,
    };
    double start = uvea_bench_now_s();
    enum uvea_error error = uvea_gate_trio_run(&trio, NULL, context);
    *seconds = (uvea_bench_now_s() - start) / (EYES * UVEA_PARTY_COUNT);
    uvea_mem_free(room);
    return error;
}
