/* peaks_dot.c: ceilings of products that one instruction adds up: four of bytes (AVX512_VNNI), two of bf16
 * (AVX512_BF16). As many chains as for multiply-adds (peaks_kernels.h): their latency is no longer. And of products of
 * tiles of these (AMX): four sums, as a convolution has them. */
#include "peaks_table.h"

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f,avx512vnni"))) double cpu_peak_dot_bytes(int64_t rounds)
{
    const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-1);
#define FIRST(i) __m512i v##i = _mm512_set1_epi32(i);
#define STEP(i) v##i = _mm512_dpbusd_epi32(v##i, a, b);
#define ADD(i) sum = _mm512_add_epi32(sum, v##i);
    PEAK_CHAINS(FIRST)
    for (int64_t r = 0; r < rounds; r++) {
        PEAK_CHAINS(STEP)
    }
    __m512i sum = _mm512_setzero_si512();
    PEAK_CHAINS(ADD)
#undef FIRST
#undef STEP
#undef ADD
    return (double)_mm512_reduce_add_epi32(sum);
}

/* Values grow by 2^-20 a round: nothing overflows or becomes denormal. */
__attribute__((target("avx512f,avx512bw,avx512bf16"))) double cpu_peak_dot_bf16(int64_t rounds)
{
    const __m512bh a = (__m512bh)_mm512_set1_epi16(0x3500), b = (__m512bh)_mm512_set1_epi16(0x3f80); /* 2^-21; 1 */
#define FIRST(i) __m512 v##i = _mm512_set1_ps(1.0f + 0.01f * (i));
#define STEP(i) v##i = _mm512_dpbf16_ps(v##i, a, b);
#define ADD(i) sum = _mm512_add_ps(sum, v##i);
    PEAK_CHAINS(FIRST)
    for (int64_t r = 0; r < rounds; r++) {
        PEAK_CHAINS(STEP)
    }
    __m512 sum = _mm512_setzero_ps();
    PEAK_CHAINS(ADD)
#undef FIRST
#undef STEP
#undef ADD
    return (double)_mm512_reduce_add_ps(sum);
}

/* All tiles have 16 rows of 64 bytes; the factors hold this word everywhere. */
__attribute__((target("amx-tile"))) static void fill_tiles(uint32_t word)
{
    uint32_t tile[16][16];
    uint8_t shape[64] = {[0] = 1};
    for (int t = 0; t < 8; t++) shape[16 + 2 * t] = 64, shape[48 + t] = 16;
    for (int i = 0; i < 16 * 16; i++) tile[i / 16][i % 16] = word;
    __asm__ volatile(""
                     :
                     : "r"(shape), "r"(tile)
                     : "memory"); /* what follows reads them, which the compiler cannot know */
    _tile_loadconfig(shape);
    _tile_loadd(4, tile, 64);
    _tile_loadd(5, tile, 64);
    _tile_loadd(6, tile, 64);
    _tile_loadd(7, tile, 64);
}

/* One number of the sums. */
__attribute__((target("amx-tile"))) static double take_tile(void)
{
    uint32_t tile[16][16];
    _tile_stored(0, tile, 64);
    _tile_release();
    return (double)tile[0][0] + 1;
}

__attribute__((target("amx-tile,amx-int8"))) double cpu_peak_tiles_of_bytes(int64_t rounds)
{
    fill_tiles(0x03030303u);
    for (int64_t r = 0; r < rounds; r++) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    return take_tile();
}

__attribute__((target("amx-tile,amx-bf16"))) double cpu_peak_tiles_of_bf16(int64_t rounds)
{
    fill_tiles(0x35003500u); /* 2^-21 */
    for (int64_t r = 0; r < rounds; r++) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    return take_tile();
}
#endif
