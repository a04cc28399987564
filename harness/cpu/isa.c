/* isa.c: what this processor can do, asked of the processor (and of the system, which must save the wide registers). */
#include "limits.h"

#include "harness/base/input.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not every compiler's __builtin_cpu_supports() knows this name. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/* AMX_TILE: leaf 7, bit 24 of edx. */
static bool has_amx(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 24 & 1) != 0;
}

/* Its tiles of bf16 and of bytes (bits 22 and 25). The system gives them to a process that asks: a thread's registers
 * then need 8 KiB more, which are there only once the thread uses them. */
static bool may_use_amx(void)
{
    enum { ASK_FOR_STATE = 0x1023, TILES = 18 }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA of Linux */
    unsigned a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d >> 22 & 1) == 0 || (d >> 25 & 1) == 0) return false;
    return syscall(SYS_arch_prctl, ASK_FOR_STATE, TILES) == 0;
}

/* AVX512_VNNI: leaf 7, bit 11 of ecx. AVX512_BF16: its subleaf 1, bit 5 of eax. */
static bool has_vnni(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c >> 11 & 1) != 0;
}
static bool has_bf16(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 &&
           (a >> 5 & 1) != 0;
}
#endif

static cpu_isa find_own(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c()) return CPU_ISA_BASE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw"))
        return CPU_ISA_AVX512;
    return CPU_ISA_AVX2;
#else
    return CPU_ISA_BASE;
#endif
}

/* Found once, as the program is loaded: a virtual machine may take 15 us for cpuid, and inner loops ask. */
static cpu_isa own = CPU_ISA_BASE;
static bool own_vnni, own_bf16, own_amx, usable_amx;

__attribute__((constructor(101))) static void find_at_load(void)
{
    own = find_own();
#if defined(__x86_64__) && defined(__GNUC__)
    own_vnni = own == CPU_ISA_AVX512 && has_vnni();
    own_bf16 = own == CPU_ISA_AVX512 && has_bf16();
    own_amx = has_amx();
    usable_amx = own_amx && own_bf16 && own_vnni && may_use_amx();
#endif
}

cpu_isa cpu_isa_own(void) { return own; }
bool cpu_has_vnni(void) { return own_vnni; }
bool cpu_has_bf16(void) { return own_bf16; }
bool cpu_has_amx(void) { return own_amx; }
bool cpu_may_use_amx(void) { return usable_amx; }

cpu_isa cpu_isa_best(void)
{
#ifdef BENCHCNN_AVX512_BY_AVX2
    if (own == CPU_ISA_AVX2) return CPU_ISA_AVX512;
#endif
    return own;
}

const char *cpu_isa_name(cpu_isa isa)
{
    static const char *const names[CPU_ISA_COUNT] = {"base", "avx2", "avx512"};
    return (unsigned)isa < CPU_ISA_COUNT ? names[isa] : "unknown";
}

const char *cpu_model(char *text, int size)
{
    if (!input_value("/proc/cpuinfo", "model name", text, (size_t)size)) snprintf(text, (size_t)size, "unknown");
    return text;
}
