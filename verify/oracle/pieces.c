/* pieces.c: see pieces.h. */
#include "pieces.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { ELEMENTS = 1 << 15, AT_ONCE = 64 };

static int64_t pieces_of(int64_t count) { return (count + ELEMENTS - 1) / ELEMENTS; }

static int64_t end_of(int64_t piece, int64_t count)
{
    return count - piece * ELEMENTS < ELEMENTS ? count : (piece + 1) * ELEMENTS;
}

/* ---- All at once. */

typedef struct walk {
    int64_t count;
    vf_piece *each;
    void *user;
} walk;

static void walk_piece(void *arg, int64_t piece, int worker)
{
    const walk *w = arg;
    (void)worker;
    w->each(w->user, piece * ELEMENTS, end_of(piece, w->count));
}

void vf_pieces(thread_pool *pool, int64_t count, vf_piece *each, void *user)
{
    walk w = {count, each, user};
    parallel_for(pool, pieces_of(count), walk_piece, &w);
}

/* ---- Drawn. */

typedef struct drawing {
    int64_t count;
    int draws;
    cnn_rng rng;
    vf_draw *each;
    void *user;
} drawing;

static void draw_piece(void *arg, int64_t piece, int worker)
{
    const drawing *d = arg;
    cnn_rng rng = d->rng;
    (void)worker;
    if (d->draws != VF_ANY_DRAWS)
        rng_skip(&rng, (uint64_t)(piece * ELEMENTS) * (uint64_t)d->draws);
    else if (piece > 0)
        rng = rng_stream(rng_u64(&rng), (uint64_t)piece);
    d->each(d->user, piece * ELEMENTS, end_of(piece, d->count), &rng);
}

void vf_draw_pieces(thread_pool *pool, int64_t count, int draws, cnn_rng *rng, vf_draw *each, void *user)
{
    drawing d = {count, draws, *rng, each, user};
    parallel_for(pool, pieces_of(count), draw_piece, &d);
    rng_skip(rng, (uint64_t)count * (uint64_t)draws);
}

/* ---- Gathered: some pieces, then their results in order, then the next. */

typedef struct parts {
    const vf_gathering *gathering;
    int64_t first, count;
    _Alignas(16) char result[AT_ONCE][VF_PART_MOST];
} parts;

static void gather_piece(void *arg, int64_t task, int worker)
{
    parts *p = arg;
    const int64_t piece = p->first + task;
    (void)worker;
    memset(p->result[task], 0, VF_PART_MOST);
    p->gathering->each(p->gathering->user, piece * ELEMENTS, end_of(piece, p->count), p->result[task]);
}

void vf_gather_pieces(thread_pool *pool, int64_t count, const vf_gathering *gathering)
{
    parts p = {.gathering = gathering, .count = count};
    const int64_t all = pieces_of(count);
    for (p.first = 0; p.first < all; p.first += AT_ONCE) {
        const int64_t now = all - p.first < AT_ONCE ? all - p.first : AT_ONCE;
        parallel_for(pool, now, gather_piece, &p);
        for (int64_t i = 0; i < now; i++) gathering->join(gathering->user, p.result[i]);
    }
}

/* ---- The largest. */

typedef struct search {
    const double *values;
    double most;
} search;

static void most_size(void *user, int64_t first, int64_t last, void *part)
{
    const double *const v = ((const search *)user)->values;
    double most = 0.0;
    bool bad = false;
    for (int64_t i = first; i < last; i++) {
        most = fabs(v[i]) > most ? fabs(v[i]) : most;
        bad = bad || isnan(v[i]);
    }
    if (bad) most = (double)NAN;
    memcpy(part, &most, sizeof most);
}

static void most_value(void *user, int64_t first, int64_t last, void *part)
{
    const double *const v = ((const search *)user)->values;
    double most = 0.0;
    for (int64_t i = first; i < last; i++) most = v[i] > most ? v[i] : most;
    memcpy(part, &most, sizeof most);
}

static void join_most(void *user, const void *part)
{
    double most;
    memcpy(&most, part, sizeof most);
    search *s = user;
    if (most > s->most || isnan(most)) s->most = most; /* nothing is larger than NaN */
}

double vf_largest_size(thread_pool *pool, const double *values, int64_t count)
{
    search s = {values, 0.0};
    vf_gather_pieces(pool, count, &(vf_gathering){most_size, join_most, &s});
    return s.most;
}

double vf_largest(thread_pool *pool, const double *values, int64_t count)
{
    search s = {values, 0.0};
    vf_gather_pieces(pool, count, &(vf_gathering){most_value, join_most, &s});
    return s.most;
}
