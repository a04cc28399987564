/* in_network.c: the step is a trainer's own, by the implementation's default algorithms, on random images. */
#include "parts.h"

#include "harness/base/rng.h"
#include "harness/net/trainer.h"
#include "harness/problem/names.h"

#include <stdlib.h>
#include <string.h>

struct in_network {
    const cnn_session *session;
    const cnn_network *network;
    const vf_case *c;
    void *const *buffers;
    void *fresh[CNN_MAX_OPERANDS]; /* copies of what is handed over; NULL: is not */
    trainer *trainer;
    void *images;
    int32_t *labels;
};

/* What the layer before (going back: the layer behind) has just written. */
static bool handed_over(const vf_case *c, const cnn_operand *o)
{
    if (o->access != CNN_IN) return false;
    const bool input = c->call.dir == CNN_FWD && o->shape == CNN_SHAPE_TENSOR && o->name[0] == 'x';
    return input || strcmp(o->name, "dy") == 0; /* FC's gradient is no tensor */
}

static cnn_status make_copies(in_network *a, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < a->c->call.count; i++)
        if (handed_over(a->c, &a->c->call.operands[i]))
            status = cnn_mem_alloc(a->session, a->c->call.operands[i].bytes, &a->fresh[i], err);
    return status;
}

static cnn_status copy(const in_network *a, bool back, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < a->c->call.count; i++)
        if (a->fresh[i])
            status = cnn_mem_copy(a->session, back ? a->buffers[i] : a->fresh[i], back ? a->fresh[i] : a->buffers[i],
                                  a->c->call.operands[i].bytes, err);
    return status;
}

static cnn_status make_images(in_network *a, cnn_error *err)
{
    const cnn_net *net = &a->network->net;
    const cnn_value *v = &net->values[0];
    const int64_t count = net->batch * v->c * v->h * v->w;
    cnn_rng rng = rng_stream(1, 0);
    a->images = malloc((size_t)count * cnn_dtype_size(net->type.dtype));
    a->labels = malloc((size_t)net->batch * sizeof *a->labels);
    if (!a->images || !a->labels) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a batch of images");
    for (int64_t i = 0; i < count; i++) {
        const double value = rng_unit(&rng); /* as pixels are, in [0, 1) */
        if (net->type.dtype == CNN_F64)
            ((double *)a->images)[i] = value;
        else
            ((float *)a->images)[i] = (float)value;
    }
    for (int64_t n = 0; n < net->batch; n++) a->labels[n] = (int32_t)rng_int(&rng, 0, net->classes - 1);
    return CNN_OK;
}

cnn_status in_network_open(const cnn_session *session, const cnn_network *network, const vf_case *c,
                           void *const *buffers, in_network **result, cnn_error *err)
{
    /* A rate of 0: the weights stay what they are, however often the step runs. */
    const trainer_params params = {.optimizer = {.kind = CNN_SGD}, .no_graph = true};
    *result = NULL;
    in_network *a = calloc(1, sizeof *a);
    if (!a) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a network's step");
    a->session = session;
    a->network = network;
    a->c = c;
    a->buffers = buffers;
    cnn_status status = make_images(a, err);
    if (status == CNN_OK) status = trainer_open(session, network, NULL, &params, &a->trainer, err);
    if (status == CNN_OK) status = trainer_start(a->trainer, err);
    if (status == CNN_OK) status = make_copies(a, err);
    if (status == CNN_OK)
        *result = a;
    else
        in_network_close(a);
    return status;
}

/* A device is kept busy with several copies, so that the host can launch the timed run meanwhile. */
cnn_status in_network_run(in_network *a, cnn_error *err)
{
    enum { BUSY_COPIES = 8 };
    const int copies = a->session->impl->sync ? BUSY_COPIES : 1;
    cnn_status status = copy(a, false, err); /* they change from run to run */
    if (status == CNN_OK)
        status = trainer_step(a->trainer, a->images, a->labels, a->network->net.batch, NULL, NULL, err);
    for (int i = 0; status == CNN_OK && i < copies; i++) status = copy(a, true, err);
    return status;
}

void in_network_close(in_network *a)
{
    if (!a) return;
    for (int i = 0; i < CNN_MAX_OPERANDS; i++)
        if (a->fresh[i]) cnn_mem_free(a->session, a->fresh[i]);
    trainer_close(a->trainer);
    free(a->images);
    free(a->labels);
    free(a);
}
