/* arena.c: memory for the operands of a plan that is tried or measured. */
#include "impl_cudnn/arena.h"

#include <string.h>

enum { SMALL_BYTE = 0x3c }; /* in every byte: 0.0115 as f32, 1.5e-18 as f64 */

static cnn_status allocate(cudnn_context *c, cudnn_arena *a, size_t bytes, void **memory, cnn_error *err)
{
    cnn_status status = cuda_memory.alloc((cnn_context *)c, bytes, memory, err);
    if (status != CNN_OK) return status;
    a->memory[a->count++] = *memory;
    return cuda_memory.fill((cnn_context *)c, *memory, SMALL_BYTE, bytes, err);
}

static void place(cnn_weighted_args *args, const char *name, void *memory)
{
    if (strcmp(name, "x") == 0) args->x = memory;
    if (strcmp(name, "w") == 0) args->w = memory;
    if (strcmp(name, "b") == 0) args->b = memory;
    if (strcmp(name, "y") == 0) args->y = memory;
    if (strcmp(name, "dy") == 0) args->dy = memory;
    if (strcmp(name, "dx") == 0) args->dx = memory;
    if (strcmp(name, "dw") == 0) args->dw = memory;
    if (strcmp(name, "db") == 0) args->db = memory;
}

cnn_status cudnn_arena_open(cudnn_context *c, const cnn_request *r, cudnn_arena *a, cnn_error *err)
{
    cnn_operand list[CNN_MAX_OPERANDS];
    *a = (cudnn_arena){.count = 0};
    cnn_status status = cuda_check_not_capturing(&c->cuda, "a trial run", err);
    const int count = status == CNN_OK ? cnn_operands(r->problem, r->dir, list, err) : 0;
    if (count < 0) status = err->status;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        void *memory = NULL;
        status = allocate(c, a, list[i].bytes, &memory, err);
        place(&a->args, list[i].name, memory);
    }
    if (status != CNN_OK) cudnn_arena_close(c, a);
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
