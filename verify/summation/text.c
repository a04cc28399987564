/* text.c: a tree as a text, for records. */
#include "tree.h"

#include "harness/base/text.h"

static void append(const sum_tree *tree, int node, char *text, size_t size);

/* Of an addition of two that adds a leaf to something else: the leaf, and what it is added to. False: it is none. Of
 * two leaves the one of the higher number is added. */
static bool adds_leaf(const sum_tree *tree, int node, int *leaf, int *before)
{
    *leaf = *before = -1;
    if (sum_tree_children(tree, node) != 2) return false;
    const int one = tree->nodes[node].first, other = tree->nodes[one].next;
    *leaf = other >= tree->leaves || (one < tree->leaves && one > other) ? one : other;
    *before = *leaf == one ? other : one;
    return *leaf < tree->leaves;
}

/* "0 1 2": leaf by leaf. */
static void append_leaves(const sum_tree *tree, int node, char *text, size_t size)
{
    int leaf, before;
    if (!adds_leaf(tree, node, &leaf, &before)) {
        append(tree, node, text, size);
        return;
    }
    append_leaves(tree, before, text, size);
    cnn_append(text, size, " %d", leaf);
}

/* "(0 1 2)": one addition of all, in the order of the least leaves. */
static void append_addition(const sum_tree *tree, int node, char *text, size_t size)
{
    int behind = -1; /* the least leaf of the child before */
    for (int left = sum_tree_children(tree, node); left > 0; left--) {
        int best = -1, least = tree->leaves;
        for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next) {
            const int its = sum_tree_least(tree, child);
            if (its > behind && its < least) least = its, best = child;
        }
        cnn_append(text, size, behind < 0 ? "(" : " ");
        append(tree, best, text, size);
        behind = least;
    }
    cnn_append(text, size, ")");
}

static void append(const sum_tree *tree, int node, char *text, size_t size)
{
    int leaf, before;
    if (node < tree->leaves)
        cnn_append(text, size, "%d", node);
    else if (adds_leaf(tree, node, &leaf, &before) && before >= tree->leaves) {
        cnn_append(text, size, "[");
        append_leaves(tree, node, text, size);
        cnn_append(text, size, "]");
    } else
        append_addition(tree, node, text, size);
}

void sum_tree_text(const sum_tree *tree, char *text, size_t size)
{
    text[0] = '\0';
    append(tree, tree->root, text, size);
}
