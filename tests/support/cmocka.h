// cmocka.h wants these before it.
#ifndef UVEA_TESTS_SUPPORT_CMOCKA_H
#define UVEA_TESTS_SUPPORT_CMOCKA_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#endif
