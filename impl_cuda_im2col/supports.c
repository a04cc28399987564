/* supports.c: the gate of impl_cuda_im2col, and the workspace of what it lets through. */
#include "impl_cuda_im2col/im2col.h"

static cnn_status weighted_workspace(const cucol_context *context, const cnn_problem *problem, cnn_dir dir,
                                     const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    if (problem->op == CNN_OP_FC) return cucol_fc_workspace(context, &problem->u.fc, dir, bytes, err);
    cucol_plan m;
    const cnn_status status = cucol_plan_make(context, &problem->u.conv, dir, algorithm->id, &m, err);
    if (status == CNN_OK) *bytes = m.bytes;
    return status;
}

cnn_status cucol_supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm,
                          cnn_error *err)
{
    size_t bytes;
    cnn_status status = cuda_check_served(problem, dir, algorithm, err);
    if (status != CNN_OK) return status;
    if (!cuda_is_weighted(problem)) return cuda_pointwise_supports(context, problem, dir, algorithm, err);
    status = cuda_check_type(problem, true, err);
    if (status != CNN_OK) return status;
    return weighted_workspace((const cucol_context *)context, problem, dir, algorithm, &bytes, err);
}

cnn_status cucol_workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                           const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    *bytes = 0;
    if (!cuda_is_weighted(problem)) return cuda_pointwise_workspace(context, problem, dir, bytes, err);
    return weighted_workspace((const cucol_context *)context, problem, dir, algorithm, bytes, err);
}
