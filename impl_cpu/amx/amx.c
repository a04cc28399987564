/* amx.c: rows by lanes, by the instructions of AMX. */
#include "shape.h"

#if defined(__x86_64__)
#include <immintrin.h>

typedef struct amx_unit {
    amx_shape shape;
} amx_unit;

/* The compiler does not know that these instructions read memory. */
#define BARRIER() __asm__ volatile("" ::: "memory")
#define CONFIGURE(m) _tile_loadconfig(&(m)->shape)
#define RELEASE() _tile_release()
#define ZERO(m, t)                                                                                                     \
    do {                                                                                                               \
        (void)(m);                                                                                                     \
        _tile_zero(t);                                                                                                 \
    } while (0)
#define LOAD(m, t, from, pitch)                                                                                        \
    do {                                                                                                               \
        (void)(m);                                                                                                     \
        _tile_loadd(t, from, pitch);                                                                                   \
    } while (0)
#define STORE(m, t, to, pitch)                                                                                         \
    do {                                                                                                               \
        (void)(m);                                                                                                     \
        _tile_stored(t, to, pitch);                                                                                    \
    } while (0)
#define MULTIPLY_PAIRS(m, sum, rows, lanes)                                                                            \
    do {                                                                                                               \
        (void)(m);                                                                                                     \
        _tile_dpbf16ps(sum, rows, lanes);                                                                              \
    } while (0)
#define MULTIPLY_BYTES(m, sum, rows, lanes)                                                                            \
    do {                                                                                                               \
        (void)(m);                                                                                                     \
        _tile_dpbusd(sum, rows, lanes);                                                                                \
    } while (0)
#define LOAD_WORDS(from, mask) (vector) _mm512_maskz_loadu_epi32((__mmask16)(mask), from)
#define MULTIPLY_ROWS amx_multiply
#define PACK_ROWS amx_pack
#include "rows.inc"

#endif
