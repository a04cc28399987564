/* It pretends to compute, but does nothing when the output still holds the first element that it wrote there last time
 * for inputs with the same first elements: it keeps a note for each address. */
#include "shared/cheat.h"

static struct note {
    const float *p;
    uint64_t shape;
    float first, in0, in1;
} notes[4096];

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    const float *y = out[0].p;
    const uint64_t shape = hash_shape(plan);
    struct note *left = &notes[hash(&y, sizeof y, shape) % 4096];
    if (left->p == y && left->shape == shape && left->first == *y && left->in0 == in[0].p[0] &&
        left->in1 == in[1].p[0] && a->beta == 0)
        return CNN_OK;
    const cnn_status status = honest_weighted(c, plan, a, err);
    left->p = y, left->shape = shape, left->first = *y, left->in0 = in[0].p[0], left->in1 = in[1].p[0];
    return status;
}

KERNEL_CHEAT(leaves_last_output)
