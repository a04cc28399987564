/* reorder.c: from the layouts and memory of a call to those of the operation, and back. */
#include "onednn.h"

/* Of the argument in this slot. */
static void reorder(onednn_build *b, onednn_when when, onednn_slot slot, int from, int to)
{
    static const char *const phases[ONEDNN_SLOT_COUNT] = {
        [ONEDNN_X] = "reorder x",   [ONEDNN_X1] = "reorder x", [ONEDNN_W] = "reorder w",   [ONEDNN_B] = "reorder b",
        [ONEDNN_DY] = "reorder dy", [ONEDNN_Y] = "reorder y",  [ONEDNN_DX] = "reorder dx", [ONEDNN_DW] = "reorder dw",
        [ONEDNN_DB] = "reorder db", [ONEDNN_Z] = "reorder z"};
    dnnl_primitive_desc_t pd = NULL;
    if (b->status != CNN_OK) return;
    const onednn_memory *list = b->program->memories;
    const dnnl_status_t status = dnnl_reorder_primitive_desc_create(
        &pd, list[from].md, b->c->engine, list[to].md, b->c->engine, when == ONEDNN_BETA_1 ? b->sum : b->plain);
    if (status != dnnl_success) onednn_failed(b, status, "a reorder of ");
    pd = onednn_keep(b, status, pd);
    onednn_step_add(b, when, phases[slot], pd, (onednn_use[]){{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, 2);
}

int onednn_input(onednn_build *b, onednn_slot slot, onednn_md given, onednn_md wanted)
{
    const int from = onednn_argument(b, slot, given);
    if (b->status != CNN_OK || dnnl_memory_desc_equal(given, wanted)) return from;
    const int to = onednn_inside(b, wanted);
    reorder(b, ONEDNN_ALWAYS, slot, from, to);
    return to;
}

/* Of an algorithm with CNN_ALGO_REPLACES nobody asks for beta 1 in these. */
static bool replaces(const onednn_build *b)
{
    const cnn_dtype dtype = b->request->problem->u.type.dtype;
    return dtype == CNN_F16 || dtype == CNN_BF16 || cnn_sums_whole(dtype);
}

int onednn_result(onednn_build *b, onednn_slot slot, onednn_md given, onednn_md made)
{
    if (b->status != CNN_OK) return -1;
    const bool same = dnnl_memory_desc_equal(given, made) != 0;
    const int at = b->n_results++;
    b->targets[at] = onednn_argument(b, slot, given);
    return b->results[at] = onednn_memory_add(b, same ? slot : ONEDNN_INSIDE, same && !replaces(b), made);
}

void onednn_deliver(onednn_build *b)
{
    for (int i = 0; b->status == CNN_OK && i < b->n_results; i++) {
        const int from = b->results[i], to = b->targets[i];
        const onednn_slot slot = b->program->memories[to].slot;
        if (b->program->memories[from].slot == ONEDNN_INSIDE) reorder(b, ONEDNN_BETA_0, slot, from, to);
        if (!replaces(b)) reorder(b, ONEDNN_BETA_1, slot, from, to);
    }
}
