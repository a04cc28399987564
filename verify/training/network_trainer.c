/* network_trainer.c: a network's gradients as an implementation computes them, by way of harness/net's trainer. */
#include "network_pass.h"
#include "verify/engine.h"

#include "harness/net/trainer.h"
#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>

typedef struct trained {
    const cnn_session *session;
    const cnn_network *network;
    const char *algorithm;
    const verify_options *options;
} trained;

int64_t verify_net_workers(const cnn_algorithm *row, int64_t batch)
{
    if (row == NULL || !(row->flags & CNN_ALGO_EXEMPLARS)) return 0;
    return batch > 1 ? 2 : 1;
}

/* A trainer of its own for each batch: its state must not depend on the batches before. */
static cnn_status trained_gradient(void *user, const cnn_net *net, const double *params, const double *images,
                                   const int32_t *labels, double *grads, cnn_error *err)
{
    const trained *t = user;
    const trainer_params settings = {.algorithm = t->algorithm,
                                     .optimizer = {.kind = CNN_SGD},
                                     .recompute = t->options->recompute,
                                     .offload = t->options->offload,
                                     .streams = t->options->streams,
                                     .fuse = t->options->fuse,
                                     .loss_scale = vf_net_loss_scale(net),
                                     .workers = verify_net_workers(trainer_row(t->session, t->algorithm), net->batch)};
    cnn_problem types = {.op = CNN_OP_CONV};
    types.u.type = net->type;
    const size_t bytes = (size_t)net->param_elems * cnn_param_size(net);
    const cnn_operand all = {.shape = CNN_SHAPE_FLAT, .dims = {net->param_elems, 1, 1, 1}, .count = net->param_elems};
    const cnn_operand pictures = vf_net_images(net, net->batch);
    trainer *run = NULL;
    void *packed = calloc(1, bytes + 1), *result = calloc(1, bytes + 1), *x = calloc(1, pictures.bytes);
    cnn_status status = CNN_OK;
    if (packed == NULL || result == NULL || x == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes of parameters", bytes);
    if (status == CNN_OK) status = trainer_open(t->session, t->network, NULL, &settings, &run, err);
    if (status == CNN_OK) status = trainer_start(run, err);
    if (status == CNN_OK) {
        cnn_problem parameters = types;
        parameters.u.type.dtype = cnn_params_dtype(net);
        vf_pack(&parameters, &all, params, packed);
        vf_pack(&types, &pictures, images, x);
        status = trainer_set_params(run, packed, err);
    }
    if (status == CNN_OK) status = trainer_gradients(run, x, labels, net->batch, result, NULL, err);
    if (status == CNN_OK) vf_net_doubles(net, result, net->trained_elems, grads);
    trainer_close(run);
    free(packed);
    free(result);
    free(x);
    return status;
}

cnn_status verify_net_trained(const cnn_session *session, const cnn_network *network, const char *algorithm,
                              const verify_options *options, verify_each *each, void *user, cnn_error *err)
{
    const cnn_algorithm *row = trainer_row(session, algorithm);
    const trainer_params usual = {.optimizer = {.kind = CNN_SGD},
                                  .recompute = options->recompute,
                                  .offload = options->offload,
                                  .streams = options->streams,
                                  .workers = verify_net_workers(row, network->net.batch)};
    trained t = {session, network, algorithm, options};
    cnn_error why;
    const cnn_status status = verify_net(&network->net, options, trained_gradient, &t, each, user, err);
    if (status != CNN_OK || row == NULL) return status;
    if (trainer_supported(session, network, row, &usual, &why) != CNN_OK) return CNN_OK; /* which was said */
    return verify_net_steps(session, network, row, options, each, user, err);
}
