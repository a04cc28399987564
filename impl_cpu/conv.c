/* conv.c: from a plan to a kernel: the algorithm's id picks the row of a table, the direction its function. */
#include "impl_cpu/cpu.h"

static const cpu_conv_kernels *conv_kernels(int64_t id)
{
    return id == CPU_DIRECT ? &cpu_conv_direct : id == CPU_IM2COL ? &cpu_conv_im2col : &cpu_conv_naive;
}

static const cpu_fc_kernels *fc_kernels(int64_t id) { return id == CPU_GEMM ? &cpu_fc_gemm : &cpu_fc_naive; }

cnn_status cpu_conv_run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cpu_conv_kernels *kernels = conv_kernels(plan->algorithm.id);
    return kernels->run[plan->dir]((const cpu_context *)context, &plan->problem.u.conv, args, err);
}

cnn_status cpu_fc_run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cpu_fc_kernels *kernels = fc_kernels(plan->algorithm.id);
    return kernels->run[plan->dir]((const cpu_context *)context, &plan->problem.u.fc, args, err);
}

cnn_status cpu_workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm,
                         size_t *bytes, cnn_error *err)
{
    const cpu_context *cpu = (const cpu_context *)context;
    *bytes = 0;
    if (problem->op == CNN_OP_CONV) {
        cpu_conv_bytes_fn *const fn = conv_kernels(algorithm->id)->workspace;
        return fn ? fn(cpu, &problem->u.conv, dir, bytes, err) : CNN_OK;
    }
    if (problem->op == CNN_OP_FC) {
        cpu_fc_bytes_fn *const fn = fc_kernels(algorithm->id)->workspace;
        return fn ? fn(cpu, &problem->u.fc, dir, bytes, err) : CNN_OK;
    }
    if (problem->op == CNN_OP_LOSS) *bytes = cpu_loss_workspace(&problem->u.loss, dir);
    return CNN_OK;
}
