/* weights.c: --load and --save: weights from a file before the first epoch, and into one behind the last. */
#include "harness/net/weights.h"
#include "parts.h"

#include <stdlib.h>

static void *make_room(const train_run *r, cnn_error *err)
{
    const cnn_net *net = &r->network->net;
    void *params = calloc((size_t)net->param_elems + 1, cnn_param_size(net));
    if (params == NULL) CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the weights of %s", net->name);
    return params;
}

cnn_status train_load_weights(train_run *r, cnn_error *err)
{
    weights_facts facts = {.means = NULL};
    const char *path = r->all->options->load;
    if (path == NULL) return CNN_OK;
    r->weights = make_room(r, err);
    if (r->weights == NULL) return err->status;
    const cnn_status status = weights_load(r->network, path, r->weights, &facts, err);
    snprintf(r->setting.weights, sizeof r->setting.weights, "%08x", facts.crc);
    free(facts.means);
    return status;
}

cnn_status train_save_weights(const train_run *r, cnn_error *err)
{
    const char *path = r->all->options->save;
    if (path == NULL) return CNN_OK; /* rank 0 alone has one */
    if (r->failed || r->figure->diverged) {
        fprintf(stderr, "benchcnn: %s is not written: the training %s\n", path, r->failed ? "FAILED" : "diverged");
        return CNN_OK;
    }
    void *params = make_room(r, err);
    if (params == NULL) return err->status;
    const weights_facts facts = {.mean = r->all->data.mean,
                                 .means = r->all->data.means,
                                 .proportional = r->all->data.preprocess == DATASET_PROPORTIONAL};
    cnn_status status = trainer_get_params(r->trainer, params, err);
    if (status == CNN_OK) status = weights_save(r->network, params, &facts, path, err);
    if (status == CNN_OK && !r->all->options->json) printf("weights: %s\n", path);
    free(params);
    return status;
}
