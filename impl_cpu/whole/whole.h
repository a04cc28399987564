/* whole.h: products of integers, u8 or s8 by s8, added up in s32, forward only. Sums that s32 cannot hold wrap, as the
 * processor's do. */
#ifndef IMPL_CPU_WHOLE_H
#define IMPL_CPU_WHOLE_H

#include "impl_cpu/cpu.h"

/* An FC layer is a convolution whose kernel is as large as the image; other convolutions as cnn_with_depth(). */
cnn_conv_desc whole_conv(const cnn_problem *problem);

/* What is added to a sum: the bias, and the old value times beta. */
static inline int32_t whole_result(int32_t sum, const int32_t *bias, double beta, const int32_t *old)
{
    uint32_t result = (uint32_t)sum + (bias != NULL ? (uint32_t)*bias : 0u);
    if (beta != 0.0) result += (uint32_t)(int32_t)(beta == 1.0 ? *old : (int32_t)(beta * *old));
    return (int32_t)result;
}

#endif
