// cmocka wants these headers before its own.
#ifndef UVEA_TESTS_MPC_CMOCKA_ALL_H
#define UVEA_TESTS_MPC_CMOCKA_ALL_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#endif
