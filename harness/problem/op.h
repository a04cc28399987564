/* op.h: what the harness knows of an operation: one row of CNN_OP_LIST (cnn/base.h) and one file, op_NAME.c, with the
 * functions below. Internal to harness/problem/. */
#ifndef HARNESS_PROBLEM_OP_H
#define HARNESS_PROBLEM_OP_H

#include "dims.h"
#include "harness/base/text.h"
#include "problem.h"
#include "shape.h"

/* ---- Text (op_text.c). */

/* Adds to a text of CNN_PROBLEM_TEXT_MAX bytes. */
#define op_put(text, ...) cnn_append((text), CNN_PROBLEM_TEXT_MAX, __VA_ARGS__)
void op_put_number(char *text, const char *letters, int64_t value);
/* "kind:descriptor": copies what stands before the first colon and says where the rest starts. false: no kind. */
bool op_split_kind(const char *text, char *kind, size_t size, size_t *start);
cnn_status op_needs_kind(const char *text, const char *example, cnn_error *err);

/* ---- "NAME=VALUE,NAME=VALUE", as in an optimizer's text or before a descriptor's colon (text_options.c). */

/* Where a value goes: `real` or `whole` is set. */
typedef struct text_option {
    const char *name;
    double *real;
    uint64_t *whole;
} text_option;

enum { TEXT_OPTIONS_MAX = 16, TEXT_REAL_MAX = 32 };

/* Cuts `text` at its commas; `what` ("optimizer option") is what errors call one. */
cnn_status text_options_parse(const char *what, char *text, const text_option *options, int count, cnn_error *err);

/* The shortest text that reads back to the same value, to the same bits. */
const char *text_real(double value, char text[TEXT_REAL_MAX]);
/* The whole text is a number. */
bool text_real_parse(const char *text, double *value);

/* A quantized result's, between letters and a descriptor. What is 0 is not printed. */
cnn_quantization op_quantization(const desc_dims *d);
void op_put_quantization(char *text, const cnn_quantization *quant);

/* An activation, "leaky_relu=0.01" (op_act.c), and an epilogue (op_epilogue.c). `text`, all of it, is for errors. */
cnn_status op_read_act(const char *text, char *words, cnn_act_kind *kind, double *alpha, cnn_error *err);
void op_put_act(char *text, cnn_act_kind kind, double alpha);
cnn_status op_read_epilogue(const char *text, char *words, cnn_epilogue *e, cnn_error *err);
void op_put_epilogue(char *text, const cnn_epilogue *e); /* nothing, where it is none */
cnn_status op_check_epilogue(const cnn_epilogue *e, cnn_error *err);
/* Of a problem whose sums are integers: CNN_UNSUPPORTED, and why, unless its results are quantized and the activation
 * means the same whatever a step of y is worth. OP_STEEPEST: the largest slope of a leaky ReLU there. */
#define OP_STEEPEST 256.0
cnn_status op_check_whole_epilogue(const cnn_epilogue *e, cnn_dtype dtype, cnn_error *err);

/* ---- Windows (op_window.c): what conv and pool share. */

/* The axes of a descriptor `d` with windows; of the latter two the other way round is DIMS_AXES. */
#define OP_DEPTH(d)                                                                                                    \
    (&(const dims_axis){                                                                                               \
        .o = (d)->od, .i = (d)->id, .k = (d)->kd, .s = (d)->sd, .p = (d)->pd, .d = (d)->dd, .p_r = (d)->pd_r})
#define OP_HEIGHT(d)                                                                                                   \
    (&(const dims_axis){                                                                                               \
        .o = (d)->oh, .i = (d)->ih, .k = (d)->kh, .s = (d)->sh, .p = (d)->ph, .d = (d)->dh, .p_r = (d)->ph_r})
#define OP_WIDTH(d)                                                                                                    \
    (&(const dims_axis){                                                                                               \
        .o = (d)->ow, .i = (d)->iw, .k = (d)->kw, .s = (d)->sw, .p = (d)->pw, .d = (d)->dw, .p_r = (d)->pw_r})

/* Sizes that deduction would get wrong (output, padding) always stand; ic and oc where they are above 0. */
void op_put_windows(char *text, const dims_axis *height, const dims_axis *width, int64_t ic, int64_t oc);
/* With a depth, all of the three axes are written. */
void op_put_axes(char *text, const dims_axis *depth, const dims_axis *height, const dims_axis *width);
/* The right padding must be the one that makes the output exactly o. */
cnn_status op_check_axis(char letter, const dims_axis *axis, cnn_error *err);
cnn_status op_check_windows(const dims_axis *height, const dims_axis *width, cnn_error *err);
/* Taps that fall inside the input, summed over the outputs of an axis, of a plane. */
double op_axis_taps(const dims_axis *axis);
double op_taps(const dims_axis *height, const dims_axis *width);
cnn_axis_use op_use_of(const dims_axis *axis);

/* op_conv.c: what a convolution's descriptor may hold, and the descriptor of what was read. */
#define OP_WINDOW_LETTERS "mb ic id ih iw od oh ow kd kh kw sd sh sw pd ph pw dd dh dw"
#define OP_CONV_LETTERS "g oc " OP_WINDOW_LETTERS
/* Of a quantized result: the zero points of x and y; 1: a scale for each output channel. */
#define OP_QUANT_LETTERS "zx zy soc"
void op_put_conv(const desc_dims *d, const cnn_problem_defaults *defaults, cnn_problem *p);

/* ---- Sizes and operands (op_sizes.c). */

typedef struct op_size {
    const char *name;
    int64_t value, least;
} op_size;
cnn_status op_check_sizes(const op_size *sizes, int count, cnn_error *err);
cnn_status op_check_real(const char *name, double value, double below, cnn_error *err);

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
/* Of a quantized result: what its sums are multiplied by. */
void op_scale(op_operands *list, const cnn_quantization *quant, int64_t channels);
bool op_is(const cnn_operand *operand, const char *name);

/* ---- The row. `p` is a problem of this operation. */

typedef struct op_place { /* where sizes stand in a cnn_problem; 0: it has none of this name */
    size_t mb, ic, ih, iw, oc, quant;
} op_place;
#define OP_AT(field) offsetof(cnn_problem, u.field)
#define OP_TENSOR_AT(d)                                                                                                \
    {                                                                                                                  \
        .mb = OP_AT(d.mb), .ic = OP_AT(d.ic), .ih = OP_AT(d.ih), .iw = OP_AT(d.iw)                                     \
    }

typedef struct op_row {
    op_place at; /* of an operation with windows: mb alone */
    /* Without windows, what stands before its sizes and a colon, or what the defaults say: read, printed, checked, all
     * optional. `words` may be changed; NULL: there are none. `text`, all of it, is for errors. */
    const char *example; /* (optional) words there must be, as in this */
    cnn_status (*read)(const char *text, char *words, const cnn_problem_defaults *defaults, cnn_problem *p,
                       cnn_error *err);
    /* With windows, in place of `read`; then `format` and `check` are of all of it. */
    cnn_status (*parse)(const char *text, const cnn_problem_defaults *defaults, cnn_problem *p, desc_dims *d,
                        cnn_error *err);
    void (*format)(char *text, const cnn_problem *p);
    cnn_status (*check)(const cnn_problem *p, cnn_error *err);
    void (*operands)(op_operands *list, const cnn_problem *p, cnn_dir dir);
    int64_t (*needed)(const cnn_problem *p, cnn_dir dir, const cnn_operand *operand); /* (optional) all of it */
    double (*flops)(const cnn_problem *p, cnn_dir dir);                               /* (optional) in all; else: */
    double (*per_element)(const cnn_problem *p, cnn_dir dir); /* (optional) of the largest operand; 1 */
} op_row;

/* Of any operation (op_text.c, op_sizes.c). */
cnn_status op_parse(const op_row *row, const char *text, const cnn_problem_defaults *defaults, cnn_problem *p,
                    desc_dims *d, cnn_error *err);
void op_format(const op_row *row, char *text, const cnn_problem *p);
cnn_status op_check(const op_row *row, const cnn_problem *p, cnn_error *err);

#define OP_ROW(id, name, dirs) extern const op_row op_##name;
CNN_OP_LIST(OP_ROW)
/* operands.c. NULL: there is no such operation. */
const op_row *op_row_of(cnn_op op);

#endif
