/* op.h: what the harness knows of an operation: one row of CNN_OP_LIST (cnn/base.h) and one file, op_NAME.c, with the
 * functions below. Internal to harness/problem/. */
#ifndef HARNESS_PROBLEM_OP_H
#define HARNESS_PROBLEM_OP_H

#include "dims.h"
#include "problem.h"
#include "shape.h"

#include <stddef.h>

/* ---- Text (op_text.c). */

typedef struct op_writer {
    char *text;
    size_t used;
} op_writer;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void op_put(op_writer *w, const char *format, ...);
void op_put_number(op_writer *w, const char *letters, int64_t value);
/* "mb2ic20ih16iw8": mb and ic where they are above 0; 1 x 1 and iw = ih are left out. */
void op_put_plain(op_writer *w, int64_t mb, int64_t ic, int64_t ih, int64_t iw);

/* "kind:descriptor": copies what stands before the first colon and says where the rest starts. false: no kind. */
bool op_split_kind(const char *text, char *kind, size_t size, size_t *start);
cnn_status op_needs_kind(const char *text, const char *example, cnn_error *err);
/* What a descriptor without windows has: its fields from the letters `d`. */
#define OP_PLAIN(d) .mb = (d)->mb, .ic = (d)->ic, .ih = (d)->height.i, .iw = (d)->width.i
/* The letters of an operation without windows, from `start` on. */
cnn_status op_parse_plain(const char *text, size_t start, const char *letters, desc_dims *d, cnn_error *err);

/* ---- Windows (op_window.c): what conv and pool share. */

/* The two axes of a descriptor `d` with windows; the other way round it is DIMS_AXES. */
#define OP_HEIGHT(d)                                                                                                   \
    (&(const dims_axis){                                                                                               \
        .o = (d)->oh, .i = (d)->ih, .k = (d)->kh, .s = (d)->sh, .p = (d)->ph, .d = (d)->dh, .p_r = (d)->ph_r})
#define OP_WIDTH(d)                                                                                                    \
    (&(const dims_axis){                                                                                               \
        .o = (d)->ow, .i = (d)->iw, .k = (d)->kw, .s = (d)->sw, .p = (d)->pw, .d = (d)->dw, .p_r = (d)->pw_r})

/* Sizes that deduction would get wrong (output, padding) always stand; ic and oc where they are above 0. */
void op_put_windows(op_writer *w, const dims_axis *height, const dims_axis *width, int64_t ic, int64_t oc);
/* The right padding must be the one that makes the output exactly o. */
cnn_status op_check_windows(const dims_axis *height, const dims_axis *width, cnn_error *err);
/* Taps that fall inside the input, summed over the outputs of a plane. */
double op_taps(const dims_axis *height, const dims_axis *width);
cnn_axis_use op_use_of(const dims_axis *axis);

/* ---- Sizes and operands (op_sizes.c). */

typedef struct op_size {
    const char *name;
    int64_t value, least;
} op_size;
cnn_status op_check_sizes(const op_size *sizes, int count, cnn_error *err);
cnn_status op_check_plain(int64_t mb, int64_t ic, int64_t ih, int64_t iw, cnn_error *err);
cnn_status op_check_real(const char *name, double value, double least, double below, cnn_error *err);

typedef struct op_operands {
    cnn_operand *items;
    int count;
    cnn_type type;
    const cnn_operand *overflow; /* the first whose size no number holds */
} op_operands;
void op_tensor(op_operands *list, const char *name, cnn_access access, int64_t n, int64_t c, int64_t h, int64_t w);
void op_flat(op_operands *list, const char *name, cnn_access access, cnn_elem elem, int64_t a, int64_t b, int64_t c,
             int64_t d);
void op_vector(op_operands *list, const char *name, cnn_access access, cnn_elem elem, int64_t count);
bool op_is(const cnn_operand *operand, const char *name);

/* ---- The row. `p` is a problem of this operation. */

typedef struct op_row {
    size_t batch; /* where mb stands in a cnn_problem; 0: there is no batch */
    cnn_status (*parse)(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err);
    void (*format)(op_writer *w, const cnn_problem *p);
    cnn_status (*check)(const cnn_problem *p, cnn_error *err);
    void (*operands)(op_operands *list, const cnn_problem *p, cnn_dir dir);
    int64_t (*needed)(const cnn_problem *p, cnn_dir dir, const cnn_operand *operand); /* (optional) all of it */
    double (*flops)(const cnn_problem *p, cnn_dir dir);                               /* (optional) in all; else: */
    double (*per_element)(const cnn_problem *p, cnn_dir dir); /* (optional) of the largest operand; 1 */
} op_row;

#define OP_ROW(id, name, dirs) extern const op_row op_##name;
CNN_OP_LIST(OP_ROW)
/* operands.c. NULL: there is no such operation. */
const op_row *op_row_of(cnn_op op);

#endif
