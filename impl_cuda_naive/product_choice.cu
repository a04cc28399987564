/* product_choice.cu: how many rows a block has, and in how many parts the steps are cut: host side of product.h.
 *
 * What counts is how much the multiprocessor with most blocks has to do. That is estimated for each choice, for a GPU
 * of 132 multiprocessors whatever the device is, so that results have the same bits on every one. */
#include "impl_cuda_naive/product.h"

/* Costs in steps of 64 rows on one multiprocessor, which multiply-adds at an H200's full rate take 0.26 us for. All are
 * reckoned or guessed. Measured is why blocks are counted by rounds: 512 channels of 7x7, cut so that an H200 had four
 * blocks a multiprocessor where three run at once, took version 6 244 us; with two at once, which is two whole rounds,
 * 179. And BWD_W of 64 channels took version 5 272 us by five blocks of 64 rows a multiprocessor, by four 214. */
enum { MULTIPROCESSORS = 132, MOST_SPLITS = 64 };
static const double busy_rows = 288;       /* fewer rows a multiprocessor leave it waiting */
static const double begin_cost = 4;        /* of a block: first loads, last stores, in steps */
static const double narrow_cost = 1.1;     /* 64 rows load more for a multiplication than 128 */
static const double finish_cost = 12;      /* of the second launch, */
static const double element_cost = 1.3e-6; /* and of a byte of a part, which is written and read */

static double cost_of(const product_size &s, int32_t rows, int32_t splits)
{
    const int64_t tiles = rows == 128 ? s.tiles_128 : s.tiles_64, blocks = ceil_div(tiles * splits, MULTIPROCESSORS);
    const int64_t at_once = s.threads / rows;
    const double rest = (double)(blocks % at_once * rows), most = (double)s.threads;
    const double busy = busy_rows < most ? busy_rows : most; /* a round that is not full takes so long at least */
    const double lines = (double)(blocks * rows) - rest + (rest == 0 || rest > busy ? rest : busy);
    const double work = (double)ceil_div(s.steps, splits) + begin_cost;
    const double adding = splits > 1 ? finish_cost + element_cost * (double)s.part * splits : 0;
    return lines / 64 * work * (rows == 64 ? narrow_cost : 1) + adding;
}

int64_t product_room(const int64_t *knobs, int64_t taken)
{
    const size_t limit = cuda_workspace_limit(knobs);
    return (limit > INT64_MAX ? INT64_MAX : (int64_t)limit) - taken;
}

product_choice product_choose(const product_size &s, const int64_t *knobs)
{
    const int32_t rows = (int32_t)knobs[NAIVE_KNOB_PRODUCT_ROWS], splits = (int32_t)knobs[NAIVE_KNOB_PRODUCT_SPLITS];
    product_choice best = {rows != 0 ? rows : 64, splits != 0 ? splits : 1};
    for (int32_t r = 64; r <= 128; r *= 2)
        for (int32_t n = 1; n <= MOST_SPLITS; n++) {
            if (rows != 0 && r != rows) continue;
            if (splits != 0 ? n != splits : n > 1 && (n > s.steps || s.part * n > s.room)) continue;
            if (cost_of(s, r, n) < cost_of(s, best.rows, best.splits)) best = {r, n};
        }
    return best;
}

cnn_status product_check(const char *version, const cnn_conv_desc *d, cnn_error *err)
{
    /* From one channel to the sixteenth behind it there are fewer than 2^32 bytes, then. */
    const int64_t most = INT64_C(1) << 24;
    if (conv_fits_32(d, d->mb) && d->ih <= most / d->iw && d->oh <= most / d->ow) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "%s counts in 32 bits, and %lld images of %lld x %lld x %lld to %lld x %lld x %lld are too large "
                    "for that; use algorithm v4 or v2",
                    version, (long long)d->mb, (long long)d->ic, (long long)d->ih, (long long)d->iw, (long long)d->oc,
                    (long long)d->oh, (long long)d->ow);
}

/* ---- Version 6. */

enum { TERMS_ENOUGH = 16 };

/* Of one axis, how many outputs tap t has, at the fewest of taps that have any. */
static int64_t fewest_outputs(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t step)
{
    int64_t least = INT64_MAX;
    for (int64_t t = 0; t < k; t++) {
        const int64_t start = p - t * step, first = start <= 0 ? 0 : ceil_div(start, s); /* where it is inside */
        const int64_t end = start + i <= 0 ? 0 : smaller(o, ceil_div(start + i, s));
        if (end > first) least = smaller(least, end - first);
    }
    return least == INT64_MAX ? 0 : least;
}

/* Whether each result that has terms has so many. A tap of FWD or BWD_D has all channels of a group. */
static bool has_terms_enough(const cnn_conv_desc *d, cnn_dir dir)
{
    if (dir != CNN_BWD_W) return (dir == CNN_FWD ? d->ic : d->oc) / d->g >= TERMS_ENOUGH;
    return d->mb * fewest_outputs(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh + 1) *
               fewest_outputs(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw + 1) >=
           TERMS_ENOUGH;
}

cnn_status product_cores_way(const cuda_context *c, const cnn_request *r, product_way *way, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    if (d->t.dtype == CNN_F64)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "f64: the tensor cores are used for f32, f16 and bf16 here; use algorithm v5");
    if (c->properties.major < 8)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "its products on tensor cores (mma.sync of TF32) are of compute capability 8.0 and later, and "
                        "this device has %d.%d; use algorithm v5",
                        c->properties.major, c->properties.minor);
    const bool one = cuda_has_half(d->t.dtype) || d->t.math == CNN_MATH_TF32;
    *way = one ? PRODUCT_ONE : has_terms_enough(d, r->dir) ? PRODUCT_THREE : PRODUCT_UNITS;
    return CNN_OK;
}
