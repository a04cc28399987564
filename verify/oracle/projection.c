/* projection.c: the two sides of a projection (see projection.h), and the search for a wrong element. */
#include "projection.h"

#include "element.h"
#include "modular.h"

#include "harness/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The left side: sum of result * r. */

typedef struct left_side {
    const double *values;
    double unit; /* rounded to multiples of it */
    const vf_factors *r;
    uint64_t *planes; /* the sum over each (n, c) plane */
} left_side;

static void sum_plane(void *arg, int64_t task, int worker)
{
    const left_side *t = arg;
    const int64_t *dims = t->r->dims;
    const double *at = t->values + task * dims[2] * dims[3];
    const uint64_t outer = mod_mul(t->r->factor[0][task / dims[1]], t->r->factor[1][task % dims[1]]);
    uint64_t sum = 0;
    (void)worker;
    for (int64_t h = 0; h < dims[2] && outer != 0; h++) {
        uint64_t row = 0;
        for (int64_t w = 0; w < dims[3]; w++)
            row = mod_add(row, mod_mul(t->r->factor[3][w], mod_of(t->unit * nearbyint(at[h * dims[3] + w] / t->unit))));
        sum = mod_add(sum, mod_mul(t->r->factor[2][h], row));
    }
    t->planes[task] = mod_mul(outer, sum);
}

static cnn_status project_array(const double *values, double unit, const vf_factors *r, thread_pool *pool,
                                uint64_t *sum, cnn_error *err)
{
    const int64_t planes = r->dims[0] * r->dims[1];
    left_side t = {values, unit, r, malloc((size_t)planes * sizeof(uint64_t))};
    if (t.planes == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to project %lld planes", (long long)planes);
    parallel_for(pool, planes, sum_plane, &t);
    *sum = 0;
    for (int64_t i = 0; i < planes; i++) *sum = mod_add(*sum, t.planes[i]);
    free(t.planes);
    return CNN_OK;
}

/* ---- Random factors. */

static cnn_status factors_make(vf_factors *r, const int64_t dims[4], uint64_t seed, cnn_error *err)
{
    cnn_rng rng = rng_stream(seed, 4242);
    int64_t total = dims[0] + dims[1] + dims[2] + dims[3];
    uint64_t *all = malloc((size_t)total * sizeof *all);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld random factors", (long long)total);
    for (int i = 0; i < 4; i++) {
        r->dims[i] = dims[i];
        r->factor[i] = i == 0 ? all : r->factor[i - 1] + dims[i - 1];
        for (int64_t e = 0; e < dims[i]; e++) {
            do r->factor[i][e] = rng_u64(&rng) >> 3; /* uniform below the prime */
            while (r->factor[i][e] >= VF_PRIME);
        }
    }
    return CNN_OK;
}

static void factors_free(vf_factors *r) { free(r->factor[0]); }

/* ---- Both sides. */

typedef struct projection {
    const vf_case *c;
    int operand;
    const double *result;
    thread_pool *pool;
} projection;

static cnn_status agrees(const projection *p, const vf_factors *r, bool *same, cnn_error *err)
{
    uint64_t left = 0, right = 0, before = 0;
    const double unit = p->c->unit[p->operand];
    cnn_status status = project_array(p->result, unit, r, p->pool, &left, err);
    if (status == CNN_OK) status = vf_projected_formula(p->c, p->operand, r, p->pool, &right, err);
    if (status == CNN_OK && p->c->call.beta != 0.0)
        status = project_array(p->c->before[p->operand], unit, r, p->pool, &before, err);
    *same = left == mod_add(right, before);
    return status;
}

/* Halves [*from, *to) of an axis until one index is left in which the sides differ. The factors outside are 0. */
static cnn_status narrow(const projection *p, vf_factors *r, int axis, int64_t *index, cnn_error *err)
{
    int64_t from = 0, to = r->dims[axis];
    const size_t bytes = (size_t)to * sizeof(uint64_t);
    uint64_t *all = malloc(bytes), *factor = r->factor[axis];
    cnn_status status = all == NULL ? CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to find a wrong element") : CNN_OK;
    if (status == CNN_OK) memcpy(all, factor, bytes);
    while (status == CNN_OK && to - from > 1) {
        const int64_t middle = from + (to - from) / 2;
        bool same;
        memset(factor, 0, bytes);
        memcpy(factor + from, all + from, (size_t)(middle - from) * sizeof *all);
        status = agrees(p, r, &same, err);
        *(same ? &from : &to) = middle;
    }
    if (status == CNN_OK) {
        memset(factor, 0, bytes);
        factor[from] = all[from];
    }
    *index = from;
    free(all);
    return status;
}

cnn_status vf_project(const vf_case *c, int operand, const double *result, uint64_t seed, thread_pool *pool,
                      int64_t *wrong, cnn_error *err)
{
    const projection p = {c, operand, result, pool};
    const int64_t *dims = c->call.operands[operand].dims;
    vf_factors r;
    bool same = true;
    *wrong = -1;
    cnn_status status = factors_make(&r, dims, seed, err);
    if (status != CNN_OK) return status;
    status = agrees(&p, &r, &same, err);
    if (status == CNN_OK && !same) {
        int64_t at[4] = {0};
        for (int axis = 0; status == CNN_OK && axis < 4; axis++) status = narrow(&p, &r, axis, &at[axis], err);
        *wrong = ((at[0] * dims[1] + at[1]) * dims[2] + at[2]) * dims[3] + at[3];
    }
    factors_free(&r);
    return status;
}
