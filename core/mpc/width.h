// Names for the template files of this folder, each of which is written once and included for every
// ring it serves. WIDTH (16, 32, 48 or 64) is defined by the including file; width_end.h clears it.
//   TYPE        the element           WIDE      for products: unsigned, no narrower than int
//   SHARE       struct of shares      REDUCE(v) into the ring
//   MPC(verb)   uvea_mpc_<verb>_uN    PRG(verb) uvea_prg_<verb>_uN      TAKE   scratch share
// No include guard: that is the point.
#if WIDTH == 16
#define TYPE uint16_t
#define WIDE uint32_t
#define SHARE struct uvea_share16
#define TAKE uvea_mpc_take_share16
#define TAKE_VALUES uvea_mpc_take_u16
#define REDUCE(value) ((uint16_t)(value))
#define MPC(verb) uvea_mpc_##verb##_u16
#define PRG(verb) uvea_prg_##verb##_u16
#elif WIDTH == 32
#define TYPE uint32_t
#define WIDE uint32_t
#define SHARE struct uvea_share32
#define TAKE uvea_mpc_take_share32
#define TAKE_VALUES uvea_mpc_take_u32
#define REDUCE(value) ((uint32_t)(value))
#define MPC(verb) uvea_mpc_##verb##_u32
#define PRG(verb) uvea_prg_##verb##_u32
#elif WIDTH == 48
#define TYPE uint64_t
#define WIDE uint64_t
#define SHARE struct uvea_share64
#define TAKE uvea_mpc_take_share64
#define TAKE_VALUES uvea_mpc_take_u64
#define REDUCE(value) ((value)&UVEA_RING48_MASK)
#define MPC(verb) uvea_mpc_##verb##_u48
#define PRG(verb) uvea_prg_##verb##_u48
#elif WIDTH == 64
#define TYPE uint64_t
#define WIDE uint64_t
#define SHARE struct uvea_share64
#define TAKE uvea_mpc_take_share64
#define TAKE_VALUES uvea_mpc_take_u64
#define REDUCE(value) ((uint64_t)(value))
#define MPC(verb) uvea_mpc_##verb##_u64
#define PRG(verb) uvea_prg_##verb##_u64
#else
#error "WIDTH is 16, 32, 48 or 64"
#endif
