/* tells.c: problems whose results are what they are whatever the data: every tap lies in the padding, there is but
 * one class, the mean of a single plane is spread evenly. Kernels that are wrong pass them, too: such cases end
 * MISTRUSTED. */
#include "fuzz.h"

#include "harness/cnn/half.h"
#include "harness/problem/shape.h"

#include <math.h>

/* Whether any tap meets the data. */
static bool axis_tells(int64_t o, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d)
{
    for (int64_t at = 0; at < o; at++) {
        int64_t first, last;
        cnn_tap_range(at, i, k, s, p, d, &first, &last);
        if (first < last) return true;
    }
    return false;
}

/* Whether a quantized result has a few numbers left where a ReLU begins at zero_y, and ends at a ceiling. */
static bool epilogue_tells(const cnn_problem *p)
{
    const cnn_epilogue e = cnn_epilogue_of(p);
    const cnn_dtype dtype = p->u.type.dtype, result = cnn_part_dtype(dtype, CNN_PART_RESULT);
    const double room = cnn_whole_most(result) - cnn_quantization_of(p).zero_y, few = 8.0;
    if (!cnn_is_quantized(dtype) || e.act == CNN_ACT_IDENTITY) return true;
    return room >= few && (e.act != CNN_ACT_CLIPPED_RELU || e.alpha >= few / 4.0);
}

static bool conv_tells(const cnn_problem *p, cnn_dir dir)
{
    const cnn_conv_desc *d = &p->u.conv;
    if (dir == CNN_FWD && d->bias) return true;
    if (p->op == CNN_OP_CONV3D && !axis_tells(d->od, d->id, d->kd, d->sd, d->pd, d->dd)) return false;
    return axis_tells(d->oh, d->ih, d->kh, d->sh, d->ph, d->dh) && axis_tells(d->ow, d->iw, d->kw, d->sw, d->pw, d->dw);
}

/* The chance that everything is dropped. */
static bool dropout_tells(const cnn_dropout_desc *d)
{
    static const double chance = 1e-4;
    const double elements = (double)d->mb * (double)d->ic * (double)d->ih * (double)d->iw;
    return d->inference || pow(d->rate, elements) < chance;
}

bool fuzz_tells(const cnn_problem *p, cnn_dir dir)
{
    switch (p->op) {
    case CNN_OP_CONV:
    case CNN_OP_DECONV:
    case CNN_OP_CONV3D:
        return epilogue_tells(p) && conv_tells(p, dir);
    case CNN_OP_FC:
        return epilogue_tells(p);
    case CNN_OP_DROPOUT:
        return dropout_tells(&p->u.dropout);
    case CNN_OP_LOSS: /* a softmax of one class: p = 1, with a loss and a gradient of 0 */
        return p->u.loss.ic > 1 || p->u.loss.kind == CNN_LOSS_QUADRATIC;
    case CNN_OP_POOL:
    case CNN_OP_POOL3D: /* dy / (ih * iw), in each pixel */
        return p->u.pool.kind != CNN_POOL_GLOBAL_AVG || dir == CNN_FWD || p->u.pool.mb * p->u.pool.ic > 1;
    default:
        return true;
    }
}
