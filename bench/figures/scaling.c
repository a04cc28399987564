/* scaling.c: grouping epochs into curves over ranks, and their medians. */
#include "scaling.h"

#include "harness/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_figure(const epoch_row *row) { return !row->diverged && row->seconds > 0.0; }

/* But for what the number of ranks brings with it: a rank's threads and cores, buckets, whether its steps are captured.
 */
static bool same_training(const epoch_setting *a, const epoch_setting *b)
{
    epoch_setting other = *b;
    other.batch = a->batch;
    other.seed = a->seed;
    other.ranks = a->ranks;
    other.bucket = a->bucket;
    other.threads = a->threads;
    other.cores = a->cores;
    other.graph = a->graph;
    return epoch_same_setting(a, &other) || epoch_other_build(a, &other);
}

/* How well one goes with a curve of one rank: -1: not. Ranks with as many threads as one rank come first, then those
 * that have them in all. */
static int fit_of(const scaling_curve *c, const epoch_setting *s)
{
    if (!same_training(&c->setting, s)) return -1;
    const bool alike = scaling_on_gpu(s) || c->setting.threads == s->threads;
    if (s->ranks == 1 && c->setting.ranks == 1 && (!alike || c->setting.graph != s->graph)) return -1;
    return 4 * alike + 2 * (c->setting.threads == s->ranks * s->threads) + (c->setting.graph == s->graph);
}

static scaling_curve *curve_of(scaling_set *set, const epoch_setting *s, cnn_error *err)
{
    int best = -1, found = -1;
    for (int i = 0; i < set->count; i++) {
        const int fit = fit_of(&set->list[i], s);
        if (fit > best) best = fit, found = i;
    }
    if (found >= 0) return &set->list[found];
    if (set->count == SERIES_MAX) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d curves over ranks: give fewer files", SERIES_MAX);
        return NULL;
    }
    if (set->list == NULL) set->list = calloc(SERIES_MAX, sizeof *set->list);
    if (set->list == NULL) {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d curves", SERIES_MAX);
        return NULL;
    }
    set->list[set->count].setting = *s;
    return &set->list[set->count++];
}

static bool same_point(const scaling_point *p, const epoch_setting *s)
{
    return p->batch == s->batch && p->ranks == s->ranks && p->bucket == s->bucket &&
           (scaling_on_gpu(s) || p->threads == s->threads);
}

static double median_of(const epoch_sum *sum)
{
    bench_stats stats = {.median = NAN};
    if (sum->count > 0) epoch_sum_stats(sum, &stats);
    return stats.median;
}

static void add_number(epoch_sum *sum, double value)
{
    if (isfinite(value)) epoch_sum_add(sum, value, 0);
}

/* Medians of all rows that are the curve's, with this row's batch and ranks. */
static void add_point(scaling_curve *c, const epoch_table *table, const int *curves, int row)
{
    const epoch_setting *s = &table->rows[row].setting;
    scaling_point p = {.batch = s->batch, .ranks = s->ranks, .threads = s->threads, .bucket = s->bucket};
    epoch_sum seconds = {.count = 0}, train = {.count = 0}, step = {.count = 0}, alone = {.count = 0},
              hidden = {.count = 0};
    bench_stats stats;
    for (int i = 0; i < c->count; i++)
        if (same_point(&c->points[i], s)) return;
    if (c->count == SERIES_POINTS_MAX) return;
    for (int i = row; i < table->count; i++) {
        const epoch_row *other = &table->rows[i];
        if (curves[i] != curves[row] || !same_point(&p, &other->setting)) continue;
        epoch_sum_add(&seconds, other->seconds, other->marks);
        add_number(&train, other->train_s);
        add_number(&step, other->comm.step_s);
        add_number(&alone, other->comm.alone_s);
        add_number(&hidden, 1.0 - other->comm.step_s / other->comm.flight_s);
        if (other->comm.bytes > 0 && other->setting.ranks > 1) c->model.bytes = other->comm.bytes;
    }
    epoch_sum_stats(&seconds, &stats);
    p.seconds = stats.median;
    p.marks = stats.marks;
    p.epochs = seconds.count;
    p.train_s = median_of(&train);
    p.step_s = p.ranks > 1 ? median_of(&step) : NAN;
    p.alone_s = p.ranks > 1 ? median_of(&alone) : NAN;
    p.hidden = p.bucket > 0 ? median_of(&hidden) : NAN;
    const double steps = ceil((double)s->train_images / (double)s->batch);
    p.share = (isfinite(p.step_s) ? p.step_s : p.alone_s) * steps / p.train_s;
    p.strong = p.weak = p.efficiency = p.model_s = p.model_off = NAN;
    c->points[c->count++] = p;
}

/* One rank comes first: the others look for it. */
static cnn_status make_points(const epoch_table *table, scaling_set *set, cnn_error *err)
{
    int *curves = calloc((size_t)table->count + 1, sizeof *curves); /* of each row */
    if (curves == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d epochs", table->count);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < table->count; i++) {
            const epoch_row *row = &table->rows[i];
            if ((row->setting.ranks > 1) != (pass == 1)) continue;
            const scaling_curve *c = is_figure(row) ? curve_of(set, &row->setting, err) : NULL;
            if (is_figure(row) && c == NULL) {
                free(curves);
                return err->status;
            }
            curves[i] = c != NULL ? (int)(c - set->list) : -1;
        }
    for (int i = 0; i < table->count; i++)
        if (curves[i] >= 0) add_point(&set->list[curves[i]], table, curves, i);
    free(curves);
    return CNN_OK;
}

static int by_batch_and_ranks(const void *a, const void *b)
{
    const scaling_point *p = a, *q = b;
    if (p->batch != q->batch) return p->batch < q->batch ? -1 : 1;
    if (p->ranks != q->ranks) return p->ranks < q->ranks ? -1 : 1;
    return (p->bucket > q->bucket) - (p->bucket < q->bucket);
}

/* Those of one rank alone show no scaling. */
static void keep_over_ranks(scaling_set *set)
{
    int kept = 0;
    for (int i = 0; i < set->count; i++) {
        scaling_curve *c = &set->list[i];
        if (scaling_most_ranks(c) < 2) continue;
        qsort(c->points, (size_t)c->count, sizeof *c->points, by_batch_and_ranks);
        if (kept < i) set->list[kept] = *c;
        kept++;
    }
    set->count = kept;
}

const scaling_point *scaling_point_at(const scaling_curve *c, int64_t batch, int64_t n)
{
    for (int i = 0; i < c->count; i++)
        if (c->points[i].batch == batch && c->points[i].ranks == n) return &c->points[i];
    return NULL;
}

int64_t scaling_most_ranks(const scaling_curve *c)
{
    int64_t most = 0;
    for (int i = 0; i < c->count; i++)
        if (c->points[i].ranks > most) most = c->points[i].ranks;
    return most;
}

/* How the curve's ranks add up: of its rows over several. */
static const char *way_of(const epoch_table *table, const scaling_curve *c)
{
    for (int i = table->count - 1; i >= 0; i--)
        if (table->rows[i].setting.ranks > 1 && is_figure(&table->rows[i]) &&
            same_training(&c->setting, &table->rows[i].setting))
            return table->rows[i].comm.way;
    return "";
}

/* As other curves are named; their networks may differ. */
static cnn_status name_curves(scaling_set *set, cnn_error *err)
{
    series_set names = {.count = 0};
    for (int i = 0; i < set->count; i++) {
        const scaling_curve *c = &set->list[i];
        series *s = series_add(&names, err);
        if (s == NULL) return err->status;
        s->setting = c->setting;
        s->setting.ranks = 1; /* over them it goes */
        s->setting.bucket = 0;
        for (int k = 0; k < c->count; k++)
            if (c->points[k].threads != c->setting.threads) s->setting.threads = 0;
    }
    series_name(&names);
    for (int i = 0; i < set->count; i++) {
        memcpy(set->list[i].label, names.list[i].label, SERIES_LABEL_MAX);
        memcpy(set->list[i].facts, names.list[i].facts, SERIES_LABEL_MAX);
    }
    memcpy(set->subtitle, names.subtitle, SERIES_LABEL_MAX);
    series_free(&names);
    return CNN_OK;
}

cnn_status scaling_make(const epoch_table *table, scaling_set *set, cnn_error *err)
{
    cnn_status status = make_points(table, set, err);
    if (status == CNN_OK) keep_over_ranks(set);
    if (status == CNN_OK && set->count == 0)
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT,
                     "no epochs over several ranks: `benchcnn sweep ranks=1,2 --out FILE` records them, and so does "
                     "`mpirun -n 2 benchcnn train --out FILE`");
    if (status == CNN_OK) status = name_curves(set, err);
    for (int i = 0; i < set->count && status == CNN_OK; i++)
        scaling_compare(set, &set->list[i], way_of(table, &set->list[i]));
    return status;
}

void scaling_free(scaling_set *set)
{
    free(set->list);
    free(set->links);
    *set = (scaling_set){.count = 0};
}
