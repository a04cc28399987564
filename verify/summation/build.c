/* build.c: the tree of a summation from the sizes of the least subtrees that hold two leaves.
 *
 * Of a set of leaves one is taken, and measured with each of the others. Those of one size hang on one node of its path
 * to the root, and are a subtree of their own, which is built alike. The first leaf of a sequence tells all in n - 1
 * measurements. So the first is taken; where it leaves most of the others in one subtree, it is the last of that, then
 * the one in the middle. Any tree takes n (n - 1) / 2 at most.
 *
 * A node may add more than two values. Then the subtree beside the path measures, at its top, not its own size but that
 * of the node: it is no child of the node but several. */
#include "tree.h"

#include <stdlib.h>

typedef struct builder {
    sum_tree *tree;
    const sum_meter *meter;
    cnn_error *err;
} builder;

typedef struct distance { /* of a leaf from the one that was taken */
    int size, leaf;
} distance;

/* What was built of a set: a node, and the size that was measured at it. */
typedef struct built {
    int node, size;
} built;

enum { TAKE_FIRST, TAKE_LAST, TAKE_MIDDLE, TAKES }; /* which leaf of a set is taken */

static cnn_status build(const builder *b, distance *set, int count, int above, int take, built *made);

static int by_size(const void *a, const void *b)
{
    const distance *x = a, *y = b;
    return x->size != y->size ? x->size - y->size : x->leaf - y->leaf;
}

static int by_leaf(const void *a, const void *b) { return ((const distance *)a)->leaf - ((const distance *)b)->leaf; }

static cnn_status misfit(const builder *b, int measured, int possible)
{
    if (measured == 2 && possible == b->tree->leaves)
        return CNN_FAIL(b->err, CNN_UNSUPPORTED, "nothing is lost beside a large number: an exact or compensated sum");
    return CNN_FAIL(b->err, CNN_UNSUPPORTED,
                    "no tree fits: a partial sum has %d addends by one measurement, %d by the others", measured,
                    possible);
}

/* The leaves of one size: a subtree beside the path, or children of the path's next node themselves. */
static cnn_status join(const builder *b, distance *group, int count, int take, built *path)
{
    const int size = group[0].size;
    built beside;
    const cnn_status status = build(b, group, count, size, take, &beside);
    if (status != CNN_OK) return status;
    if (beside.size == size) {
        sum_tree_attach(b->tree, beside.node, path->node);
        path->node = beside.node;
    } else {
        const int node = sum_tree_add(b->tree);
        sum_tree_attach(b->tree, node, beside.node);
        sum_tree_attach(b->tree, node, path->node);
        path->node = node;
    }
    path->size = size;
    return CNN_OK;
}

/* above: the size that was measured at the node where the set hangs; the whole tree: 0. */
static cnn_status build(const builder *b, distance *set, int count, int above, int take, built *made)
{
    qsort(set, (size_t)count, sizeof *set, by_leaf);
    const int which = take == TAKE_FIRST ? 0 : take == TAKE_LAST ? count - 1 : count / 2;
    const distance taken = set[which];
    set[which] = set[0];
    *made = (built){taken.leaf, 1};
    for (int i = 1; i < count; i++) {
        const cnn_status status = b->meter->measure(b->meter->user, taken.leaf, set[i].leaf, &set[i].size, b->err);
        if (status != CNN_OK) return status;
    }
    qsort(set + 1, (size_t)count - 1, sizeof *set, by_size);
    for (int from = 1, to; from < count; from = to) {
        const int size = set[from].size;
        for (to = from; to < count && set[to].size == size; to++) continue;
        if (size != to && !(to == count && size == above)) return misfit(b, size, to);
        const int next = to - from > count / 2 ? (take + 1) % TAKES : take;
        const cnn_status status = join(b, set + from, to - from, next, made);
        if (status != CNN_OK) return status;
    }
    return CNN_OK;
}

cnn_status sum_tree_build(sum_tree *tree, int leaves, const sum_meter *meter, cnn_error *err)
{
    const builder b = {tree, meter, err};
    built made;
    cnn_status status = sum_tree_open(tree, leaves, err);
    if (status != CNN_OK) return status;
    distance *set = malloc((size_t)leaves * sizeof *set);
    if (set == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d measurements", leaves);
    for (int i = 0; status == CNN_OK && i < leaves; i++) set[i] = (distance){0, i};
    if (status == CNN_OK) status = build(&b, set, leaves, 0, TAKE_FIRST, &made);
    if (status == CNN_OK) tree->root = made.node;
    if (status != CNN_OK) sum_tree_free(tree);
    free(set);
    return status;
}
