/* projected_formula.c: sum over all (n,k,c,i,j,p,q) of x * w * dy, the array that is the result being the product of
 * its factors. As factors they leave the sums that do not concern them:
 *
 *   FWD    y  ~ rn rk rp rq:  z[c,i,j] = sum_{n,p,q} rn rp rq x[n,c,h,v],   sum = sum_{k,c,i,j} rk w[k,c,i,j] z[c,i,j]
 *   BWD_D  dx ~ rn rc rh rv:  z[k,i,j] = sum_{n,p,q} rn rh rv dy[n,k,p,q],  sum = sum_{k,c,i,j} rc w[k,c,i,j] z[k,i,j]
 *   BWD_W  dw ~ rk rc ri rj:  sum = sum_{n,g,p,q} (sum_k rk dy[n,k,p,q]) * (sum_{i,j} ri rj sum_c rc x[n,c,h,v])
 *
 * (h, v) being the pixel that (p, i), (q, j) meet. For a given tap the outputs that it reaches are a range (`reach`),
 * and the work is that of one image and one channel at most, even where a kernel is far larger than its image. */
#include "projection.h"

#include "element.h"
#include "modular.h"

#include <stdlib.h>
#include <string.h>

typedef struct formula {
    cnn_conv_desc d;
    const vf_call *call;
    cnn_dir dir; /* the convolution's */
    const vf_factors *r;
    const double *in; /* x or dy: planes of height x width, `channels` an image */
    int64_t channels, height, width;
    uint64_t *z;       /* [channels][kh][kw], or BWD_W: a number a task */
    uint64_t *scratch; /* scratch_size a worker */
    int64_t scratch_size;
    bool bias_only; /* BWD_W: the result is db */
} formula;

static int64_t divide_up(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : 0; }

/* The outputs [from, to) that tap t reaches, and the pixel that output `from` meets; the next one is a stride further.
 */
typedef struct reach {
    int64_t from, to, pixel;
} reach;

static reach reach_of(int64_t t, int64_t o, int64_t i, int64_t stride, int64_t pad, int64_t dilation)
{
    const int64_t shift = t * (dilation + 1) - pad, end = divide_up(i - shift, stride);
    reach r = {.from = divide_up(-shift, stride), .to = end < o ? end : o};
    r.pixel = r.from * stride + shift;
    return r;
}

/* Of rows of all depths: those of one depth, and the depths. */
static reach rows_of(const cnn_conv_desc *d, int64_t i)
{
    return reach_of(i % (d->kh / d->kd), d->oh / d->od, d->ih / d->id, d->sh, d->ph, d->dh);
}
static reach depths_of(const cnn_conv_desc *d, int64_t i)
{
    return reach_of(i / (d->kh / d->kd), d->od, d->id, d->sd, d->pd, d->dd);
}
static reach cols_of(const cnn_conv_desc *d, int64_t j) { return reach_of(j, d->ow, d->iw, d->sw, d->pw, d->dw); }

/* ---- FWD and BWD_D. */

/* sum over the tap's outputs of factor * value: one of the two is indexed by the output, the other by the pixel. */
static uint64_t dot(reach t, int64_t stride, const uint64_t *by_output, const uint64_t *by_pixel)
{
    uint64_t sum = 0;
    for (int64_t o = t.from, pixel = t.pixel; o < t.to; o++, pixel += stride)
        sum = mod_add(sum, mod_mul(by_output[o], by_pixel[pixel]));
    return sum;
}

/* The same down a column: of each depth that the tap's row reaches, its rows. */
static uint64_t dot_rows(const cnn_conv_desc *d, int64_t i, const uint64_t *by_output, const uint64_t *by_pixel)
{
    const reach deep = depths_of(d, i), rows = rows_of(d, i);
    uint64_t sum = 0;
    for (int64_t z = deep.from, pixel = deep.pixel; z < deep.to; z++, pixel += d->sd)
        sum = mod_add(sum, dot(rows, d->sh, by_output + z * (d->oh / d->od), by_pixel + pixel * (d->ih / d->id)));
    return sum;
}

/* Task: channel c. z[c] from the sum of its planes over the images: first along the rows, then down the columns. */
static void contract(void *arg, int64_t c, int worker)
{
    const formula *f = arg;
    const cnn_conv_desc *d = &f->d;
    const bool forward = f->dir == CNN_FWD;
    const int64_t plane = f->height * f->width, taps = d->kh * d->kw;
    const uint64_t *down = f->r->factor[2], *across = f->r->factor[3];
    uint64_t *sum = f->scratch + worker * f->scratch_size, *column = sum + plane;
    memset(sum, 0, (size_t)plane * sizeof *sum);
    for (int64_t n = 0; n < d->mb; n++) {
        const uint64_t factor = f->r->factor[0][n];
        const double *at = f->in + (n * f->channels + c) * plane;
        for (int64_t e = 0; e < plane && factor != 0; e++) sum[e] = mod_add(sum[e], mod_mul(factor, mod_of(at[e])));
    }
    memset(f->z + c * taps, 0, (size_t)taps * sizeof *f->z);
    for (int64_t j = 0; j < d->kw; j++) {
        const reach q = cols_of(d, j);
        for (int64_t h = 0; h < f->height && q.from < q.to; h++) {
            const uint64_t *row = sum + h * f->width;
            column[h] = forward ? dot(q, d->sw, across, row) : dot(q, d->sw, row, across);
        }
        for (int64_t i = 0; i < d->kh && q.from < q.to; i++)
            f->z[c * taps + i * d->kw + j] = forward ? dot_rows(d, i, down, column) : dot_rows(d, i, column, down);
    }
}

/* sum_{k,c,i,j} factor * w * z. */
static uint64_t combine(const formula *f)
{
    const cnn_conv_desc *d = &f->d;
    const double *w = vf_factor(f->call, 'w');
    const int64_t icg = d->ic / d->g, ocg = d->oc / d->g, taps = d->kh * d->kw;
    const bool forward = f->dir == CNN_FWD;
    uint64_t sum = 0;
    for (int64_t k = 0; k < d->oc; k++)
        for (int64_t c = 0; c < icg; c++) {
            const int64_t channel = k / ocg * icg + c;
            const uint64_t factor = f->r->factor[1][forward ? k : channel];
            const uint64_t *z = f->z + (forward ? channel : k) * taps;
            uint64_t row = 0;
            for (int64_t t = 0; t < taps && factor != 0; t++)
                row = mod_add(row, mod_mul(z[t], mod_of(w[(k * icg + c) * taps + (d->flip ? taps - 1 - t : t)])));
            sum = mod_add(sum, mod_mul(factor, row));
        }
    return sum;
}

/* What the bias adds to y: sum of b[k] times all factors. */
static uint64_t bias_sum(const formula *f)
{
    const double *b = vf_in(f->call, "b");
    uint64_t product = 1, channels = 0;
    if (b == NULL) return 0;
    for (int64_t k = 0; k < f->r->dims[1]; k++) channels = mod_add(channels, mod_mul(f->r->factor[1][k], mod_of(b[k])));
    for (int axis = 0; axis < 4; axis++) {
        uint64_t sum = 0;
        for (int64_t e = 0; e < f->r->dims[axis] && axis != 1; e++) sum = mod_add(sum, f->r->factor[axis][e]);
        product = mod_mul(product, axis == 1 ? channels : sum);
    }
    return product;
}

static uint64_t data_formula(formula *f, thread_pool *pool)
{
    parallel_for(pool, f->channels, contract, f);
    return mod_add(combine(f), bias_sum(f));
}

/* ---- BWD_W. */

/* to[0..plane) += sum over `count` channels of factor[stride * c] * from's plane c. */
static void sum_channels(uint64_t *to, const double *from, int64_t plane, const uint64_t *factor, int64_t count)
{
    memset(to, 0, (size_t)plane * sizeof *to);
    for (int64_t c = 0; c < count; c++)
        for (int64_t e = 0; e < plane && factor[c] != 0; e++)
            to[e] = mod_add(to[e], mod_mul(factor[c], mod_of(from[c * plane + e])));
}

/* sum_{i,j} ri rj sum_q out[q] * image[h][v], all for output row p; `row` has room for a row of the image. */
static uint64_t weights_row(const formula *f, int64_t p, const uint64_t *image, const uint64_t *out, uint64_t *row)
{
    const cnn_conv_desc *d = &f->d;
    uint64_t sum = 0;
    bool any = false;
    memset(row, 0, (size_t)d->iw * sizeof *row);
    for (int64_t i = 0; i < d->kh; i++) {
        const uint64_t factor = f->r->factor[2][d->flip ? d->kh - 1 - i : i];
        const int64_t h = vf_row_read(d, p, i);
        const uint64_t *from = image + h * d->iw;
        if (h < 0) continue;
        any = true;
        for (int64_t v = 0; v < d->iw && factor != 0; v++) row[v] = mod_add(row[v], mod_mul(factor, from[v]));
    }
    for (int64_t j = 0; any && j < d->kw; j++) {
        const uint64_t factor = f->r->factor[3][d->flip ? d->kw - 1 - j : j];
        if (factor != 0) sum = mod_add(sum, mod_mul(factor, dot(cols_of(d, j), d->sw, out, row)));
    }
    return sum;
}

/* Task: (n, g). */
static void weights_task(void *arg, int64_t task, int worker)
{
    const formula *f = arg;
    const cnn_conv_desc *d = &f->d;
    const int64_t n = task / d->g, g = task % d->g, icg = d->ic / d->g, ocg = d->oc / d->g;
    const double *x = vf_factor(f->call, 'x') + (n * d->ic + g * icg) * d->ih * d->iw;
    const double *dy = vf_factor(f->call, 'y') + (n * d->oc + g * ocg) * d->oh * d->ow;
    uint64_t *image = f->scratch + worker * f->scratch_size, *row = image + d->ih * d->iw, *out = row + d->iw;
    uint64_t sum = 0;
    if (f->bias_only) { /* of the tensor that dy is */
        const bool turned = f->call->problem->op == CNN_OP_DECONV;
        const int64_t plane = turned ? d->ih * d->iw : d->oh * d->ow;
        if (turned)
            sum_channels(out = image, x, plane, f->r->factor[0] + g * icg, icg);
        else
            sum_channels(out, dy, plane, f->r->factor[0] + g * ocg, ocg);
        for (int64_t e = 0; e < plane; e++) sum = mod_add(sum, out[e]);
    } else {
        sum_channels(out, dy, d->oh * d->ow, f->r->factor[0] + g * ocg, ocg);
        sum_channels(image, x, d->ih * d->iw, f->r->factor[1], icg);
        for (int64_t p = 0; p < d->oh; p++) sum = mod_add(sum, weights_row(f, p, image, out + p * d->ow, row));
    }
    f->z[task] = sum;
}

/* db is the sum of dy alone: its factors are those of its only axis. */
static uint64_t weights_formula(formula *f, thread_pool *pool)
{
    const int64_t tasks = f->d.mb * f->d.g;
    uint64_t sum = 0;
    parallel_for(pool, tasks, weights_task, f);
    for (int64_t t = 0; t < tasks; t++) sum = mod_add(sum, f->z[t]);
    for (int axis = 1; axis < 4 && f->bias_only; axis++) sum = mod_mul(sum, f->r->factor[axis][0]);
    return sum;
}

cnn_status vf_projected_formula(const vf_case *c, int operand, const vf_factors *r, thread_pool *pool, uint64_t *sum,
                                cnn_error *err)
{
    const cnn_dir dir = vf_conv_dir(&c->problem, c->call.dir);
    const bool weights = dir == CNN_BWD_W, forward = dir == CNN_FWD;
    formula f = {.d = vf_as_conv(&c->problem), .call = &c->call, .dir = dir, .r = r};
    const cnn_conv_desc *d = &f.d;
    f.bias_only = strcmp(c->call.operands[operand].name, "db") == 0;
    f.in = vf_factor(&c->call, forward ? 'x' : 'y');
    f.channels = forward ? d->ic : d->oc;
    f.height = forward ? d->ih : d->oh;
    f.width = forward ? d->iw : d->ow;
    f.scratch_size = weights ? (d->ih + 1) * d->iw + d->oh * d->ow : f.height * (f.width + 1);
    const int64_t z = weights ? d->mb * d->g : f.channels * d->kh * d->kw;
    const int64_t workers = pool ? thread_pool_threads(pool) : 1, total = z + workers * f.scratch_size;
    f.z = malloc((size_t)total * sizeof(uint64_t));
    if (f.z == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld partial sums", (long long)total);
    f.scratch = f.z + z;
    *sum = weights ? weights_formula(&f, pool) : data_formula(&f, pool);
    free(f.z);
    return CNN_OK;
}
