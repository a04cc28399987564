/* bf16.h: what the files of cpu:bf16 share: convolutions and FC layers on numbers of bf16, which are multiplied two at
 * a time and added up in f32 (AVX512_BF16 has an instruction for that; elsewhere they are made f32 in registers).
 *
 * Each direction is the same product. A row of results, which are channels beside each other, is a sum of pairs:
 *
 *            a row is                     its terms are                       lanes are
 *   FWD      a pixel of y                 taps x pairs of input channels      output channels
 *   BWD_D    a pixel of dx                taps x pairs of output channels     input channels
 *   BWD_W    an input channel and a tap   rows of dy x pairs of its pixels    output channels
 *
 * What a row is multiplied with, once for all lanes, is read in place of x (dy), or of a copy with zeros around it.
 * What has lanes is packed, a pair of each lane beside each other's.
 *
 *   plan.c                   what is taken; the image that rows are read of; what lies where
 *   conv.c, weights.c        the tasks of FWD and BWD_D, and of BWD_W
 *   image.c, pack.c          the copy of an image; weights are packed
 *   product.inc, .c          the product, for each instruction set; matrix.inc hands it to matrix units
 *   turns.inc, results.inc   how numbers are ordered; what becomes of sums */
#ifndef IMPL_CPU_BF16_BF16_H
#define IMPL_CPU_BF16_BF16_H

#include "impl_cpu/cpu.h"

/* Vectors of a tile at most. Of a task: rows, lanes of a panel, and sums at most. Pairs of scratch. Pairs whose weights
 * a task packs; pixels of a row that a task copies. */
enum {
    BF_VECTORS = 4,
    BF_ROWS = 192,
    BF_WIDTH = 64,
    BF_SUMS = 96 * BF_WIDTH,
    BF_SCRATCH = 1024 * 16,
    BF_PAIRS = 8,
    BF_BLOCK = 256
};

/* x[r]: where row r's numbers are counted from; list: where the `count` runs of pairs are, in numbers from there. w:
 * for each of these pairs, `vectors` of pairs. */
typedef struct bf_rows {
    const uint16_t *x[BF_ROWS], *w;
    const int64_t *list;
    int64_t rows, count, pairs, step; /* step: to the next pair */
    int vectors;
    bool add;           /* to what `sums` holds */
    const float *start; /* of matrix units alone: what each row's sums begin with; NULL: zeros */
    const void *packed; /* of matrix units alone: what they made of x; NULL: nothing */
} bf_rows;

/* Pairs of neighbouring numbers are turned: unit u of each row, which is from[row * step + 2 * u] and the next, goes to
 * to[(u, or place[u]) * to_step + row], in pairs; behind the last of `numbers` comes a 0. A place below 0: nowhere. */
typedef struct bf_turn {
    const uint16_t *from;
    int64_t step, rows, numbers;
    uint16_t *to;
    int64_t to_step;
    const int64_t *place; /* NULL: as they stand */
    bool loose;           /* behind the last number a vector can be read, of anything */
} bf_turn;

/* Of rows that were turned, `lanes` of them, numbers are channels x taps: neighbouring channels become pairs of a tap,
 * to[place[tap] * to_place + pair * to_pair], in numbers; the last of an odd number has a 0 beside it. */
typedef struct bf_pick {
    const uint16_t *from;
    int64_t channels, taps;
    uint16_t *to;
    int64_t to_pair, to_place;
    const int64_t *place;
} bf_pick;

/* Where the results of row r begin, in numbers: r = (image * plane + down * cols + right), each by its own step;
 * `plane` is a multiple of `cols`. From a channel to the next one: `channel`. */
typedef struct bf_place {
    int64_t base, plane, cols, image, down, right, channel;
} bf_place;

/* What is done to sums of rows [first, first + count), and where they go. */
typedef struct bf_results {
    const bf_place *place;
    void *to;
    const void *bias, *z; /* of the first channel (NULL: none); from where it begins as `to` does */
    bool wide, wide_bias; /* f32, not bf16: of `to` and z; of the bias */
    double beta;
    cpu_epilogue epilogue;
    int64_t first, count, width, channels;
    float *sums; /* [count][width], which are used up */
} bf_results;

typedef struct bf_kernel {
    const char *name;
    int lanes, pixels, vectors;                    /* of a vector; of a tile, at most */
    int64_t rows;                                  /* of a task, at most */
    bool runs;                                     /* it takes pairs that lie beside each other alone: a step of 2 */
    void (*product)(const bf_rows *, float *sums); /* sums[rows][vectors * lanes] */
    void (*pack)(const bf_rows *, void *to);       /* x, for many panels; NULL: it is read as it lies */
    void (*turn)(const bf_turn *);
    /* to[i] = the pair a[i], b[i]; b NULL: zeros */
    void (*interleave)(const uint16_t *a, const uint16_t *b, int64_t count, uint16_t *to);
    void (*pick)(const bf_pick *);
    void (*put)(const bf_results *);
    /* sums[i] += from[i], from[i + step] ... of `count` rows; of `lanes` numbers each */
    void (*add_up)(const uint16_t *from, int64_t step, int64_t count, double *sums);
} bf_kernel;

extern const bf_kernel bf_base, bf_avx2, bf_avx512, bf_avx512_bf16, bf_amx, bf_amx_imitated;

/* One axis of FWD and BWD_D: positions [first, first + size) of the source, of which there are `in`, are read; those
 * outside are zeros. BWD_D with a stride s: results r, r + s, r + 2s ... are a phase, and read the same taps. */
typedef struct bf_axis {
    bool back;
    int64_t in, out, taps, stride, pad, step, first, size, phases;
} bf_axis;

/* Whether results of a phase read this tap, and of its first result from which position of the copy on. */
static inline bool bf_reads(const bf_axis *a, int64_t phase, int64_t tap, int64_t *at)
{
    const int64_t from = phase + a->pad - tap * a->step;
    *at = a->back ? from / a->stride - a->first : tap * a->step;
    return !a->back || from % a->stride == 0;
}
/* The first tap that a phase reads, and how many on the next one is: an image may have as many phases as taps. */
static inline int64_t bf_first_tap(const bf_axis *a, int64_t phase)
{
    int64_t at, tap = 0;
    if (a->back && a->step % a->stride == 1) return (phase + a->pad) % a->stride;
    while (tap < a->taps && !bf_reads(a, phase, tap, &at)) tap++;
    return tap;
}
static inline int64_t bf_next_tap(const bf_axis *a)
{
    int64_t apart = a->back ? a->stride : 1, rest = a->back ? a->step : 1;
    while (rest != 0) {
        const int64_t more = apart % rest;
        apart = rest, rest = more;
    }
    return a->back ? a->stride / apart : 1;
}
static inline int64_t bf_results_of(const bf_axis *a, int64_t phase)
{
    return a->back ? (a->out - phase + a->stride - 1) / a->stride : a->out;
}

typedef struct bf_job {
    cnn_conv_desc d; /* as bf_normal() has it */
    cnn_dir dir;
    const cnn_weighted_args *a;
    const bf_kernel *kernel;
    cpu_epilogue epilogue;
    int64_t taps, out, vectors, panels; /* `out`: channels of a group that are lanes; panels of some vectors of them */
    int64_t terms;                      /* pairs that a lane is multiplied with, of all taps or rows */
    int64_t *list;                      /* FWD, BWD_D: [taps], phase by phase; BWD_W: [images * oh] */
    uint16_t *copy, *w;
    char *scratch; /* a piece for each worker, so many bytes apart */
    int64_t scratch_each;
    char *packed; /* likewise, rows that a task packs at most, or none */
    int64_t packed_rows, packed_each;
    bool copied;
    /* FWD, BWD_D: channels of a group that are added up, and in pairs; of a pixel of what is read, which has `pitch`
     * pixels a row and `image` an image. */
    int64_t in, padded, channels, pitch, image;
    bf_axis y, x;
    int64_t *place_of, *phase, *right; /* [taps], -1: nothing reads it; [phases + 1]: where it begins; columns */
    /* BWD_W, of `images` images at a time: a row of the copy has `parts`, one for each column within a stride, of
     * `length` numbers; rows of dy have `pairs`. Or x is paired as dy is. */
    bool paired;
    int64_t images, height, parts, length, pairs;
    int64_t *tap_at; /* [taps], in memory's order */
    float *sums;     /* of all tiles, where there are more images than that */
} bf_job;

/* The first vector of a panel; and its packed pairs. */
static inline int64_t bf_first_vector(const bf_job *t, int64_t panel) { return t->vectors * panel / t->panels; }
static inline uint16_t *bf_panel(const bf_job *t, int64_t group, int64_t panel)
{
    return t->w + (group * t->vectors + bf_first_vector(t, panel)) * t->terms * 2 * t->kernel->lanes;
}
static inline int bf_panel_vectors(const bf_job *t, int64_t panel)
{
    return (int)(bf_first_vector(t, panel + 1) - bf_first_vector(t, panel));
}

/* Rows of results that have the same terms, `plane` of an image from its row `first` on: `count` runs of pairs from
 * list[from] on. Tasks: chunks of rows. */
typedef struct bf_band {
    int64_t first, plane, rows, from, count, chunks;
} bf_band;

enum { BF_BANDS = 16 };

/* Rows of results, in every group: r = (image * plane + down * cols + right). They read from `from` on, by steps of
 * their own; and go to `place`. */
typedef struct bf_region {
    const bf_job *t;
    int64_t images, cols, chunks; /* chunks: of all bands */
    int64_t grain, most;          /* rows that chunks are multiples of; at most */
    int64_t parts;                /* of the panels: tasks; 0: a panel is a task */
    bool packed;                  /* rows are, once for all panels of a task */
    bf_band bands[BF_BANDS];
    int n_bands;
    const uint16_t *from;
    int64_t group, image, down;
    const int64_t *right, *list; /* right: [cols] */
    int64_t pairs, step;         /* of a run; from pair to pair, in numbers */
    int64_t skip;                /* runs of all lanes that are skipped: those of other phases */
    int64_t phases, phase_place; /* phases that differ in this alone, and in `count` runs of lanes each (0: one) */
    bf_place place;
    int64_t place_group; /* to the results of the next group */
    void *to;
    bool add, keep; /* to `sums`, where they stay */
} bf_region;

/* plan.c. Which kernel runs, for the record. Where all lies in the arena; with a NULL base it is only counted. */
cpu_plan_fn bf_plan;
cpu_choice_fn bf_choice;
bf_job bf_job_of(const cpu_context *, const cnn_problem *, cnn_dir, const int64_t *knobs);
void bf_lay_out(const cpu_context *, bf_job *, cpu_arena *);

/* image.c. Tasks: FWD, BWD_D (image, row of the copy, BF_BLOCK of its pixels); BWD_W, of the images from `first` on:
 * (image, row of the copy, if x is paired its BF_BLOCK), and (image, row of dy, BF_BLOCK). */
void bf_copy_row(const bf_job *, int64_t task);
int64_t bf_columns_tasks(const bf_job *, int64_t images);
void bf_columns(const bf_job *, int64_t first, int64_t task);
void bf_pack_dy(const bf_job *, int64_t first, int64_t task);

/* pack.c. Tasks: (group, vector) of FWD, (group, BF_PAIRS of pairs) of BWD_D. */
static inline int64_t bf_pair_blocks(const bf_job *t) { return cpu_ceil_div(t->padded / 2, BF_PAIRS); }
void bf_pack_forward(const bf_job *, int64_t task, int worker);
void bf_pack_back(const bf_job *, int64_t task, int worker);

/* multiply.c: all of a region. */
void bf_multiply(const cpu_context *, bf_region *);

/* weights.c: BWD_W. */
void bf_weights(const cpu_context *, bf_job *);

#endif
