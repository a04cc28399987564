/* state.c: the state of a training to the host and back: the trainer's own, and the sums. */
#include "harness/base/text.h"
#include "trainer_parts.h"

#include <stdlib.h>
#include <string.h>

cnn_status trainer_name_error(const trainer *t, const char *what, cnn_status status, cnn_error *err)
{
    if (status == CNN_OK) return CNN_OK;
    return cnn_error_before(err, status, "%s at batch %lld, %s: ", t->net->name, (long long)t->net->batch, what);
}

cnn_status trainer_clear_sums(trainer *t, cnn_error *err)
{
    const cnn_status status = cnn_mem_fill(t->session, trainer_at(t, t->loss_at), 0, sizeof(double), err);
    return status == CNN_OK ? cnn_mem_fill(t->session, trainer_at(t, t->correct_at), 0, sizeof(int64_t), err) : status;
}

/* Over all ranks. Right answers are whole numbers far below 2^53, and so a double counts them. */
static cnn_status sum_ranks(const trainer *t, double *loss_sum, int64_t *correct, cnn_error *err)
{
    double both[] = {*loss_sum, (double)*correct};
    const cnn_status status = ranks_sum(t->params.ranks, both, 2, CNN_F64, err);
    *loss_sum = both[0];
    *correct = (int64_t)both[1];
    return status;
}

cnn_status trainer_read_sums(trainer *t, double *loss_sum, int64_t *correct, cnn_error *err)
{
    cnn_status status = cnn_sync(t->session, err);
    if (status == CNN_OK)
        status = cnn_mem_download(t->session, loss_sum, trainer_at(t, t->loss_at), sizeof *loss_sum, err);
    if (status == CNN_OK)
        status = cnn_mem_download(t->session, correct, trainer_at(t, t->correct_at), sizeof *correct, err);
    return status == CNN_OK && t->params.ranks != NULL ? sum_ranks(t, loss_sum, correct, err) : status;
}

cnn_status trainer_state_make(const trainer *t, trainer_state *s, cnn_error *err)
{
    const size_t trained = trainer_trained_bytes(t);
    const int states = cnn_optimizer_states(t->optimizer.kind);
    const size_t scaling = trainer_scaling_bytes(t);
    char *params = calloc(1, trainer_param_bytes(t) + scaling + (size_t)(states + 1) * trained + 1);
    *s = (trainer_state){.own.params = params};
    if (params == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the parameters of %s", t->net->name);
    char *next = params + trainer_param_bytes(t);
    for (int i = 0; i < states; i++, next += trained) s->own.state[i] = next;
    if (scaling > 0) s->own.scaling = (double *)(void *)next;
    if (scaling > 0) s->own.scaling[CNN_LOSS_SCALE] = t->params.loss_scale;
    s->own.grads = next + scaling;
    return CNN_OK;
}

void trainer_state_free(trainer_state *s)
{
    free(s->own.params);
    *s = (trainer_state){.loss_sum = 0.0};
}

cnn_status trainer_state_get(trainer *t, trainer_state *s, cnn_error *err)
{
    const cnn_status status = trainer_read_sums(t, &s->loss_sum, &s->correct, err); /* waits for the device */
    return status == CNN_OK ? TRAINER_ASK(t, save, err, &s->own) : status;
}

cnn_status trainer_state_put(trainer *t, const trainer_state *s, cnn_error *err)
{
    const cnn_session *on = t->session;
    const bool first = rank_number(t->params.ranks) == 0; /* the sums are of all ranks: one of them keeps them */
    const double loss_sum = first ? s->loss_sum : 0.0;
    const int64_t correct = first ? s->correct : 0;
    cnn_status status = cnn_mem_upload(on, trainer_at(t, t->loss_at), &loss_sum, sizeof loss_sum, err);
    if (status == CNN_OK) status = cnn_mem_upload(on, trainer_at(t, t->correct_at), &correct, sizeof correct, err);
    return status == CNN_OK ? TRAINER_ASK(t, load, err, &s->own) : status;
}

cnn_status trainer_get_params(trainer *t, void *params, cnn_error *err)
{
    cnn_train_state only = {.params = params};
    const cnn_status status = cnn_sync(t->session, err);
    return status == CNN_OK ? TRAINER_ASK(t, save, err, &only) : status;
}

cnn_status trainer_set_params(trainer *t, const void *params, cnn_error *err)
{
    trainer_state initial;
    cnn_status status = trainer_state_make(t, &initial, err);
    if (status != CNN_OK) return status;
    if (params != NULL)
        memcpy(initial.own.params, params, trainer_param_bytes(t));
    else
        cnn_net_init_params(t->network, initial.own.params);
    status = trainer_state_put(t, &initial, err);
    trainer_state_free(&initial);
    return status;
}
