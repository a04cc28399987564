/* element.h: the reference for one element of a convolution or an FC layer, straight from the formulas of cnn.h: what
 * judges single elements of problems that are too large to be computed whole. */
#ifndef VERIFY_ORACLE_ELEMENT_H
#define VERIFY_ORACLE_ELEMENT_H

#include "case.h"
#include "harness/base/rng.h"

/* An FC layer is the convolution whose kernel is as large as its image. A transposed convolution is one the other way
 * round: its x is the convolution's y. Of all, rows of all depths are counted together, as operands count them: ih is
 * id * ih, oh and kh likewise, and id, od, kd are 1 where there is no depth. Which row meets which, the functions
 * below say. */
cnn_conv_desc vf_as_conv(const cnn_problem *problem);
/* The row of x that output row p reads by row i of the taps; the output row that row h of x reaches by it. -1: none. */
int64_t vf_row_read(const cnn_conv_desc *d, int64_t p, int64_t i);
int64_t vf_row_reached(const cnn_conv_desc *d, int64_t h, int64_t i);
/* The direction of that convolution. */
cnn_dir vf_conv_dir(const cnn_problem *problem, cnn_dir dir);

/* Position of w[k][c][i][j] in its array, c within the group, the kernel mirrored where the problem says so. */
int64_t vf_weight_at(const cnn_conv_desc *d, int64_t k, int64_t c, int64_t i, int64_t j);

/* Each product w*x that element `index` of tensor x, w or y has a part in, by the positions of its three elements. */
typedef struct vf_product {
    int64_t x, w, y;
} vf_product;
typedef void vf_product_fn(void *user, const vf_product *product);
void vf_products_of(const cnn_conv_desc *d, char tensor, int64_t index, vf_product_fn *each, void *user);
/* The tensor of that convolution that an operand is, or is the gradient of: 'x', 'w', 'b', 'y'; and the factor of a
 * call's products that is this tensor: NULL, there is none. */
char vf_tensor_of(const cnn_problem *problem, const cnn_operand *operand);
const double *vf_factor(const vf_call *call, char tensor);

/* Element `index` (canonical order) of output `operand` of a case: its value, magnitude and roundings as reference.h
 * defines them. */
typedef struct vf_element {
    double value, magnitude, roundings;
    double largest, rest; /* of the absolute values of its terms: the largest; the sum of all others */
    unsigned char kind;   /* VF_EVEN ... (lines.h) */
} vf_element;
vf_element vf_element_make(const vf_case *c, int operand, int64_t index);

/* The position of the number-th sample of an array: its 16 corners, then by turns any, on a border, in the tail of an
 * axis. */
int64_t vf_sample_index(const cnn_operand *operand, int64_t number, cnn_rng *rng);

/* Many elements of one output, computed in parallel: arrays of `count`. */
typedef struct vf_elements {
    int64_t *index;
    unsigned char *kind; /* as vf_element has it; expected has it, too */
    vf_out expected;
    double *got;
    int64_t count;
} vf_elements;

enum { VF_SAMPLES_MAX = 1024 };

/* As many elements as cost `budget` products, from 32 to VF_SAMPLES_MAX, or all: the corners of the array first, then
 * by turns any, one on a border, one in the tail of an axis. `got` is gathered from `result`. Free with
 * vf_elements_free. */
cnn_status vf_elements_make(vf_elements *e, const vf_case *c, int operand, const double *result, double budget,
                            thread_pool *pool, cnn_error *err);
void vf_elements_free(vf_elements *e);

#endif
