/* answer.c: what the implementation answers to one image. */
#include "harness/process/watch.h"
#include "parts.h"

#include <math.h>

static bool has_probabilities(const cnn_net *net)
{
    return net->layers[net->n_layers - 1].problem.u.loss.kind == CNN_LOSS_CROSS_ENTROPY;
}

/* The target first: mostly it is the answer, and nothing more is asked. */
cnn_status eval_ask(eval_run *r, int64_t index, eval_answer *a, cnn_error *err)
{
    const cnn_net *net = &r->network->net;
    const int32_t target = r->data.test.labels[index];
    double loss;
    int64_t right;
    watch_tick(r->options->watch);
    dataset_rows(&r->data, &r->data.test, index, 1, &net->type, r->pixels);
    cnn_status status = trainer_infer(r->trainer, r->pixels, &target, 1, &loss, &right, err);
    *a = (eval_answer){.index = index, .target = target, .answer = -1, .loss = loss, .probability = NAN};
    for (int32_t other = 0, label = target; status == CNN_OK; label = other++) {
        if (right == 1) {
            a->answer = label;
            if (has_probabilities(net)) a->probability = exp(-loss);
            return CNN_OK;
        }
        other += other == target;
        if (other >= net->classes) return CNN_OK;
        status = trainer_infer(r->trainer, r->pixels, &other, 1, &loss, &right, err);
    }
    return status;
}
