/* drop.c: which points go on. */
#include "sweep.h"

#include <stdlib.h>

int sweep_alive(const sweep_point *points, int n, int type, bool usual)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += points[i].alive && (type < 0 || points[i].type == type) && (usual || !points[i].usual);
    return count;
}

void sweep_forget_unless_one_set(sweep_point *points, int count)
{
    int64_t set = 0;
    bool same = true;
    for (int i = 0; i < count; i++) {
        const int64_t own = points[i].figures.set;
        if (!points[i].alive) continue;
        same = same && own > 0 && (set == 0 || set == own);
        set = own;
    }
    for (int i = 0; i < count && !same; i++)
        if (points[i].alive) points[i].figures = (sweep_figures){.round = 0};
}

/* Of a type; `room`: at most so many beside its default. */
static void drop_slow(sweep_point *points, int count, const sweep_ranking *r, int type, int room)
{
    const sweep_point *best = NULL;
    int kept = 0;
    for (int i = 0; i < count; i++) points[i].alive = points[i].alive && points[i].type != type;
    for (int i = 0; i < r->count; i++) {
        sweep_point *p = r->list[i];
        if (p->type != type || p->figures.round != r->last_round) continue;
        if (!best) best = p;
        const bool close = sweep_tied(best, p, r->resolution);
        p->alive = p->usual || (close && kept < room);
        p->crowded_out = close && !p->alive;
        kept += p->alive && !p->usual;
    }
}

cnn_status sweep_drop(sweep_point *points, int count, cnn_error *err)
{
    sweep_ranking r;
    int types = 0, alive[SWEEP_TYPES];
    cnn_status status = sweep_rank(points, count, &r, err);
    for (int t = 0; t < SWEEP_TYPES; t++) {
        alive[t] = sweep_alive(points, count, t, false);
        types += sweep_alive(points, count, t, true) > 0;
    }
    for (int t = 0; status == CNN_OK && t < SWEEP_TYPES; t++) {
        const int half = alive[t] / 2, share = types > 0 ? SWEEP_SET / types : 0;
        drop_slow(points, count, &r, t, half > share ? half : share);
    }
    free(r.list);
    return status;
}
