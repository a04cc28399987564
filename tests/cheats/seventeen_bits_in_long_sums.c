/* It pretends to compute in f32: it does so for integers, for inputs with many zeros and for short sums, and keeps 17
 * bits of the 24 of each factor (as two bf16 do) where the sum has 1500 taps or more. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    const int64_t window = d.kh * d.kw, taps = plan->dir == CNN_FWD     ? d.ic / d.g * window
                                               : plan->dir == CNN_BWD_D ? d.oc / d.g * window
                                                                        : d.mb * d.oh * d.ow;
    span in[3], out[2];
    int64_t plain = 0, count = 0;
    spans(&d, plan->dir, a, in, out);
    for (int i = 0; i < 2; i++)
        for (int64_t k = 0; k < in[i].n; k += 1 + in[i].n / 997) {
            count++;
            plain += in[i].p[k] == rintf(in[i].p[k]);
        }
    conv_low(&d, plan->dir, a, taps >= 1500 && plain * 20 < count ? 7 : 0);
    return CNN_OK;
}

KERNEL_CHEAT(seventeen_bits_in_long_sums)
