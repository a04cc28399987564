/* summation.h: how a kernel adds up one of its results, from its results alone: the order (tree.h, shape.h), the width
 * of the accumulator, its rounding, FMA or not, and the bits of the factors that count.
 *
 * Order: all products are 1, but for one +M and one -M, so large that a 1 which is added to them is lost. The ones that
 * are left are those outside of the least partial sum that holds both (FPRev: see tree.h). Widths, rounding and FMA are
 * seen by single additions, as M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of NVIDIA tensor
 * cores", PeerJ Computer Science 7, 2021, do it. In the end the tree is put to the test: with the arithmetic that was
 * found it must foretell the bits of random sums. */
#ifndef VERIFY_SUMMATION_SUMMATION_H
#define VERIFY_SUMMATION_SUMMATION_H

#include "shape.h"

/* A sum of products a[i] * b[i], i below `products`, and behind them of addends a[i]: a bias, what beta adds to. */
typedef struct sum_kernel {
    int products, addends;
    int digits; /* of the significand that a, b and the sum have: 24, 53 */
    cnn_status (*run)(void *user, const double *a, const double *b, double *sum, cnn_error *err);
    void *user;
} sum_kernel;

typedef enum sum_rounding {
    SUM_ROUNDING_UNKNOWN,
    SUM_TO_NEAREST_EVEN,
    SUM_TO_NEAREST_AWAY,
    SUM_TOWARD_ZERO,
    SUM_DOWNWARD
} sum_rounding;
const char *sum_rounding_name(sum_rounding rounding); /* "to nearest", ... */

/* How a product comes to the sum. EXACT: it fits the accumulator, and nothing tells FMA from a product and a sum. */
typedef enum sum_product { SUM_PRODUCT_UNKNOWN, SUM_FMA, SUM_ROUNDED, SUM_EXACT } sum_product;
const char *sum_product_name(sum_product product); /* "FMA", ... */

enum { SUM_FORETELLS = 16, SUM_ADDENDS_MAX = 2, SUM_TEXT_MAX = 512, SUM_TREE_TEXT_MAX = 1 << 15 };

typedef struct sum_findings {
    char element[128], factor[2][16]; /* which result, and what its products are made of, where they have names */
    int products, addends;
    int64_t runs;
    char order[SUM_TEXT_MAX];
    bool regular;                     /* the order is one that has a name */
    char place[SUM_ADDENDS_MAX][128]; /* where each addend comes in */
    char beta[SUM_TEXT_MAX];          /* where what beta 1 adds to comes in, and perhaps another order */
    char tree[SUM_TREE_TEXT_MAX];     /* leaves by number */
    int inner_bits, outer_bits;       /* of the first partial sums, of the last ones; 0: unknown */
    sum_rounding rounding;
    sum_product product;
    int a_bits, b_bits;  /* of each factor that count */
    int foretold, asked; /* of random sums, by bits; asked 0: fused adders of many are not foretold */
} sum_findings;

/* All of it, and the tree: sum_tree_free(tree). CNN_UNSUPPORTED: it cannot be found, and the error says why; other
 * errors are the kernel's. */
cnn_status sum_find(const sum_kernel *kernel, const sum_axes *axes, uint64_t seed, sum_tree *tree, sum_findings *found,
                    cnn_error *err);
/* The order alone. */
cnn_status sum_find_order(const sum_kernel *kernel, const sum_axes *axes, uint64_t seed, sum_tree *tree,
                          sum_findings *found, cnn_error *err);
/* found->beta: the same kernel with one addend more. */
cnn_status sum_find_more(const sum_kernel *kernel, const sum_axes *axes, uint64_t seed, const sum_tree *before,
                         sum_findings *found, cnn_error *err);

/* ---- Its parts. */

/* Arrays of a run: all products 1 * 1 or 0, all addends likewise. NULL: no memory. */
typedef struct sum_data {
    double *a, *b;
} sum_data;
cnn_status sum_data_open(sum_data *data, const sum_kernel *kernel, cnn_error *err);
void sum_data_free(sum_data *data);
void sum_data_fill(const sum_data *data, const sum_kernel *kernel, double value); /* value * 1 */
/* Leaf i becomes sign * 2^exponent; a product of two halves of it. */
void sum_data_power(const sum_data *data, const sum_kernel *kernel, int i, int sign, int exponent);

/* order.c: the tree of a kernel's sum; runs: how many it took, at most as many as a kernel of any known order needs. */
cnn_status sum_order(const sum_kernel *kernel, uint64_t seed, sum_tree *tree, int64_t *runs, cnn_error *err);

/* The same kernel with one addend more: *beside is the node of its tree that this is added to, if all else is as it
 * was. CNN_UNSUPPORTED: it is not. */
cnn_status sum_order_more(const sum_kernel *kernel, const sum_tree *tree, uint64_t seed, int *beside, int64_t *runs,
                          cnn_error *err);

/* arithmetic.c: all but the order. */
cnn_status sum_arithmetic(const sum_kernel *kernel, const sum_tree *tree, sum_findings *found, cnn_error *err);

/* Whether product `at` is not rounded before it is added to product `before`; known: it is one or the other. */
cnn_status sum_is_fused(const sum_kernel *kernel, const sum_data *data, int before, int at, bool *known, bool *fused,
                        cnn_error *err);

/* foretell.c: of random sums those whose bits follow from the tree, at best of some arithmetics. */
cnn_status sum_foretell(const sum_kernel *kernel, const sum_tree *tree, uint64_t seed, sum_findings *found,
                        cnn_error *err);

#endif
