/* reference_loss.c: softmax over the classes, shifted by the maximum, and cross-entropy with integer labels; and the
 * quadratic loss. */
#include "reference.h"

#include "roundings.h"

#include <math.h>

/* One image. The argument x - max of the exponential is off by u*|x - max|, which is the exponential's relative error:
 * hence the range of the logits among the roundings. Returns -log(y[label]). */
static double softmax(const double *x, int64_t classes, int64_t label, const vf_out *y, int64_t at, double *roundings)
{
    double max = x[0], min = x[0], sum = 0.0;
    for (int64_t c = 1; c < classes; c++) max = fmax(max, x[c]), min = fmin(min, x[c]);
    for (int64_t c = 0; c < classes; c++) sum += exp(x[c] - max);
    *roundings = (double)classes + VF_ROUND_SOFTMAX + 2.0 * ceil(max - min);
    for (int64_t c = 0; c < classes; c++) {
        double p = exp(x[c] - max) / sum;
        vf_put(y, at + c, p, p, *roundings);
    }
    return log(sum) - (x[label] - max);
}

/* One image. A square of a difference, added to others: returns half their sum. */
static double quadratic(const double *x, int64_t classes, int64_t label, const vf_out *y, int64_t at, double *roundings)
{
    double squares = 0.0;
    *roundings = (double)classes + 3.0;
    for (int64_t c = 0; c < classes; c++) {
        const double off = x[c] - (c == label ? 1.0 : 0.0);
        squares += off * off;
        vf_put(y, at + c, x[c], fabs(x[c]), 0.0);
    }
    return squares / 2.0;
}

static bool is_correct(const double *x, int64_t classes, int64_t label)
{
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (x[c] > x[best]) best = c;
    return best == label;
}

static void forward(const vf_call *call, const cnn_loss_desc *d)
{
    const double *x = vf_in(call, "x"), *labels = vf_in(call, "labels");
    const double *loss0 = vf_in(call, "loss_sum"), *correct0 = vf_in(call, "correct");
    vf_out y = vf_output(call, "y"), loss_sum = vf_output(call, "loss_sum"), correct = vf_output(call, "correct");
    double loss = *loss0, magnitude = fabs(*loss0), hits = *correct0, most = 0.0;
    for (int64_t n = 0; n < d->mb; n++) {
        double roundings;
        const bool squares = d->kind == CNN_LOSS_QUADRATIC;
        const double l =
            (squares ? quadratic : softmax)(x + n * d->ic, d->ic, (int64_t)labels[n], &y, n * d->ic, &roundings);
        loss += l;
        magnitude += squares ? l : 1.0 + fabs(l); /* a relative error of y is an absolute one of log y */
        hits += is_correct(x + n * d->ic, d->ic, (int64_t)labels[n]) ? 1.0 : 0.0;
        most = fmax(most, roundings);
    }
    /* the total is a double whatever the type: each image adds a rounding of 2^-53, in f32 problems 2^-29 of theirs */
    const double images = ldexp((double)d->mb, d->t.dtype == CNN_F64 ? 0 : -29);
    vf_put(&loss_sum, 0, loss, magnitude, most + VF_ROUND_LOG + images);
    vf_put(&correct, 0, hits, hits, 0.0);
}

static void backward(const vf_call *call, const cnn_loss_desc *d)
{
    const double *y = vf_in(call, "y"), *labels = vf_in(call, "labels");
    vf_out dx = vf_output(call, "dx");
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t c = 0; c < d->ic; c++) {
            double hot = c == (int64_t)labels[n] ? 1.0 : 0.0, p = y[n * d->ic + c];
            vf_put(&dx, n * d->ic + c, (p - hot) * call->scale, (fabs(p) + hot) * fabs(call->scale),
                   VF_ROUND_LOSS_GRAD);
        }
}

void vf_reference_loss(const vf_call *call)
{
    (call->dir == CNN_FWD ? forward : backward)(call, &call->problem->u.loss);
}
