/* profile.c: the rows of an epoch's profile; see profile.h. */
#include "profile.h"

#include "harness/base/grow.h"

#include <stdlib.h>
#include <string.h>

static bool same_row(const profile_row *a, const profile_row *b)
{
    return a->place == b->place && strcmp(a->pass, b->pass) == 0 && strcmp(a->phase, b->phase) == 0;
}

cnn_status profile_add(trainer_profile *p, const profile_row *row, cnn_error *err)
{
    epoch_profile *e = &p->epoch;
    for (int i = 1; i <= e->count; i++) {
        profile_row *old = &e->rows[(p->latest + i) % e->count];
        if (!same_row(old, row)) continue;
        old->seconds += row->seconds;
        old->flops += row->flops;
        old->calls += row->calls;
        p->latest = (int)(old - e->rows);
        return CNN_OK;
    }
    p->latest = e->count;
    profile_row *added = cnn_add_item(&e->rows, &e->count, &e->capacity, sizeof *row, "rows of a profile", err);
    if (added == NULL) return err->status;
    *added = *row;
    return CNN_OK;
}

cnn_status profile_overhead(trainer_profile *p, const char *what, double seconds, cnn_error *err)
{
    profile_row row = {.layer = PROFILE_OVERHEAD, .pass = "", .seconds = seconds, .calls = 1, .place = PLACE_OVERHEAD};
    snprintf(row.phase, sizeof row.phase, "%s", what);
    return profile_add(p, &row, err);
}

void profile_begin(trainer_profile *p) { p->epoch.count = p->latest = 0; }

/* In the network's order; rows of one place stay as they ran. They are few, and nearly sorted. */
static void sort(epoch_profile *e)
{
    for (int i = 1; i < e->count; i++) {
        const profile_row moved = e->rows[i];
        int k = i;
        for (; k > 0 && e->rows[k - 1].place > moved.place; k--) e->rows[k] = e->rows[k - 1];
        e->rows[k] = moved;
    }
}

cnn_status profile_finish(trainer_profile *p, double seconds, cnn_error *err)
{
    epoch_profile *e = &p->epoch;
    double explained = 0.0;
    for (int i = 0; i < e->count; i++) explained += e->rows[i].seconds;
    const cnn_status status = profile_overhead(p, "other", seconds - explained, err);
    e->seconds = seconds;
    sort(e);
    return status;
}

void profile_close(trainer_profile *p)
{
    if (p != NULL) free(p->epoch.rows);
    free(p);
}
