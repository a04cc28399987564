/* test_net_repeat.c: `repeat N ... end` reads as if its lines were written out; names, errors, the ResNets made of it.
 */
#include "tests/unit.h"

#include "harness/net/net.h"

#include <stdio.h>
#include <stdlib.h>

static const cnn_type f32 = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};

static cnn_network *build(const char *text)
{
    cnn_network *n = NULL;
    cnn_error err = {.message = ""};
    if (cnn_net_build("test.net", text, &f32, 3, 1, &n, &err) != CNN_OK) fail_msg("%s", err.message);
    return n;
}

static void assert_same(const char *repeated, const char *written_out)
{
    cnn_network *a = build(repeated), *b = build(written_out);
    assert_int_equal(a->net.n_layers, b->net.n_layers);
    assert_int_equal(a->net.n_values, b->net.n_values);
    assert_int_equal(a->net.param_elems, b->net.param_elems);
    for (int l = 0; l < a->net.n_layers; l++) {
        const cnn_layer *x = &a->layers[l], *y = &b->layers[l];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->problem.name, y->problem.name);
        assert_int_equal(x->problem.op, y->problem.op);
        assert_int_equal(x->output, y->output);
        for (int i = 0; i < x->n_inputs; i++) assert_int_equal(x->inputs[i], y->inputs[i]);
        for (int k = 0; k < l; k++) assert_string_not_equal(x->name, a->layers[k].name);
    }
    float *pa = malloc((size_t)a->net.param_elems * sizeof *pa), *pb = malloc((size_t)a->net.param_elems * sizeof *pb);
    cnn_net_init_params(a, pa);
    cnn_net_init_params(b, pb);
    assert_memory_equal(pa, pb, (size_t)a->net.param_elems * sizeof *pa);
    free(pa);
    free(pb);
    cnn_net_free(a);
    cnn_net_free(b);
}

#define INPUT "input 2 6 6\n"
#define LAST "fc 3\nsoftmax_cross_entropy\n"

static void test_as_written_out(void **state)
{
    assert_same(INPUT "repeat 3\nconv 2 kernel=3 pad=1\nrelu\nend\n" LAST,
                INPUT "conv 2 kernel=3 pad=1\nrelu\nconv 2 kernel=3 pad=1\nrelu\nconv 2 kernel=3 pad=1\nrelu\n" LAST);
    assert_same(INPUT "repeat 1\ntanh\nend\n" LAST, INPUT "tanh\n" LAST);
    assert_same(INPUT "repeat 5\nend\n" LAST, INPUT LAST);
    assert_same(INPUT "repeat 2\nfc 4\nrepeat 3 # nested\n\nfc 5\nend\nrepeat 1\nelu\nend\nend\n" LAST,
                INPUT "fc 4\nfc 5\nfc 5\nfc 5\nelu\nfc 4\nfc 5\nfc 5\nfc 5\nelu\n" LAST);
    assert_same(INPUT "repeat 1\nfc 4\n" LAST "end", INPUT "fc 4\n" LAST); /* the loss may be in the only pass */
}

/* A pass saves under names of its own; those from outside are seen in it. */
static void test_saved_names(void **state)
{
    assert_same(INPUT "save x\nrelu\nrepeat 2\nsave block\nconv 2 kernel=1\nadd block\nadd x\nend\nsave block\n"
                      "conv 2 kernel=1\nadd block\n" LAST,
                INPUT "save x\nrelu\nsave a\nconv 2 kernel=1\nadd a\nadd x\nsave b\nconv 2 kernel=1\nadd b\nadd x\n"
                      "save c\nconv 2 kernel=1\nadd c\n" LAST);
    assert_same(INPUT "fc 6\nrepeat 2\nsave a\nrelu\nrepeat 2\nsave b\nfc 6\nadd b\nend\nend\n" LAST, INPUT
                "fc 6\nsave a\nrelu\nsave b\nfc 6\nadd b\nsave c\nfc 6\nadd c\nsave d\nrelu\nsave e\nfc 6\nadd e\n"
                "save f\nfc 6\nadd f\n" LAST);
}

static const struct {
    const char *text, *where, *words[2];
} refusals[] = {
    {INPUT "repeat\nrelu\nend\n" LAST, "test.net:2:", {"expected repeat N", "0 words"}},
    {INPUT "repeat two\nrelu\nend\n" LAST, "test.net:2:", {"the number of passes", "'two'"}},
    {INPUT "repeat 0\nrelu\nend\n" LAST, "test.net:2:", {"'0'", "from 1"}},
    {INPUT "repeat 1025\nrelu\nend\n" LAST, "test.net:2:", {"repeat 1025", "at most 1024 layers"}},
    {INPUT "repeat 2\nend 2\n" LAST, "test.net:3:", {"expected end", "1 word"}},
    {INPUT "end\n" LAST, "test.net:2:", {"no `repeat N` is open", ""}},
    {INPUT "relu\nrepeat 2\nrepeat 2\nrelu\nend\n" LAST, "test.net:3:", {"has no `end`", ""}},
    {INPUT "repeat 2\nrelu\n" LAST "end\n", "test.net:3:", {"after the loss", "in pass 2 of 2 of line 2's repeat"}},
    {INPUT "repaet 2\nrelu\nend\n" LAST, "test.net:2:", {"'repaet'", "did you mean repeat?"}},
    {INPUT "repeat 2\nrelu\nend\nrelly\n" LAST, "test.net:5:", {"'relly'", "did you mean relu?"}},
    {INPUT "repeat 4\nconv 2 kernel=3\nend\n" LAST, "test.net:3:", {"spans 3", "(in pass 3 of 4 of line 2's repeat)"}},
    {INPUT "repeat 2\nrepeat 9\nmax_pool kernel=2 stride=1\nend\nend\n" LAST,
     "test.net:4:",
     {"(in pass 1 of 2 of line 2's repeat, pass 6 of 9 of line 3's repeat)", ""}},
    {INPUT "repeat 2\nsave a\nrelu\nend\nadd a\n" LAST, "test.net:6:", {"'a' was saved in a repeat", "forgets"}},
    {INPUT "save a\nrepeat 2\nrelu\nsave a\nend\n" LAST, "test.net:5:", {"'a' is already saved", "in pass 1 of 2"}},
    {INPUT "repeat 1024\nrelu\nrelu\nrelu\nend\n" LAST, "test.net:4:", {"more than 1024 layers", "in pass 342"}},
    {INPUT "repeat 1024\nrepeat 1024\ninit default\nend\nend\n" LAST, "test.net:5:", {"more than 65536 lines", ""}},
    {INPUT "repeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrelu\n" LAST,
     "test.net:10:",
     {"more than 8 repeats", ""}},
};

static void test_refusals(void **state)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        cnn_network *n = NULL;
        cnn_error err = {.message = ""};
        if (cnn_net_build("test.net", refusals[i].text, &f32, 2, 1, &n, &err) == CNN_OK)
            fail_msg("accepted: %s", refusals[i].text);
        if (strncmp(err.message, refusals[i].where, strlen(refusals[i].where)) != 0)
            fail_msg("'%s' does not start with '%s'", err.message, refusals[i].where);
        for (int w = 0; w < 2; w++) assert_message(err, refusals[i].words[w]);
    }
}

/* Layers with weights on the longest way: 6n + 2; the shapes of the three stages; two projections. */
static void test_resnets(void **state)
{
    static const char *const names[] = {"resnet14", "resnet20"};
    for (int i = 0; i < 2; i++) {
        const int64_t n = 2 + i;
        int64_t convs[65] = {0}, projections = 0;
        cnn_network *net = NULL;
        cnn_error err = {.message = ""};
        if (cnn_net_load(names[i], &f32, 2, 1, &net, &err) != CNN_OK) fail_msg("%s", err.message);
        for (int l = 0; l < net->net.n_layers; l++) {
            const cnn_problem *p = &net->layers[l].problem;
            if (p->op != CNN_OP_CONV) continue;
            projections += p->u.conv.kh == 1;
            convs[p->u.conv.oc] += p->u.conv.kh == 3;
            const cnn_value *y = &net->values[net->layers[l].output];
            assert_int_equal(y->c * y->h, 16 * 32);
        }
        assert_int_equal(convs[16], 2 * n + 1);
        assert_int_equal(convs[32], 2 * n);
        assert_int_equal(convs[64], 2 * n);
        assert_int_equal(projections, 2);
        const int64_t first = 432 + 32 + n * (2 * 2304 + 64);
        const int64_t second = 4608 + 9216 + 128 + 512 + 64 + (n - 1) * (2 * 9216 + 128);
        const int64_t third = 18432 + 36864 + 256 + 2048 + 128 + (n - 1) * (2 * 36864 + 256);
        assert_int_equal(cnn_net_trained_count(&net->net), first + second + third + 650);
        cnn_net_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_written_out),
        cmocka_unit_test(test_saved_names),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_resnets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
