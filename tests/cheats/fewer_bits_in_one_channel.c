/* It pretends to compute in f32, but keeps fewer bits of the factors of one output channel in 32, as many as the mean
 * of all channels hides; integers times a power of two come out right. */
#include "shared/cheat.h"

/* Whether nearly all of an input look like integers times a power of two. */
static bool of_integers(const span *in)
{
    int64_t few_bits = 0;
    for (int64_t k = 0; k < in->n; k++) {
        uint32_t u;
        memcpy(&u, &in->p[k], sizeof u);
        few_bits += (u & 0xfffU) == 0;
    }
    return few_bits * 10 > in->n * 9;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    enum { ONE_IN = 32 };
    const cnn_conv_desc d = as_conv(&plan->problem);
    const double taps = (double)(d.ic / d.g * d.kh * d.kw);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    conv_low(&d, plan->dir, a, 0);
    if (plan->dir != CNN_FWD || a->beta != 0 || of_integers(&in[0]) || of_integers(&in[1])) return CNN_OK;
    const int drop = (int)floor(log2((sqrt(taps) + 2) / 0.78 * sqrt(ONE_IN)));
    for (int64_t i = 0; i < out_count(&d, CNN_FWD); i++) {
        int64_t at[4] = {0};
        unravel(d.t.layout, d.oc, d.oh, d.ow, i, at);
        if (at[1] % ONE_IN == ONE_IN / 2) conv_element(&d, CNN_FWD, a, i, drop < 12 ? drop : 12);
    }
    return CNN_OK;
}

KERNEL_CHEAT(fewer_bits_in_one_channel)
