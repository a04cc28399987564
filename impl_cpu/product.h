/* product.h: a product of matrices whose sums stay in registers, as Winograd's points and 1x1 kernels want it;
 * products.inc computes it. */
#ifndef IMPL_CPU_PRODUCT_H
#define IMPL_CPU_PRODUCT_H

#include "impl_cpu/cpu.h"

/* to[r][0..2 lanes) (+)= sum over k of a[r * of_row + k * of_k] * b[k * row_b + ...]; a narrow one has the first vector
 * of columns alone. */
typedef struct cpu_product {
    const void *a, *b;
    void *to;
    int64_t rows, k, of_row, of_k, row_b;
    bool add, narrow;
} cpu_product;

/* As many sums as hide the latency of two FMA units and leave registers for two columns and a row's element. */
#if defined(REGISTERS) && REGISTERS == 32
#define ROWS 12
#define EACH_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12)
#elif defined(REGISTERS)
#define ROWS 6
#define EACH_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#endif

#endif
