#include "core/mpc/temp.h"

static enum uvea_error take(struct uvea_session *session, size_t count, size_t size, void **memory)
{
    *memory = uvea_scratch_take(&session->scratch, count, size);
    if (*memory == NULL) {
        return uvea_error_set(&session->error, UVEA_ERR_MEMORY,
                              "session %u: no memory for %zu values of %zu bytes", session->id,
                              count, size);
    }
    return UVEA_OK;
}

enum uvea_error uvea_mpc_take_u16(struct uvea_session *session, size_t count, uint16_t **values)
{
    void *memory;
    UVEA_TRY(take(session, count, sizeof(**values), &memory));
    *values = memory;
    return UVEA_OK;
}

enum uvea_error uvea_mpc_take_u32(struct uvea_session *session, size_t count, uint32_t **values)
{
    void *memory;
    UVEA_TRY(take(session, count, sizeof(**values), &memory));
    *values = memory;
    return UVEA_OK;
}

enum uvea_error uvea_mpc_take_u64(struct uvea_session *session, size_t count, uint64_t **values)
{
    void *memory;
    UVEA_TRY(take(session, count, sizeof(**values), &memory));
    *values = memory;
    return UVEA_OK;
}

enum uvea_error uvea_mpc_take_share16(struct uvea_session *session, size_t count,
                                      struct uvea_share16 *share)
{
    share->count = count;
    UVEA_TRY(uvea_mpc_take_u16(session, count, &share->a));
    return uvea_mpc_take_u16(session, count, &share->b);
}

enum uvea_error uvea_mpc_take_share32(struct uvea_session *session, size_t count,
                                      struct uvea_share32 *share)
{
    share->count = count;
    UVEA_TRY(uvea_mpc_take_u32(session, count, &share->a));
    return uvea_mpc_take_u32(session, count, &share->b);
}

enum uvea_error uvea_mpc_take_share64(struct uvea_session *session, size_t count,
                                      struct uvea_share64 *share)
{
    share->count = count;
    UVEA_TRY(uvea_mpc_take_u64(session, count, &share->a));
    return uvea_mpc_take_u64(session, count, &share->b);
}

enum uvea_error uvea_mpc_take_planes(struct uvea_session *session, size_t plane_count, size_t words,
                                     struct uvea_planes *planes)
{
    planes->plane_count = plane_count;
    planes->words = words;
    // plane_count is at most a few dozen, words at most SIZE_MAX / 64: no overflow that take()
    // would not refuse.
    UVEA_TRY(uvea_mpc_take_u64(session, plane_count * words, &planes->a));
    return uvea_mpc_take_u64(session, plane_count * words, &planes->b);
}

void uvea_mpc_charge(struct uvea_session *session, size_t count, unsigned bits)
{
    uvea_rt_charge(session->rt, UVEA_CHARGE_MPC_WORD, ((uint64_t)count * bits + 63) / 64);
}
