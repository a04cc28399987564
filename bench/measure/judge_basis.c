/* judge_basis.c: see judge_basis.h. */
#include "judge_basis.h"

#include "harness/base/clock.h"
#include "harness/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

double judge_draw_input(const cnn_type *t, cnn_rng *rng)
{
    return cnn_sums_whole(t->dtype) ? (double)rng_int(rng, 0, 127) : rng_real(rng, -1, 1);
}

double judge_factor_at(const judge_basis *b, const cnn_operand *o, int64_t index)
{
    return b->factors[vf_position(&b->c->problem, o, index) % JUDGE_FACTORS];
}

bool judge_is_projected(const vf_case *c, int operand)
{
    return c->after[operand] != NULL && cnn_elem_real(c->call.operands[operand].elem);
}

bool judge_has_pullback(const judge_basis *b, int operand)
{
    for (int i = 0; b && i < CNN_MAX_OPERANDS; i++)
        if (b->pullback[operand].factors[i]) return true;
    return false;
}

/* 'x', 'w', 'y' or 'b', gradient or not. */
static char letter(const cnn_operand *o) { return o->name[o->name[0] == 'd']; }

/* The direction whose result is the gradient of such an input. */
static cnn_dir towards(char input) { return input == 'x' ? CNN_BWD_D : input == 'w' ? CNN_BWD_W : CNN_FWD; }

/* What the dual call reads where the case has its result: the factors. */
static double *factors_of(const judge_basis *b, int output)
{
    const cnn_operand *o = &b->c->call.operands[output];
    double *values = malloc((size_t)o->count * sizeof *values);
    for (int64_t e = 0; values && e < o->count; e++) values[e] = judge_factor_at(b, o, e);
    return values;
}

/* Calls the reference in the direction that pulls `factors`, which stand for `output`, back to `input`: into g. */
static cnn_status pull(const judge_basis *b, int input, int output, const double *factors, thread_pool *pool, double *g,
                       cnn_error *err)
{
    const vf_call *call = &b->c->call;
    const char to = letter(&call->operands[input]), from = letter(&call->operands[output]);
    cnn_problem plain = b->c->problem; /* in which all directions are asked for */
    vf_call dual;
    double *zeros = NULL;
    if (cnn_is_joined(plain.u.type.dtype)) plain.u.type.dtype = plain.u.type.weights = CNN_F64;
    cnn_status status = vf_call_init(&dual, &plain, towards(to), pool, err);
    for (int i = 0; status == CNN_OK && i < dual.count; i++) {
        const cnn_operand *o = &dual.operands[i];
        const char which = letter(o);
        if (o->access != CNN_IN) {
            dual.out[i] = (vf_out){.value = which == to ? g : NULL};
        } else if (which == 'b') {
            dual.in[i] = zeros = calloc((size_t)o->count, sizeof *zeros);
            if (!zeros) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a bias of zeros");
        } else {
            for (int k = 0; k < call->count; k++)
                if (letter(&call->operands[k]) == which) dual.in[i] = which == from ? factors : b->c->before[k];
        }
    }
    if (status == CNN_OK) vf_reference(&dual);
    free(zeros);
    return status;
}

/* db is the sum of dy over all but the channels. */
static void pull_bias(const cnn_operand *dy, const double *factors, double *g)
{
    for (int64_t e = 0; e < dy->count; e++) g[e] = factors[e / (dy->dims[2] * dy->dims[3]) % dy->dims[1]];
}

static void by_position(const vf_case *c, int input, const double *canonical, double *factors)
{
    const cnn_operand *o = &c->call.operands[input];
    for (int64_t e = 0; e < o->count; e++) factors[vf_position(&c->problem, o, e)] = canonical[e];
}

/* What is left of the projection with an input of zeros: the case's own, less what the case's input adds. */
static double rest_of(const judge_basis *b, int input, int output, const double *g)
{
    const cnn_operand *in = &b->c->call.operands[input], *out = &b->c->call.operands[output];
    long double rest = 0;
    for (int64_t e = 0; e < out->count; e++)
        rest += (long double)judge_factor_at(b, out, e) * (long double)b->c->after[output][e];
    for (int64_t e = 0; e < in->count; e++) rest -= (long double)g[e] * (long double)b->c->before[input][e];
    return (double)rest;
}

static cnn_status pull_back(judge_basis *b, int input, int output, thread_pool *pool, cnn_error *err)
{
    const cnn_operand *in = &b->c->call.operands[input];
    judge_pullback *p = &b->pullback[input];
    double *factors = factors_of(b, output), *g = malloc((size_t)in->count * sizeof *g);
    p->factors[output] = malloc((size_t)in->count * sizeof *g);
    cnn_status status = CNN_OK;
    if (!factors || !g || !p->factors[output])
        status =
            CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to judge timed runs by %lld factors", (long long)in->count);
    else if (letter(&b->c->call.operands[output]) == 'b')
        pull_bias(in, factors, g);
    else
        status = pull(b, input, output, factors, pool, g, err);
    if (status == CNN_OK) {
        by_position(b->c, input, g, p->factors[output]);
        p->rest[output] = rest_of(b, input, output, g);
    }
    free(factors);
    free(g);
    return status;
}

/* An output that does not depend on the input stays as it is. */
static cnn_status pull_all_back(judge_basis *b, int input, thread_pool *pool, cnn_error *err)
{
    const vf_call *call = &b->c->call;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < call->count; i++) {
        const bool depends = letter(&call->operands[i]) != 'b' || letter(&call->operands[input]) == 'y';
        if (judge_is_projected(b->c, i) && depends) status = pull_back(b, input, i, pool, err);
    }
    return status;
}

static cnn_status fill_pool(judge_basis *b, int input, cnn_rng *rng, cnn_error *err)
{
    enum { LEAST = 1 << 16, MOST = 1 << 20, TAILS = 16, DEPTH = 40 };
    const cnn_operand *o = &b->c->call.operands[input];
    const int64_t count = o->count < LEAST ? LEAST : o->count > MOST ? MOST : o->count;
    const size_t size = o->bytes / (size_t)o->count;
    b->pool_bytes = (size_t)count * size;
    b->pool = malloc(b->pool_bytes);
    if (!b->pool) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld random inputs", (long long)count);
    const cnn_type *t = &b->c->problem.u.type;
    const bool whole = cnn_sums_whole(t->dtype);
    const bool tails = !whole && t->math != CNN_MATH_F16 && cnn_part_dtype(t->dtype, CNN_PART_FACTOR) != CNN_F16;
    for (int64_t i = 0; i < count; i++) {
        const double value = judge_draw_input(t, rng); /* one in TAILS is tiny, as in the case's inputs (lines.h) */
        const bool tail = tails && rng_int(rng, 0, TAILS - 1) == 0;
        vf_pack_element(&b->c->problem, o, tail ? ldexp(value, -(int)rng_int(rng, 0, DEPTH)) : value,
                        b->pool + (size_t)i * size);
    }
    return CNN_OK;
}

static bool changes(const cnn_operand *o)
{
    const char which = letter(o);
    return o->access == CNN_IN && cnn_elem_real(o->elem) && (which == 'x' || which == 'w' || which == 'y');
}

cnn_status judge_basis_open(const vf_case *c, int threads, judge_basis **result, cnn_error *err)
{
    judge_basis *b = calloc(1, sizeof *b);
    thread_pool *pool = NULL;
    cnn_rng rng;
    *result = NULL;
    if (!b) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to judge timed runs");
    b->c = c;
    if (getrandom(&rng.state, sizeof rng.state, 0) != (ssize_t)sizeof rng.state)
        rng.state = (uint64_t)(cnn_now() * 1e9);
    for (int i = 0; i < JUDGE_FACTORS; i++) b->factors[i] = (rng_u64(&rng) & 1 ? 1 : -1) * rng_real(&rng, 0.5, 1.5);
    const double start = cnn_now();
    cnn_status status = thread_pool_open(threads, &pool, err);
    for (int i = 0; status == CNN_OK && i < c->call.count; i++) {
        if (!changes(&c->call.operands[i])) continue;
        status = pull_all_back(b, i, pool, err);
        if (status == CNN_OK && !b->pool) status = fill_pool(b, i, &rng, err);
    }
    if (pool) thread_pool_close(pool);
    b->seconds = cnn_now() - start;
    if (status == CNN_OK)
        *result = b;
    else
        judge_basis_close(b);
    return status;
}

void judge_basis_close(judge_basis *b)
{
    if (!b) return;
    for (int i = 0; i < CNN_MAX_OPERANDS; i++)
        for (int k = 0; k < CNN_MAX_OPERANDS; k++) free(b->pullback[i].factors[k]);
    free(b->pool);
    free(b);
}
