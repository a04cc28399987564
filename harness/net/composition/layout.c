/* layout.c: the memory plan: a place for all that lasts from step to step, and the buffers that a step needs beside,
 * before anything is allocated. */
#include "harness/base/grow.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>

/* Which values need a gradient: not the images, nor anything that depends on no parameter. */
static void mark_needed(const cnn_net *net, bool *needed)
{
    for (int v = 0; v < net->n_values; v++) needed[v] = false;
    for (int l = 0; l < net->n_layers; l++) {
        const cnn_layer *layer = &net->layers[l];
        bool need = layer->n_params > 0;
        for (int i = 0; i < layer->n_inputs; i++) need = need || needed[layer->inputs[i]];
        needed[layer->output] = need && layer->problem.op != CNN_OP_LOSS;
    }
}

/* How many layers read a value; one that works in place takes its gradient over and adds nothing to it. */
static int count_readers(const cnn_net *net, int value)
{
    int readers = 0;
    for (int l = 0; l < net->n_layers; l++)
        for (int i = 0; i < net->layers[l].n_inputs; i++)
            readers += net->layers[l].inputs[i] == value && net->layers[l].output != value;
    return readers;
}

/* Elements of the largest gradient that a layer writes to scratch: one that is then added to others (conv, FC and add
 * sum without scratch), or batch norm's on images, which nobody reads. */
static int64_t scratch_elems(const cnn_net *net, int l, const bool *needed)
{
    const cnn_layer *layer = &net->layers[l];
    const cnn_op op = layer->problem.op;
    int64_t largest = 0;
    if (op == CNN_OP_CONV || op == CNN_OP_FC || op == CNN_OP_ADD || layer->output == layer->inputs[0]) return 0;
    for (int i = 0; i < layer->n_inputs; i++) {
        const int in = layer->inputs[i];
        const int64_t count = cnn_net_value_elems(net, in, net->batch);
        const bool summed = needed[in] && count_readers(net, in) > 1, unread = op == CNN_OP_BATCHNORM && !needed[in];
        if ((summed || unread) && count > largest) largest = count;
    }
    return largest;
}

/* A buffer of so many elements of this size; none for 0. */
static cnn_status new_buffer(cnn_trainer *t, int64_t count, size_t size, size_t *at, cnn_error *err)
{
    *at = NOWHERE;
    if (count == 0) return CNN_OK;
    step_buffer *b = cnn_add_item(&t->buffers, &t->n_buffers, &t->buffer_capacity, sizeof *b, "buffers", err);
    if (b == NULL) return err->status;
    if (__builtin_mul_overflow((size_t)count, size, &b->bytes)) t->loop->overflow = true;
    *at = BUFFER + (size_t)(t->n_buffers - 1);
    return CNN_OK;
}

static cnn_status make_buffers(cnn_trainer *t, const bool *needed, cnn_error *err)
{
    const cnn_net *net = t->net;
    const size_t elem = trainer_elem(t->loop), kept = cnn_param_size(net);
    const int probabilities = net->layers[net->n_layers - 1].output; /* in the type of parameters */
    cnn_status status = CNN_OK;
    t->value_at[0] = LANE_IMAGES;
    t->grad_at[0] = NOWHERE;
    for (int v = 1; v < net->n_values && status == CNN_OK; v++) {
        const int64_t count = cnn_net_value_elems(net, v, net->batch);
        status = new_buffer(t, count, v == probabilities ? kept : elem, &t->value_at[v], err);
        if (status == CNN_OK) t->buffers[t->n_buffers - 1].value = v;
        if (status == CNN_OK) status = new_buffer(t, needed[v] ? count : 0, elem, &t->grad_at[v], err);
        if (status == CNN_OK && t->again_at != NULL) status = new_buffer(t, count, elem, &t->again_at[v], err);
        if (status == CNN_OK && t->back_at != NULL)
            status = new_buffer(t, count, v == probabilities ? kept : elem, &t->back_at[v], err);
    }
    for (int l = 0; l < net->n_layers && status == CNN_OK; l++) {
        const cnn_layer *layer = &net->layers[l];
        const int64_t saved = layer->problem.op == CNN_OP_BATCHNORM ? net->values[layer->output].c : 0;
        status = new_buffer(t, scratch_elems(net, l, needed), elem, &t->scratch_at[l], err);
        for (int i = 0; i < 2 && status == CNN_OK; i++) status = new_buffer(t, saved, kept, &t->save_at[l][i], err);
    }
    return status;
}

cnn_status step_layout(cnn_trainer *t, cnn_error *err)
{
    const cnn_net *net = t->net;
    trainer *loop = t->loop;
    const size_t elem = cnn_param_size(net);
    bool *needed = calloc((size_t)net->n_values, sizeof *needed);
    if (needed == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
    mark_needed(net, needed);
    t->step_at = trainer_place(loop, &loop->bytes.small, 1, sizeof(int64_t));
    t->cursor_at = trainer_place(loop, &loop->bytes.small, 1, sizeof(int64_t));
    t->params_at = trainer_place(loop, &loop->bytes.params, net->param_elems, elem);
    t->kept_at = trainer_place(loop, &loop->bytes.params, net->param_elems - net->trained_elems, elem);
    t->grads_at = trainer_place(loop, &loop->bytes.grads, net->trained_elems, elem);
    for (int i = 0; i < 2; i++) {
        const bool used = i < cnn_optimizer_states(t->loop->optimizer.kind);
        t->state_at[i] = used ? trainer_place(loop, &loop->bytes.optimizer, net->trained_elems, elem) : NOWHERE;
    }
    t->copy_at = t->scaling_at = t->scale_at = NOWHERE;
    if (trainer_is_mixed(loop)) {
        t->copy_at = trainer_place(loop, &loop->bytes.params, net->trained_elems, trainer_elem(loop));
        t->scaling_at = trainer_place(loop, &loop->bytes.small, CNN_SCALING_COUNT, sizeof(double));
        t->scale_at = trainer_place(loop, &loop->bytes.small, 1, sizeof(double));
    }
    const bool aside = t->again_at != NULL;
    t->aside_at = trainer_place(loop, &loop->bytes.params, aside ? net->param_elems - net->trained_elems : 0, elem);
    const cnn_status status = make_buffers(t, needed, err);
    free(needed);
    return status;
}
