/* pairs.h: between pairs.c and its kernels, of which there is one for each instruction set. */
#ifndef IMPL_CPU_WHOLE_PAIRS_H
#define IMPL_CPU_WHOLE_PAIRS_H

#include <stdint.h>

/* Results of a tile: pixels, each with as many channels as two vectors have, PAIRS_CHANNELS_MOST at most. */
enum { PAIRS_PIXELS = 6, PAIRS_CHANNELS_MOST = 32 };

/* Numbers of 16 bits, channels in pairs. x[r]: where pixel r's first tap reads; a tap further down or to the right is
 * so many numbers on. w: for each tap, row by row, and each pair of channels: `channels` of pairs. */
typedef struct pairs_tile {
    const int16_t *x[PAIRS_PIXELS], *w;
    int64_t kh, kw, pairs, down, right;
} pairs_tile;

typedef struct pairs_kernel {
    int channels;
    void (*product)(const pairs_tile *, int32_t *sums); /* sums[PAIRS_PIXELS][channels] */
} pairs_kernel;

extern const pairs_kernel pairs_base, pairs_avx2, pairs_avx512;

#endif
