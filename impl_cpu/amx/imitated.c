/* imitated.c: rows by lanes, on tiles in memory: what the instructions of AMX do, as Intel's manual says it (Software
 * Developer's Manual, volume 2: TDPBF16PS, TDPBUSD), but for sums that are denormal, which it keeps. It proves
 * rows.inc, and those who call it, on every processor. */
#include "shape.h"

#include "harness/cpu/half.h"

typedef struct amx_unit {
    amx_shape shape;
    uint32_t t[8][AMX_ROWS][AMX_WORDS];
} amx_unit;

static void tile_load(amx_unit *m, int t, const void *from, int64_t pitch)
{
    memset(m->t[t], 0, sizeof m->t[t]);
    for (int r = 0; r < m->shape.rows[t]; r++) memcpy(m->t[t][r], (const char *)from + r * pitch, m->shape.bytes[t]);
}

static void tile_store(const amx_unit *m, int t, void *to, int64_t pitch)
{
    for (int r = 0; r < m->shape.rows[t]; r++) memcpy((char *)to + r * pitch, m->t[t][r], m->shape.bytes[t]);
}

static float number(uint32_t bits)
{
    float v;
    bits = (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits; /* denormal numbers are taken for 0 */
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* First and second numbers of the pairs are added up apart, then both to the sum. */
static void multiply_pairs(amx_unit *m, int sum, int rows, int lanes)
{
    for (int r = 0; r < m->shape.rows[sum]; r++) {
        float first[AMX_LANES] = {0}, second[AMX_LANES] = {0}, old[AMX_LANES];
        for (int k = 0; k < AMX_WORDS; k++) {
            const uint32_t x = m->t[rows][r][k];
            const float x0 = number(x << 16), x1 = number(x & 0xffff0000u);
            for (int i = 0; i < AMX_LANES; i++) {
                const uint32_t w = m->t[lanes][k][i];
                first[i] += x0 * number(w << 16);
                second[i] += x1 * number(w & 0xffff0000u);
            }
        }
        memcpy(old, m->t[sum][r], sizeof old);
        for (int i = 0; i < AMX_LANES; i++) old[i] += first[i] + second[i];
        memcpy(m->t[sum][r], old, sizeof old);
    }
}

static void multiply_bytes(amx_unit *m, int sum, int rows, int lanes)
{
    for (int r = 0; r < m->shape.rows[sum]; r++)
        for (int k = 0; k < AMX_WORDS; k++)
            for (int i = 0; i < AMX_LANES; i++)
                for (int b = 0; b < 4; b++) {
                    const int x = (int)(m->t[rows][r][k] >> 8 * b & 0xffu);
                    const int w = (int8_t)(m->t[lanes][k][i] >> 8 * b & 0xffu);
                    m->t[sum][r][i] += (uint32_t)(x * w);
                }
}

static vector load_words(const void *from, uint32_t mask)
{
    vector v = {0};
    for (int i = 0; i < AMX_WORDS; i++) {
        uint32_t word = 0;
        if (mask >> i & 1u) memcpy(&word, (const char *)from + 4 * i, sizeof word);
        v[i] = word;
    }
    return v;
}

#define BARRIER() (void)0
#define CONFIGURE(m) memset((m)->t, 0, sizeof(m)->t)
#define RELEASE() (void)0
#define ZERO(m, at) memset((m)->t[at], 0, sizeof(m)->t[at])
#define LOAD(m, t, from, pitch) tile_load(m, t, from, pitch)
#define STORE(m, t, to, pitch) tile_store(m, t, to, pitch)
#define MULTIPLY_PAIRS(m, sum, rows, lanes) multiply_pairs(m, sum, rows, lanes)
#define MULTIPLY_BYTES(m, sum, rows, lanes) multiply_bytes(m, sum, rows, lanes)
#define LOAD_WORDS(from, mask) load_words(from, mask)
#define MULTIPLY_ROWS amx_multiply_imitated
#define PACK_ROWS amx_pack_imitated
#include "rows.inc"
