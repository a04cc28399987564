/* fuse.c: which activations are epilogues of the layer before them: conv or FC, whose output they would change in
 * place. */
#include "harness/cnn/half.h"
#include "harness/problem/shape.h"
#include "parts.h"

#include <string.h>

/* Sums and updates belong to no layer of a network. */
const char *step_algorithm(const trainer_params *params, int layer, cnn_dir dir)
{
    const bool asked = params->pick != NULL && layer >= 0 && layer < OPTIMIZER_LAYER;
    const char *own = asked ? params->pick(params->pick_user, layer, dir) : NULL;
    return own != NULL ? own : params->algorithm;
}

static bool fused_problem(const cnn_net *net, int layer, int64_t mb, cnn_problem *problem)
{
    *problem = cnn_net_problem(net, layer, mb, false);
    if (layer + 1 >= net->n_layers || !cnn_is_weighted(problem)) return false;
    const cnn_layer *act = &net->layers[layer + 1];
    const int value = net->layers[layer].output;
    if (act->problem.op != CNN_OP_ACT || act->inputs[0] != value || act->output != value) return false;
    const cnn_epilogue e = {.act = act->problem.u.act.kind, .alpha = act->problem.u.act.alpha};
    /* A sum that is stored in 16 bits, and then changed, is rounded twice: only these come to the same. */
    if (cnn_is_half(net->type.dtype) && e.act != CNN_ACT_RELU && e.act != CNN_ACT_CLIPPED_RELU) return false;
    if (problem->op == CNN_OP_FC)
        problem->u.fc.epilogue = e;
    else
        problem->u.conv.epilogue = e;
    return cnn_has_epilogue(problem);
}

bool step_fuses(const cnn_session *session, const cnn_net *net, const trainer_params *params, int layer, int64_t mb,
                cnn_problem *fused, cnn_algorithm *algorithm)
{
    cnn_error refused;
    cnn_algorithm own;
    const char *name = step_algorithm(params, layer, CNN_FWD);
    if (!params->fuse || !fused_problem(net, layer, mb, fused)) return false;
    const cnn_problem plain = cnn_net_problem(net, layer, mb, false);
    if (cnn_algorithm_pick(session, &plain, CNN_FWD, name, &own, &refused) != CNN_OK) return false;
    if (!(own.flags & CNN_ALGO_EPILOGUES) || !(own.flags & CNN_ALGO_FUSES)) return false;
    return cnn_algorithm_pick(session, fused, CNN_FWD, own.name, algorithm, &refused) == CNN_OK &&
           strcmp(own.name, algorithm->name) == 0;
}

int composition_fused(const cnn_session *session, const cnn_net *net, const trainer_params *params)
{
    cnn_problem fused;
    cnn_algorithm algorithm;
    int count = 0;
    for (int l = 0; l < net->n_layers; l++)
        count += step_fuses(session, net, params, l, net->batch, &fused, &algorithm);
    return count;
}
