/* plan.h: `benchcnn train --plan`: layers, shapes, parameters, FLOPs and bytes, before anything is allocated. */
#ifndef CLI_TRAIN_PLAN_H
#define CLI_TRAIN_PLAN_H

#include "harness/net/trainer.h"

void print_train_plan(const trainer *t, const cnn_net *net);

#endif
