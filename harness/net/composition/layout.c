/* layout.c: the memory plan: a place for everything in one allocation, computed before anything is allocated. */
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>

enum { PLACE_ALIGN = 256 }; /* what devices like best; a multiple of CNN_ALIGN */

size_t trainer_elem(const trainer *t) { return cnn_dtype_size(t->net->type.dtype); }

/* The next place, for count elements of `size` bytes, counted under `kind`. */
static size_t place(trainer *t, size_t *kind, int64_t count, size_t size)
{
    size_t bytes, end;
    const size_t at = t->bytes.total;
    if (__builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 2 - PLACE_ALIGN ||
        __builtin_add_overflow(at, (bytes + PLACE_ALIGN - 1) / PLACE_ALIGN * PLACE_ALIGN, &end) || end > SIZE_MAX / 2) {
        t->overflow = true;
        return 0;
    }
    *kind += bytes;
    t->bytes.total = end;
    return at;
}

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
static int64_t scratch_elems(const cnn_net *net, const bool *needed)
{
    int64_t largest = 0;
    for (int l = 0; l < net->n_layers; l++) {
        const cnn_layer *layer = &net->layers[l];
        const cnn_op op = layer->problem.op;
        if (op == CNN_OP_CONV || op == CNN_OP_FC || op == CNN_OP_ADD || layer->output == layer->inputs[0]) continue;
        for (int i = 0; i < layer->n_inputs; i++) {
            const int in = layer->inputs[i];
            const int64_t count = cnn_net_value_elems(net, in, net->batch);
            const bool summed = needed[in] && count_readers(net, in) > 1,
                       unread = op == CNN_OP_BATCHNORM && !needed[in];
            if ((summed || unread) && count > largest) largest = count;
        }
    }
    return largest;
}

static void place_values(trainer *t, const bool *needed)
{
    const cnn_net *net = t->net;
    const size_t elem = trainer_elem(t);
    const int64_t scratch = scratch_elems(net, needed);
    for (int lane = 0; lane < t->n_lanes; lane++) { /* labels right behind the images: one upload brings both */
        t->images_at[lane] = place(t, &t->bytes.values, cnn_net_value_elems(net, 0, net->batch), elem);
        t->batch_labels_at[lane] = place(t, &t->bytes.small, net->batch, sizeof(int32_t));
    }
    t->value_at[0] = t->images_at[0];
    t->grad_at[0] = NOWHERE;
    for (int v = 1; v < net->n_values; v++) {
        const int64_t count = cnn_net_value_elems(net, v, net->batch);
        t->value_at[v] = place(t, &t->bytes.values, count, elem);
        t->grad_at[v] = needed[v] ? place(t, &t->bytes.gradients, count, elem) : NOWHERE;
    }
    for (int l = 0; l < net->n_layers; l++)
        for (int i = 0; i < 2; i++) {
            const cnn_layer *layer = &net->layers[l];
            const bool norm = layer->problem.op == CNN_OP_BATCHNORM;
            t->save_at[l][i] = norm ? place(t, &t->bytes.values, net->values[layer->output].c, elem) : NOWHERE;
        }
    t->scratch_at = scratch > 0 ? place(t, &t->bytes.gradients, scratch, elem) : NOWHERE;
}

static void place_data(trainer *t)
{
    const int64_t train = t->data->train.count, test = t->data->test.count;
    for (int set = 0; set < SETS; set++) {
        const int64_t count = trainer_part(t, set)->count;
        t->rows_at[set] = place(t, &t->bytes.data, cnn_net_value_elems(t->net, 0, count), trainer_elem(t));
        t->labels_at[set] = place(t, &t->bytes.data, count, sizeof(int32_t));
    }
    t->order_at = place(t, &t->bytes.small, train > test ? train : test, sizeof *t->order);
    t->shifts_at = t->params.shift > 0 ? place(t, &t->bytes.small, train, sizeof *t->shifts) : NOWHERE;
}

/* Images, then labels: what a batch buffer holds, and what one upload brings. */
size_t trainer_staging_bytes(const trainer *t)
{
    return t->batch_labels_at[0] + (size_t)t->net->batch * sizeof(int32_t) - t->images_at[0];
}

static void count_host_data(trainer *t)
{
    const size_t images = (size_t)cnn_net_value_elems(t->net, 0, t->data->train.count + t->data->test.count);
    if (__builtin_mul_overflow(images, trainer_elem(t), &t->bytes.host) ||
        __builtin_add_overflow(t->bytes.host, LANES * trainer_staging_bytes(t), &t->bytes.host))
        t->overflow = true;
}

cnn_status trainer_layout(trainer *t, cnn_error *err)
{
    const cnn_net *net = t->net;
    const size_t elem = trainer_elem(t);
    bool *needed = calloc((size_t)net->n_values, sizeof *needed);
    if (needed == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
    mark_needed(net, needed);
    t->loss_at = place(t, &t->bytes.small, 1, sizeof(double));
    t->correct_at = place(t, &t->bytes.small, 1, sizeof(int64_t));
    t->step_at = place(t, &t->bytes.small, 1, sizeof(int64_t));
    t->cursor_at = place(t, &t->bytes.small, 1, sizeof(int64_t));
    t->params_at = place(t, &t->bytes.params, net->param_elems, elem);
    t->kept_at = place(t, &t->bytes.params, net->param_elems - net->trained_elems, elem);
    t->grads_at = place(t, &t->bytes.grads, net->trained_elems, elem);
    for (int i = 0; i < 2; i++) {
        const bool used = i < cnn_optimizer_states(t->optimizer.kind);
        t->state_at[i] = used ? place(t, &t->bytes.optimizer, net->trained_elems, elem) : NOWHERE;
    }
    place_values(t, needed);
    if (t->data != NULL && t->params.host_data)
        count_host_data(t);
    else if (t->data != NULL)
        place_data(t);
    free(needed);
    return t->overflow ? CNN_FAIL(err, CNN_OVERFLOW, "%s at batch %lld: its memory is more than can be addressed",
                                  net->name, (long long)net->batch)
                       : CNN_OK;
}

cnn_status trainer_layout_workspace(trainer *t, size_t bytes, cnn_error *err)
{
    if (bytes > INT64_MAX)
        t->overflow = true;
    else if (bytes > 0)
        t->workspace_at = place(t, &t->bytes.workspace, (int64_t)bytes, 1);
    else
        t->workspace_at = NOWHERE;
    return t->overflow ? CNN_FAIL(err, CNN_OVERFLOW,
                                  "%s at batch %lld: a workspace of %zu bytes is more than can be "
                                  "addressed",
                                  t->net->name, (long long)t->net->batch, bytes)
                       : CNN_OK;
}
