/* reference_sums.c: one loop, compiled for each instruction set, chosen at run time. */
#include "reference.h"

#include "harness/cpu/limits.h"

#include <string.h>

enum { ROWS = 4 };

typedef int64_t bits __attribute__((vector_size(VF_LANES * sizeof(int64_t))));

/* ---- A block of `rows` rows (a constant wherever this is inlined). */

/* `rows` is a constant at each call: inlined, the sums of a block stay in registers. */
static inline __attribute__((always_inline)) void add_block(const vf_sums *s, int64_t row, int rows)
{
    const double *a = s->a + row * s->a_step;
    vf_lanes value[ROWS], magnitude[ROWS];
    for (int r = 0; r < rows; r++) {
        double start[2][VF_LANES] = {{0.0}, {0.0}};
        const int64_t e = (row + r) * s->step;
        memcpy(start[0], s->value + e, (size_t)s->lanes * sizeof(double));
        if (s->magnitude != NULL) memcpy(start[1], s->magnitude + e, (size_t)s->lanes * sizeof(double));
        memcpy(&value[r], start[0], sizeof value[r]);
        memcpy(&magnitude[r], start[1], sizeof magnitude[r]);
    }
    for (int64_t t = 0; t < s->depth; t++) {
        const vf_lanes b = s->b[t];
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const vf_lanes product = a[r * s->a_step + s->at[t]] * b;
            value[r] += product;
            magnitude[r] += (vf_lanes)((bits)product & INT64_MAX); /* without its sign */
        }
    }
    for (int r = 0; r < rows; r++) {
        const int64_t e = (row + r) * s->step;
        memcpy(s->value + e, &value[r], (size_t)s->lanes * sizeof(double));
        if (s->magnitude != NULL) memcpy(s->magnitude + e, &magnitude[r], (size_t)s->lanes * sizeof(double));
    }
}

static inline __attribute__((always_inline)) void add_all(const vf_sums *s)
{
    int64_t row = 0;
    for (; row + ROWS <= s->rows; row += ROWS) add_block(s, row, ROWS);
    for (; row < s->rows; row++) add_block(s, row, 1);
}

/* ---- For each instruction set. */

static void add_base(const vf_sums *s) { add_all(s); }

#ifdef __x86_64__
__attribute__((target("avx2"))) static void add_avx2(const vf_sums *s) { add_all(s); }
__attribute__((target("avx512f"))) static void add_avx512(const vf_sums *s) { add_all(s); }
#else
#define add_avx2 add_base
#define add_avx512 add_base
#endif

void vf_add_sums(const vf_sums *s)
{
    switch (cpu_isa_best()) {
    case CPU_ISA_AVX512:
        add_avx512(s);
        break;
    case CPU_ISA_AVX2:
        add_avx2(s);
        break;
    default:
        add_base(s);
    }
}
