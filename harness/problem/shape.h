/* shape.h: all arithmetic on shapes: output sizes, element counts, FLOPs, bytes. 64-bit, overflow checked. */
#ifndef HARNESS_PROBLEM_SHAPE_H
#define HARNESS_PROBLEM_SHAPE_H

#include "harness/cnn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Spatial extent of a dilated kernel: (k-1)*(d+1)+1. */
int64_t cnn_extent(int64_t k, int64_t d);
/* Output size (thesis eq. 3.3), floor division; <= 0 when the kernel does not fit. */
int64_t cnn_out_size(int64_t i, int64_t k, int64_t s, int64_t pl, int64_t pr, int64_t d);
/* Right padding that makes the output exactly o: (o-1)*s + extent - i - pl; may be negative. */
int64_t cnn_right_pad(int64_t i, int64_t o, int64_t k, int64_t s, int64_t pl, int64_t d);
/* [*first, *last): taps t of a kernel of k at output position o that fall inside 0 <= o*s - p + t*(d+1) < i. */
void cnn_tap_range(int64_t o, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d, int64_t *first, int64_t *last);
/* Of one axis: input positions that some tap reads, taps that read any, outputs that do. Takes o + k steps. */
typedef struct cnn_axis_use {
    int64_t pixels, taps, outputs;
} cnn_axis_use;
cnn_axis_use cnn_use_of_axis(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d);

/* a*b*... ; false on overflow of int64_t (or a negative factor). */
bool cnn_mul(int64_t a, int64_t b, int64_t *product);
bool cnn_mul4(int64_t a, int64_t b, int64_t c, int64_t d, int64_t *product);

/* One operand of a problem in a direction, in the order that cnn_run() (impl.h) takes their pointers. */
typedef enum cnn_elem { CNN_ELEM_DTYPE, CNN_ELEM_I32, CNN_ELEM_I64, CNN_ELEM_DOUBLE } cnn_elem;
typedef enum cnn_access { CNN_IN, CNN_OUT, CNN_INOUT } cnn_access;
typedef enum cnn_shape_kind {
    CNN_SHAPE_TENSOR, /* dims n,c,h,w, stored in the problem's layout */
    CNN_SHAPE_FLAT    /* dims as they stand, row-major (weights, vectors, scalars), layout-independent */
} cnn_shape_kind;

typedef struct cnn_operand {
    const char *name; /* "x", "w", "b", "y", "dy", "dx", "dw", "db", "labels", ... */
    cnn_access access;
    cnn_elem elem;
    cnn_shape_kind shape;
    int64_t dims[4]; /* unused ones are 1 */
    int64_t count;   /* their product */
    size_t bytes;
} cnn_operand;

enum { CNN_MAX_OPERANDS = 12 };

/* Fills list (at least CNN_MAX_OPERANDS) and returns how many; -1 with CNN_OVERFLOW in err when a size overflows, or
 * with CNN_UNSUPPORTED when the operation has no such direction. */
int cnn_operands(const cnn_problem *problem, cnn_dir dir, cnn_operand *list, cnn_error *err);
/* How many elements of it the result depends on, which every kernel has to read (or write, of an output): all, but for
 * pixels and taps that meet nowhere, and for what the backward is handed and can do without. */
int64_t cnn_operand_needed(const cnn_problem *problem, cnn_dir dir, const cnn_operand *operand);
/* The directions a problem has: a mask of 1 << cnn_dir (batch norm in inference has no backward). */
uint32_t cnn_op_dirs(const cnn_problem *problem);
/* State vectors an optimizer keeps beside the weights: 0, 1 or 2. */
int cnn_optimizer_states(cnn_optimizer_kind kind);

/* Every size positive and consistent, groups divide the channels, windows touch the input, nothing overflows. */
cnn_status cnn_problem_check(const cnn_problem *problem, cnn_error *err);

/* What the operation needs at least: 2 per multiply-add, padded taps not counted (as benchdnn counts them); 1 a simple
 * element operation. Compulsory bytes: what is needed of each input read once, each output written once. */
double cnn_flops(const cnn_problem *problem, cnn_dir dir);
double cnn_bytes(const cnn_problem *problem, cnn_dir dir);

/* Position in memory of element (n,c,h,w) of a tensor with C channels, H x W. */
static inline int64_t cnn_offset(cnn_layout layout, int64_t C, int64_t H, int64_t W, int64_t n, int64_t c, int64_t h,
                                 int64_t w)
{
    return layout == CNN_NCHW ? ((n * C + c) * H + h) * W + w : ((n * H + h) * W + w) * C + c;
}

#ifdef __cplusplus
}
#endif
#endif
