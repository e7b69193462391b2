#include "core/kernel/cpu.h"

#if defined(__aarch64__)

#include <sys/auxv.h>

// Bits of the kernel's ABI: asm/hwcap.h is not needed for two numbers.
enum { HWCAP_BIT_ASIMD = 1 << 1, HWCAP2_BIT_I8MM = 1 << 13 };

struct uvea_cpu uvea_cpu_detect(void)
{
    bool neon = (getauxval(AT_HWCAP) & HWCAP_BIT_ASIMD) != 0;
    return (struct uvea_cpu){
        .neon = neon,
        .neon_i8mm = neon && (getauxval(AT_HWCAP2) & HWCAP2_BIT_I8MM) != 0,
    };
}

#elif defined(__x86_64__)

// The compiler's library asks the operating system as well (XGETBV) before it says yes.
struct uvea_cpu uvea_cpu_detect(void)
{
    __builtin_cpu_init();
    return (struct uvea_cpu){
        .avx2 = __builtin_cpu_supports("avx2") != 0,
        .avx512_vnni = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vnni"),
    };
}

#else

struct uvea_cpu uvea_cpu_detect(void)
{
    return (struct uvea_cpu){0};
}

#endif

bool uvea_cpu_has_base(const struct uvea_cpu *cpu)
{
    (void)cpu;
    return true;
}

bool uvea_cpu_has_avx2(const struct uvea_cpu *cpu)
{
    return cpu->avx2;
}

bool uvea_cpu_has_avx512_vnni(const struct uvea_cpu *cpu)
{
    return cpu->avx512_vnni;
}

bool uvea_cpu_has_neon(const struct uvea_cpu *cpu)
{
    return cpu->neon;
}

bool uvea_cpu_has_neon_i8mm(const struct uvea_cpu *cpu)
{
    return cpu->neon_i8mm;
}
