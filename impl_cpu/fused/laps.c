/* laps.c: where the time of cpu:fused goes: the last worker, which has images where any has, reads the clock where one
 * part of its work ends and the next begins. The others do the same on other images at the same time; what it waits for
 * them is a lap, too. */
#include "fused.h"

int fused_laps_of(const cnn_net *net) { return FUSED_LAP_LAYERS + CNN_DIR_COUNT * net->n_layers; }

void fused_laps_begin(const cnn_trainer *t, int worker, bool test)
{
    fused_worker *w = &t->workers[worker];
    if (!t->profiled || worker != t->workers_n - 1) return;
    w->laps = t->laps + (test ? fused_laps_of(t->net) : 0);
    w->latest = cnn_now();
}

static cnn_trainer_lap lap_of(const cnn_net *net, int lap, bool test)
{
    static const cnn_trainer_lap shared[FUSED_LAP_LAYERS] = {
        [FUSED_LAP_IMAGES] = {.layer = CNN_LAP_IMAGES, .phase = "gather"},
        [FUSED_LAP_TURN] = {.layer = CNN_LAP_UPDATE, .phase = "turn weights"},
        [FUSED_LAP_MERGE] = {.layer = CNN_LAP_UPDATE, .phase = "sum over images"},
        [FUSED_LAP_WAIT] = {.layer = CNN_LAP_UPDATE, .phase = "wait for workers"},
        [FUSED_LAP_UPDATE] = {.layer = CNN_LAP_UPDATE, .phase = "sum over workers, update"},
    };
    static const char *const phases[CNN_DIR_COUNT] = {"forward", "data", "weights"};
    const int layer = lap - FUSED_LAP_LAYERS;
    cnn_trainer_lap found = {.layer = layer / CNN_DIR_COUNT, .dir = (cnn_dir)(layer % CNN_DIR_COUNT)};
    if (layer < 0)
        found = shared[lap];
    else
        found.phase = found.layer == net->n_layers - 1 ? "loss" : phases[found.dir];
    found.test = test;
    return found;
}

int fused_profile_read(cnn_trainer *t)
{
    const int laps = fused_laps_of(t->net);
    int count = 0;
    for (int i = 0; i < 2 * laps; i++) {
        if (t->laps[i] == 0) continue;
        t->lap_list[count] = lap_of(t->net, i % laps, i >= laps);
        t->lap_list[count++].seconds = t->laps[i];
        t->laps[i] = 0;
    }
    return count;
}
