/* own_laps.c: the laps of an implementation's own trainer become rows of the epoch's profile (cnn/train.h, profile.h).
 */
#include "harness/problem/names.h"
#include "harness/problem/shape.h"
#include "trainer_parts.h"

#include <math.h>
#include <string.h>

static cnn_status check_lap(const trainer *t, const cnn_trainer_lap *lap, cnn_error *err)
{
    const char *name = t->algorithm->name;
    if (lap->phase == NULL || lap->layer < CNN_LAP_OTHER || lap->layer >= t->net->n_layers || (int)lap->dir < 0 ||
        lap->dir >= CNN_DIR_COUNT)
        return CNN_FAIL(err, CNN_INTERNAL, "trainer %s:%s gave a lap of layer %d, direction %d, phase %s",
                        t->session->impl->name, name, lap->layer, (int)lap->dir,
                        lap->phase != NULL ? lap->phase : "NULL");
    if (!(lap->seconds >= 0.0) || isinf(lap->seconds))
        return CNN_FAIL(err, CNN_INTERNAL, "trainer %s:%s gave a lap of %g seconds", t->session->impl->name, name,
                        lap->seconds);
    return CNN_OK;
}

static profile_row row_of(const trainer *t, const cnn_trainer_lap *lap)
{
    const int set = lap->test ? TEST : TRAIN;
    const int64_t batch = t->net->batch;
    profile_row row = {.layer = PROFILE_OVERHEAD, .pass = "", .place = PLACE_OVERHEAD};
    row.seconds = lap->seconds;
    row.calls = (t->count[set] + batch - 1) / batch;
    (void)snprintf(row.phase, sizeof row.phase, "%s", lap->phase);
    cnn_answer_text(row.phase, sizeof row.phase);
    if (lap->layer == CNN_LAP_IMAGES) row.layer = PROFILE_IMAGES, row.place = -2 + lap->test;
    if (lap->layer == CNN_LAP_UPDATE) row.layer = PROFILE_UPDATE, row.place = PLACE_UPDATE;
    if (lap->test && lap->layer != CNN_LAP_OTHER) row.pass = "test";
    if (lap->layer < 0) return row;
    const cnn_layer *layer = &t->net->layers[lap->layer];
    const cnn_dir dir = lap->test ? CNN_FWD : lap->dir;
    row.layer = layer->name;
    row.problem = layer->problem;
    row.algorithm = *t->algorithm;
    if (!lap->test) row.pass = cnn_dir_name(dir);
    row.place = lap->layer * PLACES_A_LAYER + (lap->test ? PLACE_TEST : (int)dir);
    row.flops = cnn_flops(&layer->problem, dir) / (double)batch * (double)t->count[set];
    return row; /* bytes 0: between two layers a value need not go to memory */
}

/* A pass of a layer has its operations once. */
static bool is_again(const epoch_profile *p, const profile_row *row)
{
    for (int i = 0; i < p->count; i++)
        if (p->rows[i].place == row->place) return true;
    return false;
}

cnn_status trainer_own_laps(trainer *t, bool keep, cnn_error *err)
{
    const cnn_trainer_lap *list = NULL;
    int count = 0;
    if (t->profile == NULL || t->algorithm == NULL) return CNN_OK;
    cnn_status status = TRAINER_ASK(t, profile, err, &list, &count);
    if (status == CNN_OK && (count < 0 || (count > 0 && list == NULL)))
        return CNN_FAIL(err, CNN_INTERNAL, "trainer %s:%s gave %d laps%s", t->session->impl->name, t->algorithm->name,
                        count, list == NULL ? " in a list that is NULL" : "");
    for (int i = 0; i < count && keep && status == CNN_OK; i++) {
        status = check_lap(t, &list[i], err);
        if (status != CNN_OK) return status;
        profile_row row = row_of(t, &list[i]);
        if (is_again(t->profile, &row)) row.flops = 0.0;
        status = profile_add(t->profile, &row, err);
    }
    return status;
}
