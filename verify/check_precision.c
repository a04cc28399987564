/* check_precision.c: with how many bits does it compute? Not what it says, what its results show.
 *
 * The inputs are made to tell. Every result is the product of two numbers with all the bits of the dtype, at random
 * between 1 and 2: one of the factors has a single non-zero in all that one result is a sum of. So nothing averages
 * out and nothing piles up, however long the sum: what is wrong with the product is what its factors, the product or
 * the sum were rounded to on the way, f32 2^-25 on the average, TF32 2^-12, bfloat16 2^-9. And x (BWD_D: dy) is scaled
 * by 2^-22, which only f16 feels: below 2^-14 it has a fixed step, 2^-24, so that 2^-4 is lost. (Not where f16 is
 * allowed: what it has down there is no precision to judge by.)
 *
 * Small problems are run several times, until there are enough products to tell one precision from another.
 * What nine of ten products stay below names the precision: TF32 and bfloat16 do not meet there, whether they round or
 * cut; and a result that is wrong here and there, for which other checks are, keeps its name. A transform mixes the
 * elements of a tile: there, errors are relative to the mean size. */
#include "element.h"
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What nine of ten relative errors stay below: TF32 factors that are cut leave 2^-9 at most, bfloat16's 2^-6. */
static const struct {
    const char *name;
    double limit;
} precisions[] = {{"f64", 0x1p-51}, {"f32", 0x1p-22}, {"tf32", 0x1p-9}, {"bf16", 0x1p-6}, {"f16", 0x1p-2}};
enum { PRECISIONS = sizeof precisions / sizeof precisions[0] };

/* The index in the table of what the problem allows. */
static int allowed_of(const cnn_problem *p)
{
    static const int math[CNN_MATH_COUNT] = {
        [CNN_MATH_F32] = 1, [CNN_MATH_TF32] = 2, [CNN_MATH_F16] = 2, [CNN_MATH_BF16] = 3};
    return p->u.type.dtype == CNN_F64 ? 0 : math[p->u.type.math];
}

/* ---- The inputs. */

static void fill_full(const vf_case *c, const cnn_operand *o, double scale, cnn_rng *rng, double *v)
{
    for (int64_t e = 0; e < o->count; e++) v[e] = (rng_u64(rng) & 1 ? 1.0 : -1.0) * (1.0 + rng_unit(rng)) * scale;
    vf_round(&c->problem, o, v);
}

/* All but those at the n positions, which are in ascending order, become 0. */
static void keep(double *v, int64_t count, const int64_t *positions, int64_t n)
{
    int64_t next = 0;
    for (int64_t e = 0; e < count; e++) {
        if (next < n && positions[next] == e)
            next++;
        else
            v[e] = 0.0;
    }
}

static int compare_positions(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* A tap that meets the image somewhere: chosen by the output it is met from. */
static int64_t live_tap(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d, cnn_rng *rng)
{
    for (int tries = 0; tries < 16; tries++) {
        int64_t first, last;
        cnn_tap_range(rng_int(rng, 0, o - 1), i, k, s, p, d, &first, &last);
        if (last > first) return rng_int(rng, first, last - 1);
    }
    return rng_int(rng, 0, k - 1);
}

/* For each output channel (BWD_D: input channel) one weight; for BWD_W one element of dy. */
static cnn_status make_sparse(const vf_case *c, const cnn_conv_desc *d, double *v, int64_t count, cnn_rng *rng,
                              cnn_error *err)
{
    const cnn_dir dir = c->call.dir;
    const int64_t n = dir == CNN_BWD_D ? d->ic : d->oc, icg = d->ic / d->g, ocg = d->oc / d->g;
    int64_t *positions = malloc((size_t)n * sizeof *positions);
    if (positions == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld positions", (long long)n);
    for (int64_t at = 0; at < n; at++) {
        int64_t i = live_tap(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh, rng);
        int64_t j = live_tap(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw, rng);
        if (d->flip) i = d->kh - 1 - i, j = d->kw - 1 - j;
        const int64_t k = dir == CNN_BWD_D ? at / icg * ocg + rng_int(rng, 0, ocg - 1) : at;
        const int64_t ch = dir == CNN_BWD_D ? at % icg : rng_int(rng, 0, icg - 1);
        positions[at] = ((k * icg + ch) * d->kh + i) * d->kw + j;
        if (dir == CNN_BWD_W)
            positions[at] =
                (rng_int(rng, 0, d->mb - 1) * d->oc + k) * d->oh * d->ow + rng_int(rng, 0, d->oh * d->ow - 1);
    }
    qsort(positions, (size_t)n, sizeof *positions, compare_positions);
    keep(v, count, positions, n);
    free(positions);
    return CNN_OK;
}

static cnn_status fill(vf_case *c, cnn_error *err)
{
    const cnn_conv_desc d = vf_as_conv(&c->problem);
    const bool f16 = c->problem.u.type.dtype == CNN_F32 && c->problem.u.type.math == CNN_MATH_F16;
    const char *sparse = c->call.dir == CNN_BWD_W ? "dy" : "w";
    cnn_rng rng = rng_stream(c->seed, 5000);
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (c->before[i] == NULL) continue;
        const bool is_sparse = strcmp(o->name, sparse) == 0;
        fill_full(c, o, is_sparse || f16 ? 1.0 : 0x1p-22, &rng, c->before[i]);
        if (strcmp(o->name, "b") == 0) memset(c->before[i], 0, (size_t)o->count * sizeof(double));
        if (is_sparse) status = make_sparse(c, &d, c->before[i], o->count, &rng, err);
    }
    return status;
}

/* ---- The judgement. */

enum { ROUNDS = 8, ENOUGH = 64, ERRORS_MAX = ENOUGH + VF_SAMPLES_MAX };

/* The relative errors of products (of a transform: the errors, and the mean size of the products). */
typedef struct errors {
    double list[ERRORS_MAX], sizes;
    int count;
} errors;

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void take_errors(errors *all, const vf_elements *e, bool normwise)
{
    for (int64_t i = 0; i < e->count && all->count < ERRORS_MAX; i++) {
        if (!(e->magnitude[i] > 0.0)) continue;
        const double error = vf_finite(e->got[i]) ? fabs(e->got[i] - e->value[i]) : (double)INFINITY;
        all->sizes += e->magnitude[i];
        all->list[all->count++] = normwise ? error : error / e->magnitude[i];
    }
}

static double ninth_tenth(errors *all, bool normwise)
{
    qsort(all->list, (size_t)all->count, sizeof all->list[0], compare_doubles);
    return all->list[9 * all->count / 10] / (normwise ? all->sizes / all->count : 1.0);
}

static void judge(const vf_subject *s, errors *all, verify_result *result)
{
    const vf_rounding r = vf_rounding_of(s->problem, s->algorithm);
    const int allowed = allowed_of(s->problem);
    if (all->count == 0) {
        result->state = VERIFY_SKIPPED;
        vf_set(result, VERIFY_SKIPPED, "none of the results that were looked at has a product");
        return;
    }
    const double error = ninth_tenth(all, r.normwise) / r.amplification;
    int found = s->problem->u.type.dtype == CNN_F64 ? 0 : 1;
    while (found < PRECISIONS && !(error <= precisions[found].limit)) found++;
    snprintf(result->precision, sizeof result->precision, "%s", found < PRECISIONS ? precisions[found].name : "worse");
    result->budget_used = error / precisions[allowed].limit;
    if (!(error <= precisions[allowed].limit))
        vf_set(result, VERIFY_FAILED, "says %s, computes %s: one product in ten is off by more than %.2g of its size",
               precisions[allowed].name, found < PRECISIONS ? precisions[found].name : "something else",
               error * r.amplification);
}

/* One run on inputs of its own. */
static cnn_status probe(const vf_subject *s, uint64_t seed, errors *all, cnn_error *err)
{
    static const char *const outputs[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};
    static const double sampled_products = 4e6;
    vf_case c;
    vf_run run;
    cnn_status status = vf_go_on(&s->engine->options, err);
    if (status == CNN_OK) status = vf_case_make(&c, s->problem, s->dir, VF_DATA, 0, seed, s->engine->pool, err);
    if (status != CNN_OK) return status;
    status = fill(&c, err);
    if (status == CNN_OK) status = vf_run_make(&run, &s->engine->session, s->plan, &c, &(vf_run_options){0}, err);
    if (status == CNN_OK) {
        const int o = vf_index(c.call.operands, c.call.count, outputs[s->dir]);
        vf_elements e;
        status = vf_elements_make(&e, &c, o, run.after[o], sampled_products, s->engine->pool, err);
        if (status == CNN_OK) take_errors(all, &e, vf_rounding_of(s->problem, s->algorithm).normwise);
        if (status == CNN_OK) vf_elements_free(&e);
        vf_run_free(&run);
    }
    vf_case_free(&c);
    return status;
}

cnn_status vf_check_precision(const vf_subject *s, verify_result *result, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (s->problem->op != CNN_OP_CONV && s->problem->op != CNN_OP_FC) {
        result->state = VERIFY_SKIPPED;
        vf_set(result, VERIFY_SKIPPED, "for sums of products; here the bound tells");
        return CNN_OK;
    }
    errors *all = calloc(1, sizeof *all);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the errors of products");
    for (int i = 0; status == CNN_OK && i < ROUNDS && all->count < ENOUGH; i++)
        status = probe(s, s->engine->options.seed + (uint64_t)i, all, err);
    if (status == CNN_OK) judge(s, all, result);
    free(all);
    return status;
}
