/* supports.c: the one gate of impl_cpu: what passes here runs; what cannot run is refused here, with the reason. */
#include "harness/cnn/shape.h"
#include "impl_cpu/im2col/im2col.h"

#include <limits.h>

/* The harness has asked whether the operation has this direction and the algorithm serves it. The problem has passed
 * cnn_problem_check, so the elements of each tensor can be counted in 64 bits.
 *
 * OpenBLAS counts rows, columns and leading dimensions in 32-bit integers. */
static cnn_status fits_blas(const char *what, int64_t a, int64_t b, cnn_error *err)
{
    int64_t product;
    if (cnn_mul(a, b, &product) && product <= INT_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s, %lld x %lld, is more than OpenBLAS can count (%d); use algorithm naive",
                    what, (long long)a, (long long)b, INT_MAX);
}

static cnn_status check_im2col(const cnn_conv_desc *d, cnn_error *err)
{
    const int64_t in_pixels = d->ih * d->iw, out_pixels = d->oh * d->ow, lanes = IM2COL_MAX_LANES;
    cnn_status status = fits_blas("a filter (channels of a group x taps)", d->ic / d->g, d->kh * d->kw, err);
    if (status == CNN_OK) status = fits_blas("a packed input channel (pixels x lanes)", in_pixels, lanes, err);
    if (status == CNN_OK) status = fits_blas("a packed output channel (pixels x lanes)", out_pixels, lanes, err);
    if (status == CNN_OK) status = fits_blas("the count of channels", d->ic > d->oc ? d->ic : d->oc, 1, err);
    return status;
}

static cnn_status check_gemm(const cnn_fc_desc *d, cnn_error *err)
{
    cnn_status status = fits_blas("a row of the weights (channels x pixels)", d->ic, d->ih * d->iw, err);
    if (status == CNN_OK) status = fits_blas("the larger of batch and neurons", d->mb > d->oc ? d->mb : d->oc, 1, err);
    return status;
}

cnn_status cpu_supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    const cnn_problem *problem = r->problem;
    const cnn_math math = problem->u.type.math;
    if (math != CNN_MATH_F32)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s: impl cpu computes in the dtype itself", cnn_math_name(math));
    cnn_status status = CNN_OK;
    if (problem->op == CNN_OP_CONV && r->algorithm->id == CPU_IM2COL) status = check_im2col(&problem->u.conv, err);
    if (problem->op == CNN_OP_FC && r->algorithm->id == CPU_GEMM) status = check_gemm(&problem->u.fc, err);
    if (status != CNN_OK) return status;
    size_t bytes;
    status = cpu_plan((const cpu_context *)context, r, NULL, &bytes, err);
    const bool limited = problem->op == CNN_OP_CONV || problem->op == CNN_OP_FC;
    return status == CNN_OK && limited ? cnn_workspace_check(r->knobs[CPU_KNOB_WORKSPACE_LIMIT], bytes, err) : status;
}
