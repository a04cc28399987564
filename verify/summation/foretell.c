/* foretell.c: the test of a tree: random sums, added up as the tree says, must have the kernel's bits. The arithmetics
 * that are tried: an accumulator of f32 or f64, with FMA or without. Of two products that are added to each other, FMA
 * rounds the one that comes first: the kernel is asked which that is. A product may also be a partial sum of its own,
 * and be rounded for that: where the bits do not come, the kernel is asked about every product. */
#include "summation.h"

#include "harness/base/rng.h"

#include <math.h>
#include <stdlib.h>

typedef struct arithmetic {
    bool wide;  /* the accumulator is f64 where the type is f32 */
    bool cut;   /* and products are rounded to f32 all the same */
    bool fused; /* FMA */
} arithmetic;

typedef struct evaluation {
    const sum_kernel *kernel;
    const sum_tree *tree;
    const sum_data *data;
    const char *plain; /* of each product whether it is rounded before it is added, in spite of FMA */
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

static double value_of(const evaluation *e, int node);

/* With FMA the second is fused, if it is a product. Without, a sum of two floats as a double is rounded twice, and all
 * the same as once: f64 has more than twice f32's digits. */
static double value_of_sum(const evaluation *e, int node)
{
    int first = e->tree->nodes[node].first, second = e->tree->nodes[first].next;
    const bool both = is_product(e, first) && is_product(e, second);
    if (both ? (first > second) != (e->plain[first > second ? first : second] != 0) : is_product(e, first)) {
        const int other = first;
        first = second, second = other;
    }
    if (e->by.fused && is_product(e, second) && !e->plain[second]) return fuse(e, second, value_of(e, first));
    return rounded(e, value_of(e, first) + value_of(e, second));
}

static double value_of(const evaluation *e, int node)
{
    if (node >= e->tree->leaves) return value_of_sum(e, node);
    const double a = e->data->a[node], product = a * e->data->b[node];
    if (!is_product(e, node)) return a;
    return e->by.cut ? (double)(float)product : rounded(e, product);
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

/* A sum that is put to the test. */
typedef struct trial {
    const sum_kernel *kernel;
    const sum_tree *tree;
    sum_data data;
    char *plain;
    uint64_t seed;
    sum_findings *found;
} trial;

static cnn_status ask_product(trial *t, int leaf, cnn_error *err)
{
    const sum_node *nodes = t->tree->nodes;
    const int first = nodes[nodes[leaf].parent].first, other = first == leaf ? nodes[first].next : first;
    bool known, fused;
    t->found->runs++;
    const cnn_status status =
        sum_is_fused(t->kernel, &t->data, sum_tree_least(t->tree, other), leaf, &known, &fused, err);
    t->plain[leaf] = status == CNN_OK && known && !fused;
    return status;
}

/* all: every product; else of two that are added to each other the one of the higher number. */
static cnn_status ask_products(trial *t, bool all, cnn_error *err)
{
    const sum_node *nodes = t->tree->nodes;
    for (int leaf = 0; leaf < t->kernel->products; leaf++) {
        const int parent = nodes[leaf].parent, first = nodes[parent].first;
        const int other = first == leaf ? nodes[first].next : first;
        if (!all && (nodes[parent].leaves > 2 || other > leaf)) continue;
        const cnn_status status = ask_product(t, leaf, err);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

static cnn_status try_ways(trial *t, cnn_error *err)
{
    static const arithmetic ways[] = {{.fused = true}, {.fused = false}, {.wide = true}, {.wide = true, .cut = true}};
    enum { WAYS = sizeof ways / sizeof ways[0] };
    const sum_kernel *k = t->kernel;
    int right[WAYS] = {0};
    cnn_rng rng = rng_stream(t->seed, 371);
    for (int i = 0; i < SUM_FORETELLS; i++) {
        double sum = 0.0;
        draw(k, &t->data, &rng);
        const cnn_status status = k->run(k->user, t->data.a, t->data.b, &sum, err);
        if (status != CNN_OK) return status;
        for (int w = 0; w < WAYS; w++) {
            const double foretold = value_of(&(evaluation){k, t->tree, &t->data, t->plain, ways[w]}, t->tree->root);
            right[w] += sum == (k->digits > 24 ? foretold : (double)(float)foretold);
        }
    }
    for (int w = 0; w < WAYS; w++)
        if (right[w] > t->found->foretold) t->found->foretold = right[w];
    t->found->runs += SUM_FORETELLS;
    t->found->asked = SUM_FORETELLS;
    return CNN_OK;
}

cnn_status sum_foretell(const sum_kernel *k, const sum_tree *tree, uint64_t seed, sum_findings *found, cnn_error *err)
{
    trial t = {.kernel = k, .tree = tree, .seed = seed, .found = found};
    const bool fused = found->product == SUM_FMA;
    if (!is_binary(tree)) return CNN_OK;
    cnn_status status = sum_data_open(&t.data, k, err);
    if (status != CNN_OK) return status;
    t.plain = calloc((size_t)tree->leaves, 1);
    if (t.plain == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a tree of %d", tree->leaves);
    if (status == CNN_OK && fused) status = ask_products(&t, false, err);
    if (status == CNN_OK) status = try_ways(&t, err);
    const bool again = fused && found->foretold < SUM_FORETELLS;
    if (status == CNN_OK && again) status = ask_products(&t, true, err);
    if (status == CNN_OK && again) status = try_ways(&t, err);
    free(t.plain);
    sum_data_free(&t.data);
    return status;
}
