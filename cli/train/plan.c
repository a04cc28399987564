/* plan.c: the table that `benchcnn train --plan` prints. A step's FLOPs are those of the directions that the trainer
 * really runs: no data gradient for the first layer. */
#include "cli/table.h"
#include "harness/problem/problem.h"
#include "harness/problem/shape.h"
#include "parts.h"

static void print_layer(const trainer *t, const cnn_net *net, int index, double *forward, double *step)
{
    const cnn_layer *layer = &net->layers[index];
    const cnn_value *y = &net->values[layer->output];
    char shape[64], problem[CNN_PROBLEM_TEXT_MAX];
    const double fwd = cnn_flops(&layer->problem, CNN_FWD);
    int64_t params = 0;
    double all = 0.0;
    for (int i = 0; i < layer->n_params; i++) params += net->params[layer->params[i]].count;
    for (int dir = 0; dir < CNN_DIR_COUNT; dir++)
        if (trainer_algorithm(t, index, (cnn_dir)dir)[0] != '\0') all += cnn_flops(&layer->problem, (cnn_dir)dir);
    const bool in_place = layer->output == layer->inputs[0];
    const double bytes =
        (double)cnn_net_value_elems(net, layer->output, net->batch) * (double)cnn_dtype_size(net->type.dtype);
    snprintf(shape, sizeof shape, "%lld x %lld x %lld", (long long)y->c, (long long)y->h, (long long)y->w);
    cnn_problem_format(&layer->problem, problem);
    table_print(4, "%-24s %-16s %11lld %10.3f %10.3f %12.0f  %s%s\n", layer->name, shape, (long long)params, fwd * 1e-6,
                all * 1e-6, in_place ? 0.0 : bytes, problem, in_place ? "  (in place)" : "");
    *forward += fwd;
    *step += all;
}

static void print_memory(const trainer *t)
{
    const trainer_bytes m = trainer_memory(t);
    const struct {
        const char *what;
        size_t bytes;
    } rows[] = {{"images and labels", m.data},    {"values and gradients", m.values}, {"parameters", m.params},
                {"their gradients", m.grads},     {"optimizer state", m.optimizer},   {"workspace", m.workspace},
                {"labels, order, sums", m.small}, {"all, allocated once", m.total},   {"values on the host", m.offload},
                {"on the host besides", m.host}};
    printf("\nmemory\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].bytes > 0)
            printf("  %-22s %14zu bytes  %9.1f MB\n", rows[i].what, rows[i].bytes, (double)rows[i].bytes * 1e-6);
    if (m.apart > 0) printf("  values and gradients share memory; apart they take %.1f MB\n", (double)m.apart * 1e-6);
    int all = 0;
    const int beside = trainer_beside(t, &all);
    if (all > 0) printf("  2 streams: of %d operations of a training step %d are on the second\n", all, beside);
    if (m.params == 0) printf("  and what the trainer itself takes, which it says when it runs\n");
}

void train_print_plan(const trainer *t, const cnn_net *net)
{
    const cnn_value *x = &net->values[0];
    double forward = 0.0, step = 0.0;
    int64_t all = 0;
    for (int i = 0; i < net->n_params; i++) all += net->params[i].count;
    table_print(4, "network %s: images %lld x %lld x %lld, batch %lld, %lld classes, %s %s\n\n", net->name,
                (long long)x->c, (long long)x->h, (long long)x->w, (long long)net->batch, (long long)net->classes,
                cnn_dtype_name(net->type.dtype), cnn_layout_name(net->type.layout));
    table_print(4, "%-24s %-16s %11s %10s %10s %12s  %s\n", "layer", "output", "parameters", "MFLOP fwd", "MFLOP step",
                "bytes", "problem");
    for (int l = 0; l < net->n_layers; l++) print_layer(t, net, l, &forward, &step);
    table_print(4, "%-24s %-16s %11lld %10.3f %10.3f\n", "all", "", (long long)all, forward * 1e-6, step * 1e-6);
    table_print(4, "%lld parameters are trained; per image %.4f MFLOP forward, %.4f MFLOP a training step\n",
                (long long)cnn_net_trained_count(net), forward * 1e-6 / (double)net->batch,
                step * 1e-6 / (double)net->batch);
    print_memory(t);
}
