/* profile.c: the rows of an epoch's profile; see profile.h. */
#include "profile.h"

#include "harness/base/grow.h"

#include <stdlib.h>
#include <string.h>

static bool same_row(const profile_row *a, const profile_row *b)
{
    return a->place == b->place && strcmp(a->pass, b->pass) == 0 && strcmp(a->phase, b->phase) == 0;
}

cnn_status profile_add(epoch_profile *p, const profile_row *row, cnn_error *err)
{
    for (int i = 1; i <= p->count; i++) {
        profile_row *old = &p->rows[(p->latest + i) % p->count];
        if (!same_row(old, row)) continue;
        old->seconds += row->seconds;
        old->flops += row->flops;
        old->bytes += row->bytes;
        old->calls += row->calls;
        p->latest = (int)(old - p->rows);
        return CNN_OK;
    }
    p->latest = p->count;
    profile_row *added = cnn_add_item(&p->rows, &p->count, &p->capacity, sizeof *row, "rows of a profile", err);
    if (added == NULL) return err->status;
    *added = *row;
    return CNN_OK;
}

cnn_status profile_overhead(epoch_profile *p, const char *what, double seconds, cnn_error *err)
{
    profile_row row = {.layer = PROFILE_OVERHEAD, .pass = "", .seconds = seconds, .calls = 1, .place = PLACE_OVERHEAD};
    snprintf(row.phase, sizeof row.phase, "%s", what);
    return profile_add(p, &row, err);
}

void profile_begin(epoch_profile *p) { p->count = p->latest = 0; }

/* In the network's order; rows of one place stay as they ran. They are few, and nearly sorted. */
static void sort(epoch_profile *p)
{
    for (int i = 1; i < p->count; i++) {
        const profile_row moved = p->rows[i];
        int k = i;
        for (; k > 0 && p->rows[k - 1].place > moved.place; k--) p->rows[k] = p->rows[k - 1];
        p->rows[k] = moved;
    }
}

cnn_status profile_finish(epoch_profile *p, double seconds, cnn_error *err)
{
    double explained = 0.0;
    for (int i = 0; i < p->count; i++) explained += p->rows[i].seconds;
    const cnn_status status = profile_overhead(p, "other", seconds - explained, err);
    p->seconds = seconds;
    sort(p);
    return status;
}

void profile_close(epoch_profile *p)
{
    if (p != NULL) free(p->rows);
    free(p);
}
