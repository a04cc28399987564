/* projected_formula.c: sum over all (n,k,c,i,j,p,q) of x * w * dy, the array that is the result being the product of
 * its factors. As factors they leave the sums that do not concern them:
 *
 *   FWD    y  ~ rn rk rp rq:  z[c,i,j] = sum_{n,p,q} rn rp rq x[n,c,h,v],   sum = sum_{k,c,i,j} rk w[k,c,i,j] z[c,i,j]
 *   BWD_D  dx ~ rn rc rh rv:  z[k,i,j] = sum_{n,p,q} rn rh rv dy[n,k,p,q],  sum = sum_{k,c,i,j} rc w[k,c,i,j] z[k,i,j]
 *   BWD_W  dw ~ rk rc ri rj:  sum = sum_{n,g,p,q} (sum_k rk dy[n,k,p,q]) * (sum_{i,j} ri rj sum_c rc x[n,c,h,v])
 *
 * (h, v) being the pixel that (p, i), (q, j) meet. In the first two each of p, q goes with one row or column of the
 * array that is summed, for a given tap: `taps` holds the factor, or 0 where there is none. */
#include "projected_formula.h"

#include "element.h"
#include "modular.h"

#include <stdlib.h>
#include <string.h>

typedef struct formula {
    cnn_conv_desc d;
    const vf_call *call;
    const vf_factors *r;
    const double *in; /* x or dy: planes of height x width, `channels` an image */
    int64_t channels, height, width;
    uint64_t *rows, *cols; /* [kh][height], [kw][width] */
    uint64_t *z;           /* [channels][kh][kw], or BWD_W: a number a task */
    uint64_t *z_bias;
    uint64_t *scratch; /* scratch_size a worker */
    int64_t scratch_size;
} formula;

static int64_t row_of(const cnn_conv_desc *d, int64_t p, int64_t i) { return p * d->sh + i * (d->dh + 1) - d->ph; }
static int64_t col_of(const cnn_conv_desc *d, int64_t q, int64_t j) { return q * d->sw + j * (d->dw + 1) - d->pw; }

/* ---- FWD and BWD_D. */

static void fill_taps(formula *f)
{
    const cnn_conv_desc *d = &f->d;
    const bool forward = f->call->dir == CNN_FWD;
    for (int64_t i = 0; i < d->kh; i++)
        for (int64_t p = 0; p < d->oh; p++) {
            const int64_t h = row_of(d, p, i);
            if (h >= 0 && h < d->ih) f->rows[i * f->height + (forward ? h : p)] = f->r->factor[2][forward ? p : h];
        }
    for (int64_t j = 0; j < d->kw; j++)
        for (int64_t q = 0; q < d->ow; q++) {
            const int64_t v = col_of(d, q, j);
            if (v >= 0 && v < d->iw) f->cols[j * f->width + (forward ? v : q)] = f->r->factor[3][forward ? q : v];
        }
}

/* Task: channel c. z[c] from the sum of its planes over the images. */
static void contract(void *arg, int64_t c, int worker)
{
    const formula *f = arg;
    const int64_t plane = f->height * f->width, taps = f->d.kh * f->d.kw;
    uint64_t *sum = f->scratch + worker * f->scratch_size;
    memset(sum, 0, (size_t)plane * sizeof *sum);
    for (int64_t n = 0; n < f->d.mb; n++) {
        const uint64_t factor = f->r->factor[0][n];
        const double *at = f->in + (n * f->channels + c) * plane;
        for (int64_t e = 0; e < plane && factor != 0; e++) sum[e] = mod_add(sum[e], mod_mul(factor, mod_of(at[e])));
    }
    memset(f->z + c * taps, 0, (size_t)taps * sizeof *f->z);
    for (int64_t j = 0; j < f->d.kw; j++)
        for (int64_t h = 0; h < f->height; h++) {
            uint64_t row = 0;
            for (int64_t v = 0; v < f->width; v++)
                row = mod_add(row, mod_mul(f->cols[j * f->width + v], sum[h * f->width + v]));
            for (int64_t i = 0; i < f->d.kh; i++) {
                uint64_t *z = &f->z[(c * f->d.kh + i) * f->d.kw + j];
                *z = mod_add(*z, mod_mul(f->rows[i * f->height + h], row));
            }
        }
}

/* sum_{k,c,i,j} factor * w * z. */
static uint64_t combine(const formula *f)
{
    const cnn_conv_desc *d = &f->d;
    const double *w = vf_in(f->call, "w");
    const int64_t icg = d->ic / d->g, ocg = d->oc / d->g, taps = d->kh * d->kw;
    const bool forward = f->call->dir == CNN_FWD;
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
    for (int64_t k = 0; k < f->d.oc; k++) channels = mod_add(channels, mod_mul(f->r->factor[1][k], mod_of(b[k])));
    for (int axis = 0; axis < 4; axis++) {
        uint64_t sum = 0;
        for (int64_t e = 0; e < f->r->dims[axis] && axis != 1; e++) sum = mod_add(sum, f->r->factor[axis][e]);
        product = mod_mul(product, axis == 1 ? channels : sum);
    }
    return product;
}

static uint64_t data_formula(formula *f, thread_pool *pool)
{
    fill_taps(f);
    parallel_for(pool, f->channels, contract, f);
    const uint64_t sum = combine(f);
    return f->call->dir == CNN_FWD ? mod_add(sum, bias_sum(f)) : sum;
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

/* Task: (n, g). */
static void weights_task(void *arg, int64_t task, int worker)
{
    const formula *f = arg;
    const cnn_conv_desc *d = &f->d;
    const int64_t n = task / d->g, g = task % d->g, icg = d->ic / d->g, ocg = d->oc / d->g;
    const double *x = vf_in(f->call, "x") + (n * d->ic + g * icg) * d->ih * d->iw;
    const double *dy = vf_in(f->call, "dy") + (n * d->oc + g * ocg) * d->oh * d->ow;
    uint64_t *image = f->scratch + worker * f->scratch_size, *rows = image + d->ih * d->iw, *out = rows + d->oh * d->iw;
    uint64_t sum = 0, bias = 0;
    sum_channels(out, dy, d->oh * d->ow, f->r->factor[0] + g * ocg, ocg);
    for (int64_t e = 0; e < d->oh * d->ow; e++) bias = mod_add(bias, out[e]);
    f->z_bias[task] = bias;
    sum_channels(image, x, d->ih * d->iw, f->r->factor[1], f->r->dims[1] == icg ? icg : 0);
    memset(rows, 0, (size_t)(d->oh * d->iw) * sizeof *rows);
    for (int64_t p = 0; p < d->oh; p++)
        for (int64_t i = 0; i < d->kh; i++) {
            const int64_t h = row_of(d, p, i);
            const uint64_t factor = h < 0 || h >= d->ih ? 0 : f->rows[i];
            for (int64_t v = 0; v < d->iw && factor != 0; v++)
                rows[p * d->iw + v] = mod_add(rows[p * d->iw + v], mod_mul(factor, image[h * d->iw + v]));
        }
    for (int64_t p = 0; p < d->oh; p++)
        for (int64_t q = 0; q < d->ow; q++) {
            uint64_t at = 0;
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t v = col_of(d, q, j);
                if (v >= 0 && v < d->iw) at = mod_add(at, mod_mul(f->cols[j], rows[p * d->iw + v]));
            }
            sum = mod_add(sum, mod_mul(at, out[p * d->ow + q]));
        }
    f->z[task] = sum;
}

/* db is the sum of dy alone: its factors are those of its only axis. */
static uint64_t weights_formula(formula *f, bool bias, thread_pool *pool)
{
    const int64_t tasks = f->d.mb * f->d.g;
    const uint64_t *z = bias ? f->z_bias : f->z;
    uint64_t sum = 0;
    for (int64_t i = 0; i < f->d.kh; i++) f->rows[i] = bias ? 0 : f->r->factor[2][f->d.flip ? f->d.kh - 1 - i : i];
    for (int64_t j = 0; j < f->d.kw; j++) f->cols[j] = bias ? 0 : f->r->factor[3][f->d.flip ? f->d.kw - 1 - j : j];
    parallel_for(pool, tasks, weights_task, f);
    for (int64_t t = 0; t < tasks; t++) sum = mod_add(sum, z[t]);
    for (int axis = 1; axis < 4 && bias; axis++) sum = mod_mul(sum, f->r->factor[axis][0]);
    return sum;
}

cnn_status vf_projected_formula(const vf_case *c, int operand, const vf_factors *r, thread_pool *pool, uint64_t *sum,
                                cnn_error *err)
{
    const bool weights = c->call.dir == CNN_BWD_W, forward = c->call.dir == CNN_FWD;
    formula f = {.d = vf_as_conv(&c->problem), .call = &c->call, .r = r};
    const cnn_conv_desc *d = &f.d;
    f.in = vf_in(&c->call, forward ? "x" : "dy");
    f.channels = forward ? d->ic : d->oc;
    f.height = weights ? 1 : forward ? d->ih : d->oh;
    f.width = weights ? 1 : forward ? d->iw : d->ow;
    f.scratch_size = weights ? d->ih * d->iw + d->oh * d->iw + d->oh * d->ow : f.height * f.width;
    const int64_t z = weights ? d->mb * d->g : f.channels * d->kh * d->kw,
                  workers = pool ? thread_pool_threads(pool) : 1;
    const int64_t total = d->kh * f.height + d->kw * f.width + (weights ? 2 : 1) * z + workers * f.scratch_size;
    f.rows = calloc((size_t)total, sizeof(uint64_t));
    if (f.rows == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld partial sums", (long long)total);
    f.cols = f.rows + d->kh * f.height;
    f.z = f.cols + d->kw * f.width;
    f.z_bias = f.z + z;
    f.scratch = f.z_bias + (weights ? z : 0);
    *sum =
        weights ? weights_formula(&f, strcmp(c->call.operands[operand].name, "db") == 0, pool) : data_formula(&f, pool);
    free(f.rows);
    return CNN_OK;
}
