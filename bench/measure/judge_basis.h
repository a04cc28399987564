/* judge_basis.h: what all judges of one case share, and what makes it cheap to give every timed run other inputs.
 *
 * A result of a convolution or an FC layer is linear in each of its inputs. So its projection, the sum of its elements
 * times random factors, is a sum over the elements of one input, each times a number that does not depend on that
 * input: <r, conv(x, w)> = <BWD_D(r, w), x> = <BWD_W(x, r), w>. These numbers, the pull-back of the factors, take one
 * float64 reference of another direction; after that, what any other x must project to is a sum over x. */
#ifndef BENCH_MEASURE_JUDGE_BASIS_H
#define BENCH_MEASURE_JUDGE_BASIS_H

#include "verify/oracle/case.h"

enum { JUDGE_FACTORS = 1021 };

/* For one input: by output, the pulled-back factors, in the order in which the input's elements stand in memory; and
 * what the output projects to with an input of zeros. */
typedef struct judge_pullback {
    double *factors[CNN_MAX_OPERANDS]; /* NULL: the output does not depend on it, or is not projected */
    double rest[CNN_MAX_OPERANDS];
} judge_pullback;

typedef struct judge_basis {
    const vf_case *c;
    double factors[JUDGE_FACTORS];             /* of an element: by its position in memory */
    judge_pullback pullback[CNN_MAX_OPERANDS]; /* by input; empty where it never changes as a whole */
    char *pool;                                /* random reals as the operands hold them */
    size_t pool_bytes;
    double seconds; /* what making it took: some references */
} judge_basis;

/* Of a convolution's or FC layer's case, which must outlive it; takes about two references of it.
 * CNN_OUT_OF_MEMORY. */
cnn_status judge_basis_open(const vf_case *c, int threads, judge_basis **result, cnn_error *err);
void judge_basis_close(judge_basis *b); /* NULL is accepted */

/* Outputs that are projected: those of the problem's type. */
bool judge_is_projected(const vf_case *c, int operand);
/* A number as fresh inputs have them: a real, or a whole number that u8 and s8 hold alike. */
double judge_draw_input(const cnn_type *type, cnn_rng *rng);
double judge_factor_at(const judge_basis *b, const cnn_operand *o, int64_t index);
/* Whether the input may get other numbers as a whole. */
bool judge_has_pullback(const judge_basis *b, int operand);

#endif
