/* buckets.c: over ranks: the gradients' array cut into buckets, whose sums begin while the backward pass goes on.
 *
 * The backward pass writes the gradients of the last layers first, and they stand at the array's end. A bucket holds
 * whole layers, from the last on, so many that it has `bucket` bytes at least; the last bucket has what is left. A
 * bucket's sum begins behind the last call that writes into it, and behind those of the buckets before it: so all ranks
 * begin them in the same order. */
#include "parts.h"

#include <stdlib.h>

/* Where the trained parameters of a layer begin; NOWHERE: it has none. */
static size_t first_of(const cnn_net *net, int layer)
{
    const cnn_layer *l = &net->layers[layer];
    size_t first = NOWHERE;
    for (int i = 0; i < l->n_params; i++) {
        const size_t offset = (size_t)net->params[l->params[i]].offset;
        if (offset < (size_t)net->trained_elems && offset < first) first = offset;
    }
    return first;
}

static void cut(cnn_trainer *t, size_t bucket)
{
    const size_t elem = cnn_param_size(t->net);
    size_t end = (size_t)t->net->trained_elems;
    for (int l = t->net->n_layers - 1; l >= 0; l--) {
        const size_t first = first_of(t->net, l);
        if (first == NOWHERE || first >= end || (first > 0 && (end - first) * elem < bucket)) continue;
        t->buckets[t->n_buckets++] = (step_bucket){(int64_t)first, (int64_t)(end - first)};
        end = first;
    }
}

/* Whether a call writes gradients of a bucket. */
static bool writes(const cnn_trainer *t, const step_call *call, const step_bucket *b)
{
    const size_t elem = cnn_param_size(t->net), first = t->grads_at + (size_t)b->first * elem;
    for (int i = 0; i < call->n_operands; i++)
        if (call->written >> i & 1u && call->at[i] >= first && call->at[i] - first < (size_t)b->count * elem)
            return true;
    return false;
}

/* Behind which call of a list each bucket begins. */
static void mark(const cnn_trainer *t, call_list *list)
{
    int behind = 0;
    for (int b = 0; list->count > 0 && b < t->n_buckets; b++) {
        for (int i = behind; i < list->count; i++)
            if (writes(t, &list->calls[i], &t->buckets[b])) behind = i;
        list->calls[behind].begins++;
    }
}

cnn_status step_buckets(cnn_trainer *t, cnn_error *err)
{
    const size_t bucket = (size_t)trainer_bucket(t->session, &t->loop->params);
    if (bucket == 0 || t->net->trained_elems == 0) return CNN_OK;
    t->buckets = calloc((size_t)t->net->n_layers, sizeof *t->buckets);
    if (t->buckets == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for buckets of gradients");
    cut(t, bucket);
    for (int list = 0; list < t->n_lists; list++)
        for (int i = 0; i < t->n_batches; i++) mark(t, &t->batches[list][i].calls[TRAIN]);
    return CNN_OK;
}
