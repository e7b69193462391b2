// Arithmetic on replicated shares mod 2^16, 2^32, 2^48 and 2^64, element by element.
// Names end in the ring: _u16, _u32, _u48 (in a u64, top 16 bits zero) and _u64. Shares have equal
// counts; an output may be an input. Everything but what `reveal` gives back is secret.
// A count of 0 sends nothing: all parties know it. Source: wire.md 5.
//
// Local:
//   add, sub        out = x + y, x - y
//   negate          out = -x
//   scale           out = factor * x, factor public
//   shift           out = x * 2^bits, bits < ring width
//   add_public      out = x + value, value public: only component 0 changes
//   product         out[i] = this party's additive term of x[i] * y[i]
//
// With the neighbours:
//   mask            x->a[i] += my - prev, a zero share by fill; x->b is overwritten. No message.
//   reshare         x->a holds additive terms and becomes a share of their sum (reshare_products):
//                   one vector of count elements to next, one from prev.
//   reveal          out[i] = x[i] in the clear (open_ring): one message to next, one from prev.
//   reveal_additive out[i] = the sum of the parties' terms[i] (broadcast open): to next and prev.
// The caller of a reveal names its leakage entry in docs/threat-model.md.
#ifndef UVEA_CORE_MPC_RING_H
#define UVEA_CORE_MPC_RING_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

// NOLINTBEGIN(bugprone-macro-parentheses): types and names, which cannot have them
#define UVEA_MPC_RING(ring, type, share)                                                           \
    void uvea_mpc_add_##ring(const share *x, const share *y, share *out);                          \
    void uvea_mpc_sub_##ring(const share *x, const share *y, share *out);                          \
    void uvea_mpc_negate_##ring(const share *x, share *out);                                       \
    void uvea_mpc_scale_##ring(const share *x, type factor, share *out);                           \
    void uvea_mpc_shift_##ring(const share *x, unsigned bits, share *out);                         \
    void uvea_mpc_add_public_##ring(struct uvea_party party, const share *x, type value,           \
                                    share *out);                                                   \
    void uvea_mpc_product_##ring(const share *x, const share *y, type *out);                       \
    void uvea_mpc_mask_##ring(struct uvea_session *session, share *x);                             \
    UVEA_MUST_USE enum uvea_error uvea_mpc_reshare_##ring(struct uvea_session *session, share *x); \
    UVEA_MUST_USE enum uvea_error uvea_mpc_reveal_##ring(struct uvea_session *session,             \
                                                         const share *x, type *out);               \
    UVEA_MUST_USE enum uvea_error uvea_mpc_reveal_additive_##ring(                                 \
        struct uvea_session *session, const type *terms, size_t count, type *out);
// NOLINTEND(bugprone-macro-parentheses)

UVEA_MPC_RING(u16, uint16_t, struct uvea_share16)
UVEA_MPC_RING(u32, uint32_t, struct uvea_share32)
UVEA_MPC_RING(u48, uint64_t, struct uvea_share64)
UVEA_MPC_RING(u64, uint64_t, struct uvea_share64)

#endif
