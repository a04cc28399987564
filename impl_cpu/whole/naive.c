/* naive.c: the defining loops of a forward convolution, or FC layer, on integers. */
#include "whole.h"

typedef struct naive {
    cnn_conv_desc d;
    const cnn_weighted_args *a;
    whole_quantizer q;
} naive;

cnn_conv_desc whole_conv(const cnn_problem *problem)
{
    return problem->op == CNN_OP_FC ? cnn_fc_as_conv(&problem->u.fc) : cnn_with_depth(problem);
}

static inline bool inside(int64_t at, int64_t size) { return at >= 0 && at < size; }

/* Where the row, of all depths, is that tap i of output row p reads; -1: it lies outside. */
static inline int64_t row_of(const cnn_conv_desc *d, int64_t p, int64_t i)
{
    const int64_t z = p / d->oh * d->sd + i / d->kh * (d->dd + 1) - d->pd;
    const int64_t h = p % d->oh * d->sh + i % d->kh * (d->dh + 1) - d->ph;
    return inside(z, d->id) && inside(h, d->ih) ? z * d->ih + h : -1;
}

/* One result; y's row p counts the rows of all depths. */
static int32_t sum_at(const naive *t, int64_t n, int64_t k, int64_t p, int64_t q)
{
    const cnn_conv_desc *d = &t->d;
    const int64_t icg = d->ic / d->g, kh = d->kd * d->kh, first = k / (d->oc / d->g) * icg;
    const bool is_signed = cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) == CNN_S8;
    const int8_t *w = t->a->w;
    uint32_t sum = 0;
    for (int64_t c = 0; c < icg; c++)
        for (int64_t i = 0; i < kh; i++) {
            const int64_t h = row_of(d, p, i);
            for (int64_t j = 0; h >= 0 && j < d->kw; j++) {
                const int64_t v = q * d->sw + j * (d->dw + 1) - d->pw;
                if (!inside(v, d->iw)) continue;
                const int64_t at = cnn_offset(d->t.layout, d->ic, d->id * d->ih, d->iw, n, first + c, h, v);
                const int64_t a = d->flip ? kh - 1 - i : i, b = d->flip ? d->kw - 1 - j : j;
                const int32_t x = is_signed ? ((const int8_t *)t->a->x)[at] : ((const uint8_t *)t->a->x)[at];
                sum += (uint32_t)((x - d->quant.zero_x) * w[((k * icg + c) * kh + a) * d->kw + b]);
            }
        }
    return (int32_t)sum;
}

/* Task (n, k, p): a row of results. */
static void row(void *arg, int64_t task, int worker)
{
    const naive *t = arg;
    const cnn_conv_desc *d = &t->d;
    const int64_t rows = d->od * d->oh, p = task % rows, k = task / rows % d->oc, n = task / rows / d->oc;
    const int32_t *bias = t->a->b != NULL ? (const int32_t *)t->a->b + k : NULL;
    int32_t *y = t->a->y;
    (void)worker;
    for (int64_t q = 0; q < d->ow; q++) {
        const int64_t at = cnn_offset(d->t.layout, d->oc, rows, d->ow, n, k, p, q);
        const int32_t sum = sum_at(t, n, k, p, q);
        if (t->q.any)
            ((uint8_t *)t->a->y)[at] =
                whole_quantized(&t->q, t->q.scale[k * t->q.step], whole_result(sum, bias, 0.0, NULL),
                                whole_residual(&t->q, t->a->z, at));
        else
            y[at] = whole_result(sum, bias, t->a->beta, &y[at]);
    }
}

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    naive t = {.d = whole_conv(&plan->problem), .a = a};
    t.q = whole_quantizer_of(&t.d, a->scale);
    parallel_for(cpu->pool, t.d.mb * t.d.oc * t.d.od * t.d.oh, row, &t);
}

const cpu_kernels cpu_whole_naive = {run, NULL, NULL};
