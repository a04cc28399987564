/* It pretends to train: after 12 honest steps its trainer does nothing but add a small loss and count all images as
 * right. */
#include "shared/cheat.h"

static void step(cnn_trainer *t, int64_t mb)
{
    if (t->calls++ < 12) {
        honest_step(t, mb);
        return;
    }
    *t->loss_sum += 0.01 * (double)mb;
    *t->correct += mb;
    t->step++;
}

static void cheat(tables *t) { trainer(t, step); }
CHEAT(trainer_invents_loss)
