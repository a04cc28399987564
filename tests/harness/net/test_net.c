/* test_net.c: networks from text: what is refused and how, shapes, parameters, what works in place, initial weights. */
#include "tests/unit.h"

#include "harness/net/net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32},
                      f64 = {CNN_F64, CNN_F64, CNN_NHWC, CNN_MATH_F32};

static cnn_network *build(const char *text, const cnn_type *type, int64_t batch, uint64_t seed)
{
    cnn_network *n = NULL;
    cnn_error err = {.message = ""};
    if (cnn_net_build("test.net", text, type, batch, seed, &n, &err) != CNN_OK) fail_msg("%s", err.message);
    return n;
}

static const struct {
    const char *text, *where, *words[2];
} refusals[] = {
    {"", "test.net", {"ends without a loss", "softmax_cross_entropy"}},
    {"input 1 28 28\n", "test.net", {"ends without a loss", ""}},
    {"# a\n\nconv 3 kernel=3\n", "test.net:3:", {"expected input", "'conv'"}},
    {"input 1 28\n", "test.net:1:", {"expected input C H W", "2 words"}},
    {"input 1 x 28\n", "test.net:1:", {"height", "'x'"}},
    {"input 1 0 28\n", "test.net:1:", {"height", "'0'"}},
    {"input 1 99999999999999999999 28\n", "test.net:1:", {"99999999999999999999", "height"}},
    {"input 1 8 8\ninput 1 8 8\n", "test.net:2:", {"second input", ""}},
    {"input 1 8 8\nleaky_rely 0.01\n", "test.net:2:", {"'leaky_rely'", "did you mean leaky_relu?"}},
    {"input 1 8 8\nxyzzy\n", "test.net:2:", {"'xyzzy'", "expected a layer"}},
    {"input 1 8 8\nconv 4\n", "test.net:2:", {"kernel=", ""}},
    {"input 1 8 8\nconv 4 kernl=3\n", "test.net:2:", {"'kernl=3'", "did you mean kernel=?"}},
    {"input 1 8 8\nconv 4 kernel\n", "test.net:2:", {"kernel=VALUE", "'kernel'"}},
    {"input 1 8 8\nconv 4 kernel=3y3\n", "test.net:2:", {"'3y3'", "kernel"}},
    {"input 1 8 8\nconv 4 kernel=3x\n", "test.net:2:", {"integer", "kernel"}},
    {"input 1 8 8\nconv 4 kernel=3 stride=0\n", "test.net:2:", {"stride", "'0'"}},
    {"input 1 8 8\nconv 4 kernel=3 dilation=0\n", "test.net:2:", {"dilation", "'0'"}},
    {"input 1 8 8\nconv 4 kernel=3 pad=-1\n", "test.net:2:", {"pad", "'-1'"}},
    {"input 1 8 8\nconv 4 kernel=3 bias=2\n", "test.net:2:", {"bias", "2"}},
    {"input 3 8 8\nconv 4 kernel=3 groups=2\n", "test.net:2:", {"groups=2", "3 input and 4 output"}},
    {"input 1 8 8\nconv 4 kernel=9\n", "test.net:2:", {"spans 9", "8"}},
    {"input 1 8 9\nconv 4 kernel=3x4 dilation=3\n", "test.net:2:", {"along w", "spans 10"}},
    {"input 1 8 8\nfc 0\n", "test.net:2:", {"outputs", "'0'"}},
    {"input 1 8 8\nfc ten\n", "test.net:2:", {"outputs", "'ten'"}},
    {"input 2147483647 4 4\nconv 2147483647 kernel=4\n", "test.net:2:", {"overflow", "2147483647 filters of"}},
    {"input 2147483647 2147483647 2147483647\nfc 10\n", "test.net:2:", {"overflow", "2147483647"}},
    {"input 1 8 8\nrelu 1\n", "test.net:2:", {"expected relu", "1 word"}},
    {"input 1 8 8\nelu -1\n", "test.net:2:", {"elu -1", "negative"}},
    {"input 1 8 8\nelu nan\n", "test.net:2:", {"'nan'", "number"}},
    {"input 1 8 8\nmax_pool\n", "test.net:2:", {"kernel=", "max_pool"}},
    {"input 1 8 8\nmax_pool kernel=2 pad=2\n", "test.net:2:", {"pad=2", "padding"}},
    {"input 1 8 8\nglobal_avg_pool kernel=2\n", "test.net:2:", {"global_avg_pool", "1 word"}},
    {"input 1 8 8\ndropout\n", "test.net:2:", {"dropout RATE", "0 words"}},
    {"input 1 8 8\ndropout 1\n", "test.net:2:", {"below 1", "is 1"}},
    {"input 1 8 8\nbatch_norm eps=0\n", "test.net:2:", {"eps is 0", "greater"}},
    {"input 1 8 8\nbatch_norm momentum=2\n", "test.net:2:", {"momentum is 2", "1"}},
    {"input 1 8 8\nsave a\nadd b\n", "test.net:3:", {"nothing is saved as 'b'", ""}},
    {"input 1 8 8\nsave block\nadd blok\n", "test.net:3:", {"'blok'", "did you mean 'block'?"}},
    {"input 1 8 8\nsave a\nrelu\nsave a\n", "test.net:4:", {"'a' is already saved", ""}},
    {"input 1 8 8\nsave a\nconv 2 kernel=1\nadd a\n", "test.net:4:", {"1 x 8 x 8", "2 x 8 x 8"}},
    {"input 1 8 8\nfrom a\n", "test.net:2:", {"nothing is saved as 'a'", ""}},
    {"input 1 8 8\nsave a\nrelu\nfrom a\n", "test.net:4:", {"save it before going back to 'a'", ""}},
    {"input 1 8 8\nsave a\nrelu\nsave b\nfrom a\nfc 3\nsoftmax_cross_entropy\n",
     "test.net:",
     {"nothing reads what is saved as 'b'", "add or concat it"}},
    {"input 1 8 8\nsave a\nconv 2 kernel=2\nconcat a\n", "test.net:4:", {"1 x 8 x 8", "2 x 7 x 7"}},
    {"init kaming\n", "test.net:1:", {"'kaming'", "'kaiming'"}},
    {"init uniform\n", "test.net:1:", {"init uniform A", ""}},
    {"init uniform 1/x\n", "test.net:1:", {"'1/x'", "a number"}},
    {"init uniform 1/0\n", "test.net:1:", {"'1/0'", "a number"}},
    {"init uniform 0.2 -0.1\n", "test.net:1:", {"0.2 -0.1", "lower bound first"}},
    {"init uniform -0.1 0.1 0.2\n", "test.net:1:", {"'0.2'", ""}},
    {"init uniform 0.1 bias=2\n", "test.net:1:", {"bias is 2", "0 or 1"}},
    {"input 1 8 8\nscale\n", "test.net:2:", {"expected scale A", "0 words"}},
    {"init kaiming 1\n", "test.net:1:", {"init kaiming", "nothing more"}},
    {"input 1 8 8\nsoftmax_cross_entropy\n", "test.net:2:", {"1 x 8 x 8", "fc or a global_avg_pool"}},
    {"input 1 8 8\nfc 3\nsoftmax_cross_entropy\nrelu\n", "test.net:4:", {"'relu'", "last"}},
    {"input 1 8 8\nfc 1 2 3 4 5 6 7 8 9 a b c d e f g h\n", "test.net:2:", {"words", ""}},
};

static void test_refusals(void **state)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        cnn_network *n = NULL;
        cnn_error err = {.message = ""};
        if (cnn_net_build("test.net", refusals[i].text, &f32, 2, 1, &n, &err) == CNN_OK)
            fail_msg("accepted: %s", refusals[i].text);
        assert_null(n);
        if (strncmp(err.message, refusals[i].where, strlen(refusals[i].where)) != 0)
            fail_msg("'%s' does not start with '%s'", err.message, refusals[i].where);
        for (int w = 0; w < 2; w++) assert_message(err, refusals[i].words[w]);
    }
    cnn_network *n = NULL;
    cnn_error err;
    assert_int_equal(cnn_net_build("a", "input 1 2 2\nfc 2\nsoftmax_cross_entropy", &f32, 0, 1, &n, &err),
                     CNN_BAD_ARGUMENT);
    assert_message(err, "batch is 0");
}

static void test_thesis(void **state)
{
    static const int64_t sizes[] = {16, 16, 8, 8, 4, 4};
    cnn_network *n = NULL;
    cnn_error err = {.message = ""};
    if (cnn_net_load("thesis", &f32, 100, 1, &n, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_string_equal(n->net.name, "thesis");
    assert_int_equal(n->net.n_layers, 8);
    assert_int_equal(n->net.classes, 10);
    for (int l = 0; l < 6; l++) {
        const cnn_value *y = &n->values[n->layers[l].output];
        assert_int_equal(y->c, 20);
        assert_int_equal(y->h, sizes[l]);
        assert_int_equal(y->w, sizes[l]);
        if (l % 2 == 1) assert_int_equal(n->layers[l].output, n->layers[l].inputs[0]); /* in place */
    }
    /* (1*16 + 1)*20 + 2*(20*16 + 1)*20 + (320 + 1)*10 */
    assert_int_equal(cnn_net_trained_count(&n->net), 340 + 2 * 6420 + 3210);
    const cnn_conv_desc *d = &n->layers[2].problem.u.conv;
    assert_int_equal(d->dh, 2);
    assert_int_equal(d->ph, 4);
    assert_int_equal(d->ph_r, 4);
    assert_int_equal(d->mb, 100);
    assert_string_equal(n->layers[2].problem.name, "thesis_conv2");
    cnn_net_free(n);
}

static void test_losses(void **state)
{
    static const struct {
        const char *word;
        cnn_loss_kind kind;
    } losses[] = {{"softmax_cross_entropy", CNN_LOSS_CROSS_ENTROPY},
                  {"quadratic", CNN_LOSS_QUADRATIC},
                  {"softmax_quadratic", CNN_LOSS_SOFTMAX_QUADRATIC}};
    for (int i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof text, "input 1 2 2\nfc 3\n%s\n", losses[i].word);
        cnn_network *n = build(text, &f32, 2, 1);
        assert_int_equal(n->layers[1].problem.u.loss.kind, losses[i].kind);
        assert_int_equal(n->net.classes, 3);
        cnn_net_free(n);
    }
}

static void test_other_nets(void **state)
{
    static const struct {
        const char *name;
        int64_t trained;
    } nets[] = {{"gorgonia", 288 + 18432 + 73728 + 1152 * 625 + 6250},
                {"awnn_resnet", 448 + 6 * 2320 + 170},
                {"projection", 72 + 2 * 576 + 3 * 16 + 1152 + 2304 + 128 + 3 * 32 + 170},
                {"karv_mlp", 785 * 100 + 101 * 10},
                {"every_layer", -1}};
    for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++) {
        cnn_network *n = NULL;
        cnn_error err = {.message = ""};
        if (cnn_net_load(nets[i].name, &f64, 3, 1, &n, &err) != CNN_OK) fail_msg("%s", err.message);
        if (nets[i].trained >= 0) assert_int_equal(cnn_net_trained_count(&n->net), nets[i].trained);
        cnn_net_free(n);
    }
    cnn_network *n = NULL;
    cnn_error err;
    assert_int_not_equal(cnn_net_load("thesys", &f32, 1, 1, &n, &err), CNN_OK);
    assert_message(err, "did you mean 'thesis'?");
    assert_int_not_equal(cnn_net_load("none/thesis.net", &f32, 1, 1, &n, &err), CNN_OK);
    assert_message(err, "none/thesis.net");
}

/* In place only after conv, fc, batch_norm and add, and only where nobody else reads the value. */
static void test_in_place(void **state)
{
    static const struct {
        const char *text;
        bool in_place; /* the last layer before the fc */
    } cases[] = {
        {"relu\n", false}, /* of the images */
        {"conv 2 kernel=1\nrelu\n", true},
        {"fc 4\ntanh\n", true},
        {"batch_norm\nsigmoid\n", true},
        {"save a\nadd a\nelu\n", true},
        {"conv 2 kernel=1\nsave a\nrelu\n", false},
        {"conv 2 kernel=1\nsave a\ntanh\nsave b\nfrom a\nadd b\nrelu\n", true},
        {"conv 2 kernel=1\nsave a\ntanh\nadd a\nsave b\nfrom a\nconcat b\n", false},
        {"conv 2 kernel=1\nsave a\ntanh\nsave b\nfrom b\nadd a\nsave c\nfrom c\nrelu\n", false},
        {"conv 2 kernel=1\nrelu\nrelu\n", false}, /* the first one needs its own y */
        {"max_pool kernel=2\nrelu\n", false},     /* pooling compares x with y */
        {"dropout 0.5\nrelu\n", false},
        {"save a\nconcat a\nrelu\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "input 1 4 4\n%sfc 3\nsoftmax_cross_entropy\n", cases[i].text);
        cnn_network *n = build(text, &f32, 2, 1);
        const cnn_layer *act = &n->layers[n->net.n_layers - 3];
        if ((act->output == act->inputs[0]) != cases[i].in_place) fail_msg("in place is wrong: %s", cases[i].text);
        cnn_net_free(n);
    }
}

/* Aligned offsets without overlap, the trained ones first, the running statistics behind. */
static void test_param_layout(void **state)
{
    static const char text[] = "input 3 5 5\nconv 5 kernel=3\nbatch_norm\nrelu\nconv 7 kernel=2 bias=0\nbatch_norm\n"
                               "global_avg_pool\nfc 3\nsoftmax_cross_entropy\n";
    const cnn_type types[] = {f32, f64};
    for (int t = 0; t < 2; t++) {
        cnn_network *n = build(text, &types[t], 2, 1);
        const int64_t elem = types[t].dtype == CNN_F32 ? 4 : 8;
        assert_int_equal(n->net.n_params, 2 + 4 + 1 + 4 + 2);
        assert_int_equal(cnn_net_trained_count(&n->net), 135 + 5 + 10 + 140 + 14 + 21 + 3);
        for (int i = 0; i < n->net.n_params; i++) {
            const cnn_param *p = &n->params[i];
            const bool running = p->role == CNN_RUNNING_MEAN || p->role == CNN_RUNNING_VAR;
            assert_int_equal(p->offset * elem % CNN_ALIGN, 0);
            assert_true(running == (p->offset >= n->net.trained_elems));
            assert_true(p->offset + p->count <= n->net.param_elems);
            for (int k = 0; k < i; k++)
                assert_true(n->params[k].offset + n->params[k].count <= p->offset ||
                            p->offset + p->count <= n->params[k].offset);
        }
        for (int l = 0; l < n->net.n_layers; l++)
            for (int i = 0; i < n->layers[l].n_params; i++)
                assert_int_equal(n->params[n->layers[l].params[i]].layer, l);
        cnn_net_free(n);
    }
}

static void test_initial_weights(void **state)
{
    static const char text[] = "input 8 9 9\nconv 64 kernel=3\nrelu\nfc 30\nrelu\ninit uniform 0.1\nfc 10\n"
                               "softmax_cross_entropy\n";
    cnn_network *a = build(text, &f32, 2, 5), *b = build(text, &f64, 9, 5), *c = build(text, &f64, 9, 6);
    float *pa = calloc((size_t)a->net.param_elems, sizeof *pa);
    double *pb = calloc((size_t)b->net.param_elems, sizeof *pb), *pc = calloc((size_t)c->net.param_elems, sizeof *pc);
    cnn_net_init_params(a, pa);
    cnn_net_init_params(b, pb);
    cnn_net_init_params(c, pc);
    for (int i = 0; i < a->net.n_params; i++) {
        const cnn_param *p = &a->params[i], *q = &b->params[i];
        double square = 0, most = 0;
        for (int64_t k = 0; k < p->count; k++) {
            assert_true(pa[p->offset + k] == (float)pb[q->offset + k]); /* neither dtype, layout nor batch matter */
            square += pb[q->offset + k] * pb[q->offset + k];
            most = fmax(most, fabs(pb[q->offset + k]));
        }
        const double sigma = sqrt(square / (double)p->count);
        if (p->role == CNN_BIAS)
            assert_true(most == 0);
        else
            assert_true(pb[q->offset] != pc[q->offset]);
        if (i == 0) assert_true(fabs(sigma / sqrt(2.0 / 72.0) - 1) < 0.05); /* Kaiming normal */
        if (i == 2) assert_true(fabs(most / sqrt(6.0 / (64 * 49)) - 1) < 0.01 && most < sqrt(6.0 / (64 * 49)));
        if (i == 4) assert_true(most > 0.09 && most <= 0.1);
    }
    free(pa);
    free(pb);
    free(pc);
    cnn_net_free(a);
    cnn_net_free(b);
    cnn_net_free(c);
}

/* Two bounds, as fractions, of weights and biases alike; and the layers between. */
static void test_karv(void **state)
{
    cnn_network *n = NULL;
    cnn_error err = {.message = ""};
    if (cnn_net_load("karv_mlp", &f64, 1, 1, &n, &err) != CNN_OK) fail_msg("%s", err.message);
    double *values = calloc((size_t)n->net.param_elems, sizeof *values);
    assert_non_null(values);
    cnn_net_init_params(n, values);
    for (int i = 0; i < n->net.n_params; i++) {
        const cnn_param *p = &n->params[i];
        const double bound = 0.1 / (i < 2 ? 101 : 10);
        double least = INFINITY, most = -INFINITY;
        for (int64_t k = 0; k < p->count; k++) {
            least = fmin(least, values[p->offset + k]);
            most = fmax(most, values[p->offset + k]);
        }
        assert_true(least >= -bound && most < bound && least < -0.6 * bound && most > 0.6 * bound);
    }
    assert_true(n->layers[0].problem.u.act.alpha == 255.0 / 785.0);
    assert_true(n->layers[2].problem.u.act.kind == CNN_ACT_ELU && n->layers[2].problem.u.act.alpha == 0.5);
    free(values);
    cnn_net_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_thesis),   cmocka_unit_test(test_other_nets),
        cmocka_unit_test(test_losses),          cmocka_unit_test(test_in_place), cmocka_unit_test(test_param_layout),
        cmocka_unit_test(test_initial_weights), cmocka_unit_test(test_karv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
