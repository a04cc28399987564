/* cpu_conv.h: what the tests of impl_cpu's convolutions share: shapes to problems, operands, the defining sums.
 *
 * Every operand is kept twice: as doubles in NCHW, which reference() works on, and as the memory, in the problem's
 * dtype and layout, that the implementation is given. The reference is worked out once, for all runs. */
#ifndef TESTS_IMPL_CPU_CPU_CONV_H
#define TESTS_IMPL_CPU_CPU_CONV_H

#include "harness/base/rng.h"
#include "harness/cnn.h"
#include "harness/cnn/half.h"
#include "harness/problem/shape.h"
#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>

const cnn_impl *cnn_impl_cpu(void);

enum { KNOBS_MAX = 16 };

/* A context, and the knobs of its requests. */
typedef struct cpu_session {
    cnn_context *context;
    int64_t knobs[KNOBS_MAX];
} cpu_session;

static inline cpu_session open_cpu(int threads, int64_t isa, int64_t block_kib)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    cpu_session s = {.context = NULL};
    assert_true(cpu->n_knobs <= KNOBS_MAX);
    for (int i = 0; i < cpu->n_knobs; i++) {
        s.knobs[i] = cpu->knobs[i].def;
        if (strcmp(cpu->knobs[i].name, "isa") == 0) s.knobs[i] = isa;
        if (strcmp(cpu->knobs[i].name, "im2col.block_kib") == 0) s.knobs[i] = block_kib;
    }
    const cnn_open_params params = {threads, 0, s.knobs, NULL};
    cnn_error err;
    assert_int_equal(cpu->open(&params, &s.context, &err), CNN_OK);
    return s;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

typedef struct shape {
    const char *what;
    int64_t g, mb, ic, ih, iw, oc, kh, kw, sh, sw, ph, pw, ph_r, pw_r, dh, dw;
} shape;

static inline cnn_problem make_problem(const shape *s, cnn_dtype dtype, cnn_layout layout, bool bias, bool flip)
{
    cnn_problem p = {.op = CNN_OP_CONV};
    p.u.conv = (cnn_conv_desc){.t = {dtype, dtype, layout, CNN_MATH_F32},
                               .g = s->g,
                               .mb = s->mb,
                               .ic = s->ic,
                               .ih = s->ih,
                               .iw = s->iw,
                               .oc = s->oc,
                               .oh = cnn_out_size(s->ih, s->kh, s->sh, s->ph, s->ph_r, s->dh),
                               .ow = cnn_out_size(s->iw, s->kw, s->sw, s->pw, s->pw_r, s->dw),
                               .kh = s->kh,
                               .kw = s->kw,
                               .sh = s->sh,
                               .sw = s->sw,
                               .ph = s->ph,
                               .pw = s->pw,
                               .dh = s->dh,
                               .dw = s->dw,
                               .bias = bias,
                               .flip = flip};
    cnn_conv_desc *d = &p.u.conv;
    d->ph_r = cnn_right_pad(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh);
    d->pw_r = cnn_right_pad(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw);
    cnn_error err;
    if (cnn_problem_check(&p, &err) != CNN_OK) fail_msg("%s: %s", s->what, err.message);
    return p;
}

/* ---- Operands: doubles in NCHW, and what the implementation is given -----------------------------------------------
 */

typedef struct operand {
    cnn_operand info;
    double *values;        /* outputs: what they hold before, and after reference() what they must hold */
    int64_t *places;       /* where each of them stands in memory, counted in elements */
    void *before, *memory; /* before: what a run finds in the memory */
} operand;

typedef struct operands {
    operand list[CNN_MAX_OPERANDS];
    int count;
} operands;

/* Where the elements, counted in NCHW, stand in memory. */
UNSANITIZED static inline void set_places(const cnn_operand *o, cnn_layout layout, int64_t *places)
{
    const int64_t *dims = o->dims;
    if (o->shape == CNN_SHAPE_FLAT || layout == CNN_NCHW) {
        for (int64_t i = 0; i < o->count; i++) places[i] = i;
        return;
    }
    for (int64_t map = 0, i = 0; i < o->count; map++) /* of image map / dims[1] */
        for (int64_t h = 0; h < dims[2]; h++)
            for (int64_t w = 0; w < dims[3]; w++, i++)
                places[i] = cnn_offset(layout, dims[1], dims[2], dims[3], map / dims[1], map % dims[1], h, w);
}

static inline cnn_dtype dtype_of(const cnn_problem *p, const operand *o)
{
    return cnn_part_dtype(p->u.type.dtype, cnn_part_of(o->info.name));
}

static inline void *aligned(size_t bytes)
{
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, CNN_ALIGN, bytes + 1), 0);
    return memory;
}

UNSANITIZED static inline operands make_operands(const cnn_problem *p, cnn_dir dir, double beta, bool reals,
                                                 uint64_t seed)
{
    operands all = {.count = 0};
    cnn_operand info[CNN_MAX_OPERANDS];
    cnn_error err;
    all.count = cnn_operands(p, dir, info, &err);
    assert_true(all.count > 0);
    cnn_rng rng = rng_stream(seed, 0);
    for (int i = 0; i < all.count; i++) {
        operand *o = &all.list[i];
        o->info = info[i];
        o->values = malloc((size_t)o->info.count * sizeof *o->values);
        o->memory = aligned(o->info.bytes);
        o->before = aligned(o->info.bytes);
        o->places = malloc((size_t)o->info.count * sizeof *o->places);
        assert_non_null(o->values);
        assert_non_null(o->places);
        set_places(&o->info, p->u.type.layout, o->places);
        for (int64_t e = 0; e < o->info.count; e++) {
            o->values[e] = reals ? rng_real(&rng, -1, 1) : (double)rng_int(&rng, -3, 3);
            const bool poison = o->info.access == CNN_OUT && beta == 0;
            cnn_number_put(dtype_of(p, o), o->before, o->places[e], poison ? NAN : o->values[e]);
            if (poison) o->values[e] = 0;
        }
    }
    return all;
}

static inline operand *named(operands *all, const char *name)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->list[i].info.name, name) == 0) return &all->list[i];
    return NULL;
}

static inline void *memory_of(operands *all, const char *name)
{
    operand *o = named(all, name);
    return o ? o->memory : NULL;
}

static inline double *values_of(operands *all, const char *name)
{
    operand *o = named(all, name);
    return o ? o->values : NULL;
}

static inline void free_operands(operands *all)
{
    for (int i = 0; i < all->count; i++) {
        free(all->list[i].values);
        free(all->list[i].places);
        free(all->list[i].before);
        free(all->list[i].memory);
    }
}

/* ---- The judge and the judged ------------------------------------------------------------------------------------ */

/* Adds the convolution's direction to the outputs' values: every product once, wherever it belongs. */
UNSANITIZED static inline void reference(const cnn_conv_desc *d, cnn_dir dir, operands *all)
{
    double *x = values_of(all, "x"), *w = values_of(all, "w"), *b = values_of(all, "b"), *y = values_of(all, "y");
    double *dy = values_of(all, "dy"), *dx = values_of(all, "dx"), *dw = values_of(all, "dw");
    double *db = values_of(all, "db");
    const int64_t icg = d->ic / d->g, ocg = d->oc / d->g;
    for (int64_t o = 0; o < d->mb * d->oc * d->oh * d->ow; o++) {
        const int64_t q = o % d->ow, p = o / d->ow % d->oh, k = o / d->ow / d->oh % d->oc,
                      n = o / d->ow / d->oh / d->oc;
        if (dir == CNN_FWD && b) y[o] += b[k];
        if (dir == CNN_BWD_W && db) db[k] += dy[o];
        for (int64_t c = 0; c < icg; c++)
            for (int64_t i = 0; i < d->kh; i++) {
                const int64_t row = p * d->sh + i * (d->dh + 1) - d->ph;
                if (row < 0 || row >= d->ih) continue;
                const int64_t first = ((n * d->ic + k / ocg * icg + c) * d->ih + row) * d->iw;
                const int64_t taps = ((k * icg + c) * d->kh + (d->flip ? d->kh - 1 - i : i)) * d->kw;
                for (int64_t j = 0; j < d->kw; j++) {
                    const int64_t col = q * d->sw + j * (d->dw + 1) - d->pw;
                    if (col < 0 || col >= d->iw) continue;
                    const int64_t in = first + col, at = taps + (d->flip ? d->kw - 1 - j : j);
                    if (dir == CNN_FWD) y[o] += w[at] * x[in];
                    if (dir == CNN_BWD_D) dx[in] += w[at] * dy[o];
                    if (dir == CNN_BWD_W) dw[at] += x[in] * dy[o];
                }
            }
    }
}

static inline void run(const cpu_session *s, const cnn_problem *p, cnn_dir dir, const cnn_algorithm *algorithm,
                       double beta, operands *all)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    cnn_context *const context = s->context;
    const cnn_request request = {p, dir, algorithm, s->knobs};
    cnn_plan plan = {.problem = *p, .dir = dir, .algorithm = *algorithm, .knobs = s->knobs};
    cnn_error err = {.message = ""};
    for (int i = 0; i < all->count; i++) memcpy(all->list[i].memory, all->list[i].before, all->list[i].info.bytes);
    if (cpu->supports(context, &request, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(cpu->prepare(context, &plan, &err), CNN_OK);
    void *workspace = aligned(plan.workspace_bytes);
    memset(workspace, 0xff, plan.workspace_bytes); /* NaN */
    const cnn_weighted_args args = {.x = memory_of(all, "x"),
                                    .w = memory_of(all, "w"),
                                    .b = memory_of(all, "b"),
                                    .z = memory_of(all, "z"),
                                    .dy = memory_of(all, "dy"),
                                    .y = memory_of(all, "y"),
                                    .dx = memory_of(all, "dx"),
                                    .dw = memory_of(all, "dw"),
                                    .db = memory_of(all, "db"),
                                    .beta = beta,
                                    .workspace = workspace};
    cnn_status status = dir == CNN_FWD     ? cpu->ops->conv_fwd(context, &plan, &args, &err)
                        : dir == CNN_BWD_D ? cpu->ops->conv_bwd_data(context, &plan, &args, &err)
                                           : cpu->ops->conv_bwd_weights(context, &plan, &args, &err);
    if (status != CNN_OK) fail_msg("%s", err.message);
    if (plan.state != NULL) cpu->release(context, &plan);
    free(workspace);
}

/* Whether this algorithm takes the problem. */
static inline bool takes(const cpu_session *s, const cnn_problem *p, cnn_dir dir, const cnn_algorithm *algorithm)
{
    const cnn_request request = {p, dir, algorithm, s->knobs};
    cnn_error ignored;
    return cnn_impl_cpu()->supports(s->context, &request, &ignored) == CNN_OK;
}

/* Whether it may refuse a problem that has nothing wrong with it. */
static inline bool is_choosy(const cnn_algorithm *algorithm)
{
    return algorithm->flags & CNN_ALGO_TRANSFORMS || strcmp(algorithm->name, "depthwise") == 0 ||
           strcmp(algorithm->name, "matrix") == 0 || strcmp(algorithm->name, "shallow") == 0 ||
           strcmp(algorithm->name, "bf16") == 0;
}

/* How far a transform's result may be from the sum of whole numbers: what rounding comes to beside the largest. */
static inline double allowed(const cnn_problem *p, const operand *o, uint32_t flags)
{
    double most = 0;
    if ((flags & CNN_ALGO_TRANSFORMS) == 0) return 0;
    for (int64_t e = 0; e < o->info.count; e++)
        if (fabs(o->values[e]) > most) most = fabs(o->values[e]);
    return 256 * (most + 64) * (p->u.type.dtype == CNN_F32 ? 0x1p-24 : 0x1p-53);
}

/* Every operand must hold its value: the outputs the reference's, the inputs what they held. */
UNSANITIZED static inline void check_exact(const char *what, const cnn_problem *p, cnn_dir dir,
                                           const cnn_algorithm *algorithm, operands *all)
{
    for (int i = 0; i < all->count; i++) {
        const operand *o = &all->list[i];
        const double off = o->info.access == CNN_IN ? 0 : allowed(p, o, algorithm->flags);
        for (int64_t e = 0; e < o->info.count; e++) {
            const double got = cnn_number_get(dtype_of(p, o), o->memory, o->places[e]);
            if (!(fabs(got - o->values[e]) <= off))
                fail_msg("%s, %s, direction %d, dtype %d, layout %d, bias %d, flip %d: %s[%lld] is %g, not %g", what,
                         algorithm->name, (int)dir, (int)p->u.type.dtype, (int)p->u.type.layout, p->u.conv.bias,
                         p->u.conv.flip, o->info.name, (long long)e, got, o->values[e]);
        }
    }
}

#endif
