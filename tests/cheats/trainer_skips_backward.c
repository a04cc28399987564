/* It pretends to train: after 12 honest steps it goes forward only and updates with the gradients of an earlier step,
 * but for every fourth step. */
#include "shared/cheat.h"

static void step(cnn_trainer *t, int64_t mb)
{
    const bool lazy = t->calls++ >= 12 && t->calls % 4 != 0;
    step_parts(t, mb, STEP_FORWARD | (lazy ? 0 : STEP_BACKWARD) | STEP_UPDATE);
}

static void cheat(tables *t) { trainer(t, step); }
CHEAT(trainer_skips_backward)
