/* draw.c: everything of a case but its shape: implementation, threads, knobs, operation, type, kind, options. */
#include "fuzz.h"

#include "harness/cnn/half.h"
#include "harness/device/impl.h"
#include "harness/problem/shape.h"

#include <math.h>
#include <string.h>

/* A problem whose answer no data decides shows little more than that a kernel survives it: most are drawn anew. */
enum { MUTE_ONE_IN = 32 };

/* An emulated GPU takes a host's time for every thread of a grid. */
static const double default_flops = 5e5, emulated_flops = 3e4;

static bool chance(cnn_rng *rng, int one_in) { return rng_int(rng, 1, one_in) == 1; }

/* A random bit of the mask; 0 for none. */
static int draw_bit(cnn_rng *rng, uint32_t mask)
{
    int list[32], count = 0;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1u) list[count++] = i;
    return count == 0 ? 0 : list[rng_int(rng, 0, count - 1)];
}

/* ---- What a block of cases has in common. */

/* Near the default, at the least, or, where that is no waste, at the most. */
static int64_t draw_knob(cnn_rng *rng, const cnn_knob *k)
{
    if (k->values != NULL) return k->values[rng_int(rng, 0, k->n_values - 1)];
    const int64_t high = k->def > 0 && k->max / 16 > k->def && k->max > 4096 ? 16 * k->def : k->max;
    const int64_t choice[] = {k->min, high, k->def / 2, k->def > high / 2 ? high : 2 * k->def,
                              rng_int(rng, k->min, high)};
    int64_t value = choice[rng_int(rng, 0, 4)];
    if (value < k->min) value = k->min;
    return value > k->max ? k->max : value;
}

/* Half of the blocks keep the defaults, which is what most will run; the others change some. */
static void draw_setting(const fuzz_space *space, cnn_rng *rng, fuzz_case *c)
{
    static const int threads[] = {1, 1, 2, 2, 3, 4};
    cnn_error err;
    const cnn_impl *impl = space->impls[c->impl];
    const int drawn = threads[rng_int(rng, 0, 5)];
    c->threads = space->threads > 0 ? space->threads : drawn;
    memset(c->knobs, 0, sizeof c->knobs);
    if (impl->n_knobs > FUZZ_MAX_KNOBS) return; /* fuzz_run refuses it */
    if (cnn_knob_values(impl, space->settings, space->n_settings, c->knobs, &err) != CNN_OK) return;
    if (chance(rng, 2)) return;
    for (int i = 0; i < impl->n_knobs; i++) {
        const int64_t value = draw_knob(rng, &impl->knobs[i]);
        if (chance(rng, 3) && !cnn_is_set(impl, i, space->settings, space->n_settings)) c->knobs[i] = value;
    }
}

/* ---- One case. */

static double draw_of(cnn_rng *rng, const double *values, int count) { return values[rng_int(rng, 0, count - 1)]; }
#define DRAW_OF(rng, ...)                                                                                              \
    draw_of(rng, (const double[]){__VA_ARGS__}, (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double)))

static void draw_optimizer(cnn_rng *rng, cnn_problem *p)
{
    const char *const kinds[] = {"sgd", "momentum", "adagrad", "rmsprop", "adam"};
    cnn_error err;
    cnn_optimizer_desc *d = &p->u.optimizer;
    cnn_optimizer_parse(kinds[rng_int(rng, 0, 4)], d, &err);
    d->lr = DRAW_OF(rng, 0.0, 1e-5, 0.001, 0.01, 0.1, 1.0);
    d->l1 = DRAW_OF(rng, 0.0, 0.0, 1e-5, 0.01);
    d->l2 = DRAW_OF(rng, 0.0, 0.0, 1e-4, 0.1);
    d->decay_steps = DRAW_OF(rng, 0.0, 0.0, 10.0, 42.0, 1000.5);
    d->growth = DRAW_OF(rng, 0.0, 1.0, 2000.0);
    if (d->beta1 > 0.0) d->beta1 = DRAW_OF(rng, 0.5, 0.9, 0.99);
    if (d->beta2 > 0.0) d->beta2 = DRAW_OF(rng, 0.5, 0.9, 0.999);
    if (d->eps > 0.0) d->eps = DRAW_OF(rng, 1e-8, 1e-6, 1e-3);
}

/* Beside the sizes. Unusual values (flip, inference, no bias) come often enough for some hundred cases to hold them. */
static void draw_kind(const fuzz_space *space, cnn_rng *rng, cnn_problem *p)
{
    switch (p->op) {
    case CNN_OP_CONV:
    case CNN_OP_DECONV:
    case CNN_OP_CONV3D:
        p->u.conv.bias = !space->no_bias && !chance(rng, 4);
        p->u.conv.flip = space->flip || chance(rng, 8);
        break;
    case CNN_OP_FC:
        p->u.fc.bias = !space->no_bias && !chance(rng, 4);
        break;
    case CNN_OP_POOL:
    case CNN_OP_POOL3D:
        p->u.pool.kind = (cnn_pool_kind)rng_int(rng, 0, CNN_POOL_COUNT - 1);
        break;
    case CNN_OP_ACT:
        p->u.act.kind = (cnn_act_kind)rng_int(rng, 0, CNN_ACT_COUNT - 1);
        if (p->u.act.kind == CNN_ACT_LEAKY_RELU || p->u.act.kind == CNN_ACT_CLIPPED_RELU ||
            p->u.act.kind == CNN_ACT_ELU || p->u.act.kind == CNN_ACT_SCALE)
            p->u.act.alpha = DRAW_OF(rng, 0.01, 0.1, 0.25, 0.5, 1.0, 2.0, 6.0);
        break;
    case CNN_OP_LOSS:
        p->u.loss.kind = (cnn_loss_kind)rng_int(rng, 0, CNN_LOSS_COUNT - 1);
        break;
    case CNN_OP_DROPOUT:
        p->u.dropout.inference = chance(rng, 6);
        p->u.dropout.rate = p->u.dropout.inference ? 0.5 : DRAW_OF(rng, 0.0, 0.1, 0.2, 0.5, 0.55, 0.75);
        p->u.dropout.seed = 1;
        break;
    case CNN_OP_BATCHNORM:
        p->u.batchnorm.inference = chance(rng, 4);
        p->u.batchnorm.eps = 1e-5, p->u.batchnorm.momentum = 0.1;
        break;
    case CNN_OP_OPTIMIZER:
        draw_optimizer(rng, p);
        break;
    default:
        break;
    }
}

static uint32_t ops_served(const fuzz_space *space, const cnn_impl *impl)
{
    uint32_t ops = 0;
    for (int i = 0; i < impl->n_algorithms; i++)
        if (space->chosen == NULL || space->chosen(space->user, impl, &impl->algorithms[i]))
            ops |= impl->algorithms[i].ops;
    return ops & space->ops & ((1u << CNN_OP_COUNT) - 1);
}

/* Convolutions as often as all others together. */
static cnn_op draw_op(cnn_rng *rng, uint32_t ops)
{
    const uint32_t conv = 1u << CNN_OP_CONV;
    const bool first = chance(rng, 2);
    if (ops & conv && (first || ops == conv)) return CNN_OP_CONV;
    return (cnn_op)draw_bit(rng, ops & ~conv);
}

/* A mode that allows less than f32 needs f32 data, and products to use it in. */
static cnn_math draw_math(const fuzz_space *space, cnn_rng *rng, const cnn_problem *p)
{
    const bool products = cnn_is_weighted(p);
    const int other = (int)rng_int(rng, 1, CNN_MATH_COUNT - 1);
    if (space->maths != 0) return (cnn_math)draw_bit(rng, space->maths);
    return products && p->u.type.dtype == CNN_F32 && chance(rng, 24) ? (cnn_math)other : CNN_MATH_F32;
}

/* A zero point of a type: none, any, or an end of it. */
static int16_t draw_zero(cnn_rng *rng, cnn_dtype dtype)
{
    const int64_t least = (int64_t)cnn_whole_least(dtype), most = (int64_t)cnn_whole_most(dtype);
    const int64_t choice[] = {0, least, most, (least + most) / 2, rng_int(rng, least, most), rng_int(rng, least, most)};
    return (int16_t)choice[rng_int(rng, 0, 5)];
}

static void draw_quantization(cnn_rng *rng, cnn_problem *p)
{
    const cnn_dtype dtype = p->u.type.dtype;
    cnn_quantization *quant = fuzz_quantization(p);
    if (!cnn_is_quantized(dtype) || quant == NULL) return;
    quant->zero_x = draw_zero(rng, cnn_part_dtype(dtype, CNN_PART_FACTOR));
    quant->zero_y = draw_zero(rng, cnn_part_dtype(dtype, CNN_PART_RESULT));
    quant->per_oc = chance(rng, 2);
}

/* Whether any of its algorithms that are chosen takes epilogues of the operation. */
static bool takes_epilogues(const fuzz_space *space, const cnn_impl *impl, const cnn_problem *p)
{
    const uint32_t flag = cnn_is_quantized(p->u.type.dtype) ? CNN_ALGO_QUANTIZED_EPILOGUES : CNN_ALGO_EPILOGUES;
    for (int i = 0; i < impl->n_algorithms; i++) {
        const cnn_algorithm *a = &impl->algorithms[i];
        if (a->ops & 1u << p->op && a->flags & flag && (space->chosen == NULL || space->chosen(space->user, impl, a)))
            return true;
    }
    return false;
}

/* One problem in six has one, half of them a ReLU. */
static void draw_epilogue(const fuzz_space *space, const cnn_impl *impl, cnn_rng *rng, cnn_problem *p)
{
    cnn_epilogue *e = fuzz_epilogue(p);
    const bool quantized = cnn_is_quantized(p->u.type.dtype);
    if (e == NULL || (cnn_sums_whole(p->u.type.dtype) && !quantized)) return;
    if (space->epilogue != NULL) *e = *space->epilogue;
    if (space->epilogue != NULL || !takes_epilogues(space, impl, p) || !(space->dirs & 1u << CNN_FWD) ||
        !chance(rng, 6))
        return;
    e->add = chance(rng, 2);
    const cnn_act_kind last = quantized ? CNN_ACT_CLIPPED_RELU : (cnn_act_kind)(CNN_ACT_COUNT - 1);
    e->act = chance(rng, 2) ? CNN_ACT_RELU : (cnn_act_kind)rng_int(rng, 0, last);
    e->alpha = cnn_act_default_alpha(e->act) == 0.0 ? 0.0 : DRAW_OF(rng, 0.01, 0.25, 0.3, 1.0, 2.0, 6.0);
    if (quantized && e->act == CNN_ACT_CLIPPED_RELU) e->alpha *= 16.0; /* it counts y's steps */
}

/* False: what was drawn is no valid problem. */
static bool draw_problem(const fuzz_space *space, cnn_rng *rng, uint32_t ops, fuzz_case *c)
{
    cnn_problem *p = &c->problem;
    memset(p, 0, sizeof *p);
    p->op = draw_op(rng, ops);
    draw_kind(space, rng, p);
    uint32_t taken = space->dtypes & (uint32_t)cnn_impl_dtypes(space->impls[c->impl]);
    for (int i = 0; i < CNN_DTYPE_COUNT; i++)
        if (cnn_is_joined((cnn_dtype)i) && (!cnn_is_weighted(p) || p->op == CNN_OP_DECONV)) taken &= ~(1u << i);
    p->u.type.dtype = (cnn_dtype)draw_bit(rng, taken != 0 ? taken : space->dtypes);
    p->u.type = cnn_type_for(p->op, p->u.type);
    draw_quantization(rng, p);
    draw_epilogue(space, space->impls[c->impl], rng, p);
    if (p->op == CNN_OP_OPTIMIZER && !cnn_is_mixed(&p->u.type)) p->u.optimizer.growth = 0.0;
    p->u.type.layout = (cnn_layout)draw_bit(rng, space->layouts);
    p->u.type.math = draw_math(space, rng, p);
    const bool emulated = space->impls[c->impl]->device_kind == CNN_DEVICE_EMULATED;
    const double most = space->flops > 0.0 ? space->flops : emulated ? emulated_flops : default_flops;
    fuzz_draw_shape(rng, p, ldexp(most, -(int)rng_int(rng, 0, 8)), !emulated, &space->pins, &c->shape);
    return fuzz_build(&c->shape, p);
}

/* Implementations come in turn. The first blocks are short, so that a few cases reach all of them. */
static int64_t block_of(const fuzz_space *space, int64_t index)
{
    enum { SHORT = 8 };
    const int64_t early = (int64_t)FUZZ_BLOCK * space->n_impls;
    return index < early ? index / SHORT : early / SHORT + (index - early) / FUZZ_BLOCK;
}

void fuzz_draw(const fuzz_space *space, uint64_t seed, int64_t index, int attempt, fuzz_case *c)
{
    const int64_t block = block_of(space, index);
    cnn_rng setting = rng_stream(seed, (uint64_t)block);
    cnn_rng rng = rng_stream(~seed ^ (uint64_t)attempt << 40, (uint64_t)index);
    bool valid;
    uint32_t dirs;
    memset(c, 0, sizeof *c);
    c->seed = seed;
    c->index = index;
    c->impl = (int)(block % space->n_impls);
    draw_setting(space, &setting, c);
    const uint32_t ops = ops_served(space, space->impls[c->impl]);
    do {
        valid = draw_problem(space, &rng, ops, c);
        dirs = cnn_op_dirs(&c->problem) & space->dirs;
        c->dir = (cnn_dir)draw_bit(&rng, dirs);
    } while (!valid || (dirs == 0 && !chance(&rng, 50)) ||
             (!fuzz_tells(&c->problem, c->dir) && !chance(&rng, MUTE_ONE_IN)));
    c->pick = rng_u64(&rng);
    c->data_seed = rng_u64(&rng) >> 33;
}
