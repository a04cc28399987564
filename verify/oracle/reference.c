/* reference.c: finds the operation's reference, and its operands by name. */
#include "reference.h"

#include "epilogue.h"
#include "quantize.h"

#include <string.h>

typedef void reference_fn(const vf_call *call);

static reference_fn *const references[CNN_OP_COUNT] = {
#define REFERENCE(id, name, dirs) vf_reference_##name,
    CNN_OP_LIST(REFERENCE)};

cnn_status vf_call_init(vf_call *call, const cnn_problem *problem, cnn_dir dir, thread_pool *pool, cnn_error *err)
{
    memset(call, 0, sizeof *call);
    call->problem = problem;
    call->dir = dir;
    call->pool = pool;
    call->scale = 1.0;
    call->count = cnn_operands(problem, dir, call->operands, err);
    return call->count < 0 ? err->status : CNN_OK;
}

void vf_reference(const vf_call *call)
{
    references[call->problem->op](call);
    if (cnn_is_quantized(call->problem->u.type.dtype)) {
        if (!call->sums) vf_quantize(call);
    } else if (cnn_has_epilogue(call->problem))
        vf_epilogue(call);
}

int vf_index(const cnn_operand *operands, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(operands[i].name, name) == 0) return i;
    return -1;
}

const double *vf_in(const vf_call *call, const char *name)
{
    int i = vf_index(call->operands, call->count, name);
    return i < 0 ? NULL : call->in[i];
}

vf_out vf_output(const vf_call *call, const char *name)
{
    int i = vf_index(call->operands, call->count, name);
    return i < 0 ? (vf_out){NULL, NULL, NULL, NULL} : call->out[i];
}
