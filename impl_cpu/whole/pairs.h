/* pairs.h: between pairs.c, results.c and their kernels, of which there is one for each instruction set. */
#ifndef IMPL_CPU_WHOLE_PAIRS_H
#define IMPL_CPU_WHOLE_PAIRS_H

#include "whole.h"

/* Results of a tile: pixels, each with as many channels as two vectors have, PAIRS_CHANNELS_MOST at most. Tiles of a
 * task; the rows that it keeps for their pixels, some of which are only read: by vectors that begin at the last ones.
 */
enum { PAIRS_PIXELS = 6, PAIRS_CHANNELS_MOST = 32, PAIRS_TILES = 16, PAIRS_ROWS = PAIRS_TILES * PAIRS_PIXELS + 16 };

/* Numbers of 16 bits, channels in pairs. x[r]: where pixel r's first tap reads; a tap further down or to the right is
 * so many numbers on. w: for each tap, row by row, and each pair of channels: `channels` of pairs. */
typedef struct pairs_tile {
    const int16_t *x[PAIRS_PIXELS], *w;
    int64_t kh, kw, pairs, down, right;
} pairs_tile;

/* Sums, which are used up, become bytes: of `rows` pixels. bias and scale: of a kernel's channels. */
typedef struct pairs_bytes {
    const whole_quantizer *q;
    int32_t *sums; /* [rows][channels of the kernel] */
    const int32_t *bias;
    const float *scale;
    const uint8_t *z; /* likewise, the bits of u8 or s8; read where a residual is added */
    int64_t rows;
    uint8_t *to; /* to[row * pitch + channel] */
    int64_t pitch;
} pairs_bytes;

/* to[channel * plane + row] = from[row * width + channel]: planes of NCHW. PAIRS_ROWS of rows can be read. The other
 * way round, to[row * width + channel] = from[channel * plane + row], that many can be written. */
typedef struct pairs_planes {
    const void *from;
    void *to;
    int64_t width, rows, channels, plane;
} pairs_planes;

typedef struct pairs_kernel {
    int channels;
    void (*product)(const pairs_tile *, int32_t *sums); /* sums[PAIRS_PIXELS][channels] */
    void (*quantize)(const pairs_bytes *);
    void (*planes_s32)(const pairs_planes *);
    void (*planes_bytes)(const pairs_planes *);
    void (*rows_bytes)(const pairs_planes *); /* the other way round */
} pairs_kernel;

extern const pairs_kernel pairs_base, pairs_avx2, pairs_avx512;

/* results.c: `count` pixels of the batch from `first` on, of channels [channel, channel + channels) of all; sums, of
 * PAIRS_ROWS rows, is used up. */
typedef struct pairs_results {
    const pairs_kernel *kernel;
    const cnn_conv_desc *d;
    const cnn_weighted_args *a;
    const whole_quantizer *q;
    int64_t first, count, channel, channels;
    int32_t *sums; /* [PAIRS_ROWS][channels of the kernel] */
} pairs_results;
void pairs_put(const pairs_results *);

#endif
