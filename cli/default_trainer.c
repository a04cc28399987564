/* default_trainer.c: see sessions.h. */
#include "sessions.h"

const char *cli_default_trainer(const cnn_choice *choice, const cnn_session *session, const cnn_network *network,
                                const trainer_params *params)
{
    const cnn_impl *impl = session->impl;
    const char *refused = NULL;
    for (int a = 0; a < impl->n_algorithms; a++) {
        const cnn_algorithm *algorithm = &impl->algorithms[a];
        cnn_error why;
        if (!cli_trains(choice, session, algorithm, network, params)) continue;
        if (algorithm->ops != CNN_TRAINS || trainer_supported(session, network, algorithm, params, &why) == CNN_OK)
            return algorithm->name;
        if (refused == NULL) refused = algorithm->name;
    }
    return refused;
}
