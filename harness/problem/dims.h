/* dims.h: benchdnn's descriptor letters as numbers: parsing and deduction (conv_desc.c). Internal to harness/. */
#ifndef HARNESS_PROBLEM_DIMS_H
#define HARNESS_PROBLEM_DIMS_H

#include "harness/cnn.h"

/* One spatial axis: sizes of output, input, kernel, stride, left padding, dilation (0 is dense), right padding. */
typedef struct dims_axis {
    int64_t o, i, k, s, p, d, p_r;
} dims_axis;

/* The fields of a descriptor with windows, from its two axes. */
#define DIMS_AXES(h, w)                                                                                                \
    .ih = (h).i, .oh = (h).o, .kh = (h).k, .sh = (h).s, .ph = (h).p, .dh = (h).d, .ph_r = (h).p_r, .iw = (w).i,        \
    .ow = (w).o, .kw = (w).k, .sw = (w).s, .pw = (w).p, .dw = (w).d, .pw_r = (w).p_r

typedef struct desc_dims {
    int64_t g, mb, ic, oc;
    int64_t zx, zy, soc; /* of quantized results (cnn_quantization) */
    dims_axis depth, height, width;
    char name[CNN_NAME_MAX];
} desc_dims;

/* Letters that an operation takes, space-separated: "mb ic ih iw oc". A letter outside them is an error. `text` is
 * parsed from `start`; columns in errors count from the beginning of `text`. Numbers not given are 0 (g 1, mb 2,
 * strides 1, padding -1). */
cnn_status dims_parse(const char *text, size_t start, const char *letters, desc_dims *dims, cnn_error *err);

/* Deduces what was not given, as benchdnn does it: trivial padding from sizes, or output from padding; then width from
 * height (or height 1 when only the width is given), depth 1. */
cnn_status dims_deduce_windows(const char *text, desc_dims *dims, cnn_error *err);
/* Whether there is a depth, after that; and CNN_UNSUPPORTED where there is. */
bool dims_deep(const desc_dims *dims);
cnn_status dims_refuse_deep(const char *text, const desc_dims *dims, cnn_error *err);
/* For operations without windows: iw = ih, and 1 x 1 without either. A depth is part of the height: in memory, too. */
cnn_status dims_deduce_plain(const char *text, desc_dims *dims, cnn_error *err);

#endif
