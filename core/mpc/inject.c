#include "core/mpc/inject.h"

#include "core/base/check.h"
#include "core/mpc/round.h"
#include "core/mpc/temp.h"

#define WIDTH 16
#include "core/mpc/inject.inc"
#define WIDTH 32
#include "core/mpc/inject.inc"
#define WIDTH 64
#include "core/mpc/inject.inc"
