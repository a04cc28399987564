/* test_net_gradients.c: the gradients of whole networks against central differences of the loss, in float64, with every
 * way in which a value can be read more than once. Each parameter is checked by itself. */
#include "net_unit.h"

#include <math.h>
#include <stdio.h>

enum { BATCH = 3, CLASSES = 4 };
#define HEAD "fc 4\nsoftmax_cross_entropy\n"

/* Smooth activations almost everywhere, so that no difference straddles a kink. */
static const struct {
    const char *what, *text;
} nets[] = {
    {"a plain chain", "input 2 6 5\nconv 3 kernel=3x2 stride=2x1 pad=1 dilation=1x2\ntanh\nconv 4 kernel=2 bias=0\n"
                      "sigmoid\n" HEAD},
    {"a residual block", "input 1 5 5\nconv 3 kernel=3 pad=1\ntanh\nsave a\nconv 3 kernel=3 pad=1\nelu\n"
                         "conv 3 kernel=3 pad=1\nadd a\ntanh\n" HEAD},
    {"a value added to itself", "input 1 4 4\nconv 2 kernel=2\nsave a\nadd a\nsigmoid\n" HEAD},
    {"a value joined to itself", "input 1 4 4\nconv 2 kernel=2\ntanh\nsave a\nconcat a\nconv 2 kernel=2\n" HEAD},
    {"three readers", "input 1 5 5\nconv 3 kernel=3 pad=1\ntanh\nsave a\nconv 3 kernel=1\nadd a\nconcat a\n" HEAD},
    {"pooling adds to a gradient", "input 1 6 6\nconv 2 kernel=3 pad=1\ntanh\nsave a\n"
                                   "avg_pool kernel=3 stride=1 pad=1\nadd a\n" HEAD},
    {"max pooling adds to a gradient", "input 1 6 6\nconv 2 kernel=3 pad=1\ntanh\nsave a\n"
                                       "max_pool kernel=3 stride=1 pad=1\nconcat a\n" HEAD},
    {"an activation adds to a gradient", "input 1 4 4\nconv 2 kernel=2\nsave a\ntanh\nadd a\n" HEAD},
    {"dropout adds to a gradient", "input 1 5 5\nconv 4 kernel=2\nsave a\ndropout 0.5\nadd a\ntanh\n" HEAD},
    {"batch norm adds to a gradient", "input 1 5 5\nconv 2 kernel=2\ntanh\nsave a\nbatch_norm\nadd a\n" HEAD},
    {"fc adds to a gradient", "input 1 3 3\nfc 6\ntanh\nsave a\nfc 6\nadd a\ntanh\n" HEAD},
    {"batch norm of the images", "input 2 4 4\nbatch_norm\nconv 3 kernel=2\ntanh\n" HEAD},
    {"pooled images, joined", "input 2 4 4\nsave x\navg_pool kernel=3 stride=1 pad=1\nconcat x\nconv 2 kernel=3\n"
                              "tanh\n" HEAD},
    {"images joined to what is trained", "input 2 4 4\nsave x\nconv 2 kernel=3 pad=1\ntanh\nconcat x\ntanh\n" HEAD},
    {"global pooling, groups",
     "input 4 5 5\nconv 6 kernel=3 groups=2\nbatch_norm\nleaky_relu 0.3\nglobal_avg_pool\n" HEAD},
};

typedef struct problem {
    trainer *t;
    cnn_network *network;
    double *images, *params, *grads;
    int32_t labels[BATCH];
} problem;

static double loss_at(const problem *p, const double *params)
{
    double loss = 0;
    OK(trainer_set_params(p->t, params, err));
    OK(trainer_gradients(p->t, p->images, p->labels, BATCH, NULL, &loss, err));
    return loss;
}

/* Richardson's step: the error of two central differences cancels to the fourth order. */
static double difference(const problem *p, int64_t index)
{
    const double h = 1e-4, at = p->params[index];
    double d[2];
    for (int i = 0; i < 2; i++) {
        const double step = h * (i + 1);
        p->params[index] = at + step;
        const double above = loss_at(p, p->params);
        p->params[index] = at - step;
        d[i] = (above - loss_at(p, p->params)) / (2 * step);
    }
    p->params[index] = at;
    return (4 * d[0] - d[1]) / 3;
}

static void check_net(const cnn_session *session, const char *what, const char *text, cnn_layout layout)
{
    problem p = {.network = build_net(text, CNN_F64, layout, BATCH)};
    const cnn_net *net = &p.network->net;
    const int64_t pixels = cnn_net_value_elems(net, 0, BATCH);
    cnn_rng rng = rng_stream(5, 0);
    double loss = 0, worst = 0;
    p.t = open_trainer(session, p.network, NULL, "sgd");
    p.images = calloc((size_t)pixels, sizeof(double));
    p.params = calloc((size_t)net->param_elems, sizeof(double));
    p.grads = calloc((size_t)net->trained_elems, sizeof(double));
    for (int64_t i = 0; i < pixels; i++) p.images[i] = rng_normal(&rng);
    for (int i = 0; i < BATCH; i++) p.labels[i] = (int32_t)rng_int(&rng, 0, CLASSES - 1);
    OK(trainer_get_params(p.t, p.params, err));
    for (int i = 0; i < net->n_params; i++) /* biases too, away from 0 */
        for (int64_t k = 0; k < net->params[i].count && net->params[i].role < CNN_RUNNING_MEAN; k++)
            p.params[net->params[i].offset + k] += 0.1 * rng_normal(&rng);
    OK(trainer_set_params(p.t, p.params, err));
    OK(trainer_gradients(p.t, p.images, p.labels, BATCH, p.grads, &loss, err));
    assert_true(fabs(loss - loss_at(&p, p.params)) < 1e-14 * loss);
    for (int i = 0; i < net->n_params; i++) {
        const cnn_param *param = &net->params[i];
        if (param->role >= CNN_RUNNING_MEAN) continue;
        for (int64_t k = param->offset; k < param->offset + param->count; k++) {
            const double expected = difference(&p, k), off = fabs(p.grads[k] - expected);
            if (!(off <= 1e-9 + 1e-7 * fabs(expected)))
                fail_msg("%s: d loss / d %s[%lld] of %s is %.10g, differences say %.10g", what,
                         param->role == CNN_WEIGHT ? "weight" : "parameter", (long long)(k - param->offset),
                         net->layers[param->layer].name, p.grads[k], expected);
            worst = fmax(worst, off);
        }
    }
    print_message("%-36s worst difference %.1e\n", what, worst);
    trainer_close(p.t);
    cnn_net_free(p.network);
    free(p.images);
    free(p.params);
    free(p.grads);
}

static void test_gradients(void **state)
{
    cnn_session session;
    if (!open_session(&session, 2)) skip();
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++)
        check_net(&session, nets[i].what, nets[i].text, i % 2 == 0 ? CNN_NCHW : CNN_NHWC);
    cnn_session_close(&session);
}

/* Gradients leave parameters, running statistics and the step count as they are: twice the same. No bias before the
 * batch norm: it takes the mean off again, and that bias's gradient is what rounding leaves, exactly 0 on some
 * processors. */
static void test_gradients_change_nothing(void **state)
{
    cnn_session session;
    if (!open_session(&session, 2)) skip();
    cnn_network *n = build_net("input 1 5 5\nconv 4 kernel=2 bias=0\nbatch_norm\nrelu\ndropout 0.3\n" HEAD, CNN_F64,
                               CNN_NCHW, BATCH);
    trainer *t = open_trainer(&session, n, NULL, "adam");
    const size_t params = (size_t)n->net.param_elems * sizeof(double),
                 grads = (size_t)n->net.trained_elems * sizeof(double);
    double *before = malloc(params), *after = malloc(params), *first = malloc(grads), *second = malloc(grads);
    double images[BATCH * 25], losses[3];
    const int32_t labels[BATCH] = {0, 3, 1};
    for (int i = 0; i < BATCH * 25; i++) images[i] = sin(i);
    OK(trainer_get_params(t, before, err));
    OK(trainer_gradients(t, images, labels, BATCH, first, &losses[0], err));
    OK(trainer_gradients(t, images, labels, BATCH, second, &losses[1], err));
    OK(trainer_get_params(t, after, err));
    assert_memory_equal(first, second, grads);
    assert_memory_equal(before, after, params);
    assert_true(losses[0] == losses[1]);

    OK(trainer_step(t, images, labels, BATCH, &losses[2], NULL, err)); /* and a step changes them all */
    OK(trainer_get_params(t, after, err));
    assert_true(losses[2] == losses[0]);
    for (int i = 0; i < n->net.n_params; i++) assert_true(before[n->params[i].offset] != after[n->params[i].offset]);
    OK(trainer_set_params(t, NULL, err));
    OK(trainer_get_params(t, after, err));
    assert_memory_equal(before, after, params);
    free(before);
    free(after);
    free(first);
    free(second);
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradients_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
