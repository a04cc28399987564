/* test_fused_layout.c: how cuda_fused lays a network out, and that the networks that were compiled beforehand are still
 * laid out so. FUSED_WRITE=1 in the environment writes their texts anew. */
#include "harness/net/net.h"
#include "impl_cuda_fused/spread.h"
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 256, BLOCKS = 132, SHARED = 227 * 1024, TEXT = 1 << 15 };

static const struct {
    const char *name;
    int clusters; /* v3's largest that was compiled; a block alone for a network of two layers, which cannot be shared
                   */
} nets[] = {{"small", 2}, {"thesis", 2}, {"mlp_64", 1}};
enum { NETS = sizeof nets / sizeof *nets };

static cnn_network *load(const char *name, const char *text, int64_t batch)
{
    const cnn_type type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    cnn_network *network = NULL;
    cnn_error err;
    const cnn_status status = text != NULL ? cnn_net_build(name, text, &type, batch, 1, &network, &err)
                                           : cnn_net_load(name, &type, batch, 1, &network, &err);
    if (status != CNN_OK) fail_msg("%s", err.message);
    return network;
}

static void lay_out(const cnn_network *network, fused_net *net, fused_layout *l)
{
    cnn_error err;
    if (fused_stages(&network->net, net, &err) != CNN_OK) fail_msg("%s", err.message);
    if (fused_layout_of(net, THREADS, BLOCKS, SHARED, l, &err) != CNN_OK) fail_msg("%s", err.message);
}

static fused_spread spread_out(const cnn_network *network, int cluster)
{
    fused_net net;
    fused_spread spread;
    cnn_error err;
    if (fused_stages(&network->net, &net, &err) != CNN_OK) fail_msg("%s", err.message);
    if (fused_spread_of(&net, cluster, BLOCKS, SHARED, &spread, &err) != CNN_OK) fail_msg("%s", err.message);
    return spread;
}

/* The text is what impl_cuda_fused/nets/NAME.inc holds. */
static void is_there(const char *name, const char *text)
{
    static char there[TEXT];
    char path[128];
    (void)snprintf(path, sizeof path, "impl_cuda_fused/nets/%s.inc", name);
    assert_true(strlen(text) + 1 < TEXT);
    if (getenv("FUSED_WRITE") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    there[fread(there, 1, sizeof there - 1, file)] = '\0';
    fclose(file);
    if (strcmp(there, text) != 0) fail_msg("%s is not how it is laid out: run this with FUSED_WRITE=1", path);
}

static void nets_are_as_compiled(void **state)
{
    for (size_t i = 0; i < NETS; i++) {
        static char text[TEXT];
        char name[64], file[64];
        fused_net net;
        fused_layout l;
        cnn_network *network = load(nets[i].name, NULL, 100);
        lay_out(network, &net, &l);
        (void)snprintf(name, sizeof name, "fused_%s", nets[i].name);
        fused_source(&net, &l, name, text, sizeof text);
        is_there(nets[i].name, text);
        for (int cluster = 1; cluster <= nets[i].clusters; cluster++) {
            const fused_spread spread = spread_out(network, cluster);
            (void)snprintf(name, sizeof name, "fused_%s_%d", nets[i].name, cluster);
            (void)snprintf(file, sizeof file, "v3_%s_%d", nets[i].name, cluster);
            fused_spread_source(&net, &spread, name, text, sizeof text);
            is_there(file, text);
        }
        cnn_net_free(network);
    }
}

/* Each parameter has a slot of its own, and goes there and back. */
static void slots_are_distinct(void **state)
{
    for (size_t i = 0; i < NETS; i++) {
        fused_net net;
        fused_plan plan = {0};
        cnn_network *network = load(nets[i].name, NULL, 10);
        lay_out(network, &net, &plan.layout);
        plan.slots = plan.layout.slots;
        float *params = calloc((size_t)net.params, sizeof *params), *back = calloc((size_t)net.params, sizeof *back);
        float *slots = calloc((size_t)plan.slots, sizeof *slots);
        int64_t filled = 0;
        for (int p = 0; p < network->net.n_params; p++)
            for (int64_t k = 0; k < network->net.params[p].count; k++)
                params[network->net.params[p].offset + k] = (float)++filled;
        fused_to_slots(&net, &plan, params, slots);
        for (int64_t k = 0; k < plan.slots; k++) filled -= slots[k] != 0;
        assert_int_equal(filled, 0);
        fused_from_slots(&net, &plan, slots, back);
        assert_memory_equal(params, back, (size_t)net.params * sizeof *params);
        free(params);
        free(back);
        free(slots);
        cnn_net_free(network);
    }
}

/* In a cluster each parameter is some block's, the scores' biases every block's; no two weights of a block stand at one
 * place, and all stand among its weights. */
static void check_spread(const cnn_network *network, int cluster)
{
    fused_net net;
    cnn_error err;
    const fused_spread l = spread_out(network, cluster);
    if (fused_stages(&network->net, &net, &err) != CNN_OK) fail_msg("%s", err.message);
    int *params = calloc((size_t)(cluster * l.slots), sizeof *params), *at = calloc((size_t)l.slots, sizeof *at);
    int *back = calloc((size_t)l.slots, sizeof *back), *held = calloc((size_t)net.params, sizeof *held);
    int *there = calloc((size_t)l.weights, sizeof *there);
    fused_spread_slots(&net, &l, params, at, back);
    for (int k = 0; k < cluster * l.slots; k++) {
        assert_true(params[k] >= -1 && params[k] < net.params);
        assert_true((params[k] < 0) == (at[k % l.slots] < 0));
        if (params[k] >= 0) held[params[k]]++;
    }
    for (int k = 0; k < l.slots; k++) {
        assert_true(at[k] < l.forward && (back[k] < 0 || (back[k] >= l.forward && back[k] < l.weights)));
        if (at[k] >= 0) assert_int_equal(there[at[k]]++, 0);
        if (back[k] >= 0) assert_int_equal(there[back[k]]++, 0);
    }
    const int64_t shared = net.stages[net.n_stages - 1].b;
    for (int i = 0; i < network->net.n_params; i++)
        for (int64_t k = 0; k < network->net.params[i].count; k++) {
            const int64_t param = network->net.params[i].offset + k;
            assert_int_equal(held[param], param >= shared && param < shared + net.classes ? cluster : 1);
        }
    free(params);
    free(at);
    free(back);
    free(held);
    free(there);
}

static void clusters_share_all_parameters(void **state)
{
    cnn_network *thesis = load("thesis", NULL, 10), *small = load("small", NULL, 10);
    static const int clusters[] = {1, 2, 4, 5, 10};
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) check_spread(thesis, clusters[i]);
    check_spread(small, 1);
    check_spread(small, 2);
    cnn_net_free(thesis);
    cnn_net_free(small);
}

static void not_spread(const char *text, int cluster, const char *word)
{
    fused_net net;
    fused_spread l;
    cnn_error err = {.message = ""};
    cnn_network *network = load("test.net", text, 4);
    cnn_status status = fused_stages(&network->net, &net, &err);
    if (status == CNN_OK) status = fused_spread_of(&net, cluster, BLOCKS, SHARED, &l, &err);
    assert_int_equal(status, CNN_UNSUPPORTED);
    assert_message(err, word);
    cnn_net_free(network);
}

static void what_cannot_be_spread_is_refused_in_words(void **state)
{
    not_spread("input 1 8 8\nconv 4 kernel=3\nrelu\nfc 12\nrelu\nfc 10\nsoftmax_cross_entropy\n", 5, "value 1 has 4");
    not_spread("input 1 8 8\nconv 4 kernel=3\nrelu\nfc 10\nsoftmax_cross_entropy\n", 2, "one more between them");
    not_spread("input 4 8 8\nmax_pool kernel=2 stride=2\nconv 4 kernel=3\nfc 10\nsoftmax_cross_entropy\n", 2,
               "first and last layer");
    not_spread("input 1 28 28\nfc 625\nrelu\nfc 10\nsoftmax_cross_entropy\n", 1, "take v1");
}

static void refused(const char *text, const char *word)
{
    fused_net net;
    fused_layout l;
    cnn_error err = {.message = ""};
    cnn_network *network = load("test.net", text, 4);
    cnn_status status = fused_stages(&network->net, &net, &err);
    if (status == CNN_OK) status = fused_layout_of(&net, THREADS, BLOCKS, SHARED, &l, &err);
    assert_int_equal(status, CNN_UNSUPPORTED);
    assert_message(err, word);
    cnn_net_free(network);
}

static void what_does_not_fit_is_refused_in_words(void **state)
{
    refused("input 4 8 8\nconv 4 kernel=3 groups=2\nfc 10\nsoftmax_cross_entropy\n", "has groups");
    refused("input 1 8 8\nconv 4 kernel=3\nbatch_norm\nfc 10\nsoftmax_cross_entropy\n", "batch_norm");
    refused("input 1 8 8\nfc 10\ndropout 0.5\nsoftmax_cross_entropy\n", "no dropout");
    refused("input 1 28 28\nfc 625\nrelu\nfc 10\nsoftmax_cross_entropy\n", "take v1");
    refused("input 1 8 100\nconv 4 kernel=3\nfc 10\nsoftmax_cross_entropy\n", "up to 64 pixels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nets_are_as_compiled),
        cmocka_unit_test(slots_are_distinct),
        cmocka_unit_test(clusters_share_all_parameters),
        cmocka_unit_test(what_cannot_be_spread_is_refused_in_words),
        cmocka_unit_test(what_does_not_fit_is_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
