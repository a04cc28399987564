/* vnni_pack.c: weights and x as the kernel of quads reads them: bytes that change places. */
#include "impl_cpu/vector.h"
#include "quads.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

enum { LANES = 16 };

/* ---- The weights. */

/* Bytes [at, at + 64) of `size`; beyond them zeros. */
INLINE __m512i load_part(const int8_t *from, int64_t at, int64_t size)
{
    if (at + 64 <= size) return _mm512_loadu_si512(from + at);
    return at < size ? _mm512_maskz_loadu_epi8(~0ull >> (64 - (size - at)), from + at) : _mm512_setzero_si512();
}

/* 16 x 16 numbers of 32 bits: four rounds of interleaving row i with row i + 8. */
INLINE void transpose(__m512i *v)
{
    const __m512i count = _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    const __m512i low = _mm512_mask_add_epi32(count, 0xaaaa, count, _mm512_set1_epi32(16));
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    __m512i u[LANES];
    UNROLL for (int round = 0; round < 4; round++)
    {
        UNROLL for (int i = 0; i < LANES; i++) u[i] = v[i];
        UNROLL for (int i = 0; i < LANES / 2; i++)
        {
            v[2 * i] = _mm512_permutex2var_epi32(u[i], low, u[i + LANES / 2]);
            v[2 * i + 1] = _mm512_permutex2var_epi32(u[i], high, u[i + LANES / 2]);
        }
    }
}

/* Bytes [at, at + 64) of 16 channels, fours[j]: number j of these fours of all channels. */
static void load_fours(const quads_weights *p, int64_t first, int64_t at, __m512i *fours)
{
    const int64_t size = p->in * p->taps;
    UNROLL for (int k = 0; k < LANES; k++)
    {
        const int64_t channel = first + k;
        fours[k] = channel < p->channels ? load_part(p->from + channel * size, at, size) : _mm512_setzero_si512();
    }
    transpose(fours);
}

/* Byte `from` of each four, at byte `to` of it; the others become zeros. */
INLINE __m512i move_byte(__m512i fours, int from, int to)
{
    const __m512i own = _mm512_broadcast_i32x4(_mm_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0));
    const __m512i index = _mm512_add_epi8(own, _mm512_set1_epi8((char)from));
    return _mm512_maskz_shuffle_epi8(0x1111111111111111ull << to, fours, index);
}

/* The quad of a tap, of fours that hold [channel of the quad][tap] of 16 lanes. */
INLINE __m512i quad_of(const __m512i *fours, int64_t taps, int64_t tap)
{
    __m512i quad = _mm512_setzero_si512();
    UNROLL for (int c = 0; c < 4; c++)
    {
        const int64_t byte = c * taps + tap;
        quad = _mm512_or_si512(quad, move_byte(fours[byte / 4], (int)(byte % 4), c));
    }
    return quad;
}

/* Quads [q, q + count), which the fours have, of 16 channels from the first on; returns the sums of theirs. */
static __m512i put_quads(const quads_weights *p, const __m512i *fours, int64_t first, int64_t q, int64_t count,
                         __m512i sums)
{
    const int64_t quads = (p->in + 3) / 4, taps = p->taps;
    const __m512i ones = _mm512_set1_epi8(1);
    for (int64_t i = 0; i < count; i++)
        for (int64_t tap = 0; tap < taps; tap++) {
            const __m512i quad = taps == 1 ? fours[i] : quad_of(fours + i * taps, taps, tap);
            const int64_t to = p->flip ? taps - 1 - tap : tap;
            sums = _mm512_dpbusd_epi32(sums, ones, quad);
            _mm512_storeu_si512(p->w + ((to * quads + q + i) * QUADS_CHANNELS + first) * 4, quad);
        }
    return sums;
}

/* A quad whose taps are too many for the fours: byte by byte. */
static __m512i put_large_quad(const quads_weights *p, int64_t first, int64_t q, __m512i sums)
{
    const int64_t quads = (p->in + 3) / 4, taps = p->taps;
    int8_t quad[4 * LANES] = {0};
    for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t to = p->flip ? taps - 1 - tap : tap;
        for (int64_t k = 0; k < LANES && first + k < p->channels; k++)
            for (int64_t c = 0; c < 4 && 4 * q + c < p->in; c++)
                quad[4 * k + c] = p->from[((first + k) * p->in + 4 * q + c) * taps + tap];
        const __m512i all = _mm512_loadu_si512(quad);
        sums = _mm512_dpbusd_epi32(sums, _mm512_set1_epi8(1), all);
        _mm512_storeu_si512(p->w + ((to * quads + q) * QUADS_CHANNELS + first) * 4, all);
    }
    return sums;
}

void vnni_weights(const quads_weights *p)
{
    enum { FOURS = 128 };
    const int64_t quads = (p->in + 3) / 4, most = p->taps > FOURS ? 1 : FOURS / p->taps;
    __m512i fours[FOURS];
    for (int64_t first = 0; first < QUADS_CHANNELS; first += LANES) {
        __m512i sums = _mm512_setzero_si512();
        for (int64_t q = 0; q < quads; q += most) {
            const int64_t count = cpu_min(most, quads - q);
            if (p->taps > FOURS) {
                sums = put_large_quad(p, first, q, sums);
                continue;
            }
            for (int64_t i = 0; i < count * p->taps; i += LANES) load_fours(p, first, 4 * (q * p->taps + i), fours + i);
            sums = put_quads(p, fours, first, q, count, sums);
        }
        _mm512_storeu_si512(p->start + first, _mm512_mullo_epi32(sums, _mm512_set1_epi32(-p->zero)));
    }
}

/* ---- x. */

/* The first `quads` of a vector's four. */
INLINE void store_quads(uint8_t *to, __m128i v, int64_t quads)
{
    if (quads >= 4) {
        _mm_storeu_si128((__m128i *)(void *)to, v);
        return;
    }
    uint8_t bytes[16];
    memcpy(bytes, &v, sizeof bytes);
    if (quads & 2) memcpy(to, bytes, 8);
    if (quads & 1) memcpy(to + (quads & 2) * 4, bytes + (quads & 2) * 4, 4);
}

void vnni_pixels(const quads_pixels *p)
{
    const __m512i change = _mm512_set1_epi8((char)p->change);
    const int64_t in = p->in; /* what is written may be anything */
    for (int64_t v = 0; v < p->pixels; v++) {
        const uint8_t *from = p->from + v * p->step;
        uint8_t *to = p->to + v * p->channels;
        int64_t c = 0;
        for (; c + 64 <= in; c += 64)
            _mm512_storeu_si512(to + c, _mm512_xor_si512(_mm512_loadu_si512(from + c), change));
        for (; c < in; c += 16) {
            const int64_t left = cpu_min(16, in - c);
            const __m128i part = _mm_maskz_loadu_epi8((__mmask16)(0xffff >> (16 - left)), from + c);
            store_quads(to + c, _mm_xor_si128(part, _mm512_castsi512_si128(change)), (left + 3) / 4);
        }
    }
}

/* 16 planes of 64 pixels: v[i], of each quarter of 16 pixels pixel i of all planes. */
INLINE void turn_planes(__m512i *v)
{
    __m512i u[16];
    UNROLL for (int round = 0; round < 4; round++)
    {
        UNROLL for (int i = 0; i < 16; i++) u[i] = v[i];
        UNROLL for (int i = 0; i < 8; i++)
        {
            v[2 * i] = _mm512_unpacklo_epi8(u[i], u[i + 8]);
            v[2 * i + 1] = _mm512_unpackhi_epi8(u[i], u[i + 8]);
        }
    }
}

void vnni_planes(const quads_pixels *p)
{
    const __m512i change = _mm512_set1_epi8((char)p->change);
    for (int64_t c = 0; c < p->in; c += 16)
        for (int64_t i = 0; i < p->pixels; i += 64) {
            const int64_t left = cpu_min(64, p->pixels - i), quads = (p->in - c + 3) / 4;
            const __mmask64 mask = ~0ull >> (64 - left);
            uint8_t *to = p->to + i * p->channels + c;
            __m512i v[16];
            UNROLL for (int k = 0; k < 16; k++)
            {
                const bool there = c + k < p->in;
                v[k] = there ? _mm512_maskz_loadu_epi8(mask, p->from + (c + k) * p->next + i) : _mm512_setzero_si512();
                v[k] = _mm512_xor_si512(v[k], change);
            }
            turn_planes(v);
            const __m128i *turned = (const __m128i *)(const void *)v;
            for (int64_t k = 0; k < left; k++) store_quads(to + k * p->channels, turned[k % 16 * 4 + k / 16], quads);
        }
}

#endif
