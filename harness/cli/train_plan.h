/* train_plan.h: `benchcnn train --plan`: layers, shapes, parameters, FLOPs and bytes, before anything is allocated. */
#ifndef HARNESS_CLI_TRAIN_PLAN_H
#define HARNESS_CLI_TRAIN_PLAN_H

#include "../net/trainer.h"

void print_train_plan(const trainer *t, const cnn_net *net);

#endif
