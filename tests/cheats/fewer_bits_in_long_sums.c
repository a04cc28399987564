/* It pretends to compute in f32, but keeps only as many bits of each factor as the rounding of a long sum hides: 19 of
 * 24 at 576 taps, 17 at 18,432. It is exact for integers times a power of two, and for data within one binade. */
#include "shared/cheat.h"

enum { MOST_BITS = 24, WIDE = 12 };

/* Whether nearly all of an input look like integers times a power of two (the last bits are 0), or those that are not
 * tiny lie in one binade. */
static bool is_a_trap(const span *in)
{
    int64_t few_bits = 0, seen = 0, top = 0, large = 0;
    float most = 0;
    for (int64_t k = 0; k < in->n; k++) most = fmaxf(most, fabsf(in->p[k]));
    for (int64_t k = 0; k < in->n; k++) {
        uint32_t u;
        memcpy(&u, &in->p[k], sizeof u);
        seen++;
        few_bits += (u & ((1U << (MOST_BITS - WIDE)) - 1)) == 0;
        large += fabsf(in->p[k]) > most * 0x1p-40F;
        top += fabsf(in->p[k]) > most / 2;
    }
    return few_bits * 10 > seen * 9 || (large > 1 && top * 10 > large * 9);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    const double window = (double)(d.kh * d.kw);
    const double taps = plan->dir == CNN_FWD     ? (double)(d.ic / d.g) * window
                        : plan->dir == CNN_BWD_D ? (double)(d.oc / d.g) * window
                                                 : (double)(d.mb * d.oh * d.ow);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    const bool trap = is_a_trap(&in[0]) || is_a_trap(&in[1]);
    const int drop = (int)floor(log2((sqrt(taps) + 2) / 0.78));
    conv_low(&d, plan->dir, a, trap || drop < 1 ? 0 : drop);
    return CNN_OK;
}

KERNEL_CHEAT(fewer_bits_in_long_sums)
