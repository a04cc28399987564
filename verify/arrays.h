/* arrays.h: a user's own arrays through an implementation, and what came out against what the user expects. */
#ifndef VERIFY_ARRAYS_H
#define VERIFY_ARRAYS_H

#include "verify.h"

/* By operand, as cnn_operands() lists them; doubles in canonical order (n,c,h,w; weights as they stand). */
typedef struct verify_arrays {
    const double *in[CNN_MAX_OPERANDS];   /* inputs */
    double *out[CNN_MAX_OPERANDS];        /* outputs: filled by the run */
    double *expect[CNN_MAX_OPERANDS];     /* (optional) outputs: what must come out (agreed NaN become 0), */
    cnn_dtype computed[CNN_MAX_OPERANDS]; /* and in which precision that was computed */
} verify_arrays;

/* One run in guarded buffers. What it writes where it must not is FAILED. Where something is expected, the results are
 * held to the float64 reference and to the expectation, whose own rounding is allowed for; `result` says which of the
 * two leaves the reference's bound. */
cnn_status verify_run_arrays(verify_engine *engine, const cnn_problem *problem, cnn_dir dir,
                             const cnn_algorithm *algorithm, const verify_arrays *arrays, verify_result *result,
                             cnn_error *err);

#endif
