/* fill_quantized.c: the data of a problem whose results are quantized (cnn_quantization).
 *
 * x and w are of the whole range, their ends often among them. The scale is such that results are spread over the range
 * of y, and beyond both of its ends; where x is on one side of its zero point, the weights of a channel add up to
 * little, for all of its results were on one side else. With a scale for each channel, the weights of each third
 * channel are of the whole range, those of its neighbours of a quarter or a sixteenth of it, and the scales are as much
 * larger: results are as spread as the others', and a channel that takes its neighbour's scale is far off.
 *
 * Integers: the scale is a power of two. Variant 0 has products in the middle between two whole numbers: x - zero_x and
 * w are multiples of 16 (of 4, of 1), so that a product is either whole or a few halvings away from it. Reals: the
 * scale has all bits of an f32. */
#include "case.h"
#include "harness/cnn/half.h"

#include <math.h>
#include <string.h>

enum { STEP = 16, LEVELS = 3 };

static bool has_ties(const vf_case *c) { return c->fill == VF_INTEGERS && c->variant == 0; }

/* What divides the weights of a channel, and multiplies its scale. */
static double share_of(const vf_case *c, int64_t channel)
{
    return cnn_quantization_of(&c->problem).per_oc ? ldexp(1.0, 2 * (int)(channel % LEVELS)) : 1.0;
}

/* The numbers that a factor takes: zero + step * m, first <= m <= last. */
typedef struct numbers {
    double zero, step;
    int64_t first, last;
} numbers;

static numbers numbers_of(const vf_case *c, bool x, double share)
{
    const cnn_dtype dtype = cnn_part_dtype(c->problem.u.type.dtype, x ? CNN_PART_FACTOR : CNN_PART_WEIGHTS);
    const double zero = x ? cnn_quantization_of(&c->problem).zero_x : 0.0, step = has_ties(c) ? STEP / share : 1.0;
    const double least = cnn_whole_least(dtype), most = cnn_whole_most(dtype);
    return (numbers){.zero = zero,
                     .step = step,
                     .first = (int64_t)ceil((x ? least - zero : ceil(least / share)) / step),
                     .last = (int64_t)floor((x ? most - zero : floor(most / share)) / step)};
}

static double draw(const numbers *n, cnn_rng *rng)
{
    const int64_t end = rng_u64(rng) & 1 ? n->first : n->last, any = rng_int(rng, n->first, n->last);
    int64_t m = rng_int(rng, 0, 7) == 0 ? end : any;
    if (m == 0) m = n->last != 0 ? n->last : n->first; /* what adds nothing proves nothing */
    return n->zero + n->step * (double)m;
}

/* The root mean square of what is multiplied. */
static double size_of(const numbers *n)
{
    const double a = n->step * (double)n->first, b = n->step * (double)n->last;
    return sqrt((a * a + a * b + b * b) / 3.0);
}

/* How far the sums of a channel whose share is 1 are spread. */
static double spread_of(const vf_case *c, double density)
{
    const numbers x = numbers_of(c, true, 1.0), w = numbers_of(c, false, 1.0);
    return size_of(&x) * size_of(&w) * sqrt(fmax(1.0, density * vf_real_terms(&c->problem, c->call.dir)));
}

/* Results lie within 128 of zero_y, most of them; of a clipped ReLU about as far as its ceiling. Where there are to be
 * ties, the least product is a half at most. */
static double common_scale(const vf_case *c, double density)
{
    const cnn_epilogue e = cnn_epilogue_of(&c->problem);
    const double far = e.act == CNN_ACT_CLIPPED_RELU ? fmin(fmax(e.alpha, 4.0), 128.0) : 128.0;
    const double scale = ldexp(1.0, (int)nearbyint(log2(far / spread_of(c, density))));
    return has_ties(c) ? fmin(scale, 0.5 / (STEP * STEP)) : scale;
}

static void fill_scale(const vf_case *c, const cnn_operand *o, double density, cnn_rng *rng, double *v)
{
    const double common = common_scale(c, density);
    for (int64_t k = 0; k < o->count; k++) {
        const double bits = c->fill == VF_INTEGERS ? 1.0 : rng_real(rng, 0.75, 1.5);
        v[k] = common * share_of(c, k) * bits;
    }
}

/* Where zero_y is near an end of the range, a bias towards the other end: results would all be saturated else. But of
 * each fourth channel. What is below zero_y a ReLU takes away: it gets no bias downwards. */
static double towards_the_middle(const vf_case *c, int64_t channel, double bias)
{
    const cnn_dtype result = cnn_part_dtype(c->problem.u.type.dtype, CNN_PART_RESULT);
    const double at = cnn_quantization_of(&c->problem).zero_y - cnn_whole_least(result);
    const bool cut = at >= 192.0 && cnn_epilogue_of(&c->problem).act != CNN_ACT_IDENTITY;
    if (channel % 4 == 3 || (at > 64.0 && at < 192.0) || cut) return bias;
    return at <= 64.0 ? fabs(bias) : -fabs(bias);
}

static void fill_bias(const vf_case *c, const cnn_operand *o, double density, cnn_rng *rng, double *v)
{
    const double step = has_ties(c) ? STEP * STEP : 1.0;
    const int64_t most = (int64_t)fmax(1.0, 0.5 * spread_of(c, density) / step);
    for (int64_t k = 0; k < o->count; k++) {
        const double m = trunc((double)rng_int(rng, -most, most) / (step > 1.0 ? 1.0 : share_of(c, k)));
        v[k] = towards_the_middle(c, k, step > 1.0 ? m * step / share_of(c, k) : m);
    }
}

/* z has the whole range of its type, its ends often; beside a clipped ReLU every other lies about as far from zero_y as
 * its ceiling, for nearly all would be cut off else. */
static void fill_residual(const vf_case *c, const cnn_operand *o, cnn_rng *rng, double *v)
{
    const cnn_dtype dtype = cnn_part_dtype(c->problem.u.type.dtype, CNN_PART_RESULT);
    const cnn_epilogue e = cnn_epilogue_of(&c->problem);
    const double least = cnn_whole_least(dtype), most = cnn_whole_most(dtype);
    const double near = fmin(ceil(2.0 * e.alpha), most - least), zero = cnn_quantization_of(&c->problem).zero_y;
    for (int64_t i = 0; i < o->count; i++) {
        const double end = rng_u64(rng) & 1 ? least : most;
        const double any = (double)rng_int(rng, (int64_t)least, (int64_t)most);
        v[i] = rng_int(rng, 0, 7) == 0 ? end : any;
        if (e.act == CNN_ACT_CLIPPED_RELU && i % 2 == 1)
            v[i] = fmin(fmax(zero + (double)rng_int(rng, -(int64_t)near, (int64_t)near), least), most);
    }
}

/* Turns weights of a channel until their mean, times that of x, is no more than half of what results are spread. */
static void balance(const vf_case *c, const numbers *w, double *v, int64_t count)
{
    const numbers x = numbers_of(c, true, 1.0);
    const double least = x.step * (double)x.first, most = x.step * (double)x.last, mean = fabs(least + most) / 2.0;
    const double spread = (most - least) / sqrt(12.0) * size_of(w) * sqrt((double)count);
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += v[i];
    for (int64_t i = 0; i < count && fabs(sum) * mean > 0.5 * spread; i++) {
        const double turned = fmin(fmax(-v[i], w->step * (double)w->first), w->step * (double)w->last);
        if (!(fabs(sum - v[i] + turned) < fabs(sum))) continue;
        sum += turned - v[i];
        v[i] = turned;
    }
}

void vf_fill_quantized(const vf_case *c, const cnn_operand *o, double density, cnn_rng *rng, double *v)
{
    const bool w = strcmp(o->name, "w") == 0;
    if (o->elem == CNN_ELEM_SCALE) {
        fill_scale(c, o, density, rng, v);
        return;
    }
    if (o->elem == CNN_ELEM_BIAS) {
        fill_bias(c, o, density, rng, v);
        return;
    }
    if (o->elem == CNN_ELEM_RESULT) {
        fill_residual(c, o, rng, v);
        return;
    }
    const int64_t line = w ? o->count / o->dims[0] : o->count;
    for (int64_t first = 0; first < o->count; first += line) {
        const numbers n = numbers_of(c, !w, w ? share_of(c, first / line) : 1.0);
        for (int64_t i = first; i < first + line; i++) {
            v[i] = draw(&n, rng);
            if (w && !(rng_unit(rng) < density)) v[i] = 0.0;
        }
        if (w) balance(c, &n, v + first, line);
    }
}
