/* amx.h: products on the processor's matrix units (Intel's AMX): 16 rows by 16 lanes at once, of words of 32 bits. A
 * word is a pair of bf16, or four bytes; the products of a word are added up in f32, or in s32.
 *
 * A unit has eight registers of 1 KiB, tiles. Four of them are sums of 32 rows by 32 lanes; two hold 16 words of each
 * row, two of each lane. How many rows a tile has is said beforehand.
 *
 *   rows.inc                 rows become tiles; the loop over words
 *   amx.c, imitated.c        the same text, by the instructions, and by plain C, which proves it on any processor */
#ifndef IMPL_CPU_AMX_AMX_H
#define IMPL_CPU_AMX_AMX_H

#include "impl_cpu/cpu.h"

/* Values of the knob `amx`. */
enum { AMX_NO, AMX_YES, AMX_IMITATED };
/* Rows and words of a tile; vectors of lanes, at most; rows that two tiles have. */
enum { AMX_ROWS = 16, AMX_WORDS = 16, AMX_LANES = 16, AMX_VECTORS = 2, AMX_PIXELS = 2 * AMX_ROWS };

/* sums[row * pitch + lane] = start + the sum over all words of x[row] by w[lane]. */
typedef struct amx_rows {
    bool bytes;           /* words are u8 of rows and s8 of lanes, and sums s32, modulo 2^32; else pairs, and f32 */
    const void *const *x; /* [rows]: where a row is counted from */
    int64_t rows;
    const void *packed;  /* what amx_pack() made of x: then x and list are not read. NULL: nothing */
    const int64_t *list; /* [count]: where runs of words begin, in units of `unit` bytes from there */
    int64_t unit, count, words;
    const void *w; /* [count * words][vectors][AMX_LANES], words */
    int vectors;
    void *sums; /* f32 or s32 */
    int64_t pitch;
    const void *start; /* f32 or s32; NULL: zeros. From a row to the next one: start_pitch, which may be 0 */
    int64_t start_pitch;
} amx_rows;

void amx_multiply(const amx_rows *);
void amx_multiply_imitated(const amx_rows *);

/* Rows as tiles, for those who multiply them by more lanes than two vectors have: to[tile][words / 16][row][16 words],
 * at a multiple of 64 bytes; what is beyond the last word is zeros, beyond the last row anything. */
void amx_pack(const amx_rows *, void *to);
void amx_pack_imitated(const amx_rows *, void *to);
static inline int64_t amx_packed_bytes(int64_t rows, int64_t of_each)
{
    return cpu_ceil_div(rows, AMX_ROWS) * cpu_ceil_div(of_each, AMX_WORDS) * AMX_ROWS * AMX_WORDS * 4;
}

#endif
