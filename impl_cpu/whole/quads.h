/* quads.h: between pairs.c, quads.c and the kernel for processors with AVX512_VNNI (vnni.c), whose one instruction
 * multiplies four bytes of u8 by four of s8 and adds the products to an s32: exactly, modulo 2^32. */
#ifndef IMPL_CPU_WHOLE_QUADS_H
#define IMPL_CPU_WHOLE_QUADS_H

#include "pairs.h"

/* Results of a tile: up to so many pixels, by as many channels as two vectors have. */
enum { QUADS_PIXELS = 12, QUADS_CHANNELS = 32 };

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
 * from[c * next + v * step], where `next` or `step` is 1, and comes to to[v * channels + c]; behind the last of them
 * zeros fill the quad. */
typedef struct quads_pixels {
    const uint8_t *from;
    int64_t pixels, in, next, step;
    uint8_t change;
    uint8_t *to;
    int64_t channels;
} quads_pixels;

typedef struct quads_kernel {
    void (*product)(const quads_tile *, int32_t *sums); /* sums[r * pitch + channel] */
    void (*weights)(const quads_weights *);
    void (*pixels)(const quads_pixels *);
    void (*planes)(const quads_pixels *); /* where step is 1 */
    void (*quantize)(const pairs_bytes *);
} quads_kernel;

extern const quads_kernel quads_vnni;

/* quads.c: for a problem that pairs.c's gate has let through, on a processor with AVX512_VNNI. */
cnn_status quads_plan(const cnn_request *, size_t *bytes, cnn_error *);
void quads_run(const cpu_context *, const cnn_plan *, const cnn_weighted_args *);

#endif
