/* quads.h: between pairs.c, quads.c and the kernel for processors with AVX512_VNNI (vnni.c), whose one instruction
 * multiplies four bytes of u8 by four of s8 and adds the products to an s32: exactly, modulo 2^32. Matrix units (amx.h)
 * multiply as much of what is packed in the same way. */
#ifndef IMPL_CPU_WHOLE_QUADS_H
#define IMPL_CPU_WHOLE_QUADS_H

#include "impl_cpu/amx/amx.h"
#include "pairs.h"

/* Results of a tile: up to so many pixels, by as many channels as two vectors have. */
enum { QUADS_PIXELS = 10, QUADS_CHANNELS = 32 };

/* Bytes, channels in quads. x[r]: where pixel r's first tap reads; a tap further down or to the right is so many bytes
 * on. w: for each tap, row by row, and each quad: QUADS_CHANNELS of quads. start: what the sums begin with. */
typedef struct quads_tile {
    const uint8_t *x[QUADS_PIXELS];
    const int8_t *w;
    const int32_t *start; /* [QUADS_CHANNELS] */
    int64_t rows, kh, kw, quads, down, right;
    int64_t pitch; /* from a pixel's sums to the next one's */
} quads_tile;

/* The weights of up to QUADS_CHANNELS channels, [channels][in][taps], become w and start of a tile. Beyond the
 * channels, of either kind, they become zeros. start = -zero * (sum of a channel's weights): for x that is so much too
 * large, padding included. */
typedef struct quads_weights {
    const int8_t *from;
    int64_t channels, in, taps;
    bool flip; /* the last tap first */
    int32_t zero;
    int8_t *w;
    int32_t *start;
} quads_weights;

/* A row of pixels, of one group's channels, as u8: each bit of `change` is turned. Channel c of pixel v lies at
 * from[c * next + v * step], where `next` or `step` is 1, and comes to to[v * channels + c]. What fills the last quad
 * is of no matter: its weights are zeros. */
typedef struct quads_pixels {
    const uint8_t *from;
    int64_t pixels, in, next, step;
    uint8_t change;
    uint8_t *to;
    int64_t channels;
} quads_pixels;

/* vnni.c: the products of a tile, to sums[r * pitch + channel]; and what becomes of sums (pairs_kernel.quantize). */
void vnni_product(const quads_tile *, int32_t *sums);
void vnni_quantize(const pairs_bytes *);
/* vnni_pack.c; vnni_pixels is for a `next` of 1, vnni_planes for a `step` of 1. */
void vnni_weights(const quads_weights *);
void vnni_pixels(const quads_pixels *);
void vnni_planes(const quads_pixels *);

/* quads.c: for a problem that pairs.c's gate has let through, on a processor with AVX512_VNNI, whose kernels the knob
 * `vnni` can refuse. */
static inline bool quads_are_chosen(const cpu_context *cpu, const int64_t *knobs)
{
    return knobs[CPU_KNOB_VNNI] != 0 && cpu->isa == CPU_ISA_AVX512 && cpu_has_vnni();
}
const char *quads_choice(const int64_t *knobs);
cnn_status quads_plan(const cpu_context *, const cnn_request *, size_t *bytes, cnn_error *);
void quads_run(const cpu_context *, const cnn_plan *, const cnn_weighted_args *);

/* Pixels of a task, at most: whole vectors of NCHW's planes, and what two levels of cache hold beside a panel. */
enum { QUADS_ROWS = 80 };

typedef struct quads_job {
    cnn_conv_desc d;
    const cnn_weighted_args *a;
    bool in_place, at_once;        /* x is read where it lies; copied by the task that multiplies it */
    int64_t icp, channels;         /* of a group, padded; of a pixel */
    int64_t height, pitch;         /* of the images that are read, padded or in place: rows; bytes of one */
    int64_t panels, panel;         /* of a group; the bytes of one's weights, behind the starts of its sums */
    int64_t pixels, chunk, chunks; /* of all images; of a task */
    int64_t parts;                 /* of the panels, a task each */
    int zero;                      /* what stands for 0 in x, once it is u8 */
    const uint8_t *x;              /* in the workspace, or the caller's */
    uint8_t *copy;
    int8_t *w;
    pairs_kernel put;
    whole_quantizer q;
    void (*matrix)(const amx_rows *); /* the processor's matrix units, or what imitates them; NULL: by tiles */
    int64_t *list;                    /* for them: [taps], where a pixel's run of bytes begins */
} quads_job;

static inline bool quads_signed(const cnn_conv_desc *d)
{
    return cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) == CNN_S8;
}

/* quads_x.c: a parallel_body of a quads_job: task (n, row of the padded image). */
void quads_copy_row(void *job, int64_t task, int worker);
/* Where pixels [first, first + count) of a group read their first tap. */
void quads_find(const quads_job *, int64_t group, int64_t first, int64_t count, const uint8_t *x[QUADS_ROWS]);
/* The same of those that are copied now, to[count][channels of the group]. */
void quads_copy_chunk(const quads_job *, int64_t group, int64_t first, int64_t count, uint8_t *to,
                      const uint8_t *x[QUADS_ROWS]);

#endif
