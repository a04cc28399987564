/* It pretends nothing: a trainer whose first step behind a `save` or `load` is not like the others, for it begins with
 * all of its buffers cleared. */
#include "shared/cheat.h"

static bool stale;
static cnn_status (*honest_save)(cnn_context *, cnn_trainer *, cnn_train_state *, cnn_error *);
static cnn_status (*honest_load)(cnn_context *, cnn_trainer *, const cnn_train_state *, cnn_error *);

static cnn_status save(cnn_context *c, cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    stale = true;
    return honest_save(c, t, s, err);
}

static cnn_status load(cnn_context *c, cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    stale = true;
    return honest_load(c, t, s, err);
}

static void step(cnn_trainer *t, int64_t mb)
{
    if (stale) memset(t->grads, 0, (size_t)t->net->trained_elems * sizeof *t->grads);
    stale = false;
    honest_step(t, mb);
}

static void cheat(tables *t)
{
    trainer(t, step);
    honest_save = t->trainers.save;
    honest_load = t->trainers.load;
    t->trainers.save = save;
    t->trainers.load = load;
}
CHEAT(honest_trainer_starts_afresh)
