/* training_pass.c: a batch of a training run through the reference, in parts that workers take side by side. */
#include "training_step.h"
#include "verify/engine.h"

#include "harness/cpu/gather.h"
#include "harness/net/trainer.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Images of a part, where no layer mixes them: few, so that it stays in a core's caches. Parts that a worker has before
 * all of them are added up; elements that these take. */
enum { PART = 8, PARTS_A_WORKER = 4, GRADIENTS_MOST = 1 << 26 };

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

/* A batch, cut into parts that are computed at once, each by a worker alone. */
typedef struct batch_parts {
    const vf_training *v;
    bool test;
    int64_t first, mb, update; /* of the batch */
    double tilt;
    int64_t size, count, done; /* images of a part; parts at once; parts before these */
    thread_pool *inner;        /* for a part that is alone */
    struct one_part {
        vf_batch_result r;
        double lost, kept;
        cnn_status status;
        cnn_error err;
    } * parts;
    double *grads; /* of each of these, param_elems each */
} batch_parts;

static cnn_status pass_part(const batch_parts *b, vf_pass *pass, struct one_part *part, double *grads)
{
    const cnn_net *net = pass->net;
    const int64_t mb = net->batch;
    double loss = 0.0;
    double *images = malloc((size_t)pass->image_count * sizeof *images);
    int32_t *labels = malloc((size_t)mb * sizeof *labels);
    cnn_status status = CNN_OK;
    if (images == NULL || labels == NULL)
        status = CNN_FAIL(&part->err, CNN_OUT_OF_MEMORY, "no memory for %lld images", (long long)mb);
    if (status == CNN_OK) status = take_images(b->v, b->test, b->first + pass->first, mb, images, labels, &part->err);
    if (status == CNN_OK) status = vf_pass_forward(pass, b->v->weights, images, labels, &loss, NULL, &part->err);
    if (status == CNN_OK) {
        part->r.loss_sum = loss * (double)mb;
        add_answers(pass, labels, vf_training_share(&net->type), &part->r, &part->lost, &part->kept);
    }
    if (status == CNN_OK && b->tilt > 0.0) vf_pass_tilt(pass, b->tilt);
    if (status == CNN_OK && !b->test) status = vf_pass_backward(pass, grads, &part->err);
    free(images);
    free(labels);
    return status;
}

static void run_part(void *arg, int64_t task, int worker)
{
    const batch_parts *b = arg;
    const cnn_net *net = &b->v->network->net;
    const int64_t done = (b->done + task) * b->size, left = b->mb - done;
    struct one_part *part = &b->parts[task];
    cnn_net some;
    vf_pass pass;
    (void)worker;
    *part = (struct one_part){.status = CNN_OK};
    part->status = resize(net, left < b->size ? left : b->size, b->test, &some, &part->err);
    if (part->status != CNN_OK) return;
    part->status = vf_pass_open(&pass, &some, b->inner, &part->err);
    if (part->status == CNN_OK) {
        pass.first = done;
        pass.whole = b->mb;
        pass.step = (double)b->update;
        pass.loss_scale = b->v->loss_scale > 0.0 ? b->v->loss_scale : 1.0;
        pass.nudge = b->v->nudged > 0 ? ldexp(1.0, -21 + b->v->nudged) : 0.0;
        pass.rng = rng_stream((uint64_t)b->update << 8 | (uint64_t)b->v->nudged, (uint64_t)(b->first + done));
        pass.running = b->size >= b->mb ? b->v->running : NULL; /* nobody keeps any where images are not mixed */
        part->status = pass_part(b, &pass, part, b->grads + task * net->param_elems);
        vf_pass_close(&pass);
    }
    free((void *)(uintptr_t)some.layers);
}

/* Part by part, in their order: the same bits for any number of workers. */
static cnn_status add_parts(const batch_parts *b, vf_batch_result *r, double *lost, double *kept, cnn_error *err)
{
    const int64_t elems = b->v->network->net.param_elems;
    for (int64_t k = 0; k < b->count; k++) {
        const struct one_part *part = &b->parts[k];
        if (part->status != CNN_OK) {
            *err = part->err;
            return part->status;
        }
        r->loss_sum += part->r.loss_sum;
        r->surely += part->r.surely;
        r->possibly += part->r.possibly;
        *lost += part->lost;
        *kept += part->kept;
        for (int64_t i = 0; i < elems && !b->test; i++) b->v->grads[i] += b->grads[k * elems + i];
    }
    return CNN_OK;
}

/* One where gradients of several would take too much memory, or there are no more: then all work on it. */
static int64_t parts_at_once(const vf_training *v, int64_t all)
{
    const int64_t threads = thread_pool_threads(v->pool), many = PARTS_A_WORKER * threads;
    const int64_t fit = GRADIENTS_MOST / (v->network->net.param_elems + 1), most = fit < many ? fit : many;
    return most < threads ? 1 : all < most ? all : most;
}

cnn_status vf_training_pass(vf_training *v, bool test, int64_t first, int64_t mb, int64_t update, double tilt,
                            vf_batch_result *r, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const int64_t size = mixes_images(net) && !test ? mb : PART, all = (mb + size - 1) / size;
    const int64_t most = parts_at_once(v, all);
    batch_parts b = {.v = v, .test = test, .first = first, .mb = mb, .update = update, .tilt = tilt, .size = size};
    double lost = 0.0, kept = 0.0;
    cnn_status status = CNN_OK;
    *r = (vf_batch_result){0};
    memset(v->grads, 0, (size_t)net->param_elems * sizeof *v->grads);
    memcpy(v->running, v->weights, (size_t)net->param_elems * sizeof *v->running);
    b.inner = most > 1 ? NULL : v->pool;
    b.parts = malloc((size_t)most * sizeof *b.parts);
    b.grads = malloc(((size_t)most * (size_t)net->param_elems + 1) * sizeof *b.grads);
    if (b.parts == NULL || b.grads == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the gradients of %lld parts", (long long)most);
    for (; b.done < all && status == CNN_OK; b.done += b.count) {
        b.count = all - b.done < most ? all - b.done : most;
        parallel_for(most > 1 ? v->pool : NULL, b.count, run_part, &b);
        status = add_parts(&b, r, &lost, &kept, err);
    }
    free(b.parts);
    free(b.grads);
    const double unit = net->type.dtype == CNN_F64 ? 0x1p-53 : 0x1p-24;
    r->rounding = kept > 0.0 ? unit * sqrt(lost / kept) : (double)INFINITY;
    return status;
}
