/* shape.h: what a problem reads and writes, and what it costs at least: operands, FLOPs, bytes. The arithmetic of
 * windows is public: cnn/shape.h. */
#ifndef HARNESS_PROBLEM_SHAPE_H
#define HARNESS_PROBLEM_SHAPE_H

#include "harness/cnn.h"
#include "harness/cnn/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One operand of a problem in a direction, in the order that cnn_run() (impl.h) takes their pointers. */
typedef enum cnn_elem {
    CNN_ELEM_DTYPE,
    CNN_ELEM_WEIGHT,
    CNN_ELEM_RESULT, /* what is computed in a joined type */
    CNN_ELEM_BIAS,   /* what is added to the sums of a joined type */
    CNN_ELEM_SCALE,  /* what the sums of a quantized result are multiplied by */
    CNN_ELEM_I32,
    CNN_ELEM_I64,
    CNN_ELEM_DOUBLE
} cnn_elem;
static inline bool cnn_elem_real(cnn_elem e) { return e <= CNN_ELEM_SCALE; }
/* Of an element that is real, in the problem's types; and the bytes of any. */
static inline cnn_dtype cnn_elem_dtype(const cnn_type *t, cnn_elem e)
{
    static const cnn_part parts[] = {CNN_PART_FACTOR, CNN_PART_WEIGHTS, CNN_PART_RESULT, CNN_PART_BIAS, CNN_PART_SCALE};
    return cnn_elem_real(e) ? cnn_part_dtype(e == CNN_ELEM_WEIGHT ? t->weights : t->dtype, parts[e]) : t->dtype;
}
static inline size_t cnn_elem_size(const cnn_type *t, cnn_elem e)
{
    return cnn_elem_real(e) ? cnn_dtype_size(cnn_elem_dtype(t, e)) : e == CNN_ELEM_I32 ? 4 : 8;
}
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
    int64_t depth;   /* of a conv3d: dims[2] counts the rows of so many depths together; else 0 */
    int64_t count;   /* their product */
    size_t bytes;
} cnn_operand;

enum { CNN_MAX_OPERANDS = 12 };

/* The dimensions as people count them, the depth apart; how many, 4 or 5. */
static inline int cnn_operand_dims(const cnn_operand *o, int64_t dims[5])
{
    int n = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 2 && o->depth > 0) dims[n++] = o->depth;
        dims[n++] = i == 2 && o->depth > 0 ? o->dims[2] / o->depth : o->dims[i];
    }
    return n;
}

/* CNN_UNSUPPORTED where the operation has no such direction, or not in its type. */
cnn_status cnn_dir_check(const cnn_problem *problem, cnn_dir dir, cnn_error *err);
/* Fills list (at least CNN_MAX_OPERANDS) and returns how many; -1 with CNN_OVERFLOW in err when a size overflows, or
 * with CNN_UNSUPPORTED when the operation has no such direction. */
int cnn_operands(const cnn_problem *problem, cnn_dir dir, cnn_operand *list, cnn_error *err);
/* How many elements of it the result depends on, which every kernel has to read (or write, of an output): all, but for
 * pixels and taps that meet nowhere, and for what the backward is handed and can do without. */
int64_t cnn_operand_needed(const cnn_problem *problem, cnn_dir dir, const cnn_operand *operand);
/* Every size positive and consistent, groups divide the channels, windows touch the input, nothing overflows. */
cnn_status cnn_problem_check(const cnn_problem *problem, cnn_error *err);
/* Whether the harness can ask anybody for it in the types of 16 bits and in joined ones: only products have two factors
 * and a result; zero points and scales are of quantized results, and numbers of their types. CNN_UNSUPPORTED, and why
 * not; other types always pass. */
cnn_status cnn_half_check(const cnn_problem *problem, cnn_error *err);

/* What the operation needs at least: 2 per multiply-add, padded taps not counted (as benchdnn counts them); 1 a simple
 * element operation. Compulsory bytes: what is needed of each input read once, each output written once. */
double cnn_flops(const cnn_problem *problem, cnn_dir dir);
double cnn_bytes(const cnn_problem *problem, cnn_dir dir);

#ifdef __cplusplus
}
#endif
#endif
