// What the processor can do, so that each party picks its kernels once, at start.
#ifndef UVEA_CORE_KERNEL_CPU_H
#define UVEA_CORE_KERNEL_CPU_H

#include <stdbool.h>

struct uvea_cpu {
    bool avx2;
    bool avx512_vnni; // with F, BW, VL and DQ
    bool neon;
    bool neon_i8mm; // never without neon
};

// Of the machine this runs on, as far as the operating system lets programs use it.
struct uvea_cpu uvea_cpu_detect(void);

// For the kernels' tables. They are not defined beside the kernels because those files may be
// compiled to instructions that a processor without them cannot run.
bool uvea_cpu_has_base(const struct uvea_cpu *cpu); // always
bool uvea_cpu_has_avx2(const struct uvea_cpu *cpu);
bool uvea_cpu_has_avx512_vnni(const struct uvea_cpu *cpu);
bool uvea_cpu_has_neon(const struct uvea_cpu *cpu);
bool uvea_cpu_has_neon_i8mm(const struct uvea_cpu *cpu);

#endif
