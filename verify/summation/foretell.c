/* foretell.c: the test of a tree: random sums, added up as the tree says, must have the kernel's bits. The arithmetics
 * that are tried: an accumulator of f32 or f64, with FMA or without. Of two products that are added to each other, FMA
 * rounds one first, and nothing says which: the one that comes first in the loops, or the other. */
#include "summation.h"

#include "harness/base/rng.h"

#include <math.h>

typedef struct arithmetic {
    bool wide;  /* the accumulator is f64 where the type is f32 */
    bool fused; /* FMA */
    bool later; /* of two products the later one is rounded first */
} arithmetic;

typedef struct evaluation {
    const sum_kernel *kernel;
    const sum_tree *tree;
    const sum_data *data;
    arithmetic by;
} evaluation;

static double rounded(const evaluation *e, double value)
{
    return e->kernel->digits > 24 || e->by.wide ? value : (double)(float)value;
}

static bool is_product(const evaluation *e, int node) { return node < e->kernel->products; }

/* f32 products are exact in f64: so is the sum of one and an f32, but for one rounding, of which fmaf has none. */
static double fuse(const evaluation *e, int leaf, double sum)
{
    const double a = e->data->a[leaf], b = e->data->b[leaf];
    if (e->kernel->digits > 24 || e->by.wide) return fma(a, b, sum);
    return (double)fmaf((float)a, (float)b, (float)sum);
}

/* A sum of two floats as a double is rounded twice, and all the same as once: f64 has more than twice f32's digits. */
static double value_of(const evaluation *e, int node)
{
    if (node >= e->tree->leaves) {
        int left = e->tree->nodes[node].first, right = e->tree->nodes[left].next;
        const bool both = is_product(e, left) && is_product(e, right);
        if (is_product(e, left) && (!both || (left > right) != e->by.later)) {
            const int other = left;
            left = right, right = other;
        }
        /* now the right one is fused, if it is a product: of two the one of the higher number, unless `later` */
        if (e->by.fused && is_product(e, right)) return fuse(e, right, value_of(e, left));
        return rounded(e, value_of(e, left) + value_of(e, right));
    }
    return is_product(e, node) ? rounded(e, e->data->a[node] * e->data->b[node]) : e->data->a[node];
}

static void draw(const sum_kernel *k, const sum_data *data, cnn_rng *rng)
{
    for (int i = 0; i < k->products + k->addends; i++) {
        double *const both[] = {&data->a[i], &data->b[i]};
        for (int f = 0; f < 2; f++) {
            const double value = rng_real(rng, -1.0, 1.0);
            *both[f] = k->digits > 24 ? value : (double)(float)value;
        }
    }
}

static bool is_binary(const sum_tree *t)
{
    for (int node = t->leaves; node < t->count; node++)
        if (t->nodes[node].leaves > 0 && sum_tree_children(t, node) != 2) return false;
    return true;
}

cnn_status sum_foretell(const sum_kernel *k, const sum_tree *tree, uint64_t seed, sum_findings *found, cnn_error *err)
{
    static const arithmetic ways[] = {
        {.fused = true}, {.fused = true, .later = true}, {.fused = false}, {.wide = true}};
    enum { WAYS = sizeof ways / sizeof ways[0] };
    int right[WAYS] = {0};
    cnn_rng rng = rng_stream(seed, 371);
    sum_data data;
    if (!is_binary(tree)) return CNN_OK;
    cnn_status status = sum_data_open(&data, k, err);
    for (int i = 0; status == CNN_OK && i < SUM_FORETELLS; i++) {
        double sum = 0.0;
        draw(k, &data, &rng);
        status = k->run(k->user, data.a, data.b, &sum, err);
        for (int w = 0; w < WAYS; w++) {
            const double told = value_of(&(evaluation){k, tree, &data, ways[w]}, tree->root);
            right[w] += sum == (k->digits > 24 ? told : (double)(float)told);
        }
    }
    for (int w = 0; w < WAYS; w++)
        if (right[w] > found->foretold) found->foretold = right[w];
    found->runs += SUM_FORETELLS;
    found->asked = SUM_FORETELLS;
    sum_data_free(&data);
    return status;
}
