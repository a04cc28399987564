/* fill.c: the data of a case.
 *
 * Integers. One factor of every product is wide: odd integers that need 12 significant bits (31 for f64), one bit more
 * than TF32 and f16 keep, so that rounding it changes it by at least 1. The other is -1 or 1, or 0 so often that no
 * sum of absolute values reaches 2^24 (2^53): then every partial sum is exact in any order. In variant 1 the roles are
 * swapped. Where the math mode allows fewer bits, the wide factor has no more than these. Then all are multiplied by
 * powers of two: sums are as exact as before, and nobody can tell at a glance that they will be.
 *
 * A clipped ReLU takes eighths of its ceiling instead: it passes them on, or not, as it does integers.
 *
 * Problems of integers (u8:s8:s32) have nothing else: factors of the whole range, its ends often among them, and
 * results that need all bits of an f32 and more, so that sums in f32 or of 16 bits show. In place of reals, all factors
 * of an output channel have one sign: its sum grows as long as it can.
 *
 * Reals. Uniform in [-1, 1); activations and logits get a wider range and extremes, since functions saturate there.
 * Factors of products have tiny ones among them, and lines with a single large one (hide.c). */
#include "bounds.h"
#include "element.h"
#include "harness/cnn/half.h"
#include "lines.h"
#include "pieces.h"

#include <math.h>
#include <string.h>

static uint64_t hash_name(const char *name)
{
    uint64_t h = 1469598103934665603u;
    for (; *name != '\0'; name++) h = (h ^ (uint64_t)(unsigned char)*name) * 1099511628211u;
    return h;
}

static bool is(const cnn_operand *o, const char *name) { return strcmp(o->name, name) == 0; }

double vf_exact_limit(const cnn_problem *p)
{
    return cnn_sums_whole(p->u.type.dtype) ? 0x1p31 : p->u.type.dtype == CNN_F64 ? 0x1p53 : 0x1p24;
}

double vf_odd_integer(cnn_rng *rng, int bits)
{
    const int64_t half = (int64_t)1 << (bits - 1);
    const double size = bits == 1 ? 1.0 : (double)(half + 1 + 2 * rng_int(rng, 0, half / 2 - (half > 1)));
    return rng_u64(rng) & 1 ? size : -size;
}

int vf_wide_bits(const cnn_problem *p)
{
    const int bits = vf_rounding_of(p, NULL).bits;
    return bits == 53 ? 31 : bits == 24 ? 12 : bits;
}

double vf_terms(const cnn_problem *p, cnn_dir dir)
{
    if (cnn_is_conv(p)) {
        const cnn_conv_desc conv = vf_as_conv(p), *d = &conv;
        const bool forward = vf_conv_dir(p, dir) == CNN_FWD, turned = p->op == CNN_OP_DECONV;
        if (dir == CNN_BWD_W) return (double)d->mb * (double)(turned ? d->ih * d->iw : d->oh * d->ow); /* db's */
        return (double)(d->kh * d->kw) * (double)((forward ? d->ic : d->oc) / d->g);
    }
    if (p->op == CNN_OP_FC) {
        const cnn_fc_desc *d = &p->u.fc;
        return dir == CNN_FWD ? (double)(d->ic * d->ih * d->iw) : (double)(dir == CNN_BWD_D ? d->oc : d->mb);
    }
    if (!cnn_is_pool(p)) return 1.0;
    const cnn_pool_desc pool = cnn_pool_with_depth(p);
    return (double)(pool.kd * pool.kh * pool.kw);
}

/* As many products as an element can have at most: a kernel of 65,539 taps on an image of one pixel has one. Counting
 * them all would leave so few integers other than 0 that a small operand had none at all. */
double vf_real_terms(const cnn_problem *p, cnn_dir dir)
{
    if (!cnn_is_conv(p) || dir == CNN_BWD_W) return vf_terms(p, dir);
    const cnn_conv_desc conv = vf_as_conv(p), *d = &conv;
    const bool forward = vf_conv_dir(p, dir) == CNN_FWD;
    const double deep = fmin((double)d->kd, (double)(forward ? d->id : d->od));
    const double high = fmin((double)(d->kh / d->kd), (double)(forward ? d->ih / d->id : d->oh / d->od));
    const double wide = fmin((double)d->kw, (double)(forward ? d->iw : d->ow));
    return deep * high * wide * (double)((forward ? d->ic : d->oc) / d->g);
}

double vf_exact_density(const cnn_problem *p, cnn_dir dir)
{
    const double largest = 255.0 * 128.0;
    if (cnn_sums_whole(p->u.type.dtype)) return fmin(1.0, 0x1p30 / largest / vf_real_terms(p, dir));
    /* half the limit, to leave room for an uneven draw, bias and beta; a wide integer is 3/4 * 2^bits on average */
    return fmin(1.0, 0.5 * vf_exact_limit(p) / (0.75 * ldexp(1.0, vf_wide_bits(p))) / vf_real_terms(p, dir));
}

typedef struct factor_fill {
    int bits;
    bool sparse;
    double density, *v;
} factor_fill;

static void draw_factor(void *user, int64_t first, int64_t last, cnn_rng *rng)
{
    const factor_fill *f = user;
    for (int64_t i = first; i < last; i++) {
        const double value = vf_odd_integer(rng, f->bits);
        f->v[i] = f->sparse && !(rng_unit(rng) < f->density) ? 0.0 : value;
    }
}

/* dy is the sparse factor wherever it takes part: db is a sum of dy alone. */
static void fill_factor(const vf_case *c, const cnn_operand *o, double density, cnn_rng *rng, double *v)
{
    const bool sparse = c->call.dir == CNN_FWD ? is(o, "w") : is(o, "dy"), wide = sparse == (c->variant == 1);
    factor_fill f = {wide ? vf_wide_bits(&c->problem) : 1, sparse, density, v};
    const int draws = (f.bits == 1 ? 1 : 2) + sparse;
    vf_draw_pieces(c->call.pool, o->count, draws, rng, draw_factor, &f);
}

/* Of a problem of integers. */
static void fill_whole(const vf_case *c, const cnn_operand *o, double density, cnn_rng *rng, double *v)
{
    const cnn_dtype dtype = cnn_elem_dtype(&c->problem.u.type, o->elem);
    const bool large = o->elem == CNN_ELEM_RESULT || o->elem == CNN_ELEM_BIAS, w = is(o, "w");
    const double least = large ? -0x1p29 : cnn_whole_least(dtype), most = large ? 0x1p29 : cnn_whole_most(dtype);
    const int64_t line = w ? o->count / o->dims[0] : 1;
    for (int64_t i = 0; i < o->count; i++) {
        const double end = rng_u64(rng) & 1 ? least : most;
        v[i] = !large && rng_int(rng, 0, 7) == 0 ? end : (double)rng_int(rng, (int64_t)least, (int64_t)most);
        if (v[i] == 0.0) v[i] = most; /* as for reals: of a single product nothing else would contribute */
        if (c->fill != VF_INTEGERS && !large) v[i] = most - fmod(fabs(v[i]), floor(most / 2.0) + 1.0); /* upper half */
        if (c->fill != VF_INTEGERS && w && i / line % 2 == 1) v[i] = -v[i];
        if (w && !(rng_unit(rng) < density)) v[i] = 0.0;
    }
}

bool vf_is_factor(const cnn_operand *o) { return is(o, "x") || is(o, "w") || is(o, "dy"); }

/* The power of two that takes the largest of the values to within [1/8, 1). */
static double draw_unit(thread_pool *pool, const double *v, int64_t count, cnn_rng *rng)
{
    int exponent;
    frexp(vf_largest_size(pool, v, count), &exponent);
    return ldexp(1.0, -exponent - (int)rng_int(rng, 0, 2));
}

/* In f16 the multiples of 2^-24 that are below 2^-14 are subnormal numbers, which some kernels flush: in variant 0 the
 * results are small enough that many are among them. What the units are to be multiplied with. */
static double down_to_subnormals(const vf_case *c, double products)
{
    return c->problem.u.type.dtype == CNN_F16 && c->variant == 0 ? 0x1p-24 / products : 1.0;
}

typedef struct scaling {
    double *v, by;
} scaling;

static void scale_piece(void *user, int64_t first, int64_t last)
{
    const scaling *s = user;
    for (int64_t i = first; i < last; i++) s->v[i] *= s->by;
}

void vf_scale_integers(vf_case *c)
{
    cnn_rng rng = rng_stream(c->seed, 9100 + (uint64_t)c->variant);
    double products = 1.0, dy = 1.0;
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (!vf_is_factor(o)) continue;
        c->unit[i] = draw_unit(c->call.pool, c->before[i], o->count, &rng);
        products *= c->unit[i];
    }
    const double down = down_to_subnormals(c, products);
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (is(o, c->call.dir == CNN_FWD ? "w" : "dy")) c->unit[i] *= down; /* the one of a single bit */
        if (is(o, "dy")) dy = c->unit[i];
    }
    products *= down;
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (!vf_is_factor(o)) c->unit[i] = is(o, "db") ? dy : products;
        scaling by = {c->before[i], c->unit[i]};
        if (c->before[i] != NULL) vf_pieces(c->call.pool, o->count, scale_piece, &by);
    }
}

static bool is_clipped(const cnn_problem *p) { return p->op == CNN_OP_ACT && p->u.act.kind == CNN_ACT_CLIPPED_RELU; }

/* Below 0, between 0 and the ceiling, where alone the gradient lives, and above, each with both kinks: multiples of an
 * eighth of the ceiling, since there may be no integer below it. */
static double clipped_input(double ceiling, int64_t i, cnn_rng *rng)
{
    return ceiling / 8.0 * (double)(i % 3 == 0 ? rng_int(rng, 1, 7) : rng_int(rng, -8, 16));
}

/* Windows with several equal maxima, and not the same one in all of them: of many taps, one has the largest number that
 * there is. Whole numbers that bf16 holds. */
static int64_t range_of_maxima(const cnn_problem *p)
{
    const double taps = vf_terms(p, CNN_FWD);
    return taps <= 9 ? 3 : taps < 127 ? (int64_t)taps : 127;
}

static void fill_integers(const vf_case *c, const cnn_operand *o, double density, cnn_rng *rng, double *v)
{
    if (cnn_is_weighted(&c->problem) && vf_is_factor(o)) {
        fill_factor(c, o, density, rng, v);
        return;
    }
    bool act = c->problem.op == CNN_OP_ACT && is(o, "x"), add = c->problem.op == CNN_OP_ADD;
    bool max = cnn_is_pool(&c->problem) && c->problem.u.pool.kind == CNN_POOL_MAX && is(o, "x");
    int64_t range = act                            ? 8
                    : cnn_is_weighted(&c->problem) ? 1023
                                                   : 4095; /* an activation gets zeros and its ceiling too */
    if (max) range = range_of_maxima(&c->problem);
    for (int64_t i = 0; i < o->count; i++)
        v[i] = act && is_clipped(&c->problem) ? clipped_input(c->problem.u.act.alpha, i, rng)
               : add                          ? vf_odd_integer(rng, vf_wide_bits(&c->problem))
                                              : (double)rng_int(rng, -range, range);
}

static void fill_act(const vf_case *c, const cnn_operand *o, cnn_rng *rng, double *v)
{
    const cnn_act_desc *d = &c->problem.u.act;
    double high = d->kind == CNN_ACT_CLIPPED_RELU ? 2.0 * d->alpha + 1.0 : 4.0;
    const double held = cnn_act_ceiling(d), ceiling = d->alpha == held ? held : 0.0;
    for (int64_t i = 0; i < o->count; i++) {
        v[i] = is_clipped(&c->problem) && i % 3 == 0 ? rng_real(rng, 0.0, d->alpha) : rng_real(rng, -high, high);
        if (i % 17 == 16) v[i] *= 20.0;                            /* where e^x leaves 1 far behind */
        if (i % 23 == 22) v[i] = rng_u64(rng) & 1 ? 0.0 : ceiling; /* the kinks, whose side cnn.h fixes */
        if (i % 29 == 28) v[i] *= 0x1p-12;                         /* where 1 - e^x cancels */
        /* with a ceiling that the type cannot hold, x may be compared to it before or after it is rounded */
        if (is_clipped(&c->problem) && ceiling == 0.0 && cnn_stored(d->t.dtype, v[i]) == held) v[i] = d->alpha / 2.0;
    }
}

typedef struct range_fill {
    double low, high, *v;
} range_fill;

static void draw_range(void *user, int64_t first, int64_t last, cnn_rng *rng)
{
    const range_fill *f = user;
    for (int64_t i = first; i < last; i++) f->v[i] = rng_real(rng, f->low, f->high);
}

/* Where a function has a place at which kernels go wrong, the data reach it. */
static void fill_reals(const vf_case *c, const cnn_operand *o, cnn_rng *rng, double *v)
{
    double low = -1.0, high = 1.0;
    if (c->problem.op == CNN_OP_ACT && is(o, "x")) {
        fill_act(c, o, rng, v);
        return;
    }
    if (is(o, "gamma") || is(o, "running_var") || is(o, "loss_sum")) low = 0.5, high = 1.5;
    if (c->problem.op == CNN_OP_LOSS && is(o, "x")) low = -4.0, high = 4.0;
    range_fill f = {low, high, v};
    vf_draw_pieces(c->call.pool, o->count, 1, rng, draw_range, &f);
    if (c->problem.op == CNN_OP_BATCHNORM &&
        is(o, "x")) /* each channel has a mean and a spread of its own, and drifts */
        for (int64_t i = 0; i < o->count; i++) {
            int64_t plane = i / (o->dims[2] * o->dims[3]);
            double channel = (double)(plane % o->dims[1]), image = (double)(plane / o->dims[1]);
            v[i] = v[i] * (1.0 + fmod(channel, 3.0)) + 0.5 * (fmod(channel, 5.0) - 2.0) + image / (double)o->dims[0];
        }
    if (c->problem.op == CNN_OP_LOSS && is(o, "x")) /* e^x of an unshifted row would overflow */
        for (int64_t i = 0; i < o->count; i++) {
            int64_t row = i / o->dims[1];
            if (row % 3 == 1) v[i] += 200.0;
            if (row % 5 == 4) v[i] = v[row * o->dims[1]]; /* all equal: the first is the answer */
        }
}

/* A power of two, as loss scales are, small enough that no gradient overflows f16: logits reach 204. A loss gets none
 * of 1, which one that forgets it would pass. For an optimizer also how long S has been what it is, half of the time
 * long enough that it grows now, and how many steps were left out. */
static void fill_scaling(const vf_case *c, const cnn_operand *o, cnn_rng *rng, double *v)
{
    v[CNN_LOSS_SCALE] = ldexp(1.0, (int)rng_int(rng, o->count == 1, 8));
    if (o->count == 1) return;
    const double growth = c->problem.u.optimizer.growth, most = growth > 1.0 ? growth - 1.0 : 0.0;
    v[CNN_STEPS_KEPT] = rng_u64(rng) & 1 ? floor(most) : floor(rng_real(rng, 0.0, most));
    v[CNN_STEPS_LEFT_OUT] = (double)rng_int(rng, 0, 9);
}

/* Steps are left out in variant 2: for one gradient of many, wherever it stands. */
static void break_gradient(const vf_case *c, const cnn_operand *o, cnn_rng *rng, double *v)
{
    static const double broken[] = {INFINITY, -INFINITY, NAN};
    if (c->variant == 2 && is(o, "grad")) v[rng_int(rng, 0, o->count - 1)] = broken[rng_int(rng, 0, 2)];
}

/* The state of an optimizer at its start is zero; on its way, s is never negative. At a rate of 0 nothing would move a
 * velocity of 0. */
static void fill_optimizer(const vf_case *c, const cnn_operand *o, cnn_rng *rng, double *v)
{
    cnn_optimizer_kind kind = c->problem.u.optimizer.kind;
    bool state = is(o, "state0") || is(o, "state1");
    bool square = is(o, "state1") || (is(o, "state0") && (kind == CNN_ADAGRAD || kind == CNN_RMSPROP));
    for (int64_t i = 0; i < o->count; i++) {
        v[i] = rng_real(rng, square ? 0.0 : -1.0, 1.0);
        if (state && c->variant == 0 && c->problem.u.optimizer.lr > 0.0) v[i] = 0.0;
        if (!state && i % 31 == 30) v[i] = 0.0; /* sign(0) = 0; a gradient of nothing */
    }
    break_gradient(c, o, rng, v);
}

static int64_t classes_of(const cnn_problem *p) { return p->op == CNN_OP_LOSS ? p->u.loss.ic : 1; }

void vf_fill_values(const vf_case *c, const cnn_operand *o, double density, double *v)
{
    uint64_t kind = c->fill == VF_INTEGERS ? 1 : 0;
    cnn_rng rng = rng_stream(c->seed, hash_name(o->name) + 2 * (uint64_t)c->variant + kind);
    if (o->elem == CNN_ELEM_I32)
        for (int64_t i = 0; i < o->count; i++) v[i] = (double)rng_int(&rng, 0, classes_of(&c->problem) - 1);
    else if (o->elem == CNN_ELEM_I64)
        for (int64_t i = 0; i < o->count; i++) v[i] = c->problem.op == CNN_OP_OPTIMIZER && c->variant == 0 ? 0.0 : 41.0;
    else if (is(o, "loss_scale") || is(o, "scaling"))
        fill_scaling(c, o, &rng, v);
    else if (cnn_is_quantized(c->problem.u.type.dtype))
        vf_fill_quantized(c, o, density, &rng, v);
    else if (cnn_sums_whole(c->problem.u.type.dtype))
        fill_whole(c, o, density, &rng, v);
    else if (c->problem.op == CNN_OP_OPTIMIZER)
        fill_optimizer(c, o, &rng, v);
    else if (c->fill == VF_INTEGERS)
        fill_integers(c, o, density, &rng, v);
    else
        fill_reals(c, o, &rng, v);
    if (vf_has_lines(c)) vf_hide(c, o, &rng, v);
    vf_round(c->call.pool, &c->problem, o, v);
}
