#include "sim/gate/subject.h"

#include "core/base/mem.h"
#include "core/mpc/convert.h"
#include "sim/gate/trio.h"

#include <string.h>

static uint16_t draw_u16(void *arg)
{
    return (uint16_t)uvea_sim_random_next_u64(arg);
}

struct work {
    struct uvea_gate_subject *subjects;
    size_t count;
};

// A conversion writes eyes one behind the other; subjects keep them apart.
static enum uvea_error convert_party(struct uvea_session *session, void *arg)
{
    const struct work *work = arg;
    const unsigned party = session->party.index;
    struct uvea_convert_source *sources = uvea_mem_alloc(work->count, sizeof(*sources));
    struct uvea_field_eye *eyes = uvea_mem_alloc(work->count, sizeof(*eyes));
    enum uvea_error error = UVEA_ERR_MEMORY;
    if (sources != NULL && eyes != NULL) {
        for (size_t i = 0; i < work->count; i++) {
            const struct uvea_iris_share *share = &work->subjects[i].shares[party];
            sources[i] = (struct uvea_convert_source){share->code, share->mask};
        }
        error = uvea_mpc_convert_eyes(session, sources, work->count, eyes);
    }
    for (size_t i = 0; error == UVEA_OK && i < work->count; i++) {
        work->subjects[i].field[party] = eyes[i];
    }
    uvea_mem_free(sources);
    uvea_mem_free(eyes);
    return error;
}

enum uvea_error uvea_gate_subjects_share(struct uvea_gate_run *run,
                                         struct uvea_gate_subject *subjects, size_t count,
                                         uint32_t session_id)
{
    for (size_t i = 0; i < count; i++) {
        uvea_iris_split(&subjects[i].iris, draw_u16, &run->random, subjects[i].shares);
    }
    struct work work = {subjects, count};
    const struct uvea_gate_trio trio = {
        .seed = uvea_sim_random_next_u64(&run->random),
        .session_id = session_id,
        .fn = convert_party,
        .arg = &work,
    };
    return uvea_gate_trio_run(&trio, NULL, &run->error);
}

// The plain index of a share position: 800 row + 4 column + 2 wavelet + part.
static size_t plain_index(size_t position)
{
    size_t part = position / 6400;
    size_t wavelet = position / 3200 % 2;
    size_t column = position % 800 / 4;
    size_t row = position / 800 % 4 + 4 * (position % 4);
    return 800 * row + 4 * column + 2 * wavelet + part;
}

static int bit_at(const uint64_t *plane, size_t bit)
{
    return (int)(plane[bit / 64] >> bit % 64 & 1);
}

int uvea_gate_code_at(const struct uvea_template *iris, size_t position)
{
    size_t bit = plain_index(position);
    return bit_at(iris->mask, bit) * (1 - 2 * bit_at(iris->code, bit));
}

int uvea_gate_mask_at(const struct uvea_template *iris, size_t position)
{
    return bit_at(iris->mask, plain_index(position));
}

void uvea_gate_to_oracle(const struct uvea_template *iris, struct uvea_oracle_template *out)
{
    _Static_assert(sizeof(out->code) == sizeof(iris->code), "one layout of bits");
    memcpy(out->code, iris->code, sizeof(out->code));
    memcpy(out->mask, iris->mask, sizeof(out->mask));
}
