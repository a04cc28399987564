/* parts.h: a node of a tree taken apart, for shape.c to tell what it is the sum of. */
#ifndef VERIFY_SUMMATION_PARTS_H
#define VERIFY_SUMMATION_PARTS_H

#include "tree.h"

/* In the order of adding: perhaps a head that is like no other, parts that are alike, and perhaps a last part that is
 * smaller. */
typedef struct sum_parts {
    int *list, count; /* room for as many as the tree has leaves */
    int at_once;      /* added in one addition to the sum before: 1, or more in a fused adder */
    bool head, tail;
} sum_parts;

static inline int sum_leaves(const sum_tree *tree, int node) { return tree->nodes[node].leaves; }
int sum_largest(const sum_tree *tree, int node); /* of its children; -1: none */
/* The leaves in a node, behind those in the list. */
void sum_collect(const sum_tree *tree, int node, int *list, int *count);

/* Down the side of the largest child. Whether the parts between head and tail have one shape. */
void sum_take_apart(const sum_tree *tree, int node, sum_parts *parts);
bool sum_even(const sum_tree *tree, const sum_parts *parts);

/* How often the node falls into two that are alike; the first of what it falls into so often. */
int sum_halvings(const sum_tree *tree, int node);
int sum_at_depth(const sum_tree *tree, int node, int depth);
/* Four leaves or more, by twos, as few additions one after the other as can be. */
bool sum_is_pairwise(const sum_tree *tree, int node);

/* Sequences of single leaves, as long as can be. */
typedef struct sum_sequences {
    int *list, count; /* their nodes */
    int least, most;  /* how many leaves they have */
    bool binary;      /* what adds them up adds two at a time */
} sum_sequences;
/* Returns how many additions lie above the deepest of them. */
int sum_take_sequences(const sum_tree *tree, int node, sum_sequences *sequences);

#endif
