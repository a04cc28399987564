/* base.c: pairs of products for what every processor of the architecture has: on x86-64, SSE2; elsewhere, what the
 * compiler makes of it. */
#include <stdint.h>
#include <string.h>

#define LANES 4
#define KERNEL pairs_base
#if defined(__SSE2__)
#include <emmintrin.h>
#define VECTOR __m128i
#define ZERO _mm_setzero_si128()
#define LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define STORE(p, v) _mm_storeu_si128((__m128i *)(void *)(p), v)
#define REPEAT(pair) _mm_set1_epi32(pair)
#define MULTIPLY_ADD(sum, a, b) _mm_add_epi32(sum, _mm_madd_epi16(a, b))
#else
typedef struct lanes {
    int32_t lane[LANES];
} lanes;

static inline lanes load(const void *from)
{
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline lanes repeat(int32_t pair) { return (lanes){{pair, pair, pair, pair}}; }

static inline lanes multiply_add(lanes sum, lanes a, lanes b)
{
    int16_t x[2 * LANES], y[2 * LANES];
    memcpy(x, &a, sizeof x), memcpy(y, &b, sizeof y);
    for (int i = 0; i < LANES; i++)
        sum.lane[i] = (int32_t)((uint32_t)sum.lane[i] + (uint32_t)(x[2 * i] * y[2 * i]) +
                                (uint32_t)(x[2 * i + 1] * y[2 * i + 1]));
    return sum;
}
#define VECTOR lanes
#define ZERO repeat(0)
#define LOAD(p) load(p)
#define STORE(p, v) memcpy(p, &(v), sizeof(lanes))
#define REPEAT(pair) repeat(pair)
#define MULTIPLY_ADD(sum, a, b) multiply_add(sum, a, b)
#endif
#define DEPTHWISE depthwise_base
#define PUT pairs_base
#include "depthwise.inc"

#include "pairs.inc"
