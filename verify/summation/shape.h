/* shape.h: a tree of additions in words: "8 partial sums (every 8th ic), each in sequence over kh, kw; added pairwise".
 */
#ifndef VERIFY_SUMMATION_SHAPE_H
#define VERIFY_SUMMATION_SHAPE_H

#include "tree.h"

/* What the products of one result are counted by: the loops of a kernel. */
enum { SUM_AXES_MAX = 3 };
typedef struct sum_axes {
    int count;
    char name[SUM_AXES_MAX][16];
    int extent[SUM_AXES_MAX];
    const int (*at)[SUM_AXES_MAX]; /* of each leaf */
} sum_axes;

/* axes.c: the same products, counted by fewer axes: the last two as one, all as one. sum_views_free() frees it. */
typedef struct sum_views {
    sum_axes list[3];
    void *owned[3]; /* the counts of those that were made here */
    int count;
} sum_views;
cnn_status sum_views_open(sum_views *views, const sum_axes *axes, int products, cnn_error *err);
void sum_views_free(sum_views *views);

/* loops.c: the loops, from the outermost, that come to these leaves in this order: "ic by 8, kh, kw, 8 ic". False:
 * there are none. */
bool sum_loops(const sum_views *views, const int *leaves, int count, char *text, size_t size);
/* Which leaves of all are in a part: "every 8th ic", "16 products in a row", "each ic"; false: no such thing. */
bool sum_part(const sum_views *views, int all, const int *leaves, int count, char *text, size_t size);

/* The tree whose leaves are products alone. False: it fits no pattern; the text says so. */
bool sum_shape(const sum_tree *tree, const sum_views *views, char *text, size_t size);

/* Where leaf `addend` comes in, such as a bias: "first", "last", "after 8 products" ... */
void sum_place(const sum_tree *tree, int addend, int products, char *text, size_t size);

#endif
