/* rank.c: candidates recorded, timed in turns, ranked; see rank.h for why it is done so. */
#include "harness/cuda/rank.h"

#include "harness/base/clock.h"

#include <math.h>
#include <stdlib.h>

/* A sample's least length: events tell half a microsecond apart. The device's memory for a graph's nodes is bounded by
 * RUNS_MAX, the host's queue by REPEATS_MAX. */
static const double sample_seconds = 200e-6, long_seconds = 5e-3, far_behind = 2.0;
enum { RUNS_MAX = 20, REPEATS_MAX = 1000 };

/* ---- One candidate */

static cnn_status go(cnn_context *context, const cuda_candidate *e, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < e->repeats; i++)
        status = e->graph != NULL ? cuda_capture.run(context, e->graph, err) : e->run(e->user, err);
    return status;
}

static cnn_status sample(cnn_context *context, const cuda_candidate *e, double *seconds, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (e->ahead) status = e->graph != NULL ? cuda_capture.run(context, e->graph, err) : e->run(e->user, err);
    if (status == CNN_OK) status = cuda_timing.start(context, err);
    if (status == CNN_OK) status = go(context, e, err);
    if (status == CNN_OK) status = cuda_timing.stop(context, seconds, err);
    *seconds /= (double)e->repeats * e->runs;
    return status;
}

/* How often something of so many seconds fits into a sample. */
static int fitting(double seconds, int most)
{
    return (int)fmin(fmax(ceil(sample_seconds / fmax(seconds, 1e-9)), 1), most);
}

/* A failed capture is ended all the same: the stream must be usable again. */
static cnn_graph *record(cnn_context *context, const cuda_candidate *e)
{
    cnn_error refused; /* then it is timed as launched */
    cnn_graph *graph = NULL;
    if (cuda_capture.begin(context, &refused) != CNN_OK) return NULL;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < e->runs; i++) status = e->run(e->user, &refused);
    (void)cuda_capture.end(context, &graph, &refused); /* NULL where it fails */
    if (status == CNN_OK) return graph;
    cuda_capture.free(context, graph);
    return NULL;
}

/* The first run loads and allocates what a library needs, which no capture allows; the first replay brings the graph to
 * the device. Neither counts. */
static cnn_status warm_up(cnn_context *context, cuda_candidate *e, cnn_error *err)
{
    double seconds = 0;
    e->runs = e->repeats = 1;
    cnn_status status = e->run(e->user, err);
    if (status == CNN_OK) status = sample(context, e, &seconds, err);
    if (status != CNN_OK) return status;
    e->ahead = seconds < long_seconds;
    e->runs = fitting(seconds, RUNS_MAX);
    e->graph = record(context, e);
    e->as_launched = e->graph == NULL;
    if (e->as_launched) e->runs = 1;
    status = sample(context, e, &seconds, err);
    e->repeats = fitting(seconds * e->runs, REPEATS_MAX);
    return status;
}

/* ---- All of them */

static bool dead(const cnn_context *context) { return ((const cuda_context *)context)->dead; }

/* CNN_OK also where the candidate fails, and is out: only the device's death ends the comparison. `failed` keeps why.
 */
static cnn_status admit(cnn_context *context, cuda_candidate *e, cnn_status status, const cnn_error *err,
                        cnn_error *failed)
{
    if (status == CNN_OK) return CNN_OK;
    e->out = true;
    e->n_samples = 0;
    *failed = *err;
    return dead(context) ? status : CNN_OK;
}

static cnn_status round_of(cnn_context *context, cuda_candidate *list, int count, cnn_error *failed)
{
    cnn_error err;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        cuda_candidate *e = &list[i];
        if (e->out) continue;
        status = admit(context, e, sample(context, e, &e->samples[e->n_samples], &err), &err, failed);
        if (!e->out) e->n_samples++;
    }
    return status;
}

static void drop_slow(cuda_candidate *list, int count)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++)
        if (!list[i].out) least = fmin(least, list[i].samples[0]);
    for (int i = 0; i < count; i++)
        if (!list[i].out && list[i].samples[0] > far_behind * least) list[i].out = true;
}

static cnn_status measure(cnn_context *context, cuda_candidate *list, int count, const cuda_rank_rules *rules,
                          cnn_error *failed)
{
    const double end = cnn_now() + rules->budget;
    cnn_error err;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        list[i].out = i > 0 && cnn_now() >= end;
        if (!list[i].out) status = admit(context, &list[i], warm_up(context, &list[i], &err), &err, failed);
    }
    for (int r = 0; status == CNN_OK && r < rules->rounds && (r == 0 || cnn_now() < end); r++) {
        status = round_of(context, list, count, failed);
        if (r == 0) drop_slow(list, count);
    }
    return status;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Whether a comes before b, which may be NULL. */
static bool before(const cuda_candidate *a, const cuda_candidate *b)
{
    if (a->n_samples == 0) return false;
    if (b == NULL || a->as_launched != b->as_launched) return b == NULL || !a->as_launched;
    return a->seconds < b->seconds;
}

cnn_status cuda_rank(cnn_context *context, cuda_candidate *list, int count, const cuda_rank_rules *rules, int *best,
                     cnn_error *err)
{
    cnn_error ignored;
    *best = -1;
    cnn_status status = cuda_check_not_capturing((cuda_context *)context, "a measurement", err);
    if (status != CNN_OK) return status;
    CNN_FAIL(err, CNN_INTERNAL, "nothing to choose from");
    for (int i = 0; i < count; i++)
        list[i] = (cuda_candidate){.run = list[i].run, .user = list[i].user, .seconds = INFINITY};
    status = measure(context, list, count, rules, err);
    (void)cuda_sync(context, &ignored); /* the graphs, and what they use, go now */
    for (int i = 0; i < count; i++) {
        cuda_candidate *e = &list[i];
        cuda_capture.free(context, e->graph);
        e->graph = NULL;
        if (e->n_samples == 0) continue;
        qsort(e->samples, (size_t)e->n_samples, sizeof e->samples[0], by_size);
        e->seconds = e->samples[e->n_samples / 2];
        if (before(e, *best >= 0 ? &list[*best] : NULL)) *best = i;
    }
    if (status != CNN_OK) return status;
    return *best >= 0 ? CNN_OK : err->status;
}
