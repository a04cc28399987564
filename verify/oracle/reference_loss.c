/* reference_loss.c: softmax over the classes, shifted by the maximum, and cross-entropy with integer labels; the
 * quadratic loss, of the logits themselves or of their softmax. */
#include "reference.h"

#include "roundings.h"

#include <math.h>

/* What an image adds to the sum: its loss, the magnitude that a rounding is relative to, and how many there are. */
typedef struct image_loss {
    double loss, magnitude, roundings;
} image_loss;

/* One image. The argument x - max of the exponential is off by u*|x - max|, which is the exponential's relative error:
 * hence the range of the logits among the roundings. The loss is -log(y[label]), or half the squares of y - t: a
 * relative error of y is an absolute one of log y, and of a square 2*|y - t|*y. */
static image_loss softmax(const double *x, int64_t classes, int64_t label, const vf_out *y, int64_t at, bool squares)
{
    double max = x[0], min = x[0], sum = 0.0;
    for (int64_t c = 1; c < classes; c++) max = fmax(max, x[c]), min = fmin(min, x[c]);
    for (int64_t c = 0; c < classes; c++) sum += exp(x[c] - max);
    const double roundings = (double)classes + VF_ROUND_SOFTMAX + 2.0 * ceil(max - min);
    image_loss l = {0.0, 0.0, roundings + (squares ? (double)classes + 3.0 : 0.0)};
    for (int64_t c = 0; c < classes; c++) {
        const double p = exp(x[c] - max) / sum, off = p - (c == label ? 1.0 : 0.0);
        l.loss += off * off / 2.0;
        l.magnitude += off * off / 2.0 + fabs(off) * p;
        vf_put(y, at + c, p, p, roundings);
    }
    const double entropy = log(sum) - (x[label] - max);
    return squares ? l : (image_loss){entropy, 1.0 + fabs(entropy), roundings};
}

/* One image. A square of a difference, added to others. */
static image_loss quadratic(const double *x, int64_t classes, int64_t label, const vf_out *y, int64_t at)
{
    double squares = 0.0;
    for (int64_t c = 0; c < classes; c++) {
        const double off = x[c] - (c == label ? 1.0 : 0.0);
        squares += off * off;
        vf_put(y, at + c, x[c], fabs(x[c]), 0.0);
    }
    return (image_loss){squares / 2.0, squares / 2.0, (double)classes + 3.0};
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
    long double loss = *loss0; /* not to round once an image: check_gradient.c takes differences of it */
    double magnitude = fabs(*loss0), hits = *correct0, most = 0.0;
    for (int64_t n = 0; n < d->mb; n++) {
        const double *row = x + n * d->ic;
        const int64_t label = (int64_t)labels[n];
        const image_loss l = d->kind == CNN_LOSS_QUADRATIC
                                 ? quadratic(row, d->ic, label, &y, n * d->ic)
                                 : softmax(row, d->ic, label, &y, n * d->ic, d->kind == CNN_LOSS_SOFTMAX_QUADRATIC);
        loss += l.loss;
        magnitude += l.magnitude;
        hits += is_correct(row, d->ic, label) ? 1.0 : 0.0;
        most = fmax(most, l.roundings);
    }
    /* the total is a double whatever the type: each image adds a rounding of 2^-53, in f32 problems 2^-29 of theirs */
    const double images = ldexp((double)d->mb, d->t.dtype == CNN_F64 ? 0 : -29);
    vf_put(&loss_sum, 0, (double)loss, magnitude, most + VF_ROUND_LOG + images);
    vf_put(&correct, 0, hits, hits, 0.0);
}

/* One image, as cnn.h writes it: a sum over the classes of products with two factors that are differences. */
static void through_softmax(const double *y, int64_t classes, int64_t label, double scale, const vf_out *dx, int64_t at)
{
    for (int64_t c = 0; c < classes; c++) {
        const double hot = c == label ? 1.0 : 0.0;
        double sum = 0.0, magnitude = 0.0;
        for (int64_t k = 0; k < classes; k++) {
            const double other = k == label ? 1.0 : 0.0;
            sum += y[k] * ((y[c] - hot) - (y[k] - other));
            magnitude += fabs(y[k]) * (fabs(y[c]) + hot + fabs(y[k]) + other);
        }
        vf_put(dx, at + c, y[c] * sum * scale, fabs(y[c]) * magnitude * fabs(scale),
               (double)classes + VF_ROUND_LOSS_GRAD + 4.0);
    }
}

static void backward(const vf_call *call, const cnn_loss_desc *d)
{
    const double *y = vf_in(call, "y"), *labels = vf_in(call, "labels"), *loss_scale = vf_in(call, "loss_scale");
    const double scale = call->scale * (loss_scale != NULL ? *loss_scale : 1.0);
    const double more = loss_scale != NULL ? 1.0 : 0.0; /* the product of both scales is rounded, too */
    vf_out dx = vf_output(call, "dx");
    for (int64_t n = 0; n < d->mb && d->kind == CNN_LOSS_SOFTMAX_QUADRATIC; n++)
        through_softmax(y + n * d->ic, d->ic, (int64_t)labels[n], scale, &dx, n * d->ic);
    for (int64_t n = 0; n < d->mb && d->kind != CNN_LOSS_SOFTMAX_QUADRATIC; n++)
        for (int64_t c = 0; c < d->ic; c++) {
            double hot = c == (int64_t)labels[n] ? 1.0 : 0.0, p = y[n * d->ic + c];
            vf_put(&dx, n * d->ic + c, (p - hot) * scale, (fabs(p) + hot) * fabs(scale), VF_ROUND_LOSS_GRAD + more);
        }
}

void vf_reference_loss(const vf_call *call)
{
    (call->dir == CNN_FWD ? forward : backward)(call, &call->problem->u.loss);
}
