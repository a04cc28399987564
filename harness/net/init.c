/* init.c: the initial parameters. Each weight tensor has a random stream of its own, and weights cross the interface in
 * one canonical order, so nothing but the seed and the network decides them. */
#include "harness/base/rng.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"
#include "net.h"

#include <string.h>

enum { WEIGHT_STREAM = 1000000 }; /* apart from the streams that shuffle (one an epoch, from 0) */

static void store(cnn_dtype dtype, void *params, int64_t index, double value)
{
    if (dtype == CNN_F32)
        ((float *)params)[index] = (float)value;
    else
        ((double *)params)[index] = value;
}

static double draw(cnn_rng *rng, net_init init, cnn_op op, const cnn_param *p)
{
    net_init_kind kind = init.kind;
    if (kind == NET_INIT_DEFAULT) kind = op == CNN_OP_CONV ? NET_INIT_KAIMING : NET_INIT_KAIMING_UNIFORM;
    switch (kind) {
    case NET_INIT_KAIMING:
        return rng_normal(rng) * sqrt(2.0 / (double)p->fan_in);
    case NET_INIT_XAVIER:
        return rng_real(rng, -1.0, 1.0) * sqrt(6.0 / (double)(p->fan_in + p->fan_out));
    case NET_INIT_UNIFORM:
        return rng_real(rng, init.low, init.high);
    default:
        return rng_real(rng, -1.0, 1.0) * sqrt(6.0 / (double)p->fan_in);
    }
}

void cnn_net_init_params(const cnn_network *network, void *params)
{
    const cnn_net *net = &network->net;
    memset(params, 0, (size_t)net->param_elems * cnn_param_size(net));
    for (int i = 0; i < net->n_params; i++) {
        const cnn_param *p = &net->params[i];
        cnn_rng rng = rng_stream(network->seed, WEIGHT_STREAM + (uint64_t)i);
        for (int64_t k = 0; k < p->count; k++) {
            double value = 0.0; /* most biases, beta, running mean */
            if (p->role == CNN_WEIGHT || (p->role == CNN_BIAS && network->inits[p->layer].biases))
                value = draw(&rng, network->inits[p->layer], net->layers[p->layer].problem.op, p);
            if (p->role == CNN_GAMMA || p->role == CNN_RUNNING_VAR) value = 1.0;
            store(cnn_params_dtype(net), params, p->offset + k, value);
        }
    }
}
