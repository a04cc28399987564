/* trainer.c: the table of cpu:exemplar. */
#include "exemplar.h"

#include "harness/cnn/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What it takes */

static cnn_status check_layers(const cnn_net *net, cnn_error *err)
{
    int weighted = 0;
    for (int l = 0; l < net->n_layers; l++) {
        const cnn_layer *layer = &net->layers[l];
        const cnn_op op = layer->problem.op;
        if (op != CNN_OP_FC && op != CNN_OP_ACT && op != CNN_OP_LOSS)
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "cpu:exemplar trains fc and activations; layer %s of network %s is %s", layer->name,
                            net->name, cnn_op_name(op));
        if (layer->inputs[0] != (l > 0 ? net->layers[l - 1].output : 0))
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "cpu:exemplar trains chains, where each layer reads the one before; layer %s of network "
                            "%s does not",
                            layer->name, net->name);
        weighted += op == CNN_OP_FC;
    }
    if (weighted > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:exemplar: network %s has no fc, so nothing to train", net->name);
}

static cnn_status exemplar_supports(cnn_context *context, const cnn_trainer_request *r, cnn_error *err)
{
    const cnn_type *t = &r->net->type;
    (void)context;
    if (t->math != CNN_MATH_F32 || t->weights != t->dtype || t->layout != CNN_NCHW)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cpu:exemplar trains in NCHW and computes in the dtype itself; %s, weights in %s, math %s were "
                        "asked for",
                        cnn_layout_name(t->layout), cnn_dtype_name(t->weights), cnn_math_name(t->math));
    if (r->optimizer->kind != CNN_SGD)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cpu:exemplar trains with sgd: the state of %s would have to be merged as well",
                        cnn_optimizer_name(r->optimizer->kind));
    return check_layers(r->net, err);
}

/* ---- Opening and closing */

static void exemplar_close(cnn_context *context, cnn_trainer *trainer)
{
    exemplar *t = (exemplar *)trainer;
    (void)context;
    free(t->memory);
    free(t);
}

static cnn_status exemplar_open(cnn_context *context, const cnn_trainer_request *r, cnn_trainer **out,
                                cnn_trainer_facts *facts, cnn_error *err)
{
    exemplar *t = calloc(1, sizeof *t);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:exemplar");
    t->head.table = &exemplar_trainers;
    t->cpu = (const cpu_context *)context;
    t->net = r->net;
    t->optimizer = *r->optimizer;
    t->workers = r->workers;
    t->share = cpu_ceil_div(r->net->batch, r->workers);
    t->n_workers = cpu_max(t->workers, t->cpu->threads);
    t->loss_sum = r->loss_sum;
    t->correct = r->correct;
    while (r->net->layers[t->first].problem.op != CNN_OP_FC) t->first++;
    facts->steps = 1;
    const cnn_status status = exemplar_allocate(t, &facts->bytes, err);
    if (status == CNN_OK)
        *out = (cnn_trainer *)t;
    else
        exemplar_close(context, (cnn_trainer *)t);
    return status;
}

/* ---- State */

static size_t trained_bytes(const exemplar *t)
{
    return (size_t)t->net->trained_elems * cnn_dtype_size(t->net->type.dtype);
}

static cnn_status exemplar_load(cnn_context *context, cnn_trainer *trainer, const cnn_train_state *s, cnn_error *err)
{
    exemplar *t = (exemplar *)trainer;
    (void)context, (void)err;
    memcpy(t->params, s->params, trained_bytes(t));
    t->step = s->step;
    return CNN_OK;
}

static cnn_status exemplar_save(cnn_context *context, cnn_trainer *trainer, cnn_train_state *s, cnn_error *err)
{
    const exemplar *t = (const exemplar *)trainer;
    (void)context, (void)err;
    if (s->params != NULL) memcpy(s->params, t->params, trained_bytes(t));
    if (s->grads != NULL) memcpy(s->grads, t->grads, trained_bytes(t));
    s->step = t->step;
    return CNN_OK;
}

/* ---- A batch: the workers' shares, then the merge */

typedef struct batch_job {
    exemplar *t;
    const cnn_images *images;
    int64_t first, mb, pieces, active;
    double lr;
} batch_job;

static int64_t share_of(const batch_job *b, int64_t worker)
{
    return cpu_min(b->t->share, b->mb - worker * b->t->share);
}

static void work(void *arg, int64_t task, int thread)
{
    const batch_job *b = arg;
    const exemplar *t = b->t;
    exemplar_worker *w = &t->worker[task];
    (void)thread;
    memcpy(w->params, t->params, trained_bytes(t));
    w->loss = 0, w->correct = 0;
    for (int64_t i = 0; i < share_of(b, task); i++) {
        exemplar_take(t, w, b->images, b->first + task * t->share + i);
        exemplar_forward(t, w, w->params);
        exemplar_train(t, w, b->lr);
    }
}

static void merge_piece(void *arg, int64_t task, int thread)
{
    const batch_job *b = arg;
    const exemplar *t = b->t;
    const int64_t n = t->net->trained_elems;
    exemplar_merge m = {.w = t->params,
                        .copies = t->copies,
                        .shares = t->shares,
                        .workers = b->active,
                        .first = n * task / b->pieces,
                        .last = n * (task + 1) / b->pieces};
    (void)thread;
    exemplar_merge_run(t->cpu, t->net->type.dtype, &m);
}

static void train_batch(batch_job *b)
{
    enum { PIECE = 1 << 14, PIECES = 16 };
    exemplar *t = b->t;
    b->active = cpu_ceil_div(b->mb, t->share);
    b->pieces = cpu_clamp(t->net->trained_elems / PIECE, 1, PIECES);
    parallel_for(t->cpu->pool, b->active, work, b);
    for (int64_t k = 0; k < b->active; k++) {
        t->copies[k] = t->worker[k].params;
        t->shares[k] = (double)share_of(b, k) / (double)b->mb;
        *t->loss_sum += t->worker[k].loss;
        *t->correct += t->worker[k].correct;
    }
    parallel_for(t->cpu->pool, b->pieces, merge_piece, b);
    t->step++;
}

static cnn_status exemplar_train_slot(cnn_context *context, cnn_trainer *trainer, const cnn_images *images,
                                      int64_t first, int64_t count, cnn_error *err)
{
    exemplar *t = (exemplar *)trainer;
    const cnn_optimizer_desc *o = &t->optimizer;
    (void)context, (void)err;
    for (int64_t mb; count > 0; first += mb, count -= mb) {
        mb = cpu_min(count, t->net->batch);
        batch_job b = {.t = t, .images = images, .first = first, .mb = mb, .lr = o->lr};
        if (o->decay_steps > 0) b.lr *= fmax(0.0, 1 - (double)t->step / o->decay_steps);
        train_batch(&b);
    }
    return CNN_OK;
}

/* ---- Test, and gradients */

enum { TEST_SHARE = 64, TEST_PARTS = 64 };

typedef struct test_job {
    exemplar *t;
    const cnn_images *images;
    int64_t first, count;
    double loss[TEST_PARTS]; /* one a task: they are added up in order */
    int64_t correct[TEST_PARTS];
} test_job;

static void test_share(void *arg, int64_t task, int thread)
{
    test_job *job = arg;
    exemplar *t = job->t;
    exemplar_worker *w = &t->worker[thread];
    w->loss = 0, w->correct = 0;
    for (int64_t i = task * TEST_SHARE; i < cpu_min(job->count, (task + 1) * TEST_SHARE); i++) {
        exemplar_take(t, w, job->images, job->first + i);
        exemplar_forward(t, w, t->params);
    }
    job->loss[task] = w->loss;
    job->correct[task] = w->correct;
}

static cnn_status exemplar_test(cnn_context *context, cnn_trainer *trainer, const cnn_images *images, int64_t first,
                                int64_t count, cnn_error *err)
{
    exemplar *t = (exemplar *)trainer;
    (void)context, (void)err;
    for (int64_t n; count > 0; first += n, count -= n) {
        n = cpu_min(count, TEST_SHARE * TEST_PARTS);
        test_job job = {.t = t, .images = images, .first = first, .count = n};
        const int64_t tasks = cpu_ceil_div(n, TEST_SHARE);
        parallel_for(t->cpu->pool, tasks, test_share, &job);
        for (int64_t i = 0; i < tasks; i++) {
            *t->loss_sum += job.loss[i];
            *t->correct += job.correct[i];
        }
    }
    return CNN_OK;
}

/* What verification asks for: in order, by the caller. */
static cnn_status exemplar_gradient_slot(cnn_context *context, cnn_trainer *trainer, const cnn_images *images,
                                         int64_t first, int64_t count, cnn_error *err)
{
    exemplar *t = (exemplar *)trainer;
    exemplar_worker *w = &t->worker[0];
    (void)context, (void)err;
    memset(t->grads, 0, trained_bytes(t));
    w->loss = 0, w->correct = 0;
    for (int64_t i = 0; i < count; i++) {
        exemplar_take(t, w, images, first + i);
        exemplar_forward(t, w, t->params);
        exemplar_gradients(t, w, 1.0 / (double)count);
    }
    *t->loss_sum += w->loss;
    *t->correct += w->correct;
    return CNN_OK;
}

const cnn_trainers exemplar_trainers = {.supports = exemplar_supports,
                                        .open = exemplar_open,
                                        .close = exemplar_close,
                                        .load = exemplar_load,
                                        .save = exemplar_save,
                                        .train = exemplar_train_slot,
                                        .test = exemplar_test,
                                        .gradients = exemplar_gradient_slot};
