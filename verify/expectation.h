/* expectation.h: what another program made of a user's arrays: is it what its arithmetic can have made of them? */
#ifndef VERIFY_EXPECTATION_H
#define VERIFY_EXPECTATION_H

#include "verify.h"
#include "verify/oracle/compare.h"

/* What the arithmetic that computed an expectation allows around the reference. */
typedef struct vf_theirs {
    vf_rounding rounding;
    double output; /* f16 and bf16: what rounding a result to them may take, as a share of it */
} vf_theirs;
vf_theirs vf_theirs_of(const vf_case *c, const verify_arrays *a, int operand, cnn_math math);
double vf_theirs_allowed(const vf_theirs *theirs, const vf_allowance *allowance, int64_t index);

/* Names the precision of the expectation in a result that PASSED so far; fails one that its arithmetic cannot have
 * made, and says in which it was computed where that shows. False: some elements are wrong, by no arithmetic that is
 * coarser throughout. */
bool vf_judge_expectation(const vf_case *c, const verify_arrays *a, verify_result *result);

#endif
