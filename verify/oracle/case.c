/* case.c: the data of a problem and direction, and what must come out.
 *
 * What a backward pass reads of its forward (y, save_mean, save_invstd) comes from the reference's forward on the same
 * x, rounded to the dtype as a forward kernel would have left it. */
#include "case.h"

#include "epilogue.h"
#include "lines.h"
#include "pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int vf_variants(const cnn_problem *p, cnn_dir dir)
{
    if (p->op == CNN_OP_OPTIMIZER) return cnn_is_mixed(&p->u.type) ? 3 : 2;
    if (cnn_is_weighted(p)) return 2;
    return p->op == CNN_OP_ACT && dir == CNN_BWD_D ? 2 : 1;
}

static double *doubles(int64_t count)
{
    return (size_t)count > SIZE_MAX / sizeof(double) ? NULL : malloc((size_t)count * sizeof(double));
}

bool vf_has_lines(const vf_case *c)
{
    return cnn_is_weighted(&c->problem) && c->fill != VF_INTEGERS && !cnn_sums_whole(c->problem.u.type.dtype);
}

static bool has_kinds(const vf_case *c, const cnn_operand *o) { return vf_has_lines(c) && strcmp(o->name, "db") != 0; }

static bool allocate_result(vf_case *c, int i)
{
    const int64_t count = c->call.operands[i].count;
    c->after[i] = doubles(count);
    c->magnitude[i] = doubles(count);
    c->roundings[i] = doubles(count);
    if (has_kinds(c, &c->call.operands[i])) c->kind[i] = calloc((size_t)count, 1);
    c->call.out[i] = (vf_out){c->after[i], c->magnitude[i], c->roundings[i], c->kind[i]};
    return c->after[i] != NULL && c->magnitude[i] != NULL && c->roundings[i] != NULL &&
           (c->kind[i] != NULL || !has_kinds(c, &c->call.operands[i]));
}

/* Arrays for every operand; an output under beta 1 has a `before` too. */
static bool allocate(vf_case *c)
{
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        bool read = o->access != CNN_OUT || c->call.beta != 0.0, written = o->access != CNN_IN;
        if (read && (c->before[i] = doubles(o->count)) == NULL) return false;
        if (written && c->fill != VF_DATA && !allocate_result(c, i)) return false;
    }
    for (int i = 0; i < c->call.count; i++) c->call.in[i] = c->before[i];
    return true;
}

/* Whether operand i is read by the backward and left by the forward. */
static bool is_intermediate(const cnn_operand *o)
{
    return o->access == CNN_IN && (strcmp(o->name, "y") == 0 || strncmp(o->name, "save_", 5) == 0);
}

static cnn_status take_intermediates(vf_case *c, cnn_error *err)
{
    vf_case forward;
    cnn_status status = vf_case_make(&forward, &c->problem, CNN_FWD, c->fill == VF_DATA ? VF_REALS : c->fill,
                                     c->variant, c->seed, c->call.pool, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < c->call.count; i++) {
        cnn_operand *o = &c->call.operands[i];
        int k = vf_index(forward.call.operands, forward.call.count, o->name);
        if (!is_intermediate(o) || k < 0) continue;
        memcpy(c->before[i], forward.after[k], (size_t)o->count * sizeof(double));
        if (c->fill != VF_EXACT_REALS) vf_round(c->call.pool, &c->problem, o, c->before[i]);
    }
    vf_case_free(&forward);
    return CNN_OK;
}

static bool has_intermediates(const vf_case *c)
{
    for (int i = 0; i < c->call.count; i++)
        if (is_intermediate(&c->call.operands[i])) return true;
    return false;
}

/* Whether no sum of absolute values leaves the range in which integers are exact. */
static bool within_exact_limit(const vf_case *c)
{
    double limit = vf_exact_limit(&c->problem);
    for (int i = 0; i < c->call.count; i++)
        if (c->magnitude[i] != NULL &&
            !(vf_largest_size(c->call.pool, c->magnitude[i], c->call.operands[i].count) < limit * c->unit[i]))
            return false;
    return true;
}

/* What must come out. Integers are summed without rounding, so all that happens to a result is that it is stored. */
static void expect(vf_case *c)
{
    if (c->fill != VF_DATA) vf_reference(&c->call);
    vf_find_kinds(c);
    if (cnn_is_quantized(c->problem.u.type.dtype)) return; /* halves mean something (quantize.h) */
    for (int i = 0; c->fill == VF_INTEGERS && i < c->call.count; i++)
        if (c->after[i] != NULL) vf_round(c->call.pool, &c->problem, &c->call.operands[i], c->after[i]);
}

static cnn_status fill_and_compute(vf_case *c, cnn_error *err)
{
    const bool weighted = cnn_is_weighted(&c->problem), whole = cnn_sums_whole(c->problem.u.type.dtype);
    double density = vf_exact_density(&c->problem, c->call.dir);
    cnn_status status = CNN_OK;
    for (;;) {
        for (int i = 0; i < c->call.count; i++)
            if (c->before[i] != NULL) vf_fill_values(c, &c->call.operands[i], density, c->before[i]);
        if (c->fill == VF_INTEGERS && weighted && !whole) vf_scale_integers(c);
        if (cnn_has_epilogue(&c->problem)) vf_reach_ceiling(c);
        if (has_intermediates(c)) status = take_intermediates(c, err);
        if (status != CNN_OK) return status;
        expect(c);
        if ((c->fill != VF_INTEGERS && !whole) || within_exact_limit(c)) return CNN_OK;
        if (density < 1e-9) return CNN_FAIL(err, CNN_INTERNAL, "no integers small enough for exact sums were found");
        density *= 0.5;
    }
}

cnn_status vf_case_make(vf_case *c, const cnn_problem *problem, cnn_dir dir, vf_fill fill, int variant, uint64_t seed,
                        thread_pool *pool, cnn_error *err)
{
    memset(c, 0, sizeof *c);
    c->problem = *problem;
    c->fill = fill;
    c->variant = variant;
    c->seed = seed;
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) c->unit[i] = 1.0;
    cnn_status status = vf_call_init(&c->call, &c->problem, dir, pool, err);
    if (status != CNN_OK) return status;
    const bool adds = cnn_is_weighted(problem) && !cnn_always_replaces(problem);
    c->call.beta = adds && variant == 1 ? 1.0 : 0.0;
    c->call.scale = problem->op == CNN_OP_LOSS ? 1.0 / (double)problem->u.loss.mb : 1.0;
    c->without_x = problem->op == CNN_OP_ACT && dir == CNN_BWD_D && variant == 1;
    status = allocate(c) ? fill_and_compute(c, err)
                         : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the reference's arrays");
    if (status != CNN_OK) vf_case_free(c);
    return status;
}

cnn_status vf_case_lend(const vf_case *c, vf_case *lent, cnn_error *err)
{
    bool allocated = true;
    *lent = *c;
    lent->call.problem = &lent->problem;
    lent->call.beta = 0.0;
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) {
        lent->after[i] = lent->magnitude[i] = lent->roundings[i] = NULL;
        lent->kind[i] = NULL;
        lent->call.out[i] = (vf_out){NULL, NULL, NULL, NULL};
        if (i < c->call.count && c->call.operands[i].access == CNN_OUT) lent->before[i] = NULL;
        lent->call.in[i] = lent->before[i];
    }
    for (int i = 0; i < c->call.count && allocated; i++)
        if (c->after[i] != NULL) allocated = allocate_result(lent, i);
    if (!allocated) {
        vf_case_return(lent);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the reference's arrays");
    }
    expect(lent);
    return CNN_OK;
}

void vf_case_return(vf_case *lent)
{
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) lent->before[i] = NULL;
    vf_case_free(lent);
}

void vf_case_free(vf_case *c)
{
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) {
        free(c->before[i]);
        free(c->after[i]);
        free(c->magnitude[i]);
        free(c->roundings[i]);
        free(c->kind[i]);
        c->kind[i] = NULL;
        c->before[i] = c->after[i] = c->magnitude[i] = c->roundings[i] = NULL;
    }
}

void vf_run_free(vf_run *run)
{
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) {
        free(run->after[i]);
        free(run->bytes[i]);
        run->after[i] = run->bytes[i] = NULL;
    }
}
