/* huge.c: convolutions and FC layers above options->reference_flops, for which the reference would take too long. In
 * place of it, results of integers are judged as a whole by projection (projection.h), results of reals by sampled
 * elements, corners, borders and tails among them, each computed by itself (element.h).
 *
 * Integers. Of the two factors of every product one is sparse: of those of its elements that one result is a sum over,
 * no more are non-zero than keep every partial sum below 2^24 (2^53), whatever the order. In variant 0 the other factor
 * is as wide as in fill.c; in variant 1 the sparse factor is full where the width allows it, with as many bits as its
 * number of elements leaves, so that every product counts. Before they are run, all are multiplied by powers of two
 * (vf_scale_integers), so that they are no integers to the kernel: it must be as right for reals, which are only
 * sampled. A transform (FFT, Winograd) does not compute integers exactly, but it must come closer than 1/2 wherever its
 * bound is below that: so many non-zeros it gets. */
#include "engine.h"

#include "harness/cnn/half.h"
#include "verify/oracle/element.h"
#include "verify/oracle/projection.h"

#include <math.h>
#include <string.h>

/* ---- Integers. */

enum { SMALL = 63 }; /* the bias, and what beta adds to: up to this */

/* For every result the elements of the sparse factor that it is a sum over: `size` of them, `kept` not zero. */
typedef struct integer_plan {
    int64_t size, kept;
    int sparse_bits, other_bits; /* odd integers of so many bits; 1: -1 and 1 */
    int64_t small;
    double bound; /* what a result may be off by, in units: 0, but for a transform */
} integer_plan;

/* False: no integers are small enough for this algorithm's bound. */
static bool plan_transform(integer_plan *plan, const vf_rounding *r)
{
    const double each = vf_bound(r, (double)plan->size + 2.0, 1.0);
    plan->sparse_bits = plan->other_bits = 1;
    plan->small = 1;
    if (!(3.0 * each < 0.45)) return false;
    plan->kept = (int64_t)fmin((double)plan->size, 0.45 / each - 2.0);
    plan->bound = vf_bound(r, (double)plan->size + 2.0, (double)plan->kept + 2.0);
    return true;
}

static bool plan_integers(const vf_subject *s, int variant, integer_plan *plan)
{
    const double room = vf_exact_limit(s->problem) - 4.0 * SMALL;
    const int widest = vf_wide_bits(s->problem);
    const int64_t size = (int64_t)vf_terms(s->problem, s->dir);
    *plan = (integer_plan){.size = size, .small = SMALL, .sparse_bits = 1, .other_bits = widest};
    if (cnn_is_half(s->problem->u.type.dtype) || cnn_sums_whole(s->problem->u.type.dtype) ||
        cnn_has_epilogue(s->problem))
        return false; /* what is stored is not what is summed up; whole numbers have no room for a unit */
    if (s->rounding.normwise) return plan_transform(plan, &s->rounding);
    if (variant == 1) {
        plan->other_bits = 1;
        plan->sparse_bits = widest;
        while (plan->sparse_bits > 1 && ldexp((double)plan->size, plan->sparse_bits) > room) plan->sparse_bits--;
    }
    const double largest = ldexp(1.0, plan->sparse_bits == 1 ? plan->other_bits : plan->sparse_bits);
    plan->kept = (int64_t)fmin((double)plan->size, floor(room / largest));
    return true;
}

/* Element t of group `group` of the sparse factor: its position. `o` is dy in BWD_W, else w; dir the convolution's. */
static int64_t sparse_position(const cnn_conv_desc *d, cnn_dir dir, const cnn_operand *o, int64_t group, int64_t t)
{
    const int64_t icg = d->ic / d->g, taps = d->kh * d->kw, plane = o->dims[2] * o->dims[3];
    if (dir == CNN_FWD) return group * icg * taps + t;
    if (dir == CNN_BWD_W) return (t / plane * o->dims[1] + group) * plane + t % plane;
    const int64_t k = group / icg * (d->oc / d->g) + t / taps;
    return (k * icg + group % icg) * taps + t % taps;
}

/* One non-zero in each of `kept` equal parts of every group. */
static void fill_sparse(const integer_plan *plan, const cnn_conv_desc *d, cnn_dir dir, const cnn_operand *o,
                        cnn_rng *rng, double *v)
{
    const int64_t groups = dir == CNN_BWD_W ? o->dims[1] : dir == CNN_BWD_D ? d->ic : d->oc;
    memset(v, 0, (size_t)o->count * sizeof *v);
    for (int64_t g = 0; g < groups; g++)
        for (int64_t part = 0; part < plan->kept; part++) {
            const int64_t from = (int64_t)((double)part * (double)plan->size / (double)plan->kept);
            const int64_t to = (int64_t)((double)(part + 1) * (double)plan->size / (double)plan->kept);
            const int64_t t = from + (to > from + 1 ? rng_int(rng, 0, to - from - 1) : 0);
            v[sparse_position(d, dir, o, g, t)] = vf_odd_integer(rng, plan->sparse_bits);
        }
}

static void fill_case(const integer_plan *plan, vf_case *c)
{
    const cnn_conv_desc d = vf_as_conv(&c->problem);
    cnn_rng rng = rng_stream(c->seed, 9000 + (uint64_t)c->variant);
    const char *sparse = c->call.dir == CNN_BWD_W ? "dy" : "w";
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        double *v = c->before[i];
        if (v == NULL) continue;
        if (strcmp(o->name, sparse) == 0)
            fill_sparse(plan, &d, vf_conv_dir(&c->problem, c->call.dir), o, &rng, v);
        else
            for (int64_t e = 0; e < o->count; e++)
                v[e] = vf_is_factor(o) ? vf_odd_integer(&rng, plan->other_bits)
                                       : (double)rng_int(&rng, -plan->small, plan->small);
    }
    vf_scale_integers(c);
}

/* The first element that is no multiple of the unit within the bound, which is in units, as the limit is; -1: none. */
static int64_t first_broken(const double *values, int64_t count, double unit, double bound, double limit)
{
    for (int64_t e = 0; e < count; e++) {
        const double v = values[e] / unit;
        if (!(vf_finite(v) && fabs(v) <= limit && fabs(v - nearbyint(v)) <= bound)) return e;
    }
    return -1;
}

static void describe_wrong(const vf_case *c, int operand, int64_t index, double got, double bound,
                           verify_result *result)
{
    const cnn_operand *o = &c->call.operands[operand];
    const vf_wrong_element worst = {index, vf_element_make(c, operand, index).value, got, bound};
    vf_describe_worst(c, o, &worst, result);
    result->budget_used = (double)INFINITY;
    vf_set(result, VERIFY_FAILED, "%s is not %s", o->name, bound > 0.0 ? "within its bound" : "equal");
}

static cnn_status judge_integers(const vf_subject *s, const vf_case *c, const vf_run *run, const void *user,
                                 verify_result *result, cnn_error *err)
{
    const integer_plan *plan = user;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < c->call.count; i++) {
        if (run->after[i] == NULL) continue;
        const double unit = c->unit[i];
        int64_t wrong =
            first_broken(run->after[i], c->call.operands[i].count, unit, plan->bound, vf_exact_limit(s->problem));
        if (wrong < 0)
            status = vf_project(c, i, run->after[i], c->seed + (uint64_t)c->variant, s->engine->pool, &wrong, err);
        if (status == CNN_OK && wrong >= 0)
            describe_wrong(c, i, wrong, run->after[i][wrong], plan->bound * unit, result);
    }
    return status;
}

/* The cases are not kept: at this size there is room for one. */
cnn_status vf_huge_exact(const vf_subject *s, verify_result *result, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int variant = 0; status == CNN_OK && variant < 2; variant++) {
        integer_plan plan;
        vf_case c;
        vf_run run;
        const bool held = result->state != VERIFY_FAILED;
        if (!plan_integers(s, variant, &plan)) {
            vf_set(result, VERIFY_SKIPPED,
                   "the algorithm's bound is too wide for integers: sampled elements, adjoint and precision judge it");
            return CNN_OK;
        }
        status = vf_go_on(&s->engine->options, err);
        if (status == CNN_OK)
            status =
                vf_case_make(&c, s->problem, s->dir, VF_DATA, variant, s->engine->options.seed, s->engine->pool, err);
        if (status != CNN_OK) return status;
        fill_case(&plan, &c);
        status = vf_run_make(&run, s->place, &c, &(vf_run_options){0}, err);
        if (status == CNN_OK) {
            status = judge_integers(s, &c, &run, &plan, result, err);
            vf_run_free(&run);
            if (held) vf_tell_beta(s, &c, judge_integers, &plan, result);
        }
        vf_case_free(&c);
    }
    if (status == CNN_OK && result->state == VERIFY_PASSED) {
        result->budget_used = 0.0;
        vf_set(result, VERIFY_PASSED, "by random projection, a wrong element " VF_MISS);
    }
    return status;
}

/* ---- Reals. */

/* How many products may be computed for the sampled elements of one output. */
static const double sample_products = 4e7;

/* Of what is not sampled it is known at least that it is finite. */
static cnn_status judge_samples(const vf_subject *s, const vf_case *c, int operand, const double *got,
                                vf_comparison *sums, int64_t *samples, verify_result *result, cnn_error *err)
{
    const cnn_operand *o = &c->call.operands[operand];
    vf_elements e;
    cnn_status status = vf_elements_make(&e, c, operand, got, sample_products, s->engine->pool, err);
    if (status != CNN_OK) return status;
    const vf_comparison v = vf_compare(s->engine->pool, &e.expected, e.got, e.count, &s->rounding);
    if (result->worst[0] == '\0' || !(v.budget_used <= result->budget_used)) {
        const vf_wrong_element worst = {e.index[v.worst], e.expected.value[v.worst], e.got[v.worst], v.worst_bound};
        result->budget_used = v.budget_used;
        vf_describe_worst(c, o, &worst, result);
    }
    if (v.failed) vf_set(result, VERIFY_FAILED, "%s leaves its bound", o->name);
    for (int64_t i = 0; i < o->count; i++)
        if (!vf_finite(got[i])) {
            char where[128];
            vf_element_name(o, i, where, sizeof where);
            vf_set(result, VERIFY_FAILED, "%s is not finite", where);
            break;
        }
    vf_add_comparison(sums, &v);
    *samples += e.count;
    vf_elements_free(&e);
    return CNN_OK;
}

typedef struct seen { /* by all samples of a run */
    vf_comparison sums;
    int64_t samples;
} seen;

static cnn_status judge_all(const vf_subject *s, const vf_case *c, const vf_run *run, seen *all, verify_result *result,
                            cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < c->call.count; i++)
        if (run->after[i] != NULL)
            status = judge_samples(s, c, i, run->after[i], &all->sums, &all->samples, result, err);
    return status;
}

static cnn_status judge_again(const vf_subject *s, const vf_case *c, const vf_run *run, const void *user,
                              verify_result *result, cnn_error *err)
{
    seen all = {.samples = 0};
    (void)user;
    return judge_all(s, c, run, &all, result, err);
}

cnn_status vf_huge_bound(const vf_subject *s, verify_result *result, cnn_error *err)
{
    int64_t samples = 0;
    cnn_status status = CNN_OK;
    for (int variant = 0; status == CNN_OK && variant < vf_variants_of(s); variant++) {
        const vf_case *c;
        vf_run run;
        seen all = {.samples = 0};
        const bool held = result->state != VERIFY_FAILED;
        status = vf_case_get(s, VF_DATA, variant, &c, err);
        if (status == CNN_OK) status = vf_run_make(&run, s->place, c, &(vf_run_options){0}, err);
        if (status != CNN_OK) break;
        status = judge_all(s, c, &run, &all, result, err);
        if (held) vf_tell_beta(s, c, judge_again, NULL, result);
        vf_judge_precision(s->problem, &s->rounding, &all.sums, result);
        vf_run_free(&run);
        samples += all.samples;
    }
    integer_plan plan; /* without integers, which see every element, what is not sampled must be told otherwise */
    const bool whole = plan_integers(s, 0, &plan);
    if (status == CNN_OK && result->state == VERIFY_PASSED)
        vf_set(result, VERIFY_PASSED, "%lld sampled elements%s", (long long)samples,
               whole                          ? ""
               : cnn_has_epilogue(s->problem) ? "; no integers: the others by precision alone"
                                              : "; no integers: the others by adjoint and precision alone");
    return status;
}
