/* arena.c: memory for the operands of a plan that is tried or measured. */
#include "impl_cudnn/context.h"

#include "harness/cnn/shape.h"

enum { SMALL_BYTE = 0x3c }; /* in every byte: 0.0115 as f32 and bf16, 1.06 as f16, 1.5e-18 as f64 */

static cnn_status allocate(cudnn_context *c, cudnn_arena *a, size_t bytes, void **memory, cnn_error *err)
{
    cnn_status status = cuda_memory.alloc((cnn_context *)c, bytes, memory, err);
    if (status != CNN_OK) return status;
    a->memory[a->count++] = *memory;
    return cuda_memory.fill((cnn_context *)c, *memory, SMALL_BYTE, bytes, err);
}

/* The problem was checked: its elements can be counted. */
cnn_status cudnn_arena_open(cudnn_context *c, const cnn_request *r, cudnn_arena *a, cnn_error *err)
{
    const size_t elem = cnn_dtype_size(r->problem->u.type.dtype);
    const bool fc = r->problem->op == CNN_OP_FC;
    const cnn_conv_desc d = fc ? cnn_fc_as_conv(&r->problem->u.fc) : cnn_with_depth(r->problem);
    void *x = NULL, *w = NULL, *y = NULL, *b = NULL, *z = NULL;
    *a = (cudnn_arena){.count = 0};
    cnn_status status = cuda_check_not_capturing(&c->cuda, "a trial run", err);
    if (status == CNN_OK) status = allocate(c, a, (size_t)(d.mb * d.ic * d.id * d.ih * d.iw) * elem, &x, err);
    if (status == CNN_OK) status = allocate(c, a, (size_t)(d.oc * (d.ic / d.g) * d.kd * d.kh * d.kw) * elem, &w, err);
    if (status == CNN_OK) status = allocate(c, a, (size_t)(d.mb * d.oc * d.od * d.oh * d.ow) * elem, &y, err);
    if (status == CNN_OK && d.bias && r->dir != CNN_BWD_D) status = allocate(c, a, (size_t)d.oc * elem, &b, err);
    if (status == CNN_OK && d.epilogue.add)
        status = allocate(c, a, (size_t)(d.mb * d.oc * d.od * d.oh * d.ow) * elem, &z, err);
    if (status != CNN_OK) cudnn_arena_close(c, a);
    if (r->dir == CNN_FWD)
        a->args = (cnn_weighted_args){.x = x, .w = w, .b = b, .z = z, .y = y};
    else if (r->dir == CNN_BWD_D)
        a->args = (cnn_weighted_args){.dy = y, .w = w, .dx = x};
    else
        a->args = (cnn_weighted_args){.x = x, .dy = y, .dw = w, .db = b};
    return status;
}

cnn_status cudnn_arena_workspace(cudnn_context *c, cudnn_arena *a, size_t bytes, cnn_error *err)
{
    a->workspace_bytes = bytes;
    return bytes > 0 ? allocate(c, a, bytes, &a->args.workspace, err) : CNN_OK;
}

cnn_status cudnn_arena_lend(cudnn_context *c, cudnn_arena *a, const size_t *sizes, int count, cnn_error *err)
{
    size_t most = 0, free_bytes = 0;
    const cnn_status status = cuda_memory.available((cnn_context *)c, &free_bytes, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < count; i++)
        if (sizes[i] > most && sizes[i] <= free_bytes / 4 * 3) most = sizes[i];
    return cudnn_arena_workspace(c, a, most, err);
}

void cudnn_arena_close(cudnn_context *c, cudnn_arena *a)
{
    for (int i = 0; i < a->count; i++) cuda_memory.free((cnn_context *)c, a->memory[i]);
    a->count = 0;
}
