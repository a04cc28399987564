/* select.c: which instruction set's kernels of the direct convolution a context uses. */
#include "direct.h"

const direct_kernels *direct_kernels_for(const cpu_context *ctx, cnn_dtype dtype)
{
#if defined(__x86_64__)
    if (ctx->isa == CPU_ISA_AVX512) return &direct_avx512[dtype];
    if (ctx->isa == CPU_ISA_AVX2) return &direct_avx2[dtype];
#endif
    (void)ctx;
    return &direct_base[dtype];
}
