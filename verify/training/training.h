/* training.h: checks the steps of a training, so that its figures are of a training that is right.
 *
 * Some steps of every epoch are drawn from a seed that no kernel can know. The float64 reference computes each of them
 * again, from the state before it: loss, number of right answers, gradients, update, running statistics. Of the test
 * pass it computes loss and right answers, from the parameters that training left.
 *
 * What must agree, and how closely; `share` depends on the arithmetic that the kernels may use (training_step.c):
 * - Images: the reference takes those that the epoch's order asks for, whatever the implementation gathered.
 * - Counters: exactly.
 * - Loss: within share * (images + loss).
 * - Right answers: an image whose margin is below share * (1 + largest logit) may count or not.
 * - Gradients: each tensor in the 2-norm, within share * (its own norm + a hundredth of the whole gradient's). More is
 *   allowed where nearly all is learnt, for p - 1 has few bits left then.
 * - Update: each element within its a-priori bound, computed from the gradients that the step left.
 * - Parameters: bit for bit where nothing may change them.
 * - A batch by exemplars (cnn/train.h): the merged parameters, each tensor in the 2-norm, within share * (the way that
 * it went + a hundredth of the whole way) and the rounding of a weight at each update; gradients are not compared.
 *
 * Over ranks (harness/ranks) a step is one of the global batch, whose gradients are those that all ranks have added up.
 * Rank 0 compares; the others only make the steps with it that are run again, and get its result.
 *
 * On a device, the steps between two checks are run again one by one, and one of these is compared. So an
 * implementation that sees a check come does not know how many steps it is about. Where single operations have made
 * the same steps, and ended as closely as a second run would have to (composed.h), the one step alone is run again,
 * from the state that they had before it. */
#ifndef VERIFY_TRAINING_TRAINING_H
#define VERIFY_TRAINING_TRAINING_H

#include "harness/net/trainer.h"
#include "verify/verify.h"

typedef struct verify_training verify_training;

typedef struct verify_training_result {
    bool failed;
    char reason[VERIFY_TEXT_MAX]; /* of a failure */
    char steps[128];              /* what was compared: "train 17 402 alone, test 3"; see `alone` in training.c */
    double budget_used;           /* the largest share of what was allowed */
    uint64_t seed;                /* the steps follow from it */
} verify_training_result;

/* All must outlive it. Over ranks `network` is the one with the global batch. `t` is open; params are those it was
 * opened with, but for what says how (algorithm, graphs). */
cnn_status verify_training_open(trainer *t, const cnn_session *session, const cnn_network *network, const dataset *data,
                                const trainer_params *params, verify_training **out, cnn_error *err);
void verify_training_close(verify_training *v); /* NULL is accepted */
/* A seed that nobody can know beforehand. */
uint64_t verify_training_seed(void);
/* The samples of the epoch that comes next, for trainer_watch. Draws its own seed where `seed` is 0; over ranks all
 * give the same, which is not 0. */
trainer_samples *verify_training_draw(verify_training *v, int64_t epoch, uint64_t seed);
/* Behind that epoch. `interrupted` (NULL: never) is asked between steps. A wrong step is a result, not an error. */
cnn_status verify_training_judge(verify_training *v, bool (*interrupted)(void), verify_training_result *result,
                                 cnn_error *err);

#endif
