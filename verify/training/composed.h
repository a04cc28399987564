/* composed.h: steps of a training once more, by the composition of single operations, from the state before them.
 *
 * A trainer of an implementation's own is asked for its state (`save`), so it knows which step comes next and is looked
 * at. How many steps follow until it is asked again, it does not know: 2 to 32 mostly. The composition makes all of
 * them, and where both end must agree: parameters, losses and right answers. So a trainer that leaves work out in any
 * of them differs, though it is honest in the first.
 *
 * Rounding is amplified from step to step, and at a kink it decides a side. So where something differs, the composition
 * starts again several times, from parameters that are moved by units in their last place (as in network_steps.c):
 * twice the farthest that such a start leads is allowed, too, up to a quarter of the way. Where that would be more,
 * chance decides where the steps end, and nothing is said of it. */
#ifndef VERIFY_TRAINING_COMPOSED_H
#define VERIFY_TRAINING_COMPOSED_H

#include "training_step.h"

typedef struct composed composed;

/* *out is NULL, and nothing is said, where there is nothing to compare: single operations train already, batches by
 * exemplars (which lead elsewhere), several ranks, or no implementation composes the network. */
cnn_status composed_open(const vf_training *v, const cnn_session *session, composed **out, cnn_error *err);
void composed_close(composed *c); /* NULL is accepted */
/* What came of a sample: whether both ends agree without any nudge, as closely as a second run of the trainer's own
 * would have to; whether chance decides where they lie; and the state before step `at` of it (counted from its first),
 * which is the composition's. */
typedef struct composed_look {
    int64_t at; /* asked for */
    bool close;
    bool chance;                /* nothing is said of where they end */
    const trainer_state *state; /* until the next sample */
} composed_look;
/* Compares the steps of a training sample; those of more than 64 steps, or with a last batch that is smaller, are
 * passed over, and so is a sample of the very same steps as the one before (a pass that is one launch). v->order and
 * v->shifts are the epoch's. */
cnn_status composed_judge(composed *c, vf_training *v, const trainer_sample *sample, uint64_t seed, composed_look *look,
                          verify_training_result *result, cnn_error *err);
/* Forgets the sample before: another epoch begins. */
void composed_forget(composed *c); /* NULL is accepted */

#endif
