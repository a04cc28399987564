/* tree.h: the order of a summation as a tree. Its leaves are what is added up; an inner node is one addition, of two
 * values or, in a fused adder, of more. The order of a node's children means nothing: floating-point addition commutes.
 *
 * How it is found is known: P. Xie, Y. Gao, Y. Wang, J. Xue, "Revealing floating-point accumulation orders in
 * software/hardware implementations" (FPRev), USENIX ATC 2025. */
#ifndef VERIFY_SUMMATION_TREE_H
#define VERIFY_SUMMATION_TREE_H

#include "harness/cnn.h"

enum { SUM_LEAVES_MAX = 4096 };

typedef struct sum_node {
    int parent, first, next; /* the first of its children; its next sibling; -1: none */
    int leaves;              /* how many are in it; 1: it is a leaf */
} sum_node;

/* Nodes 0 ... leaves - 1 are the leaves. sum_tree_free() frees it. */
typedef struct sum_tree {
    sum_node *nodes;
    int leaves, count, root;
} sum_tree;

/* Leaves that nothing adds yet; CNN_OUT_OF_MEMORY. */
cnn_status sum_tree_open(sum_tree *tree, int leaves, cnn_error *err);
void sum_tree_free(sum_tree *tree);
int sum_tree_add(sum_tree *tree); /* a new node without children */
void sum_tree_attach(sum_tree *tree, int parent, int child);
cnn_status sum_tree_copy(const sum_tree *from, sum_tree *to, cnn_error *err);

/* Takes a leaf out; a node that is left with one child goes, too. */
void sum_tree_remove(sum_tree *tree, int leaf);
int sum_tree_children(const sum_tree *tree, int node);
int sum_tree_depth(const sum_tree *tree, int node);    /* additions one after the other; of a leaf 0 */
int sum_tree_least(const sum_tree *tree, int node);    /* the leaf in it with the least number */
int sum_tree_deepest(const sum_tree *tree);            /* the first of the leaves that most additions lie above */
int sum_tree_meet(const sum_tree *tree, int a, int b); /* the least subtree that holds both */
bool sum_tree_holds(const sum_tree *tree, int node, int leaf);
/* Trees of the same shape, whatever their leaves are, have the same number. */
uint64_t sum_tree_shape(const sum_tree *tree, int node);
/* text.c: "(0 1 2)": one addition; "[0 1 2]": leaf by leaf, ((0 + 1) + 2). Cut where it does not fit. */
void sum_tree_text(const sum_tree *tree, char *text, size_t size);

/* build.c: the tree, from measurements alone. */
typedef struct sum_meter {
    /* How many leaves are in the least subtree that holds both. CNN_UNSUPPORTED, with the reason: what came out is no
     * such number; any other error ends it, too. */
    cnn_status (*measure)(void *user, int a, int b, int *leaves, cnn_error *err);
    void *user;
} sum_meter;
/* CNN_UNSUPPORTED: no tree fits what was measured, and the error says so. Frees what it made then. */
cnn_status sum_tree_build(sum_tree *tree, int leaves, const sum_meter *meter, cnn_error *err);

#endif
