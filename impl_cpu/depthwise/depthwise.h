/* depthwise.h: what the files of cpu:depthwise share: convolutions whose groups have one input channel each.
 *
 * Nothing is shared between channels there, so an output is a short sum, of kh*kw products, and what counts is how few
 * instructions each product takes. The idea: lanes are what lies side by side, and the places of a sum's terms are a
 * list of distances, which is made once, in the plan.
 *   NCHW  lanes are pixels of a row. A plane is copied once with zeros around it, a row of stride sw in sw rows of
 * every sw-th pixel: then each tap's pixels for a row of outputs lie side by side, and nobody looks for the edge. NHWC
 * lanes are channels. Taps outside of the image are left out of a pixel's list. FWD and BWD_D differ in their lists
 * alone. BWD_W multiplies the same places by dy.
 *
 *   plan.c       what is taken, how it is cut into tasks, where things lie in the workspace
 *   lists.c      the lists
 *   planes.c     NCHW; pixels.c: NHWC
 *   kernels.inc  all kernels, for f32 and f64, for each instruction set ({base,avx2,avx512}.c) */
#ifndef IMPL_CPU_DEPTHWISE_DEPTHWISE_H
#define IMPL_CPU_DEPTHWISE_DEPTHWISE_H

#include "impl_cpu/cpu.h"

/* A plane's copy: pixels f, f + phases, f + 2*phases ... of row h stand from element ((top + h)*phases + f)*length +
 * left on; all beside them, in `rows` rows, is 0. */
typedef struct dw_copy {
    int64_t phases, top, left, length, rows;
} dw_copy;

/* to[v] (+)= bias + sum over t of w[t] * from[places[t] + v], v < n, for each of so many rows, which are steps apart; a
 * place is readable up to a whole vector. Then results are finished, z from `to` on; NULL: as they are. */
typedef struct dw_sums {
    const void *from, *w;
    const int64_t *places;
    int64_t taps, n, rows, from_step, to_step;
    double bias;
    void *to;
    bool add;
    const cpu_finish *finish;
} dw_sums;

/* to[c] (+)= bias[c] + sum over t of w[weights[t] + c] * from[places[t] + c], c < channels; bias NULL: none. For one
 * pixel, or for DW_PIXELS, which are steps apart. `finish` as above. */
enum { DW_PIXELS = 4 };
typedef struct dw_pixel {
    const void *from, *w;
    const int64_t *places, *weights;
    int64_t taps, channels, pixels, from_step, to_step;
    const void *bias;
    void *to;
    bool add;
    const cpu_finish *finish;
} dw_pixel;

typedef struct dw_kernels {
    int lanes;
    void (*copy)(const void *plane, int64_t rows, int64_t width, const dw_copy *, void *to);
    void (*sums)(const dw_sums *);
    /* to[i] = from[places[i]] */
    void (*pick)(const void *from, const int64_t *places, int64_t count, void *to);
    /* to[v] (+)= rows[v % phases][v / phases], v < n; rows of `length`. */
    void (*weave)(const void *rows, int64_t phases, int64_t length, void *to, int64_t n, bool add);
    /* acc[t] += the products of dy and from[places[t]...] over whole vectors, in lanes. */
    void (*dots)(const void *dy, const void *from, const int64_t *places, int64_t taps, int64_t n, void *acc);
    /* *acc += n elements, whole vectors, in lanes. */
    void (*total)(const void *dy, int64_t n, void *acc);
    /* sums[t] += the lanes of acc[t], from the first to the last. */
    void (*fold)(const void *acc, int64_t taps, void *sums);
    /* *to (+)= sums[0] + sums[stride] + ..., so many. */
    void (*finish)(const void *sums, int64_t parts, int64_t stride, void *to, bool add);
    void (*pixel)(const dw_pixel *);
    /* acc[weights[t] + c] += dy[c] * from[places[t] + c], c < channels. */
    void (*products)(const void *dy, const void *from, const int64_t *places, const int64_t *weights, int64_t taps,
                     int64_t channels, void *acc);
    /* The same of `pixels` pixels of a row, dy_step and from_step apart, all with these taps. */
    void (*strip)(const void *dy, const void *from, const int64_t *places, const int64_t *weights, int64_t taps,
                  int64_t channels, int64_t pixels, int64_t dy_step, int64_t from_step, void *acc);
    /* acc[c] += the sum over pixels, `step` apart, c < channels. */
    void (*channels)(const void *dy, int64_t pixels, int64_t step, int64_t channels, void *acc);
} dw_kernels;

extern const dw_kernels dw_base[CNN_DTYPE_COUNT], dw_avx2[CNN_DTYPE_COUNT], dw_avx512[CNN_DTYPE_COUNT];

/* Vectors of sums at once. */
enum { DW_VECTORS = 4 };

/* Of NHWC: what row (column) `at` reads along one axis: so many taps, and of each its number and its row. */
typedef struct dw_axis {
    int64_t *counts, *taps, *places; /* [n], [n][k], [n][k] */
} dw_axis;

typedef struct dw_plan {
    const dw_kernels *kernels;
    cnn_conv_desc d;
    cnn_dir dir;
    int64_t elem, taps, outputs; /* taps: kh*kw; outputs: channels out of a channel in */
    dw_copy in, dy;              /* NCHW: of x (BWD_D: dy); BWD_W also of dy */
    /* Items of work are planes (NCHW) or rows of pixels (NHWC); of BWD_W channels, NHWC: blocks of so many channels,
     * times parts of the batch. */
    int64_t items, tasks, parts, channels;
    /* The workspace, in bytes: weights as NHWC wants them; BWD_W's sums [part][channel out][taps + 1], NHWC:
     * [part][taps + 1][channel]. Then a piece for each worker. */
    int64_t weights_at, sums_at, worker_at, worker;
    int64_t places_at, w_at, copy_at, dy_at, row_at, acc_at; /* of a worker's piece */
    /* NCHW: in classes of outputs that have the same list, 1 or (BWD_D) sh*sw, rows first; list c is [first[c],
     * first[c + 1]) of `places`, the distance from a row of the copy; weights: whose they are, of a channel in. */
    int64_t classes, *first, *places, *weights;
    dw_axis rows, cols;
    int64_t lists[]; /* all of these */
} dw_plan;

cpu_plan_fn dw_plan_make;
/* lists.c: how many numbers the lists take; -1: too many. And the lists, in m->lists. */
int64_t dw_lists_size(const dw_plan *);
void dw_lists_make(dw_plan *);

typedef struct dw_run {
    const dw_plan *m;
    const cnn_weighted_args *a;
    char *workspace;
    cpu_epilogue epilogue;
} dw_run;
/* Tasks, as parallel_for() has them. */
parallel_body dw_planes_task, dw_planes_gradient_task, dw_pixels_task, dw_pixels_gradient_task;
/* w[channel out][tap] as [tap][channel]. */
void dw_pixels_weights(const dw_run *);

/* Rows of the copies of a task: of BWD_W one more of zeros, where the last vector of all rows ends. */
static inline int64_t dw_copy_rows(const dw_plan *m)
{
    return (m->dir == CNN_BWD_D ? m->outputs : 1) * m->in.rows + (m->dir == CNN_BWD_W ? 1 : 0);
}

/* Rounded down, for a of either sign; b > 0. */
static inline int64_t dw_floor(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

static inline char *dw_worker(const dw_run *r, int worker)
{
    return r->workspace + r->m->worker_at + worker * r->m->worker;
}

#endif
