/* plan_boxes.c: which convolutions of f32 read their pixels as boxes (forward_boxes.h), and what their tiles cost. */
#include "harness/cnn/half.h"
#include "impl_cuda_tensor/plan.h"
#include "impl_cuda_tensor/tensor.h"

/* Of one tap, which stands where its output pixel does. */
static bool is_product(const cnn_conv_desc *d)
{
    const bool one_tap = d->kh * d->kw == 1 && d->sh == 1 && d->sw == 1 && d->ph == 0 && d->pw == 0;
    return one_tap && d->g == 1 && d->oh == d->ih && d->ow == d->iw &&
           !cnn_is_half(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR));
}

/* Copies want rows of channels, or an image's pixels, in 16 bytes. Of NCHW, by the problem, where images have no more
 * than a third of positions without a pixel. */
int32_t cutensor_boxes_of(const int64_t *knobs, const cnn_conv_desc *d, cnn_dir dir)
{
    const int64_t wish = knobs[CUTENSOR_KNOB_MATRIX], channels = dir == CNN_FWD ? d->ic : d->oc, plane = d->ih * d->iw;
    if (wish == 0 || dir == CNN_BWD_W || !is_product(d) || !cutensor_can_map()) return CUTENSOR_PATCHES;
    if (d->t.layout == CNN_NHWC || plane == 1) return channels % 4 == 0 ? CUTENSOR_ROWS : CUTENSOR_PATCHES;
    const bool filled = cutensor_positions(plane) * 3 <= plane * 4;
    return plane % 4 == 0 && (filled || wish == 1) ? CUTENSOR_PLANES : CUTENSOR_PATCHES;
}

/* Clocks of the busiest multiprocessor (estimated, not measured): a step takes its products, 1024 a clock, or its
 * bytes, 26 a clock where all multiprocessors load and 64 where few do; a tile is stored at the same rate, and 800 more
 * go by. Of tiles that are dealt out in pieces a block leaves one's sums, and waits for and reads those of another. */
double cutensor_boxes_cost(const cutensor_boxes *w, bool split)
{
    const int64_t units = split ? w->tiles * w->pieces : w->tiles, most = ceil_div(units, w->sms);
    const double rate = 26.0 * (double)w->sms / (double)smaller(units, w->sms), sums = (double)(w->tall * w->wide) * 4;
    const double each = rate < 64 ? rate : 64, bytes = (double)(w->tall + w->wide * w->parts) * 128;
    const double products = (double)(w->tall * w->wide * (w->parts == 2 ? 3 : 1)) * 32 / 1024;
    const double step = products > bytes / each ? products : bytes / each, tile = sums / each + 800;
    if (!split) return (double)most * ((double)w->pieces * step + tile);
    return (double)most * step + (double)(ceil_div(most, w->pieces) + 1) * tile + 2 * sums / each + 2000;
}
