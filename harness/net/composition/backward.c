/* backward.c: the calls of a backward pass, from the last layer to the first.
 *
 * A value that several layers read gets the sum of their gradients: the first to come writes it; of the later ones,
 * conv and FC add to it themselves (beta = 1), the others write to scratch, which an add then brings in. A value
 * that layout.c gave no place for a gradient gets none. */
#include "parts.h"

#include <stdlib.h>

/* Where a gradient goes: straight to its value when it is the first, else to scratch, to be added. */
typedef struct backward {
    cnn_trainer *t;
    step_batch *batch;
    bool *written; /* one a value */
    cnn_error *err;
} backward;

static cnn_status call(const backward *b, int layer, cnn_dir dir, const size_t *dx, double beta)
{
    return step_add_call(b->t, &b->batch->calls[TRAIN], layer, dir, b->batch->mb, false, dx, beta, b->err);
}

/* Conv and FC: weights, then data. */
static cnn_status weighted_backward(const backward *b, int l)
{
    const int in = b->t->net->layers[l].inputs[0];
    const size_t dx[CNN_MAX_INPUTS] = {b->t->grad_at[in]};
    const cnn_status status = call(b, l, CNN_BWD_W, dx, 0.0);
    if (status != CNN_OK || dx[0] == NOWHERE) return status;
    const double beta = b->written[in] ? 1.0 : 0.0;
    b->written[in] = true;
    return call(b, l, CNN_BWD_D, dx, beta);
}

/* The sum's gradient goes to both inputs as it is. */
static cnn_status add_backward(const backward *b, int l)
{
    cnn_trainer *t = b->t;
    const cnn_layer *layer = &t->net->layers[l];
    call_list *list = &b->batch->calls[TRAIN];
    const size_t dy = t->grad_at[layer->output];
    cnn_status status = CNN_OK;
    for (int i = 0; i < layer->n_inputs && status == CNN_OK; i++) {
        const int in = layer->inputs[i];
        const size_t dx = t->grad_at[in];
        if (dx == NOWHERE) continue;
        if (b->written[in])
            status = step_add_sum(t, list, in, b->batch->mb, dx, dy, b->err);
        else
            status = step_add_copy(t, list, in, b->batch->mb, dx, dy, b->err);
        b->written[in] = true;
    }
    return status;
}

/* Activation, pooling, dropout, batch norm, concat: one call for all inputs whose gradient is written first (batch norm
 * always runs, for its parameters' sake), then one for each that is summed. */
static cnn_status map_backward(const backward *b, int l)
{
    cnn_trainer *t = b->t;
    const cnn_layer *layer = &t->net->layers[l];
    const bool in_place = layer->output == layer->inputs[0], norm = layer->problem.op == CNN_OP_BATCHNORM;
    size_t first[CNN_MAX_INPUTS];
    bool later[CNN_MAX_INPUTS] = {false}, any = false;
    for (int i = 0; i < CNN_MAX_INPUTS; i++) first[i] = NOWHERE;
    for (int i = 0; i < layer->n_inputs; i++) {
        const int in = layer->inputs[i];
        if (t->grad_at[in] == NOWHERE) continue;
        later[i] = b->written[in] && !in_place;
        if (!later[i]) first[i] = t->grad_at[in];
        any = any || !later[i];
        b->written[in] = true;
    }
    if (norm && !any && !later[0]) first[0] = t->scratch_at[l];
    cnn_status status = any || (norm && !later[0]) ? call(b, l, CNN_BWD_D, first, 0.0) : CNN_OK;
    for (int i = 0; i < layer->n_inputs && status == CNN_OK; i++) {
        if (!later[i]) continue;
        size_t dx[CNN_MAX_INPUTS];
        for (int k = 0; k < CNN_MAX_INPUTS; k++) dx[k] = k == i ? t->scratch_at[l] : NOWHERE;
        status = call(b, l, CNN_BWD_D, dx, 0.0);
        if (status == CNN_OK)
            status = step_add_sum(t, &b->batch->calls[TRAIN], layer->inputs[i], b->batch->mb,
                                  t->grad_at[layer->inputs[i]], t->scratch_at[l], b->err);
    }
    return status;
}

cnn_status step_schedule_backward(cnn_trainer *t, step_batch *batch, cnn_error *err)
{
    bool *written = calloc((size_t)t->net->n_values, sizeof *written);
    if (written == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan the backward pass");
    const backward b = {t, batch, written, err};
    cnn_status status = CNN_OK;
    for (int l = t->net->n_layers - 1; l >= 0 && status == CNN_OK; l--) {
        const cnn_layer *layer = &t->net->layers[l];
        const cnn_op op = layer->problem.op;
        const bool loss = op == CNN_OP_LOSS;
        if (!loss && t->grad_at[layer->output] == NOWHERE) continue; /* depends on no parameter */
        if (op == CNN_OP_CONV || op == CNN_OP_FC)
            status = weighted_backward(&b, l);
        else if (op == CNN_OP_ADD)
            status = add_backward(&b, l);
        else
            status = map_backward(&b, l);
    }
    free(written);
    return status;
}
