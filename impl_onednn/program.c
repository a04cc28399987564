/* program.c: a plan's steps and memory, put together. */
#include "onednn.h"

#include "harness/base/text.h"

#include <stdarg.h>

void onednn_refuse(onednn_build *b, cnn_status status, const char *format, ...)
{
    char text[CNN_MESSAGE_MAX];
    va_list args;
    if (b->status != CNN_OK) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    b->status = CNN_FAIL(b->err, status, "%s", text);
}

void onednn_failed(onednn_build *b, dnnl_status_t status, const char *part)
{
    char what[CNN_MESSAGE_MAX] = "";
    const cnn_request *r = b->request;
    const cnn_dtype dtype = r->problem->u.type.dtype;
    if (b->status != CNN_OK) return;
    cnn_append(what, sizeof what, "%s%s %s by %.32s", part, cnn_op_name(r->problem->op), cnn_dir_name(r->dir),
               r->algorithm->name);
    if (dtype != CNN_F32)
        cnn_append(what, sizeof what, " in %s on this processor (%s", cnn_dtype_name(dtype), onednn_isa());
    if (dtype != CNN_F32 && !cnn_sums_whole(dtype) && !onednn_has_half())
        cnn_append(what, sizeof what, "; types of 16 bits need avx512_core or newer");
    if (dtype != CNN_F32) cnn_append(what, sizeof what, ")");
    if (b->passed_over[0] != '\0' && part[0] == '\0')
        cnn_append(what, sizeof what, ", but for %s, which would %s", b->passed_over, b->passed_why);
    b->status = onednn_fail(status, what, b->err);
}
static void failed(onednn_build *b, dnnl_status_t status) { onednn_failed(b, status, ""); }

onednn_md onednn_layout(onednn_build *b, dnnl_data_type_t type, int n_dims, const dnnl_dims_t dims,
                        dnnl_format_tag_t tag)
{
    if (b->status != CNN_OK) return NULL;
    if (b->n_mds == ONEDNN_MAX_MEMORIES) {
        onednn_refuse(b, CNN_INTERNAL, "a program of more than %d layouts", ONEDNN_MAX_MEMORIES);
        return NULL;
    }
    onednn_md *md = &b->mds[b->n_mds++];
    const dnnl_status_t status = onednn_md_make(n_dims, dims, type, tag, md);
    if (status != dnnl_success) failed(b, status);
    return *md;
}

dnnl_primitive_desc_t onednn_keep(onednn_build *b, dnnl_status_t status, dnnl_primitive_desc_t pd)
{
    if (b->status != CNN_OK || status != dnnl_success) {
        if (status == dnnl_success) (void)dnnl_primitive_desc_destroy(pd);
        failed(b, status);
        return NULL;
    }
    if (b->n_pds == sizeof b->pds / sizeof *b->pds) {
        onednn_refuse(b, CNN_INTERNAL, "a program of more than %d primitives", b->n_pds);
        (void)dnnl_primitive_desc_destroy(pd);
        return NULL;
    }
    return b->pds[b->n_pds++] = pd;
}

bool onednn_pass_over(onednn_build *b, const char *kernel, const char *why)
{
    if (b->passed_over[0] != '\0') return false;
    snprintf(b->passed_over, sizeof b->passed_over, "%s", kernel);
    b->passed_why = why;
    return false;
}

onednn_make onednn_how(onednn_build *b, const_dnnl_primitive_desc_t forward)
{
    onednn_make how = {.engine = b->c->engine, .attr = b->fused != NULL ? b->fused : b->plain, .forward = forward};
    how.takes = onednn_conv_takes, how.user = b;
    if (cnn_epilogue_of(b->request->problem).add) how.takes = onednn_fused_takes;
    if (cnn_sums_whole(b->request->problem->u.type.dtype)) how.takes = onednn_whole_takes;
    return how;
}

/* Room in the workspace or, for a scratchpad, behind it. */
static size_t take(onednn_build *b, size_t *used, size_t bytes)
{
    const size_t at = *used;
    if (__builtin_add_overflow(at, bytes, used) || __builtin_add_overflow(*used, CNN_ALIGN - 1, used))
        onednn_refuse(b, CNN_UNSUPPORTED, "the workspace of this problem overflows");
    *used = *used / CNN_ALIGN * CNN_ALIGN;
    return at;
}

int onednn_memory_add(onednn_build *b, onednn_slot slot, bool aside, onednn_md md)
{
    onednn_program *p = b->program;
    if (b->status != CNN_OK || md == NULL) return -1;
    if (p->n_memories == ONEDNN_MAX_MEMORIES) {
        onednn_refuse(b, CNN_INTERNAL, "a program of more than %d memories", ONEDNN_MAX_MEMORIES);
        return -1;
    }
    onednn_memory *m = &p->memories[p->n_memories];
    const size_t bytes = dnnl_memory_desc_get_size(md);
    *m = (onednn_memory){.slot = slot, .aside = aside, .md = md};
    if (slot == ONEDNN_SCRATCH)
        p->scratch = bytes > p->scratch ? bytes : p->scratch;
    else if (slot == ONEDNN_INSIDE || aside)
        m->at = take(b, &p->workspace, bytes);
    if (!b->only_count && b->status == CNN_OK) {
        const dnnl_status_t status = dnnl_memory_create(&m->memory, md, b->c->engine, DNNL_MEMORY_NONE);
        if (status != dnnl_success) failed(b, status);
    }
    return p->n_memories++;
}

int onednn_argument(onednn_build *b, onednn_slot slot, onednn_md md) { return onednn_memory_add(b, slot, false, md); }
int onednn_inside(onednn_build *b, onednn_md md) { return onednn_memory_add(b, ONEDNN_INSIDE, false, md); }

void onednn_step_add(onednn_build *b, onednn_when when, const char *phase, dnnl_primitive_desc_t pd,
                     const onednn_use *uses, int n)
{
    onednn_program *p = b->program;
    if (b->status != CNN_OK) return;
    onednn_use all[ONEDNN_MAX_ARGS];
    onednn_md scratch = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    int count = 0;
    if (n >= ONEDNN_MAX_ARGS) onednn_refuse(b, CNN_INTERNAL, "a step of more than %d arguments", ONEDNN_MAX_ARGS);
    for (int i = 0; b->status == CNN_OK && i < n; i++)
        if (uses[i].memory >= 0) all[count++] = uses[i];
    if (scratch != NULL && dnnl_memory_desc_get_size(scratch) > 0)
        all[count++] = (onednn_use){DNNL_ARG_SCRATCHPAD, onednn_memory_add(b, ONEDNN_SCRATCH, false, scratch)};
    if (p->n_steps == ONEDNN_MAX_STEPS) onednn_refuse(b, CNN_INTERNAL, "a program of more than %d steps", p->n_steps);
    if (b->status != CNN_OK) return;
    onednn_step *s = &p->steps[p->n_steps++];
    *s = (onednn_step){.when = when, .phase = phase, .n_args = count};
    for (int i = 0; i < count; i++) s->args[i] = (dnnl_exec_arg_t){all[i].arg, p->memories[all[i].memory].memory};
    if (b->only_count) return;
    const dnnl_status_t status = dnnl_primitive_create(&s->primitive, pd);
    if (status != dnnl_success) failed(b, status);
}

void onednn_operation(onednn_build *b, dnnl_primitive_desc_t pd, const onednn_use *uses, int n)
{
    const char *name = NULL;
    if (b->status != CNN_OK) return;
    if (dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, (void *)&name) == dnnl_success && name != NULL)
        snprintf(b->program->choice, sizeof b->program->choice, "%s", name);
    onednn_step_add(b, ONEDNN_ALWAYS, cnn_op_name(b->request->problem->op), pd, uses, n);
}
