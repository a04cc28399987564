/* tree.c: see tree.h. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

cnn_status sum_tree_open(sum_tree *tree, int leaves, cnn_error *err)
{
    *tree = (sum_tree){.leaves = leaves, .count = leaves, .root = leaves == 1 ? 0 : -1};
    if (leaves < 1 || leaves > SUM_LEAVES_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "a sum of %d is not looked into, but of 1 to %d", leaves, SUM_LEAVES_MAX);
    tree->nodes = malloc(2 * (size_t)leaves * sizeof *tree->nodes);
    if (tree->nodes == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a tree of %d leaves", leaves);
    for (int i = 0; i < leaves; i++) tree->nodes[i] = (sum_node){-1, -1, -1, 1};
    return CNN_OK;
}

void sum_tree_free(sum_tree *tree)
{
    free(tree->nodes);
    tree->nodes = NULL;
}

int sum_tree_add(sum_tree *tree)
{
    tree->nodes[tree->count] = (sum_node){-1, -1, -1, 0};
    return tree->count++;
}

void sum_tree_attach(sum_tree *tree, int parent, int child)
{
    sum_node *nodes = tree->nodes;
    nodes[child].parent = parent;
    nodes[child].next = nodes[parent].first;
    nodes[parent].first = child;
    nodes[parent].leaves += nodes[child].leaves;
}

cnn_status sum_tree_copy(const sum_tree *from, sum_tree *to, cnn_error *err)
{
    const cnn_status status = sum_tree_open(to, from->leaves, err);
    if (status != CNN_OK) return status;
    memcpy(to->nodes, from->nodes, (size_t)from->count * sizeof *to->nodes);
    to->count = from->count;
    to->root = from->root;
    return CNN_OK;
}

/* Puts `other` (-1: nothing) where `node` was among its parent's children. */
static void replace(sum_tree *tree, int node, int other)
{
    sum_node *nodes = tree->nodes;
    const int parent = nodes[node].parent, next = nodes[node].next;
    int *link = parent < 0 ? &tree->root : &nodes[parent].first;
    while (parent >= 0 && *link != node) link = &nodes[*link].next;
    *link = other >= 0 ? other : next;
    if (other >= 0) nodes[other].parent = parent, nodes[other].next = parent < 0 ? -1 : next;
}

void sum_tree_remove(sum_tree *tree, int leaf)
{
    sum_node *nodes = tree->nodes;
    const int parent = nodes[leaf].parent;
    for (int up = parent; up >= 0; up = nodes[up].parent) nodes[up].leaves--;
    replace(tree, leaf, -1);
    nodes[leaf] = (sum_node){-1, -1, -1, 1};
    if (parent >= 0 && sum_tree_children(tree, parent) == 1) replace(tree, parent, nodes[parent].first);
}

int sum_tree_children(const sum_tree *tree, int node)
{
    int count = 0;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next) count++;
    return count;
}

int sum_tree_depth(const sum_tree *tree, int node)
{
    int deepest = -1;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next) {
        const int depth = sum_tree_depth(tree, child);
        if (depth > deepest) deepest = depth;
    }
    return deepest + 1;
}

int sum_tree_least(const sum_tree *tree, int node)
{
    int least = node < tree->leaves ? node : tree->leaves;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next) {
        const int its = sum_tree_least(tree, child);
        if (its < least) least = its;
    }
    return least;
}

int sum_tree_deepest(const sum_tree *tree)
{
    int best = 0, most = -1;
    for (int leaf = 0; leaf < tree->leaves; leaf++) {
        int depth = 0;
        for (int up = leaf; up >= 0; up = tree->nodes[up].parent) depth++;
        if (depth > most) most = depth, best = leaf;
    }
    return best;
}

bool sum_tree_holds(const sum_tree *tree, int node, int leaf)
{
    while (leaf >= 0 && leaf != node) leaf = tree->nodes[leaf].parent;
    return leaf == node;
}

int sum_tree_meet(const sum_tree *tree, int a, int b)
{
    while (a != b) { /* the smaller of the two cannot hold the other */
        int *smaller = tree->nodes[a].leaves <= tree->nodes[b].leaves ? &a : &b;
        *smaller = tree->nodes[*smaller].parent;
    }
    return a;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A sum over the children: their order does not count. */
uint64_t sum_tree_shape(const sum_tree *tree, int node)
{
    uint64_t all = 0x9E3779B97F4A7C15u;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        all += mix(sum_tree_shape(tree, child));
    return mix(all);
}
