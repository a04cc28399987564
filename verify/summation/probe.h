/* probe.h: one result of a convolution or an FC layer as a sum that can be asked (summation.h): the verifier's own runs
 * of a plan, with other numbers in the operands that the result is made of. */
#ifndef VERIFY_SUMMATION_PROBE_H
#define VERIFY_SUMMATION_PROBE_H

#include "summation.h"
#include "verify/engine.h"

typedef struct sum_probe {
    const vf_subject *subject;
    vf_case data;
    int a, b, result;                   /* operands: the factors, what comes out */
    int64_t element;                    /* of the result, canonical order */
    int addend[SUM_ADDENDS_MAX];        /* operands: the bias, what beta adds to */
    int64_t addend_at[SUM_ADDENDS_MAX]; /* their elements */
    int64_t (*at)[2];                   /* of each product the elements of its factors */
    int (*counts)[SUM_AXES_MAX];
    sum_kernel kernel;
    sum_axes axes;
} sum_probe;

/* beta 1: the old value of the result is the last addend. CNN_UNSUPPORTED: more products than are looked into. */
cnn_status sum_probe_open(sum_probe *probe, const vf_subject *subject, bool beta, cnn_error *err);
void sum_probe_close(sum_probe *probe);

#endif
