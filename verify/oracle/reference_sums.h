/* reference_sums.h: sums of products, the inner loop of the reference convolution.
 *
 * A block of the result is LANES neighbours of up to ROWS rows: few enough that their sums stay in registers while the
 * terms go by. Every element is summed in the order of the terms, one addition at a time, without contraction: the same
 * bits on every instruction set. */
#ifndef VERIFY_ORACLE_REFERENCE_SUMS_H
#define VERIFY_ORACLE_REFERENCE_SUMS_H

#include <stdint.h>

enum { VF_LANES = 8 };

/* Compiles on any target: to one register, or to several narrower ones. */
typedef double vf_lanes __attribute__((vector_size(VF_LANES * sizeof(double)), may_alias));

/* value[r*step + l] += sum_t a[r*a_step + at[t]] * b[t][l] for r < rows, l < lanes, t < depth; magnitude likewise, with
 * the absolute values of the products (NULL: not wanted). */
typedef struct vf_sums {
    const double *a;
    const int64_t *at;
    const vf_lanes *b;
    double *value, *magnitude;
    int64_t a_step, step, rows, lanes, depth;
} vf_sums;

void vf_add_sums(const vf_sums *s);

#endif
