/* check_adjoint.c: <f(x),dy> = <x,f'(dy)> for what is linear: <conv(x,w),dy> = <x,bwd_data(dy,w)> =
 * <w,bwd_weights(x,dy)>.
 *
 * Needs no reference, only the implementation's own kernels; catches a forward and a backward that do not belong
 * together, at any size. Pooling (maximum too), ReLU and leaky ReLU are not linear, but f(x) = f'(x) x holds for them,
 * so the identity does too.
 *
 * Tolerance: an element that is a sum of n products of size s has an error near u*n*s at most in the mean square (the
 * random walk over partial sums of size sqrt(n)*s, seen in full); errors of different elements are independent, so an
 * inner product with d is off by u*n*s*|d|. Four of these are allowed. */
#include "engine.h"

#include <math.h>
#include <string.h>

typedef struct side {
    vf_case c;
    vf_run run;
    cnn_plan plan;
    bool planned;
} side;

static cnn_status side_make(side *v, const vf_subject *s, cnn_dir dir, cnn_error *err)
{
    const cnn_session *session = &s->engine->session;
    cnn_algorithm algorithm = *s->offered;
    cnn_status status = CNN_OK;
    memset(v, 0, sizeof *v);
    if (vf_go_on(&s->engine->options, err) != CNN_OK) return CNN_INTERRUPTED;
    if (dir != s->dir) status = cnn_algorithm_pick(session, s->problem, dir, s->algorithm->name, &algorithm, err);
    if (status == CNN_OK)
        status = vf_case_make(&v->c, s->problem, dir, VF_DATA, 0, s->engine->options.seed, s->engine->pool, err);
    if (status != CNN_OK) return status;
    status = cnn_plan_make(session, &(cnn_request){s->problem, dir, &algorithm, NULL}, &v->plan, err);
    if (status != CNN_OK) return status;
    v->planned = true;
    vf_place place = {.session = session, .plan = &v->plan, .pool = s->engine->pool};
    status = vf_run_make(&v->run, &place, &v->c, &(vf_run_options){0}, err);
    vf_place_leave(&place);
    return status;
}

static void side_free(side *v, const vf_subject *s)
{
    if (v->planned) cnn_plan_release(&s->engine->session, &v->plan);
    vf_run_free(&v->run);
    vf_case_free(&v->c);
}

/* What stands in operand `name`: the result of the run, or the data. NULL: no such operand. */
static const double *array(const side *v, const char *name, int64_t *count)
{
    int i = vf_index(v->c.call.operands, v->c.call.count, name);
    if (i < 0) return NULL;
    *count = v->c.call.operands[i].count;
    return v->run.after[i] != NULL ? v->run.after[i] : v->c.before[i];
}

static double norm(const side *v, const char *name, int64_t *count)
{
    const double *a = array(v, name, count);
    return a == NULL ? 0.0 : (double)sqrtl(vf_dot(a, a, *count));
}

static double rms(const side *v, const char *name)
{
    int64_t count = 1;
    double length = norm(v, name, &count);
    return length / sqrt((double)count);
}

/* <b, sum of dy over all but the channels>: what the bias adds to <y,dy>. */
static long double bias_term(const side *f, const side *b)
{
    int64_t channels = 0, count = 0;
    const double *bias = array(f, "b", &channels), *dy = array(b, "dy", &count);
    int i = vf_index(b->c.call.operands, b->c.call.count, "dy");
    if (bias == NULL) return 0.0L;
    const cnn_operand *o = &b->c.call.operands[i];
    int64_t plane = o->dims[2] * o->dims[3];
    long double sum = 0.0L;
    for (int64_t e = 0; e < count; e++) sum += (long double)bias[e / plane % channels] * dy[e];
    return sum;
}

/* The parts of a concatenation stand for x together. */
static long double input_product(const side *f, const side *b)
{
    long double sum = 0.0L;
    for (int i = 0; i < f->c.call.count; i++) {
        char name[CNN_NAME_MAX] = "d";
        int64_t count = 0;
        strncat(name, f->c.call.operands[i].name, sizeof name - 2);
        const double *x = f->c.before[i], *dx = array(b, name, &count);
        if (x != NULL && dx != NULL && strcmp(name, "dy") != 0) sum += vf_dot(x, dx, count);
    }
    return sum;
}

/* u*n + u_input*sqrt(n). */
static double relative_error(const vf_rounding *r, double n)
{
    return r->mean * (r->unit * (n + 2.0) + r->input * sqrt(n));
}

/* Of a side's result; its plan may have chosen another way to compute it than the subject's. */
static double side_error(const vf_subject *s, const side *v, cnn_dir dir)
{
    const vf_rounding own = vf_rounding_of(s->problem, &v->plan.algorithm);
    return relative_error(own.mean > s->rounding.mean ? &own : &s->rounding, vf_terms(s->problem, dir));
}

/* What storing `name` may add to its inner product with `with`: each element is off by half a last place at most,
 * independent of the others. The parts of a concatenation are copies. */
static double storing(const vf_subject *s, const side *of, const char *name, const side *to, const char *with)
{
    int64_t count = 0;
    const double *a = array(of, name, &count), *d = array(to, with, &count);
    double squares = 0.0;
    for (int64_t i = 0; a != NULL && d != NULL && i < count; i++) {
        const double off = vf_storing(&s->rounding, a[i], 0.0) * d[i];
        squares += off * off;
    }
    return sqrt(squares);
}

static double tolerance(const vf_subject *s, const side *f, const side *b)
{
    int64_t count;
    bool weighted = cnn_is_weighted(s->problem);
    double x = s->problem->op == CNN_OP_CONCAT ? 1.0 : rms(f, "x"), w = weighted ? rms(f, "w") : 1.0, dy = rms(b, "dy");
    double forward = side_error(s, f, CNN_FWD) * (x * w + rms(f, "b")) * norm(b, "dy", &count);
    double back = side_error(s, b, s->dir);
    if (s->dir == CNN_BWD_W)
        back *= x * dy * norm(f, "w", &count) + dy * norm(f, "b", &count);
    else
        back *= dy * w * (s->problem->op == CNN_OP_CONCAT ? norm(b, "dy", &count) : norm(f, "x", &count));
    const bool weights = s->dir == CNN_BWD_W;
    return 4.0 * (forward + back + storing(s, f, "y", b, "dy") +
                  storing(s, b, weights ? "dw" : "dx", f, weights ? "w" : "x") + storing(s, b, "db", f, "b"));
}

static const char *why_not(const vf_subject *s)
{
    const cnn_problem *p = s->problem;
    if (s->dir == CNN_FWD) return "the backward directions check it";
    if (p->op == CNN_OP_LOSS || p->op == CNN_OP_BATCHNORM) return "the operation is not linear";
    if (p->op == CNN_OP_ACT && p->u.act.kind != CNN_ACT_IDENTITY && p->u.act.kind != CNN_ACT_RELU &&
        p->u.act.kind != CNN_ACT_LEAKY_RELU && p->u.act.kind != CNN_ACT_SCALE)
        return "the activation is not linear";
    return NULL;
}

/* Each side gives its buffers back before the other takes its own. */
cnn_status vf_check_adjoint(const vf_subject *s, verify_result *result, cnn_error *err)
{
    const char *reason = why_not(s);
    side f = {0}, b = {0};
    if (reason != NULL) {
        vf_set(result, VERIFY_SKIPPED, "%s", reason);
        return CNN_OK;
    }
    vf_place_leave(s->place); /* the sides' runs need the room */
    cnn_status status = side_make(&f, s, CNN_FWD, err);
    if (status == CNN_UNSUPPORTED) { /* the forward of another algorithm would do, but there is none */
        vf_set(result, VERIFY_SKIPPED, "no forward to go with it: %s", err->message);
        status = CNN_OK;
        goto cleanup;
    }
    if (status == CNN_OK) status = side_make(&b, s, s->dir, err);
    if (status == CNN_OK) {
        int64_t count = 0;
        const double *y = array(&f, "y", &count), *dy = array(&b, "dy", &count);
        long double left = vf_dot(y, dy, count), right = input_product(&f, &b);
        if (s->dir == CNN_BWD_D) right += bias_term(&f, &b);
        double error = (double)fabsl(left - right), allowed = tolerance(s, &f, &b);
        result->budget_used = error / allowed;
        if (!(vf_finite((double)left) && vf_finite((double)right) && error <= allowed))
            vf_set(result, VERIFY_FAILED, "<f(x),dy> = %.12Lg, but <x,f'(dy)> = %.12Lg; they may differ by %.3g", left,
                   right, allowed);
    }
cleanup:
    side_free(&f, s);
    side_free(&b, s);
    return status;
}
