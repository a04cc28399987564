/* vnni.c: the kernel of quads, for processors with AVX512_VNNI: products, and results. */
#include "impl_cpu/vector.h"
#include "quads.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

enum { LANES = 16 };

/* ---- Tiles. */

/* Of one text for each number of rows: with a constant one the sums are registers. 10 pixels by 2 vectors of channels:
 * 20 sums hide the latency of the products, and each vector of weights is used ten times. So many addresses fit the
 * general registers: with 12 pixels the loop reaches 95 % of the products that the processor can do, with 10 98 %. */
INLINE void product_of(const quads_tile *t, int32_t *sums, int rows)
{
    const int8_t *w = t->w;
    __m512i sum[QUADS_PIXELS][2];
    UNROLL for (int r = 0; r < rows; r++)
    {
        sum[r][0] = _mm512_loadu_si512(t->start);
        sum[r][1] = _mm512_loadu_si512(t->start + LANES);
    }
    for (int64_t i = 0; i < t->kh; i++)
        for (int64_t j = 0; j < t->kw; j++) {
            const int64_t tap = i * t->down + j * t->right, end = tap + 4 * t->quads;
            for (int64_t c = tap; c < end; c += 4, w += 4 * QUADS_CHANNELS) {
                const __m512i w0 = _mm512_loadu_si512(w), w1 = _mm512_loadu_si512(w + 4 * LANES);
                UNROLL for (int r = 0; r < rows; r++)
                {
                    int32_t quad;
                    memcpy(&quad, t->x[r] + c, sizeof quad);
                    const __m512i x = _mm512_set1_epi32(quad);
                    sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], x, w0);
                    sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], x, w1);
                }
            }
        }
    UNROLL for (int r = 0; r < rows; r++)
    {
        _mm512_storeu_si512(sums + r * t->pitch, sum[r][0]);
        _mm512_storeu_si512(sums + r * t->pitch + LANES, sum[r][1]);
    }
}

#define EACH_COUNT(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10)
#define PRODUCT_OF(rows)                                                                                               \
    APART(product_##rows)(const quads_tile *t, int32_t *sums) { product_of(t, sums, rows); }
EACH_COUNT(PRODUCT_OF)

void vnni_product(const quads_tile *t, int32_t *sums)
{
#define ENTRY(rows) product_##rows,
    static void (*const of[QUADS_PIXELS])(const quads_tile *, int32_t *) = {EACH_COUNT(ENTRY)};
    of[t->rows - 1](t, sums);
}

/* ---- Results. */

/* whole_quantizer's numbers, as vectors. What results saturate at, less the zero point of y: whole numbers, so that
 * they saturate before they are rounded. */
typedef struct quantizer {
    __m512 zero_z, least, most, slope;
    __m512i zero;
    bool is_signed;
} quantizer;

/* whole_quantized() of a vector. */
INLINE __m128i quantized(const quantizer *q, __m512i sums, __m512 scale, const uint8_t *z, bool add, bool slope)
{
    const __m512 sum = _mm512_cvtepi32_ps(sums);
    __m512 v = _mm512_mul_ps(sum, scale);
    if (add) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)z);
        const __m512i whole = q->is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
        v = _mm512_fmadd_ps(sum, scale, _mm512_sub_ps(_mm512_cvtepi32_ps(whole), q->zero_z));
    }
    if (slope) v = _mm512_mask_mul_ps(v, _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ), v, q->slope);
    v = _mm512_min_ps(q->most, _mm512_max_ps(q->least, v));
    return _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(v), q->zero));
}

/* With constants it has no branches, but for the type of z. What it writes may be anything: so all is read before. */
INLINE void quantize_rows(const pairs_bytes *p, bool add, bool slope)
{
    const whole_quantizer *from = p->q;
    const quantizer q = {
        _mm512_set1_ps(from->zero),  _mm512_set1_ps(from->least - from->zero), _mm512_set1_ps(from->most - from->zero),
        _mm512_set1_ps(from->slope), _mm512_set1_epi32((int32_t)from->zero),   from->is_signed};
    const __m512i b0 = _mm512_loadu_si512(p->bias), b1 = _mm512_loadu_si512(p->bias + LANES);
    const __m512 s0 = _mm512_loadu_ps(p->scale), s1 = _mm512_loadu_ps(p->scale + LANES);
    const int32_t *sums = p->sums, *const end = sums + p->rows * QUADS_CHANNELS;
    const uint8_t *z = p->z;
    const int64_t pitch = p->pitch;
    uint8_t *to = p->to;
    for (; sums < end; sums += QUADS_CHANNELS, z += QUADS_CHANNELS, to += pitch) {
        const __m512i v0 = _mm512_add_epi32(_mm512_loadu_si512(sums), b0);
        const __m512i v1 = _mm512_add_epi32(_mm512_loadu_si512(sums + LANES), b1);
        const __m128i first = quantized(&q, v0, s0, z, add, slope);
        const __m128i second = quantized(&q, v1, s1, z + LANES, add, slope);
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_set_m128i(second, first));
    }
}

void vnni_quantize(const pairs_bytes *p)
{
    if (p->q->add && p->q->sloped)
        quantize_rows(p, true, true);
    else if (p->q->add)
        quantize_rows(p, true, false);
    else if (p->q->sloped)
        quantize_rows(p, false, true);
    else
        quantize_rows(p, false, false);
}

#endif
