/* workers.c: grouping epochs into curves over threads or workers, and what plots/workers.gp is given. */
#include "workers.h"

#include "gnuplot.h"
#include "harness/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool by_workers(const epoch_setting *s) { return s->workers > 0; }

static double count_of(const epoch_setting *s) { return (double)(by_workers(s) ? s->workers : s->threads); }

/* Points of one curve differ in what it is over, and in the seed. Workers bring their batch with them. */
static bool same_curve(const epoch_setting *a, const epoch_setting *b)
{
    epoch_setting other = *b;
    if (by_workers(a) != by_workers(b)) return false;
    other.seed = a->seed;
    if (!by_workers(a)) other.threads = a->threads;
    if (by_workers(a) && a->batch * b->workers == b->batch * a->workers)
        other.workers = a->workers, other.batch = a->batch;
    return epoch_same_setting(a, &other) || epoch_other_build(a, &other);
}

static series *curve_of(series_set *set, const epoch_setting *setting, cnn_error *err)
{
    for (int i = 0; i < set->count; i++)
        if (same_curve(&set->list[i].setting, setting)) return &set->list[i];
    series *s = series_add(set, err);
    if (s != NULL) s->setting = *setting;
    return s;
}

/* Older records may lack the time of the training alone. */
static double trained_s(const epoch_row *row) { return isfinite(row->train_s) ? row->train_s : row->seconds; }

static void add_point(series *s, const epoch_row *row)
{
    const double count = count_of(&row->setting), seconds = trained_s(row);
    for (int i = 0; i < s->count; i++) {
        series_point *p = &s->points[i];
        if (!(p->batch >= count && p->batch <= count)) continue;
        p->epochs++;
        if (seconds < p->seconds) p->seconds = seconds, p->marks = row->marks;
        return;
    }
    if (s->count < SERIES_POINTS_MAX)
        s->points[s->count++] = (series_point){.batch = count, .seconds = seconds, .epochs = 1, .marks = row->marks};
}

static int by_count(const void *a, const void *b)
{
    const series_point *p = a, *q = b;
    return (p->batch > q->batch) - (p->batch < q->batch);
}

/* What has no speedup is taken out. */
static void keep_whole(workers_set *set)
{
    series_set *all = &set->curves;
    int kept = 0;
    for (int i = 0; i < all->count; i++) {
        series *s = &all->list[i];
        qsort(s->points, (size_t)s->count, sizeof *s->points, by_count);
        if (s->count > 1 && s->points[0].batch <= 1.0)
            all->list[kept++] = *s;
        else
            set->left_out++;
    }
    all->count = kept;
}

/* ---- Names: as of other curves, but for what these are over. */

static void name_curves(workers_set *set)
{
    series_set *all = &set->curves;
    const epoch_setting *first = &all->list[0].setting;
    bool one_net = true;
    for (int i = 0; i < all->count; i++) {
        epoch_setting *s = &all->list[i].setting;
        set->workers = set->workers || by_workers(s);
        set->threads = set->threads || !by_workers(s);
        one_net = one_net && strcmp(s->net, first->net) == 0 && s->train_images == first->train_images;
        if (!by_workers(s)) s->threads = 0; /* it is one for no curve: series_name() leaves it out */
    }
    series_name(all);
    if (one_net)
        snprintf(set->network, sizeof set->network, "network %s, %lld images to train on", first->net,
                 (long long)first->train_images);
    for (int i = 0; i < all->count; i++) {
        series *s = &all->list[i];
        cnn_append(s->facts, sizeof s->facts, "%s%s%lld", s->facts[0] != '\0' ? ", " : "",
                   by_workers(&s->setting) ? "worker-batch " : "batch ",
                   (long long)(s->setting.batch / (by_workers(&s->setting) ? s->setting.workers : 1)));
    }
}

cnn_status workers_make(const epoch_table *table, workers_set *set, cnn_error *err)
{
    for (int i = 0; i < table->count; i++) {
        const epoch_row *row = &table->rows[i];
        if (row->diverged || !(trained_s(row) > 0.0)) continue;
        series *s = curve_of(&set->curves, &row->setting, err);
        if (s == NULL) return err->status;
        add_point(s, row);
    }
    keep_whole(set);
    if (set->curves.count == 0)
        return CNN_FAIL(
            err, CNN_BAD_ARGUMENT,
            "no speedup to draw: there must be epochs with 1 and with more, of `train --threads 1,2,4` or of "
            "`train --parallel exemplar --workers 1,2,4`");
    name_curves(set);
    return CNN_OK;
}

void workers_free(workers_set *set)
{
    series_free(&set->curves);
    *set = (workers_set){.left_out = 0};
}

/* ---- Published */

cnn_status workers_add_published(workers_set *set, cnn_error *err)
{
    char line[256], path[FOUND_PATH_MAX], machine[100];
    double count, speedup;
    series_set *all = &set->curves;
    if (!set->workers || strcmp(all->list[0].setting.net, "karv_mlp") != 0) return CNN_OK;
    cnn_status status = plot_file("karv_workers.dat", path, err);
    if (status != CNN_OK) return status;
    FILE *file = fopen(path, "re");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%lf %lf %99[^\n]", &count, &speedup, machine) != 3) continue;
        series *s = &all->list[all->count + all->published - 1];
        if (all->published == 0 || strcmp(s->facts, machine) != 0) {
            if (all->published == SERIES_PUBLISHED_MAX) break;
            s = &all->list[all->count + all->published++];
            *s = (series){.count = 0};
            snprintf(s->label, sizeof s->label, "Karv, published");
            snprintf(s->facts, sizeof s->facts, "%s", machine);
        }
        if (s->count < SERIES_POINTS_MAX)
            s->points[s->count++] = (series_point){.batch = count, .seconds = 1.0 / speedup};
    }
    fclose(file);
    return CNN_OK;
}

/* ---- The picture */

cnn_status workers_picture(FILE *to, void *user, cnn_error *err)
{
    const workers_set *set = user;
    const series_set *all = &set->curves;
    (void)err;
    gnuplot_text(to, "line", 0, set->network);
    gnuplot_text(to, "line", 1, all->subtitle);
    gnuplot_text(to, "over", -1, !set->threads ? "workers" : set->workers ? "threads or workers" : "threads");
    fprintf(to, "count=%d\nours=%d\n", all->count + all->published, all->count);
    for (int i = 0; i < all->count + all->published; i++) {
        gnuplot_text(to, "name", i, all->list[i].label);
        gnuplot_text(to, "note", i, all->list[i].facts);
    }
    fputs("$curves << EOD\n", to);
    for (int i = 0; i < all->count + all->published; i++, fputs("\n\n", to)) {
        const series *s = &all->list[i];
        for (int k = 0; k < s->count; k++) {
            const double speedup = s->points[0].seconds / s->points[k].seconds;
            fprintf(to, "%.9g %.9g %.9g %d\n", s->points[k].batch, speedup, 100.0 * speedup / s->points[k].batch,
                    s->points[k].marks != 0);
        }
    }
    fputs("EOD\n", to);
    return CNN_OK;
}
