/* order.c: a kernel's order of summation: +M and -M among ones, where what is left is counted. */
#include "summation.h"

#include "harness/base/rng.h"

#include <math.h>
#include <stdlib.h>

cnn_status sum_data_open(sum_data *data, const sum_kernel *k, cnn_error *err)
{
    const size_t leaves = (size_t)(k->products + k->addends);
    data->a = calloc(leaves, sizeof(double));
    data->b = calloc(leaves, sizeof(double));
    if (data->a != NULL && data->b != NULL) return CNN_OK;
    sum_data_free(data);
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a sum of %zu", leaves);
}

void sum_data_free(sum_data *data)
{
    free(data->a);
    free(data->b);
    data->a = data->b = NULL;
}

void sum_data_fill(const sum_data *data, const sum_kernel *k, double value)
{
    for (int i = 0; i < k->products + k->addends; i++) data->a[i] = value, data->b[i] = 1.0;
}

void sum_data_power(const sum_data *data, const sum_kernel *k, int i, int sign, int exponent)
{
    const int half = i < k->products ? exponent / 2 : 0;
    data->a[i] = sign * ldexp(1.0, exponent - half);
    data->b[i] = ldexp(1.0, half);
}

/* Exponents of M and of what is taken for 1. The first of a type is far above what any accumulator holds; where it
 * leaves the range of the factors or of the accumulator (f16), one of the others is left. */
typedef struct scale {
    int large, unit;
} scale;
static const scale scales_f64[] = {{500, 0}}, scales_f32[] = {{100, 0}, {30, -12}, {14, -10}};

typedef struct orderer {
    const sum_kernel *kernel;
    sum_data data;
    scale scale;
    int64_t runs, most;
} orderer;

static cnn_status measure(void *user, int a, int b, int *leaves, cnn_error *err)
{
    orderer *o = user;
    const sum_kernel *k = o->kernel;
    const int all = k->products + k->addends;
    const double unit = ldexp(1.0, o->scale.unit);
    double sum = 0.0;
    if (o->runs++ >= o->most)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "no order was found in %lld runs", (long long)o->most);
    for (int i = 0; i < all; i++) sum_data_power(&o->data, k, i, 1, o->scale.unit);
    sum_data_power(&o->data, k, a, 1, o->scale.large);
    sum_data_power(&o->data, k, b, -1, o->scale.large);
    const cnn_status status = k->run(k->user, o->data.a, o->data.b, &sum, err);
    if (status != CNN_OK) return status;
    const double left = sum / unit;
    if (!(left >= 0.0 && left <= all - 2 && left == nearbyint(left)))
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "among %d ones a large number and its negative leave %g, which is no count of ones: no plain "
                        "sum of these products (a transform?)",
                        all - 2, left);
    *leaves = all - (int)left;
    return CNN_OK;
}

/* Tries one scale after the other, until one gives an answer; the reason of the first is that of all. */
typedef cnn_status attempt_fn(orderer *o, void *user, cnn_error *err);
static cnn_status by_scales(orderer *o, attempt_fn *attempt, void *user, cnn_error *err)
{
    const bool f64 = o->kernel->digits > 24;
    const int count = f64 ? 1 : (int)(sizeof scales_f32 / sizeof scales_f32[0]);
    cnn_error first = {.status = CNN_OK};
    cnn_status status = sum_data_open(&o->data, o->kernel, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < count; i++) {
        o->scale = f64 ? scales_f64[i] : scales_f32[i];
        status = attempt(o, user, err);
        if (status != CNN_UNSUPPORTED) break;
        if (i == 0) first = *err;
    }
    if (status == CNN_UNSUPPORTED) *err = first;
    sum_data_free(&o->data);
    return status;
}

/* Pairs that are drawn: what was measured once must come again, and fit the tree. In it comes a leaf more, of the
 * number behind the tree's, where `above` is not -1: beside that node. */
static cnn_status check_pairs(orderer *o, const sum_tree *tree, int above, uint64_t seed, cnn_error *err)
{
    enum { PAIRS = 32 };
    cnn_rng rng = rng_stream(seed, 370);
    for (int i = 0; i < PAIRS + tree->leaves / 16; i++) {
        const int a = (int)rng_int(&rng, 0, tree->leaves - 1), b = (int)rng_int(&rng, 0, tree->leaves - 1);
        int size = 0;
        if (a == b) continue;
        const int meet = sum_tree_meet(tree, a, b);
        const int expected =
            tree->nodes[meet].leaves + (above >= 0 && meet != above && sum_tree_holds(tree, meet, above));
        const cnn_status status = measure(o, a, b, &size, err);
        if (status != CNN_OK) return status;
        if (size != expected)
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "the order is not the same in every run: addends %d and %d meet in a partial sum of %d, "
                            "and before in one of %d",
                            a, b, size, expected);
    }
    return CNN_OK;
}

/* A tree, and its proof. */
typedef struct build_attempt {
    sum_tree *tree;
    uint64_t seed;
} build_attempt;

static cnn_status attempt_build(orderer *o, void *user, cnn_error *err)
{
    const build_attempt *a = user;
    const int leaves = o->kernel->products + o->kernel->addends;
    cnn_status status = sum_tree_build(a->tree, leaves, &(sum_meter){measure, o}, err);
    if (status != CNN_OK) return status;
    status = check_pairs(o, a->tree, -1, a->seed, err);
    if (status != CNN_OK) sum_tree_free(a->tree);
    return status;
}

static orderer orderer_of(const sum_kernel *kernel)
{
    return (orderer){.kernel = kernel, .most = 64 * (int64_t)(kernel->products + kernel->addends) + 1000};
}

cnn_status sum_order(const sum_kernel *kernel, uint64_t seed, sum_tree *tree, int64_t *runs, cnn_error *err)
{
    const int leaves = kernel->products + kernel->addends;
    orderer o = orderer_of(kernel);
    tree->nodes = NULL;
    if (leaves < 3) return CNN_FAIL(err, CNN_UNSUPPORTED, "a sum of %d addends has no order", leaves);
    const cnn_status status = by_scales(&o, attempt_build, &(build_attempt){tree, seed}, err);
    *runs += o.runs;
    return status;
}

/* ---- One addend more. */

/* Of the leaves that are added first, where the new one meets one soonest: it is beside what is there of that one's
 * path to the root. */
static cnn_status find_place(orderer *o, const sum_tree *tree, int *beside, cnn_error *err)
{
    const sum_node *nodes = tree->nodes;
    const int deepest = sum_tree_deepest(tree);
    int best = tree->leaves + 2;
    for (int leaf = nodes[nodes[deepest].parent].first; leaf >= 0; leaf = nodes[leaf].next) {
        int size = 0;
        const cnn_status status = measure(o, leaf, tree->leaves, &size, err);
        if (status != CNN_OK) return status;
        if (size < best) best = size, *beside = leaf;
    }
    while (*beside >= 0 && nodes[*beside].leaves < best - 1) *beside = nodes[*beside].parent;
    if (*beside >= 0 && nodes[*beside].leaves == best - 1) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "the addend meets a sum of %d, which was none before", best - 1);
}

/* It meets each other leaf where the tree says so. */
static cnn_status check_place(orderer *o, const sum_tree *tree, int beside, uint64_t seed, cnn_error *err)
{
    enum { LEAVES = 16 };
    cnn_rng rng = rng_stream(seed, 372);
    for (int i = 0; i < LEAVES; i++) {
        const int leaf = (int)rng_int(&rng, 0, tree->leaves - 1);
        int size = 0;
        const cnn_status status = measure(o, leaf, tree->leaves, &size, err);
        if (status != CNN_OK) return status;
        if (size != tree->nodes[sum_tree_meet(tree, leaf, beside)].leaves + 1)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "the addend meets addend %d in a sum of %d", leaf, size);
    }
    return CNN_OK;
}

typedef struct place_attempt {
    const sum_tree *tree;
    uint64_t seed;
    int *beside;
} place_attempt;

static cnn_status attempt_place(orderer *o, void *user, cnn_error *err)
{
    const place_attempt *a = user;
    cnn_status status = find_place(o, a->tree, a->beside, err);
    if (status == CNN_OK) status = check_place(o, a->tree, *a->beside, a->seed, err);
    return status == CNN_OK ? check_pairs(o, a->tree, *a->beside, a->seed, err) : status;
}

cnn_status sum_order_more(const sum_kernel *kernel, const sum_tree *tree, uint64_t seed, int *beside, int64_t *runs,
                          cnn_error *err)
{
    orderer o = orderer_of(kernel);
    const cnn_status status = by_scales(&o, attempt_place, &(place_attempt){tree, seed, beside}, err);
    *runs += o.runs;
    return status;
}
