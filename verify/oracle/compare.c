/* compare.c: the judge. Everything is in positive form: an element passes only if its bits are those of a finite number
 * and |error| <= bound holds, so that a NaN passes nowhere. */
#include "compare.h"

#include "lines.h"
#include "pieces.h"

#include "harness/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool vf_finite(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 52 & 0x7FF) != 0x7FF;
}

vf_allowance vf_allow(thread_pool *pool, const vf_rounding *bounds, const vf_out *expected, int64_t count)
{
    vf_allowance a = {.bounds = bounds, .expected = *expected};
    if (bounds == NULL || !bounds->normwise) return a;
    a.most = fmax(vf_largest(pool, expected->roundings, count), bounds->hidden_terms);
    a.top = fmax(vf_largest(pool, expected->magnitude, count), bounds->hidden);
    return a;
}

static int kind_of(const vf_out *e, const vf_rounding *bounds, int64_t i)
{
    return bounds == NULL || bounds->normwise || e->kind == NULL ? VF_EVEN : e->kind[i];
}

/* Of one product (lines.h): its factors may have been cut to the bits that are allowed, which leaves twice what
 * rounding does. */
static double allowed_alone(const vf_allowance *a, int64_t i)
{
    vf_rounding r = *a->bounds;
    r.input *= 2.0;
    return vf_bound(&r, VF_ALONE_MOST, a->expected.magnitude[i]);
}

double vf_allowed(const vf_allowance *a, int64_t i)
{
    if (a->bounds == NULL) return 0.0;
    const double n = a->bounds->normwise ? a->most : a->expected.roundings[i];
    const double size = a->bounds->normwise ? a->top : a->expected.magnitude[i], expected = a->expected.value[i];
    const double bound = kind_of(&a->expected, a->bounds, i) == VF_ALONE
                             ? allowed_alone(a, i)
                             : vf_bound_below(a->bounds, vf_bound(a->bounds, n, size), expected, n, size);
    return n > 0.0 ? bound + vf_storing(a->bounds, expected, bound) : bound;
}

/* What is left of an error if as much as it can be is the rounding of the result that is stored. */
static double before_storing(const vf_rounding *bounds, double expected, double error)
{
    return bounds == NULL ? error : fmax(0.0, error - vf_storing(bounds, expected, 0.0));
}

bool vf_held(double expected, double got, double allowed)
{
    return vf_finite(got) && vf_finite(expected) && fabs(got - expected) <= allowed;
}

static void count_rounded(vf_comparison *c, double n)
{
    c->rounded++;
    c->sum_n += n;
    c->sum_n_sq += n * n;
    c->most_n = fmax(c->most_n, n);
}

typedef struct comparing {
    vf_allowance allowance;
    const double *got;
    vf_comparison all;
} comparing;

_Static_assert(sizeof(vf_comparison) <= VF_PART_MOST, "a comparison is a part of a gathering");

/* One pass for all that is told of an array: bounds, whether it proves anything, precision. */
static void compare_piece(void *user, int64_t first, int64_t last, void *part)
{
    const comparing *const w = user;
    const vf_allowance *const a = &w->allowance;
    vf_comparison *const c = part;
    const double *const expected = a->expected.value, *const got = w->got;
    const double *const magnitude = a->expected.magnitude, *const roundings = a->expected.roundings;
    const bool normwise = a->bounds != NULL && a->bounds->normwise;
    *c = (vf_comparison){.worst = -1, .uniform = true, .empty = true};
    for (int64_t i = first; i < last; i++) {
        const double n = normwise ? a->most : roundings[i], size = normwise ? a->top : magnitude[i];
        double error = fabs(got[i] - expected[i]), bound = vf_allowed(a, i);
        bool finite = vf_finite(got[i]) && vf_finite(expected[i]), held = vf_held(expected[i], got[i], bound);
        const double own = before_storing(a->bounds, expected[i], error), room = bound - (error - own);
        double share = held && !(own > 0.0) ? 0.0 : finite && room > 0.0 ? own / room : (double)INFINITY;
        if (held) share = fmin(share, 1.0); /* beside a power of two the last place is not the same on both sides */
        if (!held) c->failed = true;
        c->empty = c->empty && !(magnitude[i] > 0.0) && !(roundings[i] > 0.0);
        if (c->worst < 0 || share > c->budget_used) c->budget_used = share, c->worst = i, c->worst_bound = bound;
        /* Down where underflow takes all that rounding leaves, results tell nothing: zeros would do. */
        const double lost = a->bounds != NULL ? (n + 1.0) * a->bounds->tiny : 0.0;
        if (magnitude[i] > lost) {
            if (c->live == 0) c->least = c->most = expected[i];
            if (!(expected[i] == c->least)) c->uniform = false;
            c->live++;
            c->zeros += expected[i] == 0.0;
        }
        if (!(finite && n > 0.0 && size > 0.0 && (a->bounds == NULL || size * a->bounds->unit > lost))) continue;
        const int kind = kind_of(&a->expected, a->bounds, i);
        if (kind == VF_ALONE) {
            c->alone_sq += own / size * (own / size);
            c->alone++;
        } else if (kind == VF_EVEN) {
            double scaled = own * sqrt(n) / size;
            c->sum_sq += scaled * scaled;
            count_rounded(c, n);
        }
    }
}

/* What the elements behind those of `c` have shown. */
static void join_comparison(void *user, const void *part)
{
    vf_comparison *const c = &((comparing *)user)->all;
    const vf_comparison *const v = part;
    c->failed = c->failed || v->failed;
    c->empty = c->empty && v->empty;
    if (c->worst < 0 || v->budget_used > c->budget_used)
        c->budget_used = v->budget_used, c->worst = v->worst, c->worst_bound = v->worst_bound;
    if (v->live > 0) {
        if (c->live == 0) c->least = v->least, c->most = v->most;
        if (!v->uniform || !(v->least == c->least)) c->uniform = false;
    }
    c->live += v->live;
    c->zeros += v->zeros;
    vf_add_comparison(c, v);
}

vf_comparison vf_compare(thread_pool *pool, const vf_out *expected, const double *got, int64_t count,
                         const vf_rounding *bounds)
{
    comparing w = {vf_allow(pool, bounds, expected, count), got, {.worst = -1, .uniform = true, .empty = true}};
    vf_gather_pieces(pool, count, &(vf_gathering){compare_piece, join_comparison, &w});
    return w.all;
}

void vf_add_comparison(vf_comparison *sums, const vf_comparison *v)
{
    sums->sum_sq += v->sum_sq;
    sums->sum_n += v->sum_n;
    sums->sum_n_sq += v->sum_n_sq;
    sums->most_n = fmax(sums->most_n, v->most_n);
    sums->rounded += v->rounded;
    sums->alone_sq += v->alone_sq;
    sums->alone += v->alone;
}

const char *vf_mistrust(const vf_comparison *c)
{
    enum { FEW = 16 };
    if (c->empty) return NULL; /* outputs begin as NaN: its zeros were written */
    if (c->live == 0) return "nothing contributes to any result, so they prove nothing";
    if (c->live > FEW && c->zeros > c->live - c->live / 10) return "more than 90 % of the expected results are zero";
    if (c->live > FEW && c->uniform) return "all expected results are equal";
    return NULL;
}

void vf_note_transform(const cnn_problem *problem, const cnn_algorithm *algorithm, verify_result *result)
{
    const vf_rounding r = vf_rounding_of(problem, algorithm);
    result->amplification = r.amplification;
    result->transform[0] = '\0';
    if (r.transform == NULL) return;
    cnn_append(result->transform, sizeof result->transform, "%s, bound x %.6g", r.transform, r.amplification);
    if (algorithm->amplification > r.amplification)
        cnn_append(result->transform, sizeof result->transform, " (it asks for %.6g)", algorithm->amplification);
}

void vf_describe_worst(const vf_case *c, const cnn_operand *operand, const vf_wrong_element *e, verify_result *result)
{
    char where[128];
    const char *how = c->without_x                                                 ? " (x not given)"
                      : c->variant == 1 && c->call.problem->op == CNN_OP_OPTIMIZER ? " (in the midst of a training)"
                      : c->variant == 2                                            ? " (a gradient is not finite)"
                                                                                   : "";
    vf_element_name(operand, e->index, where, sizeof where);
    snprintf(result->worst, sizeof result->worst, "%s: expected %.17g, got %.17g, error %.3g, bound %.3g%s", where,
             vf_shown(e->expected), vf_shown(e->got), fabs(e->got - e->expected), e->bound, how);
}

/* Results of which few are expected (db of two channels, a count) may well be uniform; they prove nothing alone. */
static void mistrust(const vf_case *c, int operand, const vf_comparison *v, bool *proves, verify_result *result)
{
    enum { FEW = 16 };
    const char *why = vf_mistrust(v);
    *proves = *proves || why == NULL;
    if (why != NULL && c->call.operands[operand].count > FEW)
        vf_set(result, VERIFY_MISTRUSTED, "%s: %s", c->call.operands[operand].name, why);
}

void vf_judge(const vf_case *c, const vf_run *run, const vf_rounding *bounds, verify_result *result,
              vf_comparison *sums)
{
    bool proves = false;
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (c->after[i] == NULL) continue;
        vf_rounding own;
        if (bounds != NULL) own = vf_rounding_in(bounds, c, o);
        vf_comparison v =
            vf_compare(c->call.pool, &c->call.out[i], run->after[i], o->count, bounds != NULL ? &own : NULL);
        if (result->worst[0] == '\0' || !(v.budget_used <= result->budget_used)) {
            result->budget_used = v.budget_used;
            vf_describe_worst(c, o,
                              &(vf_wrong_element){v.worst, c->after[i][v.worst], run->after[i][v.worst], v.worst_bound},
                              result);
        }
        if (v.failed)
            vf_set(result, VERIFY_FAILED,
                   bounds == NULL || cnn_sums_whole(c->problem.u.type.dtype) ? "%s is not equal"
                                                                             : "%s leaves its bound",
                   o->name);
        mistrust(c, i, &v, &proves, result);
        if (sums == NULL || !cnn_elem_real(o->elem)) continue; /* totals in double tell nothing of the type */
        vf_add_comparison(sums, &v);
    }
    if (!proves) vf_set(result, VERIFY_MISTRUSTED, "the expected results are too uniform to prove anything");
}

/* For squares of normal variables with variances a, sum > sum(a) + 2 sqrt(x sum(a^2)) + 2 x max(a) has a probability
 * below e^-x (Laurent and Massart, 2000, lemma 1); here 1e-9. As a factor on the root of the sum. */
static double spread(double sum, double sum_sq, double most)
{
    const double x = 9.0 * log(10.0);
    return sqrt(1.0 + 2.0 * sqrt(x * sum_sq) / sum + 2.0 * x * most / sum);
}

double vf_spread_of_few(double n) { return spread(n, n, 1.0); }

/* The root mean square of sqrt(n), to which errors are in proportion. */
static double root_of_terms(const vf_comparison *c) { return sqrt(c->sum_n / (double)c->rounded); }

double vf_rms(const vf_comparison *c) { return sqrt(c->sum_sq / (double)c->rounded); }

/* Where a few sums are long and the others are what was there before, the few alone have errors. */
double vf_rms_most(const vf_rounding *bounds, const vf_comparison *c)
{
    return vf_rms_limit(bounds, root_of_terms(c)) * spread(c->sum_n, c->sum_n_sq, c->most_n);
}

int vf_bits_kept(double rms, int most)
{
    if (!(rms > 0.0)) return most;
    /* two factors rounded to b bits leave 0.58 * 2^-b on the average of all mantissas */
    return (int)fmax(0.0, fmin(most, floor(0.1 - log2(rms))));
}

/* Each is within a bound of its own; here is said what they have in common. */
static void tell_alone(const cnn_problem *problem, const vf_rounding *bounds, const vf_comparison *sums,
                       verify_result *result)
{
    static const char alone[] = "single products in sums of up to";
    if (sums->alone == 0 || bounds == NULL) return;
    result->bits_kept = vf_bits_kept(sqrt(sums->alone_sq / (double)sums->alone), bounds->bits);
    result->bits_full = bounds->bits;
    result->taps = (int64_t)vf_terms(problem, result->dir);
    if (result->state == VERIFY_FAILED && result->bits_kept < bounds->bits && !strstr(result->reason, alone))
        cnn_append(result->reason, sizeof result->reason, "; %s %lld keep %d of %d bits", alone,
                   (long long)result->taps, result->bits_kept, bounds->bits);
}

void vf_judge_precision(const cnn_problem *problem, const vf_rounding *bounds, const vf_comparison *sums,
                        verify_result *result)
{
    bool products = cnn_is_weighted(problem);
    tell_alone(problem, bounds, sums, result);
    if (sums->rounded == 0) return; /* copies, integers */
    const double rms = vf_rms(sums), limit = vf_rms_most(bounds, sums);
    const char *name = vf_precision_name(bounds, rms, root_of_terms(sums));
    snprintf(result->precision, sizeof result->precision, "%s", name);
    if (products && !(rms <= limit))
        vf_set(result, VERIFY_FAILED,
               "the results have the precision of %s: root mean square of error*sqrt(n)/sum|ab| is %.3g, limit %.3g",
               name, rms, limit);
}

/* The elements of channel `k` of an array that is outer x channels x inner. */
static vf_comparison compare_channel(const vf_out *e, const double *got, int64_t k, const int64_t sizes[3],
                                     const vf_rounding *bounds)
{
    vf_comparison c = {0};
    for (int64_t o = 0; o < sizes[0]; o++)
        for (int64_t a = 0; a < sizes[2]; a++) {
            const int64_t i = (o * sizes[1] + k) * sizes[2] + a;
            if (!(e->roundings[i] > 0.0 && e->magnitude[i] > 0.0) || (e->kind && e->kind[i] != VF_EVEN)) continue;
            const double error = before_storing(bounds, e->value[i], fabs(got[i] - e->value[i]));
            const double scaled = error * sqrt(e->roundings[i]) / e->magnitude[i];
            c.sum_sq += scaled * scaled;
            count_rounded(&c, e->roundings[i]);
        }
    return c;
}

/* The channels of one output. */
typedef struct channels {
    const vf_out *expected;
    const double *got;
    const int64_t *sizes;
    const vf_rounding *bounds;
    int64_t first;
    vf_comparison found[64];
} channels;

static void compare_one_channel(void *arg, int64_t task, int worker)
{
    channels *c = arg;
    (void)worker;
    c->found[task] = compare_channel(c->expected, c->got, c->first + task, c->sizes, c->bounds);
}

/* The first that is coarser than it may be, and its sums; -1: none is. */
static int64_t coarse_channel(thread_pool *pool, channels *c, vf_comparison *found)
{
    const int64_t most = (int64_t)(sizeof c->found / sizeof c->found[0]);
    for (c->first = 0; c->first < c->sizes[1]; c->first += most) {
        const int64_t now = c->sizes[1] - c->first < most ? c->sizes[1] - c->first : most;
        parallel_for(pool, now, compare_one_channel, c);
        for (int64_t k = 0; k < now; k++) {
            *found = c->found[k];
            if (found->rounded > 0 && !(vf_rms(found) <= vf_rms_most(c->bounds, found))) return c->first + k;
        }
    }
    return -1;
}

void vf_judge_channels(const vf_case *c, const vf_run *run, const vf_rounding *bounds, verify_result *result)
{
    if (bounds->normwise || !cnn_is_weighted(&c->problem)) return;
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (c->after[i] == NULL || strcmp(o->name, "db") == 0) continue;
        const int axis = c->call.dir == CNN_BWD_W ? 0 : 1; /* weights have theirs first */
        const int64_t sizes[3] = {axis == 0 ? 1 : o->dims[0], o->dims[axis],
                                  o->count / o->dims[axis] / (axis == 0 ? 1 : o->dims[0])};
        channels all = {.expected = &c->call.out[i], .got = run->after[i], .sizes = sizes, .bounds = bounds};
        vf_comparison v;
        const int64_t k = coarse_channel(c->call.pool, &all, &v);
        if (k < 0) continue;
        vf_set(result, VERIFY_FAILED,
               "channel %lld of %s has the precision of %s: root mean square of error*sqrt(n)/sum|ab| is %.3g, "
               "limit %.3g",
               (long long)k, o->name, vf_precision_name(bounds, vf_rms(&v), root_of_terms(&v)), vf_rms(&v),
               vf_rms_most(bounds, &v));
        return;
    }
}
