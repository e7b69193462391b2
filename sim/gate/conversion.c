// Every coordinate that the private conversion gives, put together by each pair of parties, against
// the template in the clear. Source: ntt.md 3.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/gate/subject.h"
#include "sim/gen/template.h"

#include <string.h>

// Around the batches of 16 eyes that a conversion works in, and none.
static const size_t counts[] = {0, 1, 2, 15, 16, 17, 33};
enum { EYES_MAX = 33, SESSION_IDS = 3 };

// The kinds take turns: generated, nothing valid, everything valid, random bits with random masks,
// all code bits alike.
static void make_iris(struct uvea_gate_run *run, size_t kind, struct uvea_template *iris)
{
    uvea_gen_template(&run->random, iris);
    switch (kind % 5) {
    case 1:
        uvea_gen_fill_mask(iris, false);
        break;
    case 2:
        uvea_gen_fill_mask(iris, true);
        break;
    case 3:
        for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
            uint64_t real = uvea_sim_random_next_u64(&run->random) & UINT64_C(0x5555555555555555);
            iris->code[i] = uvea_sim_random_next_u64(&run->random);
            iris->mask[i] = real | real << 1; // an imaginary bit is valid with its real one
        }
        break;
    case 4:
        memset(iris->code, kind % 2 == 0 ? 0xff : 0, sizeof(iris->code));
        break;
    default:
        break;
    }
}

// Two shares on a line, at the points of their parties, taken to zero.
static uint32_t join(unsigned one, uint16_t one_share, unsigned other, uint16_t other_share)
{
    int64_t at_one = (int64_t)one + 1;
    int64_t at_other = (int64_t)other + 1;
    uint32_t weight_one =
        uvea_gate_mod(at_other * uvea_gate_inverse(uvea_gate_mod(at_other - at_one)));
    uint32_t weight_other =
        uvea_gate_mod(at_one * uvea_gate_inverse(uvea_gate_mod(at_one - at_other)));
    return uvea_gate_mod((int64_t)weight_one * one_share + (int64_t)weight_other * other_share);
}

static void check_eye(struct uvea_gate_run *run, const struct uvea_gate_subject *subject,
                      unsigned one, unsigned other)
{
    const uint16_t *left = subject->field[one].values;
    const uint16_t *right = subject->field[other].values;
    for (size_t i = 0; i < UVEA_FIELD_EYE_VALUES; i++) {
        bool code = i < UVEA_FIELD_CODE_VALUES;
        int want = code ? uvea_gate_code_at(&subject->iris, i)
                        : uvea_gate_mask_at(&subject->iris, i - UVEA_FIELD_CODE_VALUES);
        uint32_t got = join(one, left[i], other, right[i]);
        if (got != uvea_gate_mod(want)) {
            uvea_gate_wrong(run, "parties %u and %u put %s coordinate %zu together as %u, not %d",
                            one, other, code ? "code" : "mask",
                            code ? i : i - UVEA_FIELD_CODE_VALUES, got, want);
        }
    }
    uvea_gate_count_cases(run, UVEA_FIELD_EYE_VALUES);
}

static enum uvea_error check_count(struct uvea_gate_run *run, struct uvea_gate_subject *subjects,
                                   size_t count, uint32_t session_id)
{
    for (size_t i = 0; i < count; i++) {
        make_iris(run, i, &subjects[i].iris);
        memset(subjects[i].field, 0xff, sizeof(subjects[i].field));
    }
    UVEA_TRY(uvea_gate_subjects_share(run, subjects, count, session_id));
    for (size_t i = 0; i < count; i++) {
        check_eye(run, &subjects[i], 0, 1);
        check_eye(run, &subjects[i], 1, 2);
        check_eye(run, &subjects[i], 2, 0);
    }
    return UVEA_OK;
}

enum uvea_error uvea_gate_conversion(struct uvea_gate_run *run)
{
    struct uvea_gate_subject *subjects = uvea_mem_alloc(EYES_MAX, sizeof(*subjects));
    if (subjects == NULL) {
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error = UVEA_OK;
    uint64_t done = 0;
    for (size_t i = 0; i < UVEA_COUNT_OF(counts); i++) {
        for (uint32_t session_id = 0; session_id < SESSION_IDS; session_id++) {
            UVEA_TRY_CLEANUP(check_count(run, subjects, counts[i], session_id));
            uvea_gate_progress(run, ++done, UVEA_COUNT_OF(counts) * SESSION_IDS);
        }
    }
    uvea_gate_covered(run, "all 19200 coordinates of 0, 1, 2, 15, 16, 17 and 33 eyes at once, put "
                           "together by each pair of parties, on sessions 0, 1 and 2");
cleanup:
    uvea_mem_free(subjects);
    return error;
}
