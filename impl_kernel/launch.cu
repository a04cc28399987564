/* launch.cu: the launch of a kernel that was compiled while the program ran. */
#include "harness/cuda/launch.h"
#include "impl_kernel/cuda.h"

static dim3 dim_of(const int64_t size[3])
{
    return dim3(static_cast<unsigned>(size[0]), static_cast<unsigned>(size[1]), static_cast<unsigned>(size[2]));
}

static cuda_shape shape_of(const kernel *k, const kernel_plan *plan)
{
    return {k->function, dim_of(plan->grid), dim_of(plan->block), static_cast<size_t>(plan->shared)};
}

#ifdef BENCHCNN_CUDA_EMULATED
cnn_status kernel_launch(kernel_context *c, const kernel_plan *plan, void *const *arrays, const double *reals,
                         cnn_error *err)
{
    const kernel_emulated *e = &c->k->emulated;
    const cuda_shape shape = shape_of(c->k, plan);
    long long sizes[KERNEL_ARGS_MAX];
    for (int i = 0; i < c->k->n_args; i++) sizes[i] = plan->sizes[i];
    const cnn_status status = cuda_launch_check(&c->cuda, shape, e->kernel, err);
    if (status != CNN_OK) return status;
    const emulated_launch_shape launch = {shape.grid, shape.block, shape.shared_bytes, c->cuda.stream, false};
    return cuda_launch_done(&c->cuda, shape, static_cast<cudaError_t>(e->launch(&launch, arrays, sizes, reals)), err);
}
#else
cnn_status kernel_launch(kernel_context *c, const kernel_plan *plan, void *const *arrays, const double *reals,
                         cnn_error *err)
{
    union value {
        void *array;
        int size;
        float single;
        double real;
    } values[KERNEL_ARGS_MAX];
    void *arguments[KERNEL_ARGS_MAX];
    const bool f64 = c->k->spec.type.dtype == CNN_F64;
    for (int i = 0; i < c->k->n_args; i++) {
        const kernel_arg *arg = &c->k->args[i];
        const kernel_arg_kind kind = arg->kind;
        if (kind == KERNEL_ARRAY) values[i].array = arrays[i];
        if (kind == KERNEL_SIZE) values[i].size = static_cast<int>(plan->sizes[i]);
        if (kind == KERNEL_REAL && f64) values[i].real = reals[arg->real];
        if (kind == KERNEL_REAL && !f64) values[i].single = static_cast<float>(reals[arg->real]);
        arguments[i] = &values[i];
    }
    return cuda_launch_kernel(&c->cuda, shape_of(c->k, plan), err, reinterpret_cast<const void *>(c->jit.kernel),
                              arguments);
}
#endif
