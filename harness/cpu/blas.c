/* blas.c: the program starts itself again where OpenBLAS does not know the processor; see limits.h. */
#include "limits.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORETYPE "OPENBLAS_CORETYPE"
#define BEFORE "BENCHCNN_OPENBLAS_CORE" /* set by the program for itself: the core before the restart */

typedef const char *core_name_fn(void);

/* The instruction set that a core's kernels are written for. A name that is not here is older than AVX2. */
static cpu_isa isa_of_core(const char *core)
{
    static const struct {
        const char *core;
        cpu_isa isa;
    } rows[] = {{"SkylakeX", CPU_ISA_AVX512},
                {"Cooperlake", CPU_ISA_AVX512},
                {"SapphireRapids", CPU_ISA_AVX512},
                {"Haswell", CPU_ISA_AVX2},
                {"Zen", CPU_ISA_AVX2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcasecmp(core, rows[i].core) == 0) return rows[i].isa;
    return CPU_ISA_BASE;
}

const char *cpu_blas_wanted(const char *core, cpu_isa isa)
{
    static const char *const coretypes[CPU_ISA_COUNT] = {NULL, "Haswell", "SkylakeX"};
    return isa_of_core(core) < isa ? coretypes[isa] : NULL;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

void cpu_blas_restart(char **argv)
{
    core_name_fn *core_name;
    char program[4096]; /* its path: started as /proc/self/exe the process would be named "exe" */
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    void *symbol = dlsym(RTLD_DEFAULT, "openblas_get_corename"); /* the program may be built without OpenBLAS */
    if (symbol == NULL || length <= 0 || is_set(CORETYPE) || is_set(BEFORE)) return;
    program[length] = '\0';
    memcpy(&core_name, &symbol, sizeof core_name);
    const char *core = core_name(), *wanted = cpu_blas_wanted(core, cpu_isa_own());
    if (wanted == NULL || setenv(BEFORE, core, 1) != 0) return;
    if (setenv(CORETYPE, wanted, 1) == 0) execv(program, argv);
    unsetenv(CORETYPE); /* it could not be started: OpenBLAS stays as it is, and the figures say so */
    unsetenv(BEFORE);
}

const char *cpu_blas_before(void) { return is_set(BEFORE) ? getenv(BEFORE) : NULL; }
