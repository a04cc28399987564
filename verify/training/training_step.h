/* training_step.h: one step of a training, or one batch of a test, by the float64 reference. */
#ifndef VERIFY_TRAINING_TRAINING_STEP_H
#define VERIFY_TRAINING_TRAINING_STEP_H

#include "network_pass.h"
#include "training.h"

/* What rounding may bring to the other side of a kink, in parts of a share and of the values' root mean square. */
#define VF_AT_A_KINK 0.01

typedef struct vf_training {
    const cnn_network *network;
    const dataset *data;
    const trainer_params *params;
    thread_pool *pool;
    int32_t *order; /* of the epoch at hand */
    cnn_shift *shifts;
    double *weights, *grads, *running; /* of one array, param_elems each */
    double *tilted;                    /* likewise: gradients from the other side of kinks */
    double *merged;                    /* likewise: where a batch by exemplars leads */
    double loss_scale;                 /* of the reference's passes (network_pass.h) */
    int nudged;                        /* likewise: the number of a pass that is nudged, from 1; else 0 */
} vf_training;

/* How closely the results of a step must agree; see training.h. */
double vf_training_share(const cnn_type *type);

/* Step `index` of the pass, from `before` to `after`. result->failed and reason, budget_used as it grows. */
cnn_status vf_training_step(vf_training *v, bool test, int64_t index, const trainer_state *before,
                            const trainer_state *after, verify_training_result *result, cnn_error *err);

/* training_pass.c: the reference's results of one batch. */
typedef struct vf_batch_result {
    double loss_sum;
    int64_t surely, possibly; /* right answers */
    double rounding;          /* what rounding alone does to the gradient of the logits, relatively */
} vf_batch_result;
/* grads and running are v's. tilt: the backward sees values this close to a kink on its other side; 0: where they are.
 */
cnn_status vf_training_pass(vf_training *v, bool test, int64_t first, int64_t mb, int64_t update, double tilt,
                            vf_batch_result *result, cnn_error *err);

/* exemplars.c: a batch by exemplars: from the parameters in v->weights, which stay, to `merged` (param_elems); loss and
 * right answers are added up over the workers. Then whether what came out is v->merged. */
cnn_status vf_training_exemplars(vf_training *v, int64_t first, int64_t mb, int64_t step, double tilt, double *merged,
                                 vf_batch_result *sums, cnn_error *err);
cnn_status vf_training_judge_exemplars(vf_training *v, int64_t first, int64_t mb, int64_t step, const double *got,
                                       verify_training_result *r, cnn_error *err);

/* |got - expected| <= allowed, in positive form; the first failure is kept. */
void vf_training_hold(verify_training_result *result, double error, double allowed, const char *what);

#endif
