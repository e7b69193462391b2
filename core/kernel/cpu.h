// What the processor can do, so that each party picks its kernels once, at start.
#ifndef UVEA_CORE_KERNEL_CPU_H
#define UVEA_CORE_KERNEL_CPU_H

#include <stdbool.h>

struct uvea_cpu {
    bool avx2;
    bool avx512_vnni; // with F, BW, VL and DQ
    bool neon;
    bool neon_i8mm;
};

// Of the machine this runs on, as far as the operating system lets programs use it.
struct uvea_cpu uvea_cpu_detect(void);

#endif
