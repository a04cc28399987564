/* run.c: from a request to a program, its end, and its run. */
#include "onednn.h"

static onednn_build_fn *const builders[CNN_OP_COUNT] = {
    [CNN_OP_CONV] = onednn_build_conv, [CNN_OP_DECONV] = onednn_build_conv,         [CNN_OP_CONV3D] = onednn_build_conv,
    [CNN_OP_FC] = onednn_build_fc,     [CNN_OP_POOL] = onednn_build_pool,           [CNN_OP_ACT] = onednn_build_act,
    [CNN_OP_ADD] = onednn_build_add,   [CNN_OP_BATCHNORM] = onednn_build_batchnorm, [CNN_OP_POOL3D] = onednn_build_pool,
};

/* Scratchpads are the caller's, since an operation allocates nothing. Strict arithmetic is set whatever the environment
 * says is the usual one. */
static dnnl_status_t make_attributes(onednn_build *b)
{
    dnnl_post_ops_t ops = NULL;
    dnnl_primitive_attr_t *const both[2] = {&b->plain, &b->sum};
    dnnl_status_t status = dnnl_success;
    for (int i = 0; status == dnnl_success && i < 2; i++) {
        status = dnnl_primitive_attr_create(both[i]);
        if (status == dnnl_success)
            status = dnnl_primitive_attr_set_scratchpad_mode(*both[i], dnnl_scratchpad_mode_user);
        if (status == dnnl_success) status = dnnl_primitive_attr_set_fpmath_mode(*both[i], dnnl_fpmath_mode_strict);
    }
    if (status == dnnl_success) status = dnnl_post_ops_create(&ops);
    if (status == dnnl_success) status = onednn_append_sum(ops);
    if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(b->sum, ops);
    if (ops != NULL) (void)dnnl_post_ops_destroy(ops);
    return status;
}

cnn_status onednn_build_program(const onednn_context *c, const cnn_request *r, bool only_count, onednn_program *program,
                                cnn_error *err)
{
    onednn_build b = {.c = c, .request = r, .only_count = only_count, .err = err, .program = program};
    const int before = onednn_threads_begin(c);
    const dnnl_status_t status = make_attributes(&b);
    if (status != dnnl_success)
        b.status = onednn_fail(status, "attributes", err);
    else
        builders[r->problem->op](&b);
    for (int i = 0; i < b.n_pds; i++) (void)dnnl_primitive_desc_destroy(b.pds[i]);
    for (int i = 0; i < b.n_mds; i++) onednn_md_free(b.mds[i]);
    if (b.plain != NULL) (void)dnnl_primitive_attr_destroy(b.plain);
    if (b.fused != NULL) (void)dnnl_primitive_attr_destroy(b.fused);
    if (b.sum != NULL) (void)dnnl_primitive_attr_destroy(b.sum);
    onednn_threads_end(c, before);
    return b.status;
}

void onednn_free_program(onednn_program *p)
{
    for (int i = 0; i < p->n_steps; i++)
        if (p->steps[i].primitive != NULL) (void)dnnl_primitive_destroy(p->steps[i].primitive);
    for (int i = 0; i < p->n_memories; i++)
        if (p->memories[i].memory != NULL) (void)dnnl_memory_destroy(p->memories[i].memory);
}

/* oneDNN may write to memory that it is handed, to clear what a layout pads; so only what has changed is handed. */
static dnnl_status_t bind(const onednn_program *p, const onednn_call *call)
{
    dnnl_status_t status = dnnl_success;
    char *const workspace = call->workspace;
    for (int i = 0; status == dnnl_success && i < p->n_memories; i++) {
        const onednn_memory *m = &p->memories[i];
        void *now = NULL, *wanted = NULL;
        if (m->slot == ONEDNN_SCRATCH)
            wanted = workspace + p->workspace;
        else if (m->slot == ONEDNN_INSIDE || (m->aside && call->beta != 0))
            wanted = workspace + m->at;
        else
            wanted = (void *)(uintptr_t)call->pointers[m->slot];
        status = dnnl_memory_get_data_handle(m->memory, &now);
        if (status == dnnl_success && now != wanted) status = dnnl_memory_set_data_handle(m->memory, wanted);
    }
    return status;
}

cnn_status onednn_run(cnn_context *context, const cnn_plan *plan, const onednn_call *call, cnn_error *err)
{
    const onednn_context *c = (const onednn_context *)context;
    const onednn_program *p = plan->state;
    const onednn_when not_now = call->beta != 0 ? ONEDNN_BETA_0 : ONEDNN_BETA_1;
    const int before = onednn_threads_begin(c);
    dnnl_status_t status = bind(p, call);
    for (int i = 0; status == dnnl_success && i < p->n_steps; i++) {
        const onednn_step *s = &p->steps[i];
        if (s->when == not_now) continue;
        status = dnnl_primitive_execute(s->primitive, c->stream, s->n_args, s->args);
        onednn_phase(c, s->phase);
    }
    onednn_threads_end(c, before);
    if (status == dnnl_success) return CNN_OK;
    (void)onednn_fail(status, p->choice, err);
    return err->status = CNN_DEVICE;
}
