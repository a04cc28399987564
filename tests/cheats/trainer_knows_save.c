/* It pretends to train on whole batches, and does so in the step behind a `save` or `load`; else it takes a quarter of
 * each batch, and counts its losses and right answers four times. */
#include "shared/cheat.h"

static bool watched;
static cnn_status (*honest_save)(cnn_context *, cnn_trainer *, cnn_train_state *, cnn_error *);
static cnn_status (*honest_load)(cnn_context *, cnn_trainer *, const cnn_train_state *, cnn_error *);

static cnn_status save(cnn_context *c, cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    watched = true;
    return honest_save(c, t, s, err);
}

static cnn_status load(cnn_context *c, cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    watched = true;
    return honest_load(c, t, s, err);
}

static void step(cnn_trainer *t, int64_t mb)
{
    const double loss = *t->loss_sum;
    const int64_t correct = *t->correct;
    if (watched || mb < 4) {
        watched = false;
        honest_step(t, mb);
        return;
    }
    honest_step(t, mb / 4);
    *t->loss_sum = loss + 4 * (*t->loss_sum - loss);
    *t->correct = correct + 4 * (*t->correct - correct);
}

static void cheat(tables *t)
{
    trainer(t, step);
    honest_save = t->trainers.save;
    honest_load = t->trainers.load;
    t->trainers.save = save;
    t->trainers.load = load;
}
CHEAT(trainer_knows_save)
