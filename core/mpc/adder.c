#include "core/mpc/adder.h"

#include "core/base/check.h"
#include "core/mpc/bits.h"
#include "core/mpc/temp.h"

#include <stdbool.h>

enum { PLANES_MAX = 64 };

// The carry is ((x1 ^ x3) & (x2 ^ x3)) ^ x3 for the sharings x1, x2, x3 of components 0, 1, 2.
// A party's half of each is its own half if it is that component, else zero, so the operands are
//   party 0: (a, b) and (0, b), then ^ (0, b)
//   party 1: (0, b) and (a, 0), then ^ (0, 0)
//   party 2: (a, 0) and (a, b), then ^ (a, 0)
// and the local term of the AND comes down to a & b, at party 2 a & ~b.
void uvea_mpc_carry_terms(struct uvea_party party, const struct uvea_planes *x, uint64_t *terms)
{
    uint64_t flip = party.index == 2 ? UINT64_MAX : 0;
    for (size_t i = 0; i < uvea_planes_total(x); i++) {
        terms[i] = x->a[i] & (x->b[i] ^ flip);
    }
}

void uvea_mpc_carry_finish(struct uvea_party party, const struct uvea_planes *x,
                           struct uvea_planes *carries)
{
    if (party.index == 1) {
        return;
    }
    uint64_t *to = party.index == 0 ? carries->b : carries->a;
    const uint64_t *from = party.index == 0 ? x->b : x->a;
    for (size_t i = 0; i < uvea_planes_total(x); i++) {
        to[i] ^= from[i];
    }
}

void uvea_mpc_ripple_terms(const struct uvea_ripple *ripple, size_t k, uint64_t *terms)
{
    struct uvea_planes left = uvea_planes_at(&ripple->left, k, 1);
    struct uvea_planes right = uvea_planes_at(&ripple->right, k, 1);
    const struct uvea_planes *carry = &ripple->carry;
    for (size_t i = 0; i < carry->words; i++) {
        uint64_t xa = left.a[i] ^ carry->a[i];
        uint64_t xb = left.b[i] ^ carry->b[i];
        uint64_t ya = right.a[i] ^ carry->a[i];
        uint64_t yb = right.b[i] ^ carry->b[i];
        terms[i] = (xa & (ya ^ yb)) ^ (xb & ya);
    }
}

static enum uvea_error ripple_step(struct uvea_session *session, const struct uvea_ripple *ripples,
                                   size_t count, size_t k, struct uvea_planes *gates)
{
    for (size_t i = 0; i < count; i++) {
        uvea_mpc_ripple_terms(&ripples[i], k, gates->a + i * gates->words);
    }
    UVEA_TRY(uvea_mpc_reshare_and(session, gates));
    for (size_t i = 0; i < count; i++) {
        struct uvea_planes gate = uvea_planes_at(gates, i, 1);
        struct uvea_planes carry = ripples[i].carry;
        uvea_mpc_xor(&carry, &gate, &carry);
    }
    return UVEA_OK;
}

enum uvea_error uvea_mpc_ripple(struct uvea_session *session, const struct uvea_ripple *ripples,
                                size_t count, size_t steps)
{
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_planes gates;
    UVEA_TRY_CLEANUP(uvea_mpc_take_planes(session, count, ripples[0].carry.words, &gates));
    for (size_t k = 0; k < steps; k++) {
        UVEA_TRY_CLEANUP(ripple_step(session, ripples, count, k, &gates));
    }
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

// The prefix tree: generate[i] and propagate[i] belong to plane i of generate and plane i + 1 of
// the sum. Views of planes, reordered without copying.
struct prefix {
    struct uvea_planes generate[PLANES_MAX];
    struct uvea_planes propagate[PLANES_MAX];
    size_t count; // of generate; propagate has one fewer
};

// One message: neighbours merge, [p1 & p2, p3 & p4, ...] and then [g0 & p0, g2 & p2, ...].
static enum uvea_error prefix_level(struct uvea_session *session, struct prefix *prefix)
{
    size_t pairs = prefix->count / 2;
    bool odd = prefix->count % 2 != 0;
    struct uvea_planes out;
    UVEA_TRY(uvea_mpc_take_planes(session, 2 * pairs - 1, prefix->generate[0].words, &out));
    for (size_t i = 0; i + 1 < pairs; i++) {
        uvea_mpc_and_term(&prefix->propagate[2 * i + 1], &prefix->propagate[2 * i + 2],
                          out.a + i * out.words);
    }
    for (size_t i = 0; i < pairs; i++) {
        uvea_mpc_and_term(&prefix->generate[2 * i], &prefix->propagate[2 * i],
                          out.a + (pairs - 1 + i) * out.words);
    }
    UVEA_TRY(uvea_mpc_reshare_and(session, &out));

    for (size_t i = 0; i < pairs; i++) {
        struct uvea_planes merged = uvea_planes_at(&out, pairs - 1 + i, 1);
        uvea_mpc_xor(&merged, &prefix->generate[2 * i + 1], &merged);
        prefix->generate[i] = merged;
    }
    // With an odd count the last of each list passes through.
    if (odd) {
        prefix->generate[pairs] = prefix->generate[prefix->count - 1];
        prefix->propagate[pairs - 1] = prefix->propagate[prefix->count - 2];
    }
    for (size_t i = 0; i + 1 < pairs; i++) {
        prefix->propagate[i] = uvea_planes_at(&out, i, 1);
    }
    prefix->count = pairs + odd;
    return UVEA_OK;
}

enum uvea_error uvea_mpc_prefix_msb(struct uvea_session *session, const struct uvea_planes *x,
                                    const struct uvea_planes *y, struct uvea_planes *msb)
{
    size_t bits = x->plane_count;
    UVEA_CHECK(bits >= 3 && bits <= PLANES_MAX && msb->words == x->words);
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_planes sum;
    struct uvea_planes carry;
    UVEA_TRY_CLEANUP(uvea_mpc_take_planes(session, bits, x->words, &sum));
    UVEA_TRY_CLEANUP(uvea_mpc_take_planes(session, bits - 1, x->words, &carry));
    uvea_mpc_xor(x, y, &sum);
    struct uvea_planes x_below = uvea_planes_at(x, 0, bits - 1);
    struct uvea_planes y_below = uvea_planes_at(y, 0, bits - 1);
    UVEA_TRY_CLEANUP(uvea_mpc_and(session, &x_below, &y_below, &carry));

    struct prefix prefix = {.count = bits - 1};
    for (size_t i = 0; i < bits - 1; i++) {
        prefix.generate[i] = uvea_planes_at(&carry, i, 1);
        prefix.propagate[i] = uvea_planes_at(&sum, i + 1, 1);
    }
    while (prefix.count > 1) {
        UVEA_TRY_CLEANUP(prefix_level(session, &prefix));
    }
    struct uvea_planes top = uvea_planes_at(&sum, bits - 1, 1);
    uvea_mpc_xor(&top, &prefix.generate[0], msb);
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}
