/* isa.c: what this processor can do, asked of the processor (and of the system, which must save the wide registers). */
#include "isa.h"

#include <stdio.h>
#include <string.h>

cpu_isa cpu_isa_best(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return CPU_ISA_BASE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw"))
        return CPU_ISA_AVX512;
    return CPU_ISA_AVX2;
#else
    return CPU_ISA_BASE;
#endif
}

const char *cpu_isa_name(cpu_isa isa)
{
    static const char *const names[CPU_ISA_COUNT] = {"base", "avx2", "avx512"};
    return (unsigned)isa < CPU_ISA_COUNT ? names[isa] : "unknown";
}

const char *cpu_model(char *text, int size)
{
    static const char key[] = "model name";
    char line[256];
    snprintf(text, (size_t)size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return text;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, sizeof key - 1) != 0 || colon == NULL) continue;
        const char *name = colon + 1 + strspn(colon + 1, " \t");
        snprintf(text, (size_t)size, "%.*s", (int)strcspn(name, "\n"), name);
        break;
    }
    fclose(file);
    return text;
}
