/* arithmetic.c: accumulator, rounding, products and factors of a sum whose order is known. Each is one question to one
 * addition: all that takes no part in it is 0. */
#include "summation.h"

#include <math.h>

enum { BITS_MOST = 100 };

static const char *const rounding_names[] = {[SUM_ROUNDING_UNKNOWN] = "unknown",
                                             [SUM_TO_NEAREST_EVEN] = "to nearest",
                                             [SUM_TO_NEAREST_AWAY] = "to nearest, ties away from zero",
                                             [SUM_TOWARD_ZERO] = "toward zero",
                                             [SUM_DOWNWARD] = "downward"};
static const char *const product_names[] = {
    [SUM_PRODUCT_UNKNOWN] = "unknown", [SUM_FMA] = "FMA", [SUM_ROUNDED] = "no FMA", [SUM_EXACT] = "exact"};

const char *sum_rounding_name(sum_rounding rounding) { return rounding_names[rounding]; }
const char *sum_product_name(sum_product product) { return product_names[product]; }

typedef struct asker {
    const sum_kernel *kernel;
    const sum_tree *tree;
    sum_data data;
    sum_findings *found;
} asker;

static cnn_status ask(asker *q, double *sum, cnn_error *err)
{
    q->found->runs++;
    return q->kernel->run(q->kernel->user, q->data.a, q->data.b, sum, err);
}

/* ---- The accumulator. */

/* Two leaves that meet first, and a third that comes to their sum later. */
typedef struct meeting {
    int large, small, later;
} meeting;

/* The child of `node` that the leaf is not in. */
static int beside(const sum_tree *t, int node, int leaf)
{
    int child = t->nodes[node].first;
    while (child >= 0 && sum_tree_holds(t, child, leaf)) child = t->nodes[child].next;
    return child;
}

/* outer: they meet as late as the third leaves them, else as early as can be. False: all is one addition. */
static bool find_meeting(const sum_tree *t, bool outer, meeting *m)
{
    m->large = sum_tree_deepest(t);
    int node = t->nodes[m->large].parent;
    if (node == t->root) return false;
    while (outer && t->nodes[node].parent != t->root) node = t->nodes[node].parent;
    m->small = sum_tree_least(t, beside(t, node, m->large));
    m->later = sum_tree_least(t, beside(t, t->root, m->large));
    return true;
}

/* (large + small) - large, where large is 2^exponent. */
static cnn_status difference(asker *q, const meeting *m, int sign, int exponent, double small, double *left,
                             cnn_error *err)
{
    sum_data_fill(&q->data, q->kernel, 0.0);
    sum_data_power(&q->data, q->kernel, m->large, sign, exponent);
    sum_data_power(&q->data, q->kernel, m->later, -sign, exponent);
    q->data.a[m->small] = sign * small;
    return ask(q, left, err);
}

/* The least p for which 2^p + 1 loses the 1. */
static cnn_status find_bits(asker *q, bool outer, int *bits, cnn_error *err)
{
    meeting m;
    *bits = 0;
    if (!find_meeting(q->tree, outer, &m)) return CNN_OK;
    const int type = q->kernel->digits; /* mostly it is the type's: asked first */
    double kept = 0.0, lost = 1.0;
    cnn_status status = difference(q, &m, 1, type - 1, 1.0, &kept, err);
    if (status == CNN_OK) status = difference(q, &m, 1, type, 1.0, &lost, err);
    if (kept == 1.0 && lost != 1.0) *bits = type;
    for (int p = kept == 1.0 ? type + 1 : 2; status == CNN_OK && *bits == 0; p++) {
        status = difference(q, &m, 1, p, 1.0, &lost, err);
        if (lost != 1.0 || p == BITS_MOST) *bits = p;
    }
    return status;
}

/* 1, 3 and -3 units of half the last place: what is left tells the way of rounding. (Upward a large number and a 1 are
 * more than the large number: such a sum shows no order, and does not come here.) */
static cnn_status find_rounding(asker *q, cnn_error *err)
{
    static const struct {
        double left[3];
        sum_rounding rounding;
    } ways[] = {{{0, 4, -4}, SUM_TO_NEAREST_EVEN},
                {{2, 4, -4}, SUM_TO_NEAREST_AWAY},
                {{0, 2, -2}, SUM_TOWARD_ZERO},
                {{0, 2, -4}, SUM_DOWNWARD}};
    static const double small[] = {1, 3, 3};
    const int bits = q->found->inner_bits;
    meeting m;
    double left[3];
    if (bits == 0 || bits >= BITS_MOST || !find_meeting(q->tree, false, &m)) return CNN_OK;
    for (int i = 0; i < 3; i++) {
        const cnn_status status = difference(q, &m, i < 2 ? 1 : -1, bits, small[i], &left[i], err);
        if (status != CNN_OK) return status;
    }
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        if (left[0] == ways[w].left[0] && left[1] == ways[w].left[1] && left[2] == ways[w].left[2])
            q->found->rounding = ways[w].rounding;
    return CNN_OK;
}

/* ---- Factors: the least bit that a product with 1 still has. */

static cnn_status find_factor(asker *q, double *factor, int *bits, cnn_error *err)
{
    sum_data_fill(&q->data, q->kernel, 0.0);
    if (factor == q->data.b) q->data.a[0] = 1.0;
    for (int m = q->kernel->digits - 1; m > 0; m--) {
        double sum = 0.0;
        factor[0] = 1.0 + ldexp(1.0, -m);
        const cnn_status status = ask(q, &sum, err);
        if (status != CNN_OK) return status;
        *bits = m + 1;
        if (sum == factor[0]) return CNN_OK;
    }
    *bits = 0;
    return CNN_OK;
}

/* ---- FMA: (1 + 2^-h)^2 - (1 + 2^(1-h)) is 2^-2h, and the product alone rounds it away. */

cnn_status sum_is_fused(const sum_kernel *kernel, const sum_data *data, int before, int at, bool *known, bool *fused,
                        cnn_error *err)
{
    const int h = (kernel->digits + 1) / 2;
    double sum = 0.0;
    sum_data_fill(data, kernel, 0.0);
    data->a[before] = -(1.0 + ldexp(1.0, 1 - h));
    data->a[at] = data->b[at] = 1.0 + ldexp(1.0, -h);
    const cnn_status status = kernel->run(kernel->user, data->a, data->b, &sum, err);
    *fused = sum == ldexp(1.0, -2 * h);
    *known = *fused || sum == 0.0;
    return status;
}

/* A product that is added to a partial sum of several; else two that are added to each other. */
static bool find_product(const sum_tree *t, int products, int *before, int *at)
{
    for (int want = 2; want >= 1; want--)
        for (int leaf = 0; leaf < products; leaf++) {
            const int parent = t->nodes[leaf].parent, other = beside(t, parent, leaf);
            if (other < 0 || t->nodes[other].leaves < want) continue;
            *before = sum_tree_least(t, other), *at = leaf;
            return true;
        }
    return false;
}

static cnn_status find_fma(asker *q, cnn_error *err)
{
    int before, at;
    bool known, left, known_too, left_too;
    sum_findings *found = q->found;
    if (found->a_bits < q->kernel->digits || found->b_bits < q->kernel->digits) return CNN_OK;
    if (!find_product(q->tree, q->kernel->products, &before, &at)) return CNN_OK;
    cnn_status status = sum_is_fused(q->kernel, &q->data, before, at, &known, &left, err);
    if (status != CNN_OK || !known) return status;
    known_too = known, left_too = left;
    const bool pair = q->tree->nodes[q->tree->nodes[at].parent].leaves == 2 && before < q->kernel->products;
    if (pair) status = sum_is_fused(q->kernel, &q->data, at, before, &known_too, &left_too, err);
    found->runs += 1 + pair;
    if (status != CNN_OK || !known_too) return status;
    const bool wide = found->inner_bits > q->kernel->digits || (pair && left && left_too);
    found->product = !left && !left_too ? SUM_ROUNDED : wide ? SUM_EXACT : SUM_FMA;
    return CNN_OK;
}

cnn_status sum_arithmetic(const sum_kernel *kernel, const sum_tree *tree, sum_findings *found, cnn_error *err)
{
    asker q = {.kernel = kernel, .tree = tree, .found = found};
    cnn_status status = sum_data_open(&q.data, kernel, err);
    if (status != CNN_OK) return status;
    status = find_bits(&q, false, &found->inner_bits, err);
    if (status == CNN_OK) status = find_bits(&q, true, &found->outer_bits, err);
    if (status == CNN_OK) status = find_rounding(&q, err);
    if (status == CNN_OK) status = find_factor(&q, q.data.a, &found->a_bits, err);
    if (status == CNN_OK) status = find_factor(&q, q.data.b, &found->b_bits, err);
    if (status == CNN_OK) status = find_fma(&q, err);
    sum_data_free(&q.data);
    return status;
}
