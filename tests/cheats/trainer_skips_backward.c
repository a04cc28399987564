/* It pretends to train: after 12 honest steps it goes forward only and updates with the gradients of an earlier step,
 * but for every fourth step. */
#include "shared/cheat.h"

static cnn_status run(cnn_context *c, cnn_stepper *s, const cnn_step_args *a, cnn_error *err)
{
    (void)c, (void)err;
    const bool lazy = s->calls++ >= 12 && s->calls % 4 != 0;
    step_parts(s, a, lazy ? STEP_FORWARD | STEP_UPDATE : STEP_ALL);
    return CNN_OK;
}

static void cheat(tables *t) { trainer(t, run); }
CHEAT(trainer_skips_backward)
