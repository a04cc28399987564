/* compare.h: results against what is expected: each element, and the verdict on a case. */
#ifndef VERIFY_ORACLE_COMPARE_H
#define VERIFY_ORACLE_COMPARE_H

#include "bounds.h"
#include "case.h"

typedef struct vf_comparison {
    double budget_used;             /* largest |error| / bound; infinite for an error where none is allowed */
    double worst_bound;             /* of the worst element */
    bool failed;                    /* some element is not finite or not within its bound */
    int64_t live, zeros, worst;     /* elements that have something to compute; of these exactly 0; the worst element */
    bool uniform;                   /* all live ones are equal */
    bool empty;                     /* no term contributes to any element: it is 0 whatever the data */
    double sum_sq;                  /* of error*sqrt(n)/magnitude, over elements that are sums of many (lines.h); */
    int64_t rounded;                /* so many; */
    double sum_n, sum_n_sq, most_n; /* of their n: the sum, that of the squares, the largest */
    double alone_sq;                /* of error/magnitude, over elements that one product alone decides; */
    int64_t alone;                  /* so many */
    double least, most;             /* of live expected values */
} vf_comparison;

/* As vf_rounding_for(), for an output of this case: of transforms also what no result shows. */
vf_rounding vf_rounding_in(const vf_rounding *rounding, const vf_case *c, const cnn_operand *operand);

/* What each element of an array may be off by; bounds NULL: nothing. */
typedef struct vf_allowance {
    const vf_rounding *bounds;
    vf_out expected;
    double most, top; /* the most roundings and the largest magnitude, where the bound is normwise */
} vf_allowance;
vf_allowance vf_allow(thread_pool *pool, const vf_rounding *bounds, const vf_out *expected, int64_t count);
double vf_allowed(const vf_allowance *allowance, int64_t index);
/* Positive form: both finite, and no further apart than allowed. */
bool vf_held(double expected, double got, double allowed);

/* Compares `count` elements; bounds NULL: they must be equal. Positive form: whatever is not provably right fails. */
vf_comparison vf_compare(thread_pool *pool, const vf_out *expected, const double *got, int64_t count,
                         const vf_rounding *bounds);
/* Whether the bits are those of a finite number. */
bool vf_finite(double value);
/* Whether results prove anything: NULL, or why not. */
const char *vf_mistrust(const vf_comparison *c);

/* Adds the sums of `v` to those of `sums`. */
void vf_add_comparison(vf_comparison *sums, const vf_comparison *v);

/* One element that is not what it should be, into result->worst. */
typedef struct vf_wrong_element {
    int64_t index;
    double expected, got, bound;
} vf_wrong_element;
void vf_describe_worst(const vf_case *c, const cnn_operand *operand, const vf_wrong_element *e, verify_result *result);

/* Says in a result what its bounds are widened by, and for which transform. */
void vf_note_transform(const cnn_problem *problem, const cnn_algorithm *algorithm, verify_result *result);
/* Judges all outputs of a run against a case (bounds NULL: equality), into the result. Adds to `sums` (may be NULL) the
 * sums from which the precision is told. */
void vf_judge(const vf_case *c, const vf_run *run, const vf_rounding *bounds, verify_result *result,
              vf_comparison *sums);
/* Names the precision that these sums tell, and fails a conv or FC that is coarser than its type and math allow: the
 * bound of a long sum is loose, its mean square is not (vf_rms_limit). */
void vf_judge_precision(const cnn_problem *problem, const vf_rounding *bounds, const vf_comparison *sums,
                        verify_result *result);
/* The same channel by channel: a few that are coarser do not show in the mean of all. Not for transforms, which mix
 * their tiles. */
void vf_judge_channels(const vf_case *c, const vf_run *run, const vf_rounding *bounds, verify_result *result);
/* How far the root mean square of n errors may come out above its expectation by chance, as a factor: more has a
 * probability below 1e-9. */
double vf_spread_of_few(double n);
/* The root mean square of error*sqrt(n)/magnitude, and the most that it comes to: vf_rms_limit(), and what chance may
 * add to it with a probability below 1e-9. */
double vf_rms(const vf_comparison *comparison);
double vf_rms_most(const vf_rounding *bounds, const vf_comparison *comparison);
/* How many bits a product keeps whose relative errors have this root mean square: as many as numbers rounded to them
 * leave, at most `most`. */
int vf_bits_kept(double rms, int most);

#endif
