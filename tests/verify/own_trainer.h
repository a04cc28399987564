/* own_trainer.h: a trainer of an implementation's own, as a plug-in may have one, with a flaw or none. Its steps are
 * those of another trainer, made of single operations of the CPU. Batches of OWN_BATCH images, f32, SGD of own_rate. */
#ifndef TESTS_VERIFY_OWN_TRAINER_H
#define TESTS_VERIFY_OWN_TRAINER_H

#include "tests/harness/net/train_shift_unit.h"

typedef enum step_flaw {
    STEP_RIGHT,
    STEP_INVENTS_LOSS,
    STEP_RESTS,
    STEP_HALF,
    STEP_ZEROS,
    STEP_COARSE, /* too little for the composition to notice */
    STEP_UPDATES_TWICE,
    STEP_COUNTS_TWICE,
    TEST_IS_STALE,
    STEP_FLAWS
} step_flaw;

static const char *const step_reasons[STEP_FLAWS] = {"",
                                                     "the loss",
                                                     "the gradient of the weight",
                                                     "the gradient of the weight",
                                                     "an updated parameter",
                                                     "the gradient of the weight",
                                                     "an updated parameter",
                                                     "it is not one update",
                                                     "test step"};

enum { OWN_BATCH = 10, OWN_ROW = 64 };
static const float own_rate = 0.1f;

struct cnn_trainer {
    cnn_session session;
    cnn_network network;
    trainer *inner;            /* made of single operations; it takes single steps */
    trainer_state now, loaded; /* what stands between two steps; and what was loaded last */
    double *loss_sum;
    int64_t *correct;
    int64_t steps;
    float images[OWN_BATCH * OWN_ROW];
    int32_t labels[OWN_BATCH];
};
static step_flaw step_present;

static cnn_status own_supports(cnn_context *c, const cnn_trainer_request *request, cnn_error *why) { return CNN_OK; }

static cnn_status own_open(cnn_context *c, const cnn_trainer_request *request, cnn_trainer **out,
                           cnn_trainer_facts *facts, cnn_error *why)
{
    const trainer_params params = {.optimizer = *request->optimizer};
    cnn_trainer *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->session = session_of(cnn_impl_cpu());
    t->network = (cnn_network){.net = *request->net};
    t->network.inits = calloc((size_t)request->net->n_layers, sizeof *t->network.inits);
    t->loss_sum = request->loss_sum;
    t->correct = request->correct;
    OK(trainer_open(&t->session, &t->network, NULL, &params, &t->inner, err));
    OK(trainer_start(t->inner, err));
    OK(trainer_state_make(t->inner, &t->now, err));
    OK(trainer_state_make(t->inner, &t->loaded, err));
    *out = t;
    *facts = (cnn_trainer_facts){.steps = 1};
    return CNN_OK;
}

static void own_close(cnn_context *c, cnn_trainer *t)
{
    trainer_state_free(&t->now);
    trainer_state_free(&t->loaded);
    trainer_close(t->inner);
    cnn_session_close(&t->session);
    free(t->network.inits);
    free(t);
}

static cnn_status own_load(cnn_context *c, cnn_trainer *t, const cnn_train_state *s, cnn_error *why)
{
    const trainer_state state = {.own = *s};
    OK(trainer_state_put(t->inner, &state, err));
    OK(trainer_state_get(t->inner, &t->now, err));
    OK(trainer_state_get(t->inner, &t->loaded, err));
    return CNN_OK;
}

static cnn_status own_save(cnn_context *c, cnn_trainer *t, cnn_train_state *s, cnn_error *why)
{
    const cnn_net *net = &t->network.net;
    if (s->params != NULL) memcpy(s->params, t->now.own.params, (size_t)net->param_elems * sizeof(float));
    if (s->grads != NULL) memcpy(s->grads, t->now.own.grads, (size_t)net->trained_elems * sizeof(float));
    s->step = t->now.own.step;
    return CNN_OK;
}

static double own_infer(cnn_trainer *t, const trainer_state *state, int64_t mb)
{
    double loss;
    int64_t correct;
    OK(trainer_state_put(t->inner, state, err));
    OK(trainer_infer(t->inner, t->images, t->labels, mb, &loss, &correct, err));
    *t->correct += correct;
    return loss * (double)mb;
}

static void own_test_batch(cnn_trainer *t, int64_t mb)
{
    *t->loss_sum += own_infer(t, step_present == TEST_IS_STALE ? &t->loaded : &t->now, mb);
}

static void own_step(cnn_trainer *t, int64_t mb)
{
    const step_flaw f = t->steps++ > 3 ? step_present : STEP_RIGHT;
    const int64_t trained = t->network.net.trained_elems;
    float *params = t->now.own.params;
    const double loss = own_infer(t, &t->now, mb);
    *t->loss_sum += f == STEP_INVENTS_LOSS ? 0.01 * (double)mb : loss;
    if (f == STEP_RESTS) {
        t->now.own.step++;
        return;
    }
    if (f == STEP_HALF) /* the second half of the batch is the first once more */
        memcpy(t->images + mb / 2 * OWN_ROW, t->images, (size_t)(mb / 2 * OWN_ROW) * sizeof(float));
    OK(trainer_step(t->inner, t->images, t->labels, mb, NULL, NULL, err));
    OK(trainer_state_get(t->inner, &t->now, err));
    if (f == STEP_ZEROS) memset(params, 0, (size_t)trained * sizeof *params);
    for (int64_t i = 0; f == STEP_COARSE && i < trained; i++) {
        const float more = 0.004f * ((const float *)t->now.own.grads)[i];
        ((float *)t->now.own.grads)[i] += more;
        params[i] -= own_rate * more;
    }
    if (f == STEP_COUNTS_TWICE) t->now.own.step++;
    for (int64_t i = 0; f == STEP_UPDATES_TWICE && i < trained; i++)
        params[i] -= own_rate * ((const float *)t->now.own.grads)[i];
}

static cnn_status own_pass(cnn_trainer *t, void (*take)(cnn_trainer *, int64_t), const cnn_images *images,
                           int64_t first, int64_t count)
{
    const float *rows = images->rows;
    for (int64_t end = first + count; first < end; first += OWN_BATCH) {
        const int64_t mb = end - first < OWN_BATCH ? end - first : OWN_BATCH;
        for (int64_t i = 0; i < mb; i++) {
            memcpy(t->images + i * OWN_ROW, rows + (int64_t)images->order[first + i] * OWN_ROW,
                   OWN_ROW * sizeof(float));
            t->labels[i] = images->labels[images->order[first + i]];
        }
        take(t, mb);
    }
    return CNN_OK;
}

static cnn_status own_train(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count,
                            cnn_error *why)
{
    return own_pass(t, own_step, images, first, count);
}

static cnn_status own_test(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count,
                           cnn_error *why)
{
    return own_pass(t, own_test_batch, images, first, count);
}

static cnn_status own_gradients(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count,
                                cnn_error *why)
{
    return CNN_FAIL(why, CNN_INTERNAL, "a trainer with data is asked for no gradients");
}

static const cnn_trainers own_trainers = {.supports = own_supports,
                                          .open = own_open,
                                          .close = own_close,
                                          .load = own_load,
                                          .save = own_save,
                                          .train = own_train,
                                          .test = own_test,
                                          .gradients = own_gradients};
static const cnn_algorithm own_row = {.name = "steps", .doc = "single steps", .ops = CNN_TRAINS};

#endif
