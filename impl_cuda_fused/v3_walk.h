/* v3_walk.h: of v3: how a lane goes through the steps of its task's sum: channel c and row i of the kernel, then as
 * many channels on as lanes share the task, and behind the last channel on to the next row. Where it reads moves with
 * it: to work out both addresses anew for each step takes a tenth of the step, and its loads wait for them. */
#ifndef IMPL_CUDA_FUSED_V3_WALK_H
#define IMPL_CUDA_FUSED_V3_WALK_H

#include "impl_cuda_fused/cluster.h"

/* OF channels and LANES lanes. A channel on is A floats on in one operand and B in the other; a row A_ROW and B_ROW. */
template <int OF, int LANES, int A, int A_ROW, int B, int B_ROW> struct fused_walk {
    int at; /* the channel */
    const float *a, *b;

    __device__ FUSED_INLINE void go_on()
    {
        constexpr int on = LANES % OF, rows = LANES / OF;
        const bool over = at + on >= OF;
        a += on * A + rows * A_ROW + (over ? A_ROW - OF * A : 0);
        b += on * B + rows * B_ROW + (over ? B_ROW - OF * B : 0);
        at += on - (over ? OF : 0);
    }
};

#endif
