/* cnn/args.h: device pointers of one call, a struct for each family of operations. Part of cnn.h. */
#ifndef CNN_ARGS_H
#define CNN_ARGS_H

#include "desc.h"

/* Conv and FC. FWD reads x, w, b and writes y; BWD_D reads dy, w and writes dx; BWD_W reads x, dy and writes dw, db.
 * b and db are NULL where the descriptor has no bias. beta is 0 (the result replaces the output, which may hold
 * anything, NaN too) or 1 (the result, bias included, is added to it): for y, dx, dw, and db alike. scale, which FWD
 * reads, is NULL but for a quantized result (cnn_quantization), whose beta is 0; z is NULL but for an epilogue that
 * adds it (cnn_epilogue), whose beta is 0, too. z and y do not overlap. */
typedef struct cnn_weighted_args {
    const void *x, *w, *b, *dy;
    void *y, *dx, *dw, *db;
    double beta;
    void *workspace;
    const float *scale;
    const void *z;
} cnn_weighted_args;

/* Pooling, activation, dropout. y may be x in an activation's forward (in place), dx may be dy in its backward; after
 * an in-place forward, `x` is NULL in the backward and f' must come from y. `step` (dropout) counts updates. */
typedef struct cnn_map_fwd_args {
    const void *x;
    void *y;
    const int64_t *step;
    void *workspace;
} cnn_map_fwd_args;

typedef struct cnn_map_bwd_args {
    const void *x, *y, *dy;
    void *dx;
    const int64_t *step;
    void *workspace;
} cnn_map_bwd_args;

/* FWD: y as cnn_loss_desc says; if not NULL, *loss_sum += the images' losses and *correct += the images whose largest x
 * is at the label (the first one on a tie). BWD_D: dx = (d loss / dx of cnn_loss_desc) * scale, and times *loss_scale
 * in a type of 16 bits (else it is NULL). Labels are in [0, ic). */
typedef struct cnn_loss_args {
    const void *x;
    const int32_t *labels;
    void *y, *dx;
    double *loss_sum;
    int64_t *correct;
    double scale;
    void *workspace;
    const double *loss_scale;
} cnn_loss_args;

/* ADD and CONCAT forward. y may be x[0] in ADD. */
typedef struct cnn_join_args {
    const void *x[CNN_MAX_INPUTS];
    void *y;
} cnn_join_args;

/* CONCAT backward: dy is cut into dx[0], dx[1], ...; a NULL dx[i] is left out. */
typedef struct cnn_split_args {
    const void *dy;
    void *dx[CNN_MAX_INPUTS];
} cnn_split_args;

/* Statistics and parameters are [ic], in the problem's type of weights. Training forward writes save_mean and
 * save_invstd (1/sqrt(var + eps)) for the backward, and updates running_*; inference only reads running_*. */
typedef struct cnn_batchnorm_args {
    const void *x, *gamma, *beta, *dy;
    void *y, *dx, *dgamma, *dbeta;
    void *running_mean, *running_var, *save_mean, *save_invstd;
    void *workspace;
} cnn_batchnorm_args;

/* state[0], state[1]: `count` elements each, zero at first, as many as the kind needs (m then s). *step is read, then
 * the call adds 1 to it: it lives on the device so that a captured step can be replayed. copy and scaling, in a type of
 * 16 bits (else NULL): see cnn_optimizer_desc. */
typedef struct cnn_optimizer_args {
    void *w;
    const void *grad;
    void *state[2];
    int64_t *step;
    void *copy;
    double *scaling;
} cnn_optimizer_args;

/* Of a transposed convolution (DECONV), c being the channels and p the pixels of its y, which has the shape of the x of
 * the convolution that the plan is for: y[n,c,p] += b[c]; db[c] = beta*db[c] + sum_{n,p} dy[n,c,p]. */
typedef struct cnn_bias_args {
    const void *b, *dy;
    void *y, *db;
    double beta; /* 0: db is not read */
} cnn_bias_args;

/* How far a picture is moved, in pixels: down and to the right. */
typedef struct cnn_shift {
    int16_t dy, dx;
} cnn_shift;

/* y[i] = rows[index[i]], y_labels[i] = labels[index[i]], i < count; row_elems elements a row. With a cursor (one number
 * in device memory), index[*cursor + i] stands for index[i], and the call then adds count to *cursor: so the captured
 * step takes the next batch at each replay; without one, `index` points into an order and is aligned to an int32_t
 * only. y_labels may be NULL.
 *
 * With shifts, a row is `planes` x h x w pixels of pixel_elems elements (NCHW: c planes, 1 element; NHWC: 1 plane, c
 * elements), and pixel (p, r, s) of y[i] is pixel (p, r - dy, s - dx) of its row, or zero where the row has none (dy
 * and dx are of any size). shifts[i] goes with index[i], by the cursor as well. Without shifts the four sizes mean
 * nothing. */
typedef struct cnn_gather_args {
    cnn_dtype dtype;
    int64_t count, row_elems;
    const void *rows;
    const int32_t *labels, *index;
    void *y;
    int32_t *y_labels;
    int64_t *cursor;         /* (optional) */
    const cnn_shift *shifts; /* (optional) */
    int64_t planes, h, w, pixel_elems;
} cnn_gather_args;

#endif
