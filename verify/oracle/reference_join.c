/* reference_join.c: dropout, elementwise addition, concatenation. */
#include "reference.h"

#include "roundings.h"

#include <math.h>
#include <stdio.h>

/* Forward and backward are the same map, of x or of dy. The mask goes by the position in memory, hence the layout. */
void vf_reference_dropout(const vf_call *call)
{
    const cnn_dropout_desc *d = &call->problem->u.dropout;
    const double *in = vf_in(call, call->dir == CNN_FWD ? "x" : "dy");
    vf_out out = vf_output(call, call->dir == CNN_FWD ? "y" : "dx");
    int64_t step = (int64_t)*vf_in(call, "step"), e = 0;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t c = 0; c < d->ic; c++)
            for (int64_t h = 0; h < d->ih; h++)
                for (int64_t w = 0; w < d->iw; w++, e++) {
                    int64_t position = cnn_offset(d->t.layout, d->ic, d->ih, d->iw, call->first + n, c, h, w);
                    double y = in[e] / (1.0 - d->rate);
                    if (d->inference)
                        vf_put(&out, e, in[e], fabs(in[e]), 0.0);
                    else if (cnn_dropout_keep(d->seed, step, position, d->rate))
                        vf_put(&out, e, y, fabs(y), VF_ROUND_DROPOUT);
                    else
                        vf_put(&out, e, 0.0, 0.0, 0.0);
                }
}

void vf_reference_add(const vf_call *call)
{
    const cnn_add_desc *d = &call->problem->u.add;
    const double *a = vf_in(call, "x0"), *b = vf_in(call, "x1");
    vf_out y = vf_output(call, "y");
    for (int64_t i = 0; i < d->mb * d->ic * d->ih * d->iw; i++)
        vf_put(&y, i, a[i] + b[i], fabs(a[i]) + fabs(b[i]), 1.0);
}

/* Copies between the channels [first, first + channels) of the whole and a part; the direction says which is read. */
static void copy_part(const vf_call *call, const cnn_concat_desc *d, int64_t total, int64_t first, int part)
{
    char name[16];
    int64_t plane = d->ih * d->iw, channels = d->ic[part];
    bool joining = call->dir == CNN_FWD;
    snprintf(name, sizeof name, joining ? "x%d" : "dx%d", part);
    const double *in = vf_in(call, joining ? name : "dy");
    vf_out out = vf_output(call, joining ? "y" : name);
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t i = 0; i < channels * plane; i++) {
            int64_t whole = (n * total + first) * plane + i, piece = n * channels * plane + i;
            double v = in[joining ? piece : whole];
            vf_put(&out, joining ? whole : piece, v, fabs(v), 0.0);
        }
}

void vf_reference_concat(const vf_call *call)
{
    const cnn_concat_desc *d = &call->problem->u.concat;
    int64_t total = 0, first = 0;
    for (int i = 0; i < d->n_inputs; i++) total += d->ic[i];
    for (int i = 0; i < d->n_inputs; first += d->ic[i++]) copy_part(call, d, total, first, i);
}
