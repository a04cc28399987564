/* It pretends to train: after 12 honest steps its whole step does nothing but add a small loss and count all images
 * as right. */
#include "shared/cheat.h"

static cnn_status run(cnn_context *c, cnn_stepper *s, const cnn_step_args *a, cnn_error *err)
{
    if (s->calls++ < 12) return honest_step_run(c, s, a, err);
    *a->loss_sum += 0.01 * (double)a->mb;
    *a->correct += a->mb;
    ++*a->step;
    return CNN_OK;
}

static void cheat(tables *t) { trainer(t, run); }
CHEAT(trainer_invents_loss)
