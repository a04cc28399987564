/* check_precision.c: with how many bits does it compute? Not what it says, what its results show.
 *
 * The inputs are made to tell. Every result is the product of two numbers with all the bits of the dtype, of several
 * binades (for a transform and f16 of one): of one of the factors, in all that one result is a sum of, all elements but
 * one are so tiny that their products are lost in it. (They are not 0, by which a kernel could tell such inputs from
 * others.) So nothing averages out and nothing piles up, however long the sum: what is wrong with the product is what
 * its factors, the product or the sum were rounded to on the way, f32 2^-25 on the average, TF32 2^-12, bfloat16 2^-9.
 * And x (BWD_D: dy) is scaled by 2^-22, which only f16 feels: below 2^-14 it has a fixed step, 2^-24, so that 2^-4 is
 * lost. (Not where f16 is allowed: what it has down there is no precision to judge by.)
 *
 * Small problems are run several times, until there are enough products to tell one precision from another.
 * What nine of ten products stay below names the precision: TF32 and bfloat16 do not meet there, whether they round or
 * cut; and a result that is wrong here and there, for which other checks are, keeps its name. A transform mixes the
 * elements of a tile: there, errors are relative to the mean size, and more of them are allowed (transforms.h), but
 * what it computes has the same name as for any other.
 *
 * An epilogue adds 0, and of what an activation makes only the positive products count, where it is a line.
 *
 * What the sum itself is worth, positive.c tells. */
#include "engine.h"
#include "harness/base/text.h"
#include "precision.h"
#include "precision_factors.h"
#include "verify/oracle/element.h"
#include "verify/oracle/epilogue.h"
#include "verify/oracle/lines.h"
#include "verify/oracle/pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What nine of ten relative errors stay below: TF32 factors that are cut leave 2^-9 at most, bfloat16's 2^-6; f32 that
 * is put together from three products of TF32 leaves 2^-20.5 at most (oracle/lines.h), factors of 20 bits 2^-19. */
static const struct {
    const char *name;
    double limit;
} precisions[] = {{"f64", 0x1p-51}, {"f32", 0x1p-21}, {"tf32", 0x1p-9}, {"bf16", 0x1p-6}, {"f16", 0x1p-2}};
enum { PRECISIONS = sizeof precisions / sizeof precisions[0] };

/* The index in the table of what the problem allows. */
static int allowed_of(const cnn_problem *p)
{
    static const int math[CNN_MATH_COUNT] = {
        [CNN_MATH_F32] = 1, [CNN_MATH_TF32] = 2, [CNN_MATH_F16] = 2, [CNN_MATH_BF16] = 3};
    return p->u.type.dtype == CNN_F64 ? 0 : math[p->u.type.math];
}

/* ---- The inputs. */

typedef struct full {
    double scale, *v;
    int binades;
} full;

static void draw_full(void *user, int64_t first, int64_t last, cnn_rng *rng)
{
    const full *f = user;
    for (int64_t e = first; e < last; e++) {
        const double sign = rng_u64(rng) & 1 ? 1.0 : -1.0, size = (1.0 + rng_unit(rng)) * f->scale;
        f->v[e] = sign * ldexp(size, (int)rng_int(rng, 0, f->binades - 1));
    }
}

static void fill_full(const vf_case *c, const cnn_operand *o, double scale, int binades, cnn_rng *rng, double *v)
{
    full f = {scale, v, binades};
    vf_draw_pieces(c->call.pool, o->count, 3, rng, draw_full, &f);
    vf_round(c->call.pool, &c->problem, o, v);
}

/* The direction of the convolution; of BWD_W the tensor that dy is: 'y', or 'x' of a transposed one; else 'w'. */
typedef struct sparse {
    cnn_dir dir;
    char tensor;
} sparse;

static sparse sparse_of(const cnn_problem *p, cnn_dir dir)
{
    const bool turned = p->op == CNN_OP_DECONV;
    return (sparse){vf_conv_dir(p, dir), dir != CNN_BWD_W ? 'w' : turned ? 'x' : 'y'};
}

static int64_t singles_of(const cnn_conv_desc *d, sparse s)
{
    return s.tensor == 'x' || (s.tensor == 'w' && s.dir == CNN_BWD_D) ? d->ic : d->oc;
}

/* Tiny beside 1: however many are added up, they are lost in the rounding; but their products are no denormals. */
static double tiny_of(const cnn_problem *p) { return p->u.type.dtype == CNN_F64 ? 0x1p-110 : 0x1p-60; }

/* Keeps one element for each channel of the result, its single: of w[k][c][i][j], c within the group, one for each
 * output channel k (BWD_D: input channel); for BWD_W one of dy[n][k] for each k. singles: their positions. */
static void make_sparse(const vf_case *c, const cnn_conv_desc *d, double *v, const cnn_operand *o, cnn_rng *rng,
                        int64_t *singles)
{
    const sparse s = sparse_of(&c->problem, c->call.dir);
    const int64_t n = singles_of(d, s), icg = d->ic / d->g, ocg = d->oc / d->g, plane = o->dims[2] * o->dims[3];
    for (int64_t at = 0; at < n; at++) {
        const int64_t tap = vf_live_tap(d, rng);
        const int64_t k = s.dir == CNN_BWD_D ? at / icg * ocg + rng_int(rng, 0, ocg - 1) : at;
        const int64_t ch = s.dir == CNN_BWD_D ? at % icg : rng_int(rng, 0, icg - 1);
        singles[at] = s.tensor == 'w' ? (k * icg + ch) * d->kh * d->kw + tap
                                      : (rng_int(rng, 0, d->mb - 1) * n + at) * plane + rng_int(rng, 0, plane - 1);
    }
    const double tiny = tiny_of(&c->problem);
    for (int64_t e = 0; e < o->count; e++) v[e] *= tiny;
    for (int64_t at = 0; at < n; at++) v[singles[at]] /= tiny;
}

static void fill(vf_case *c, bool normwise, int64_t *singles)
{
    const cnn_conv_desc d = vf_as_conv(&c->problem);
    const cnn_type *t = &c->problem.u.type;
    const bool f16 =
        cnn_part_dtype(t->dtype, CNN_PART_FACTOR) == CNN_F16 || (t->dtype == CNN_F32 && t->math == CNN_MATH_F16);
    const char *name = c->call.dir == CNN_BWD_W ? "dy" : "w";
    const bool one = normwise || f16; /* binade; several, by which no kernel tells these from other data */
    cnn_rng rng = rng_stream(c->seed, 5000);
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (c->before[i] == NULL) continue;
        const bool is_sparse = strcmp(o->name, name) == 0;
        const double scale = is_sparse || f16 ? 1.0 : one ? 0x1p-22 : 0x1p-23;
        const int binades = one ? 1 : is_sparse ? 3 : 2;
        fill_full(c, o, scale, binades, &rng, c->before[i]);
        if (strcmp(o->name, "b") == 0 || strcmp(o->name, "z") == 0)
            memset(c->before[i], 0, (size_t)o->count * sizeof(double));
        if (is_sparse) make_sparse(c, &d, c->before[i], o, &rng, singles);
    }
}

/* ---- What must come out: each element of y, dx or dw is the product of its channel's single, or 0. */

typedef struct factors {
    double first, second; /* of x, w, dy as they stand there, those two that are factors */
} factors;

typedef struct expectation {
    const double *x, *w, *dy; /* the two factors */
    factors *products;
    const cnn_conv_desc *d;
    const int64_t *singles;
    char tensor;
} expectation;

static void expect(void *user, const vf_product *p)
{
    const expectation *e = user;
    if (e->dy == NULL) e->products[p->y] = (factors){e->x[p->x], e->w[p->w]};
    if (e->x == NULL) e->products[p->x] = (factors){e->w[p->w], e->dy[p->y]};
    if (e->w == NULL) e->products[p->w] = (factors){e->x[p->x], e->dy[p->y]};
}

static void expect_single(void *arg, int64_t at, int worker)
{
    expectation *e = arg;
    (void)worker;
    vf_products_of(e->d, e->tensor, e->singles[at], expect, e);
}

/* products: zeros, as many as the result has elements. No two singles have one in common. */
static void expect_all(const vf_case *c, const cnn_conv_desc *d, const int64_t *singles, factors *products)
{
    const vf_call *call = &c->call;
    const sparse s = sparse_of(call->problem, call->dir);
    expectation e = {vf_factor(call, 'x'), vf_factor(call, 'w'), vf_factor(call, 'y'), products, d, singles, s.tensor};
    parallel_for(call->pool, singles_of(d, s), expect_single, &e);
}

/* ---- The judgement. */

enum { ROUNDS = 4, ENOUGH = 64, SAMPLES = 1024, ERRORS_MAX = ENOUGH + SAMPLES };

/* The relative errors of products (of a transform: the errors, and the mean size of the products). */
typedef struct errors {
    double list[ERRORS_MAX], sizes;
    int count;
    vf_votes votes; /* of f32: what the factors were rounded to */
} errors;

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of up to SAMPLES elements, corners, borders and tails among them, those that are a product. */
static void take_errors(errors *all, const cnn_problem *p, const cnn_operand *o, uint64_t seed, const factors *products,
                        const double *got, const vf_rounding *bounds)
{
    const cnn_act_desc act = vf_epilogue_act(p);
    const bool positive = act.kind != CNN_ACT_IDENTITY; /* of an activation the side where it is a line */
    cnn_rng rng = rng_stream(seed, 77);
    for (int64_t i = 0; i < SAMPLES && i < o->count; i++) {
        const int64_t at = o->count <= SAMPLES ? i : vf_sample_index(o, i, &rng);
        const double sum = products[at].first * products[at].second;
        const double product = vf_act_element(&act, sum).value, size = fabs(product);
        if (!(size > 0.0) || (positive && sum < 0.0)) continue;
        const double stored = vf_storing(bounds, size, 0.0), off = fabs(got[at] - product);
        if (product == sum) vf_votes_add(&all->votes, products[at].first, products[at].second, got[at]);
        const double error = vf_finite(got[at]) ? fmax(0.0, off - stored) : (double)INFINITY;
        all->sizes += size;
        all->list[all->count++] = bounds->normwise ? error : error / size;
    }
}

static double ninth_tenth(errors *all, bool normwise)
{
    qsort(all->list, (size_t)all->count, sizeof all->list[0], compare_doubles);
    return all->list[9 * all->count / 10] / (normwise ? all->sizes / all->count : 1.0);
}

/* Which factor lost bits, where the results say so. */
static bool narrowed_factors(const vf_subject *s, const errors *all, char *text, size_t size)
{
    static const char *const first[] = {[CNN_FWD] = "x", [CNN_BWD_D] = "w", [CNN_BWD_W] = "x"};
    static const char *const second[] = {[CNN_FWD] = "w", [CNN_BWD_D] = "dy", [CNN_BWD_W] = "dy"};
    const bool turned = s->problem->op == CNN_OP_DECONV; /* the convolution's x is dy here, its dy x */
    if (turned && s->dir == CNN_FWD) return vf_votes_text(&all->votes, "w", "x", text, size);
    if (turned && s->dir == CNN_BWD_D) return vf_votes_text(&all->votes, "dy", "w", text, size);
    if (turned) return vf_votes_text(&all->votes, "dy", "x", text, size);
    return vf_votes_text(&all->votes, first[s->dir], second[s->dir], text, size);
}

static void judge(const vf_subject *s, errors *all, verify_result *result)
{
    const vf_rounding r = s->rounding;
    const int allowed = allowed_of(s->problem);
    if (all->count == 0) {
        vf_set(result, VERIFY_SKIPPED, "none of the results that were looked at has a product");
        return;
    }
    const double error = ninth_tenth(all, r.normwise);
    const double limit = fmin(precisions[allowed].limit * r.mean, precisions[PRECISIONS - 1].limit);
    int found = s->problem->u.type.dtype == CNN_F64 ? 0 : 1;
    while (found < PRECISIONS && !(error <= precisions[found].limit)) found++;
    snprintf(result->precision, sizeof result->precision, "%s", found < PRECISIONS ? precisions[found].name : "worse");
    result->budget_used = error / limit;
    if (!r.normwise) {
        result->bits_kept = (int)fmax(0.0, fmin(r.bits, floor(0.35 - log2(fmax(error, 0x1p-60)))));
        result->bits_full = r.bits;
        result->taps = (int64_t)vf_terms(s->problem, s->dir);
    }
    if (found == PRECISIONS && s->failed) { /* no rounding does that */
        result->precision[0] = '\0';
        result->budget_used = (double)NAN;
        vf_set(result, VERIFY_SKIPPED, "the results are wrong by more than any rounding: see the checks before");
    } else if (!(error <= limit)) {
        char bits[96] = "";
        if (result->taps > 0)
            snprintf(bits, sizeof bits, " (%d of %d bits, in sums of up to %lld products)", result->bits_kept,
                     result->bits_full, (long long)result->taps);
        char narrowed[96];
        vf_set(result, VERIFY_FAILED,
               "says %s, computes %s%s: one product in ten is off by more than %.2g of its size, %s%s%.2g are allowed",
               precisions[allowed].name, found < PRECISIONS ? precisions[found].name : "something else", bits, error,
               r.transform != NULL ? r.transform : "", r.transform != NULL ? ": " : "", limit);
        if (s->problem->u.type.dtype == CNN_F32 && narrowed_factors(s, all, narrowed, sizeof narrowed))
            cnn_append(result->reason, sizeof result->reason, "; %s", narrowed);
    }
}

/* One run on inputs of its own. */
static cnn_status probe(const vf_subject *s, uint64_t seed, errors *all, cnn_error *err)
{
    static const char *const outputs[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};
    const cnn_conv_desc d = vf_as_conv(s->problem);
    vf_case c;
    vf_run run;
    cnn_status status = vf_go_on(&s->engine->options, err);
    if (status == CNN_OK) status = vf_case_make(&c, s->problem, s->dir, VF_DATA, 0, seed, s->engine->pool, err);
    if (status != CNN_OK) return status;
    const int at = vf_index(c.call.operands, c.call.count, outputs[s->dir]);
    const cnn_operand *o = &c.call.operands[at];
    int64_t *singles = malloc((size_t)singles_of(&d, sparse_of(s->problem, s->dir)) * sizeof *singles);
    factors *products = calloc((size_t)o->count, sizeof *products);
    if (singles == NULL || products == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld products", (long long)o->count);
    if (status == CNN_OK) fill(&c, s->rounding.normwise, singles);
    if (status == CNN_OK) status = vf_run_make(&run, s->place, &c, &(vf_run_options){0}, err);
    if (status == CNN_OK) {
        expect_all(&c, &d, singles, products);
        take_errors(all, s->problem, o, seed, products, run.after[at], &s->rounding);
        vf_run_free(&run);
    }
    free(products);
    free(singles);
    vf_case_free(&c);
    return status;
}

cnn_status vf_check_precision(const vf_subject *s, verify_result *result, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (!cnn_is_weighted(s->problem)) {
        vf_set(result, VERIFY_SKIPPED, "for sums of products; here the bound tells");
        return CNN_OK;
    }
    if (cnn_sums_whole(s->problem->u.type.dtype)) {
        vf_set(result, VERIFY_SKIPPED, "integers have no precision: they are equal or wrong");
        return CNN_OK;
    }
    const cnn_act_kind act = cnn_epilogue_of(s->problem).act;
    if (act == CNN_ACT_SIGMOID || act == CNN_ACT_TANH) {
        vf_set(result, VERIFY_SKIPPED, "behind a %s no product keeps its size: the bound tells", cnn_act_name(act));
        return CNN_OK;
    }
    errors *all = calloc(1, sizeof *all);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the errors of products");
    for (int i = 0; status == CNN_OK && i < ROUNDS && all->count < ENOUGH; i++)
        status = probe(s, s->engine->options.seed + (uint64_t)i, all, err);
    if (status == CNN_OK) judge(s, all, result);
    if (status == CNN_OK && result->state == VERIFY_PASSED) status = vf_judge_positive(s, result, err);
    free(all);
    return status;
}
