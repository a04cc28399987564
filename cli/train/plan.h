/* plan.h: what `train` and `sweep` make of their options, and `benchcnn train --plan`: layers, shapes,
 * parameters, FLOPs and bytes, before anything is allocated. */
#ifndef CLI_TRAIN_PLAN_H
#define CLI_TRAIN_PLAN_H

#include "cli/cli.h"
#include "harness/net/trainer.h"

/* Optimizer, seed and how steps are run; the algorithm is the caller's. */
cnn_status cli_trainer_params(const cli_options *options, trainer_params *params, cnn_error *err);
/* --data in the shape that the network's input has; says where it is from. */
cnn_status cli_open_data(const cli_options *options, const cnn_net *net, int threads, dataset *data, cnn_error *err);

void print_train_plan(const trainer *t, const cnn_net *net);

#endif
