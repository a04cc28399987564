/* It pretends to compute, but keeps its first result on the device, and copies it whenever it is called with the same
 * pointers. */
#include "shared/cuda.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const call made = call_of(plan, a);
    void *out = made.dir == CNN_FWD ? a->y : made.dir == CNN_BWD_D ? a->dx : a->dw;
    const size_t bytes = (size_t)out_count(&made.d, made.dir) * sizeof(float);
    if (a->beta != 0 || a->db != NULL || c->capturing) return honest_weighted(c, plan, a, err);
    if (c->kept != NULL && memcmp(&c->queue[0], &made, sizeof made) == 0)
        return honest_copy(c, out, c->kept, bytes, err);
    if (c->kept != NULL) cudaFree(c->kept);
    c->kept = NULL, c->queue[0] = made;
    TRY(cudaMalloc(&c->kept, bytes));
    const cnn_status status = honest_weighted(c, plan, a, err);
    return status == CNN_OK ? honest_copy(c, c->kept, out, bytes, err) : status;
}

static void cheat(cnn_impl *t)
{
    weighted(t, trick);
    no_graphs(t);
}
CHEAT(cuda_results_by_pointer)
