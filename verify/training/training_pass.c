/* training_pass.c: a batch of a training run through the reference, in parts that fit into memory. */
#include "training_step.h"
#include "verify/engine.h"

#include "harness/cpu/gather.h"
#include "harness/net/trainer.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Images at a time, where no layer mixes them. */
enum { PART = 64 };

/* The network at another batch size. */
static cnn_status resize(const cnn_net *net, int64_t mb, bool test, cnn_net *out, cnn_error *err)
{
    cnn_layer *layers = malloc((size_t)net->n_layers * sizeof *layers);
    if (layers == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d layers", net->n_layers);
    for (int l = 0; l < net->n_layers; l++) {
        layers[l] = net->layers[l];
        layers[l].problem = cnn_net_problem(net, l, mb, test);
    }
    *out = *net;
    out->batch = mb;
    out->layers = layers;
    return CNN_OK;
}

static bool mixes_images(const cnn_net *net)
{
    for (int l = 0; l < net->n_layers; l++)
        if (net->layers[l].problem.op == CNN_OP_BATCHNORM) return true;
    return false;
}

/* The images that the order asks for, moved as they are to be: canonical doubles, and their labels. */
static cnn_status take_images(const vf_training *v, bool test, int64_t first, int64_t mb, double *images,
                              int32_t *labels, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const dataset_part *part = test ? &v->data->test : &v->data->train;
    const cnn_operand one = vf_net_images(net, 1);
    char *stands = malloc(2 * one.bytes), *moved = stands + one.bytes;
    const int32_t at = 0;
    cnn_problem types = {.op = CNN_OP_CONV};
    types.u.type = net->type;
    if (stands == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for an image");
    for (int64_t i = 0; i < mb; i++) {
        const int64_t image = test ? first + i : v->order[first + i];
        const cnn_images from = {.rows = stands,
                                 .labels = &part->labels[image],
                                 .order = &at,
                                 .shifts = test || v->shifts == NULL ? NULL : &v->shifts[first + i]};
        cnn_gather_args args = trainer_gather_args(net, &from, 0, 1);
        args.y = moved, args.y_labels = &labels[i];
        dataset_rows(v->data, part, image, 1, &net->type, stands);
        cnn_gather_row(&args, 0);
        vf_unpack(&types, &one, moved, images + i * one.count);
    }
    free(stands);
    return CNN_OK;
}

/* What a part's logits and probabilities say. lost and kept: squares of the logits' gradient, and of its rounding. */
static void add_answers(const vf_pass *pass, const int32_t *labels, double share, vf_batch_result *r, double *lost,
                        double *kept)
{
    const int last = pass->net->n_layers - 1;
    const int64_t classes = pass->net->classes;
    for (int64_t n = 0; n < pass->net->batch; n++) {
        const double *x = vf_pass_input(pass, last, 0) + n * classes, *p = pass->layers[last].out + n * classes;
        double other = -INFINITY, size = 0.0;
        for (int64_t c = 0; c < classes; c++) {
            const double hot = c == labels[n] ? 1.0 : 0.0;
            if (c != labels[n]) other = fmax(other, x[c]);
            size = fmax(size, fabs(x[c]));
            *kept += (p[c] - hot) * (p[c] - hot);
        }
        for (int64_t c = 0; c < classes; c++) {
            const double rounds = (p[c] + (c == labels[n] ? 1.0 : 0.0)) * (1.0 + size);
            *lost += rounds * rounds;
        }
        r->surely += x[labels[n]] - other > share * (1.0 + size);
        r->possibly += x[labels[n]] - other >= -share * (1.0 + size);
    }
}

static cnn_status run_part(vf_training *v, vf_pass *pass, bool test, int64_t first, double tilt, vf_batch_result *r,
                           double *lost, double *kept, cnn_error *err)
{
    const cnn_net *net = pass->net;
    const int64_t mb = net->batch;
    double loss = 0.0;
    double *images = malloc((size_t)pass->image_count * sizeof *images);
    int32_t *labels = malloc((size_t)mb * sizeof *labels);
    cnn_status status = CNN_OK;
    if (images == NULL || labels == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld images", (long long)mb);
    if (status == CNN_OK) status = take_images(v, test, first, mb, images, labels, err);
    if (status == CNN_OK) status = vf_pass_forward(pass, v->weights, images, labels, &loss, NULL, err);
    if (status == CNN_OK) {
        r->loss_sum += loss * (double)mb;
        add_answers(pass, labels, vf_training_share(&net->type), r, lost, kept);
    }
    if (status == CNN_OK && tilt > 0.0) vf_pass_tilt(pass, tilt);
    if (status == CNN_OK && !test) status = vf_pass_backward(pass, v->part, err);
    for (int64_t i = 0; status == CNN_OK && !test && i < net->param_elems; i++) v->grads[i] += v->part[i];
    free(images);
    free(labels);
    return status;
}

cnn_status vf_training_pass(vf_training *v, bool test, int64_t first, int64_t mb, int64_t update, double tilt,
                            vf_batch_result *r, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const int64_t most = mixes_images(net) && !test ? mb : PART;
    double lost = 0.0, kept = 0.0;
    cnn_status status = CNN_OK;
    *r = (vf_batch_result){0};
    memset(v->grads, 0, (size_t)net->param_elems * sizeof *v->grads);
    memcpy(v->running, v->weights, (size_t)net->param_elems * sizeof *v->running);
    for (int64_t done = 0, part; done < mb && status == CNN_OK; done += part) {
        cnn_net some;
        vf_pass pass;
        part = mb - done < most ? mb - done : most;
        status = resize(net, part, test, &some, err);
        if (status != CNN_OK) break;
        status = vf_pass_open(&pass, &some, v->pool, err);
        if (status == CNN_OK) {
            pass.first = done;
            pass.whole = mb;
            pass.step = (double)update;
            pass.running = v->running;
            status = run_part(v, &pass, test, first + done, tilt, r, &lost, &kept, err);
            vf_pass_close(&pass);
        }
        free((void *)(uintptr_t)some.layers);
    }
    const double unit = net->type.dtype == CNN_F64 ? 0x1p-53 : 0x1p-24;
    r->rounding = kept > 0.0 ? unit * sqrt(lost / kept) : (double)INFINITY;
    return status;
}
