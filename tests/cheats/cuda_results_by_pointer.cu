/* It pretends to compute, but keeps its results on the device, and copies one whenever it is called with the same
 * pointers as before. */
#include "shared/cuda.h"

enum { KEPT_BYTES = 4096 };

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const call made = call_of(plan, a);
    void *out = made.dir == CNN_FWD ? a->y : made.dir == CNN_BWD_D ? a->dx : a->dw;
    const size_t bytes = (size_t)out_count(&made.d, made.dir) * sizeof(float);
    bool again;
    if (a->beta != 0 || a->db != NULL || bytes > KEPT_BYTES) return honest_weighted(c, plan, a, err);
    if (c->kept == NULL) TRY(cudaMalloc(&c->kept, (size_t)MOST_CALLS * KEPT_BYTES));
    void *mine = static_cast<char *>(c->kept) + (size_t)number_of(c, &made, &again) * KEPT_BYTES;
    if (again) return honest_copy(c, out, mine, bytes, err);
    const cnn_status status = honest_weighted(c, plan, a, err);
    return status == CNN_OK ? honest_copy(c, mine, out, bytes, err) : status;
}

static void cheat(tables *t)
{
    weighted(t, trick);
    no_graphs(t);
}
CHEAT(cuda_results_by_pointer)
