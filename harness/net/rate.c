/* rate.c: another learning rate between two epochs. Plans, captured steps and trainers keep the rate that they were
 * made with: so what knows it is made anew, and the state of the training goes out before and in behind. */
#include "trainer_parts.h"

static cnn_status take_rate(trainer *t, cnn_error *err)
{
    if (t->algorithm == NULL) return composition_rate(t, err);
    trainer_close_own(t);
    return trainer_open_own(t, err);
}

cnn_status trainer_set_rate(trainer *t, double lr, cnn_error *err)
{
    trainer_state state;
    if (!(lr > t->optimizer.lr || lr < t->optimizer.lr)) return CNN_OK;
    cnn_status status = trainer_state_make(t, &state, err);
    if (status == CNN_OK) status = trainer_state_get(t, &state, err);
    t->optimizer.lr = t->params.optimizer.lr = lr;
    if (status == CNN_OK) status = take_rate(t, err);
    if (status == CNN_OK) status = trainer_feed_end(t, err);
    if (status == CNN_OK) status = trainer_state_put(t, &state, err);
    if (status == CNN_OK) status = cnn_sync(t->session, err);
    trainer_state_free(&state);
    return trainer_name_error(t, "taking another learning rate", status, err);
}
