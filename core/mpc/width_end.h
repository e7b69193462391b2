// Clears what width.h defined, and WIDTH, so that a template can be included again.
#undef TYPE
#undef WIDE
#undef SHARE
#undef TAKE
#undef TAKE_VALUES
#undef REDUCE
#undef MPC
#undef PRG
#undef WIDTH
