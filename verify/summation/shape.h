/* shape.h: a tree of additions in words: "8 partial sums (every 8th ic), each in sequence over kh, kw; added pairwise".
 */
#ifndef VERIFY_SUMMATION_SHAPE_H
#define VERIFY_SUMMATION_SHAPE_H

#include "tree.h"

/* What the products of one result are counted by: the loops of a kernel. */
enum { SUM_AXES_MAX = 3 };
typedef struct sum_axes {
    int count;
    const char *name[SUM_AXES_MAX];
    int extent[SUM_AXES_MAX];
    const int (*at)[SUM_AXES_MAX]; /* of each leaf */
} sum_axes;

/* loops.c: the loops, from the outermost, that come to these leaves in this order: "ic by 8, kh, kw, 8 ic". False:
 * there are none. */
bool sum_loops(const sum_axes *axes, const int *leaves, int count, char *text, size_t size);
/* Which leaves of all are in a part: "every 8th ic", "16 products in a row", "each ic"; false: no such thing. */
bool sum_part(const sum_axes *axes, int all, const int *leaves, int count, char *text, size_t size);

/* The tree whose leaves are products alone. False: it fits no pattern; the text says so. */
bool sum_shape(const sum_tree *tree, const sum_axes *axes, char *text, size_t size);

/* Where leaf `addend` comes in, such as a bias: "first", "last", "after 8 products" ... */
void sum_place(const sum_tree *tree, int addend, int products, char *text, size_t size);

#endif
