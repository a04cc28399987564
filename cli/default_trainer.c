/* default_trainer.c: see sessions.h. */
#include "sessions.h"

#include "harness/cnn/shape.h"

bool cli_composes(const cnn_session *session, const cnn_algorithm *algorithm, const cnn_net *net, const cnn_type *type)
{
    const cnn_op op = cli_deciding_op(net);
    cnn_error why;
    if (!(algorithm->ops & 1u << op)) return false;
    for (int i = 0; i < net->n_layers; i++) {
        cnn_problem problem = net->layers[i].problem;
        if (problem.op != op) continue;
        problem.u.type = cnn_type_for(op, *type);
        return cnn_supports(session, &(cnn_request){&problem, CNN_FWD, algorithm, NULL}, &why) == CNN_OK;
    }
    return false;
}

const char *cli_default_trainer(const cnn_choice *choice, const cnn_session *session, const cnn_network *network,
                                const cnn_type *type, const trainer_params *params)
{
    const cnn_impl *impl = session->impl;
    const char *refused = NULL;
    for (int a = 0; a < impl->n_algorithms; a++) {
        const cnn_algorithm *algorithm = &impl->algorithms[a];
        cnn_error why;
        if (!cli_trains(choice, session, algorithm, network, params)) continue;
        if (algorithm->ops != CNN_TRAINS ? cli_composes(session, algorithm, &network->net, type)
                                         : trainer_supported(session, network, algorithm, params, &why) == CNN_OK)
            return algorithm->name;
        if (refused == NULL) refused = algorithm->name;
    }
    return refused;
}
