/* It pretends to compute, but keeps x, w and y of the call before: where only a few elements of x or w are others now,
 * it computes the outputs that these reach, and copies the rest. */
#include "shared/cheat.h"

enum { FEW = 64 };
static span kept[3]; /* x, w, y */
static uint64_t kept_of;

static bool keep(int i, span s)
{
    if (kept[i].n != s.n) kept[i] = (span){realloc(kept[i].p, (size_t)s.n * sizeof(float)), s.n};
    if (kept[i].p) memcpy(kept[i].p, s.p, (size_t)s.n * sizeof(float));
    return kept[i].p != NULL;
}

/* The indices of elements that differ; more than FEW: too many. */
static int differences(span now, span before, int64_t at[FEW])
{
    int count = 0;
    for (int64_t i = 0; i < now.n && count <= FEW; i++)
        if (now.p[i] != before.p[i] && count++ < FEW) at[count - 1] = i;
    return count;
}

/* All images and rows of channel k that pixel (h, v) of image n reaches; n < 0: the whole of the channel. */
static void again(const cnn_conv_desc *d, const cnn_weighted_args *a, int64_t k, const int64_t pixel[4])
{
    for (int64_t i = 0; i < y_count(d); i++) {
        int64_t r[4] = {0};
        unravel(d->t.layout, d->oc, d->oh, d->ow, i, r);
        const int64_t down = pixel ? pixel[2] + d->ph - r[2] * d->sh : 0,
                      right = pixel ? pixel[3] + d->pw - r[3] * d->sw : 0;
        const bool reached = !pixel || (r[0] == pixel[0] && down >= 0 && down < d->kh * (d->dh + 1) && right >= 0 &&
                                        right < d->kw * (d->dw + 1));
        if (reached && (k < 0 || r[1] == k)) conv_element(d, CNN_FWD, a, i, 0);
    }
}

static bool updated(const cnn_conv_desc *d, const cnn_weighted_args *a, const span now[3])
{
    int64_t xs[FEW], ws[FEW];
    const int nx = differences(now[0], kept[0], xs), nw = differences(now[1], kept[1], ws);
    if (nx + nw > 12) return false;
    memcpy(now[2].p, kept[2].p, (size_t)now[2].n * sizeof(float));
    for (int i = 0; i < nx; i++) {
        int64_t pixel[4];
        unravel(d->t.layout, d->ic, d->ih, d->iw, xs[i], pixel);
        again(d, a, -1, pixel);
    }
    for (int i = 0; i < nw; i++) again(d, a, ws[i] / (now[1].n / d->oc), NULL);
    return true;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    if (plan->dir != CNN_FWD || a->beta != 0) return honest_weighted(c, plan, a, err);
    spans(&d, plan->dir, a, in, out);
    const span now[3] = {in[0], in[1], out[0]};
    const uint64_t shape = hash_shape(plan);
    const bool known = kept_of == shape && kept[0].n == now[0].n && kept[1].n == now[1].n && kept[2].n == now[2].n;
    if (!known || !updated(&d, a, now)) {
        const cnn_status status = honest_weighted(c, plan, a, err);
        if (status != CNN_OK) return status;
    }
    kept_of = shape;
    for (int i = 0; i < 3; i++)
        if (!keep(i, now[i])) kept_of = 0;
    return CNN_OK;
}

KERNEL_CHEAT(incremental)
