/* kernels.h: the sums of cpu:fused: what they are told, and the table of them of each instruction set.
 *
 * A pixel is its channels, one behind the other, rounded up to a multiple of four; lanes are channels. All sums are
 * products of matrices: rows are pixels of images, of which each kernel tap has its own, and columns output channels.
 *
 * The columns of a matrix are `vectors` whole vectors, and a tail of four where no more than four are left and a vector
 * has more lanes than that. A lane of the tail is one of the four columns x one of TAIL_IN = lanes / 4 terms: a vector
 * of it is multiplied by that many neighbouring numbers, repeated four times, and its lanes are added up at the end. So
 * 20 channels are 16 + 4, and no lane is idle. */
#ifndef IMPL_CPU_FUSED_KERNELS_H
#define IMPL_CPU_FUSED_KERNELS_H

#include "impl_cpu/cpu.h"

enum { FUSED_QUAD = 4, FUSED_MAX_LANES = 16, FUSED_MAX_ROWS = 8, FUSED_MAX_IMAGES = 8 }; /* images: of a chunk */
enum { FUSED_PANEL = 2 };                                                                /* vectors of columns */

/* The weights of one tap, of one group: `k` terms (a multiple of four) x columns; numbers without a weight are zero.
 * First panels of two vectors of columns, the last of which may have one: [panel][high][vectors of the panel * lanes],
 * so that a tile reads them in order. Then of the tail [k / TAIL_IN][4][TAIL_IN]. */
typedef struct fused_matrix {
    int64_t k, vectors, tail; /* tail: 0 or 1 */
    int64_t high;             /* terms that a panel has room for: k, or, where weights are turned by pieces, more */
    int64_t elems;            /* of a tap */
} fused_matrix;

/* A tap, as offsets into a row's source and into the weights; `step`: from its source to that of the next tap. */
typedef struct fused_tap {
    int64_t in, w, step;
} fused_tap;

/* Rows: offsets of their sources, where their first taps lie, and of their results, in an image. */
typedef struct fused_rows {
    int64_t *in, *out;
} fused_rows;

/* Rows that have the same taps, [first_tap, taps) and [first_row, rows * images) of the lists: few rows are listed for
 * so many images, one behind the other, that a tile is whole. */
typedef struct fused_class {
    int64_t first_tap, taps, first_row, rows, images;
} fused_class;

/* Where a row of an image is eight results long, or its taps do not shift, it is computed as lines of eight (lines.c):
 * sources s = 0..7 are `in_step` numbers apart, and source s belongs to result s + shift. Two taps of the same sources
 * are a pair, so that what is loaded serves two products. in, w, w2: offsets into the image and the weights; of a tap
 * alone w2 is w. `kind`: FUSED_LINE_KINDS. */
typedef struct fused_pair {
    int64_t in, w, w2;
    int kind;
} fused_pair;

/* Results out, out + out_step, ...; their pairs are [first, first + pairs) of the list. */
typedef struct fused_line {
    int64_t out, first, pairs;
} fused_line;

/* X(kind, shift, shift of the second tap): of each pair the larger one comes first; NONE: a tap alone. */
enum { FUSED_NONE = 99 };
#define FUSED_LINE_ALONE(X)                                                                                            \
    X(0, 0, FUSED_NONE) X(1, 1, FUSED_NONE) X(2, 2, FUSED_NONE) X(3, -1, FUSED_NONE) X(4, -2, FUSED_NONE)
#define FUSED_LINE_PAIRS(X)                                                                                            \
    X(5, 2, 1) X(6, 1, 0) X(7, 0, -1) X(8, -1, -2) X(9, 2, 0) X(10, 1, -1) X(11, 0, -2) X(12, 2, -1) X(13, 1, -2)
#define FUSED_LINE_KINDS(X) FUSED_LINE_ALONE(X) FUSED_LINE_PAIRS(X)

/* The forward pass of a convolution, or its data gradient. Rows of all images of a class share the weights, so a tile
 * of them is full wherever the padding cuts taps off. */
typedef struct fused_gather {
    fused_matrix m;
    bool each;               /* a channel meets itself only: m is one term, whose columns are multiplied lane by lane */
    int64_t groups, columns; /* columns of a group that are stored */
    int64_t in_group, out_group, w_group, bias_group;
    int64_t n_classes;
    fused_class *classes;
    fused_tap *taps;
    fused_rows rows;
    int64_t n_lines, in_step, out_step; /* no lines: by classes */
    fused_line *lines;
    fused_pair *pairs;
} fused_gather;

/* What becomes of a sum s before it is stored: f(s), or s * f'(y), y being what stands in its place so far. */
typedef enum fused_end { FUSED_PLAIN, FUSED_F, FUSED_SLOPE } fused_end;

typedef struct fused_gather_run {
    const float *in, *w, *bias; /* bias NULL: zero */
    float *out;
    int64_t in_image, out_image, images;
    fused_end end;
    cnn_act_kind act; /* RELU, LEAKY_RELU or CLIPPED_RELU */
    float alpha;
} fused_gather_run;

/* The weight gradient: of each tap the rows and columns of pixels that have it. */
typedef struct fused_outer_tap {
    int64_t x, dy, rows, cols, w;
} fused_outer_tap;

/* Rows of pixels that have the same taps of a column, one below the other; with few terms they are summed together,
 * which shares what is loaded of dy. x and dy: of the first tap and row. */
enum { FUSED_STRIP_TAPS = 4 };
typedef struct fused_strip {
    int64_t first_tap, taps, x, dy, rows;
} fused_strip;

typedef struct fused_outer {
    fused_matrix m;
    bool each;
    int64_t groups, x_group, dy_group, w_group;
    int64_t x_row, x_col, dy_row, dy_col; /* steps from a pixel to the next */
    int64_t n_taps;
    fused_outer_tap *taps;
    int64_t n_strips, x_tap, cols; /* strips: from a tap to the next, and their columns of pixels */
    fused_strip *strips;
    bool whole; /* strips that meet every pixel of dy, and so sum up the gradient of the bias as well */
} fused_outer;

/* to = from + the sums of these images (from NULL: zero); with `add`, to += that. With strips that are whole the same
 * of the bias; NULL: none. */
typedef struct fused_outer_run {
    const float *x, *dy, *from, *bias_from;
    float *to, *bias;
    int64_t x_image, dy_image, images;
    bool add;
} fused_outer_run;

/* to[term][vectors * lanes] = the sums over these images of x[term] * dy[column]: of all terms, a multiple of four, and
 * one or two vectors of columns. Sums of a few images are added up in order, however many terms there are. */
typedef struct fused_late_run {
    const float *x, *dy;
    float *to;
    int64_t x_image, dy_image, images, terms;
    int vectors;
} fused_late_run;

/* to[c] = from[c] + the sum over pixels of all images of dy[c]; from and `add` as above. */
typedef struct fused_bias_run {
    const float *dy, *from;
    float *to;
    int64_t channels, pixels, image, images;
    bool add;
} fused_bias_run;

/* to[i] = from[index[i]], or 0 where that is -1. Of each `lanes` numbers to, `base` is where from those stand that are
 * wanted, if they lie within twice as many; else it says what else: they lie in four `places` of a vector each, through
 * which index counts; they are part of a square; or anywhere. The count is rounded up to a multiple of FUSED_MAX_LANES,
 * the last ones being -1: so many are written. */
enum { FUSED_ANYWHERE = -1, FUSED_SQUARE = -2, FUSED_IN_PLACES = -3, FUSED_PLACES = 4 };
typedef struct fused_places {
    int32_t at[FUSED_PLACES];
} fused_places;

/* `lanes` rows of a vector each, from_row apart, become columns: `rows` rows, to_row apart. */
typedef struct fused_square {
    int64_t from, to, from_row, to_row;
    int rows;
} fused_square;

typedef struct fused_order {
    int64_t count;
    int lanes;
    int32_t *index, *base;
    fused_places *places;
    int64_t n_squares;
    fused_square *squares;
} fused_order;

/* Adam's numbers of a step, for eps within [FUSED_EPS_LEAST, 1]; rate: what the mean of gradients is multiplied by. */
#define FUSED_EPS_LEAST 1e-20
typedef struct fused_adam {
    float rate, keep1, take1, keep2, take2, correct2, eps, l1, l2;
} fused_adam;

/* Dropout of images of `pixels` of `channels`, a multiple of four: an element is drawn by first + image * its image +
 * pixel * its pixel + channel * its channel, modulo 2^64, and kept where that draws no less than `least`. */
typedef struct fused_drop {
    uint64_t first, image, pixel, channel;
    int64_t least;
    float scale;
    int64_t images, pixels, channels;
} fused_drop;

typedef struct fused_kernels {
    int lanes;
    void (*gather)(const fused_gather *, const fused_gather_run *);
    void (*outer)(const fused_outer *, const fused_outer_run *);
    void (*late)(const fused_late_run *);
    int64_t (*outer_parts)(const fused_matrix *); /* how often outer() reads the pixels of a tap */
    void (*bias)(const fused_bias_run *);
    void (*add)(float *to, const float *a, const float *b, int64_t count); /* to = a + b */
    void (*order)(const fused_order *, const float *from, float *to);
    void (*turn)(const fused_square *, const float *from, float *to);
    void (*drop)(const fused_drop *, const float *x, float *y);
    /* One step of `count` parameters, a multiple of FUSED_MAX_LANES. NULL: cpu_optimizer_step() is as good. */
    void (*adam)(const fused_adam *, const float *grad, float *w, float *mean, float *square, int64_t count);
} fused_kernels;

extern const fused_kernels fused_base, fused_avx2, fused_avx512;

static inline const fused_kernels *fused_kernels_for(cpu_isa isa)
{
#if defined(__x86_64__)
    if (isa == CPU_ISA_AVX512 && cpu_isa_own() == CPU_ISA_AVX512) return &fused_avx512;
    if (isa >= CPU_ISA_AVX2) return &fused_avx2;
#endif
    (void)isa;
    return &fused_base;
}

static inline int64_t fused_padded(int64_t channels) { return cpu_ceil_div(channels, FUSED_QUAD) * FUSED_QUAD; }

/* Of `k` terms by `columns` columns, and where a weight of a tap stands. A group's columns are stored to the last one
 * and no further, so it has no tail. */
static inline fused_matrix fused_matrix_of(int64_t k, int64_t columns, bool grouped, int lanes)
{
    const int64_t all = fused_padded(columns), left = all % lanes;
    fused_matrix m = {.k = fused_padded(k), .tail = left == FUSED_QUAD && lanes > FUSED_QUAD && !grouped};
    m.vectors = m.tail ? all / lanes : cpu_ceil_div(all, lanes);
    m.high = m.k;
    m.elems = m.k * (m.vectors * lanes + m.tail * FUSED_QUAD);
    return m;
}

/* Of one tap of a layer whose kernel is as large as the image. No tail, for it has many columns or few weights; whole
 * squares of weights, for they are turned by pieces. */
static inline fused_matrix fused_matrix_flat(int64_t k, int64_t columns, int lanes)
{
    fused_matrix m = {.k = fused_padded(k), .vectors = cpu_ceil_div(fused_padded(columns), lanes)};
    m.high = cpu_ceil_div(m.k, lanes) * lanes;
    m.elems = m.high * m.vectors * lanes;
    return m;
}

/* A channel a group: one term. */
static inline fused_matrix fused_matrix_each(int64_t channels, int lanes)
{
    const int64_t vectors = cpu_ceil_div(channels, lanes);
    return (fused_matrix){.k = 1, .vectors = vectors, .high = 1, .elems = vectors * lanes};
}

/* Where vector v of columns stands, of the first term; and from a term to the next. */
static inline int64_t fused_vector_at(const fused_matrix *m, int64_t v, int lanes)
{
    return (v - v % FUSED_PANEL) * lanes * m->high + v % FUSED_PANEL * lanes;
}
static inline int64_t fused_vector_step(const fused_matrix *m, int64_t v, int lanes)
{
    return cpu_min(FUSED_PANEL, m->vectors - (v - v % FUSED_PANEL)) * lanes;
}

static inline int64_t fused_matrix_at(const fused_matrix *m, int64_t k, int64_t column, int lanes)
{
    const int64_t whole = m->vectors * lanes, in = lanes / FUSED_QUAD;
    const int64_t v = (uint32_t)column / (uint32_t)lanes;
    if (column < whole) return fused_vector_at(m, v, lanes) + k * fused_vector_step(m, v, lanes) + (column - v * lanes);
    return m->high * whole + k / in * lanes + (column - whole) * in + k % in;
}

#endif
