/* goals.c: grouping goals into curves, their medians, and the picture, which is one over batch size as others are. */
#include "goals.h"

#include "compare.h"
#include "gnuplot.h"
#include "harness/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same(double a, double b) { return a >= b && a <= b; }

static goals_curve *curve_of(goals_set *set, const goal_row *row, cnn_error *err)
{
    for (int i = 0; i < set->count; i++)
        if (goal_same(set->list[i].of, set->list[i].goal, row) &&
            series_same_curve(&set->list[i].first->setting, &row->setting))
            return &set->list[i];
    if (set->count == SERIES_MAX) {
        CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d curves: draw fewer files", SERIES_MAX);
        return NULL;
    }
    goals_curve *curve = &set->list[set->count++];
    *curve = (goals_curve){.first = row, .of = row->of, .goal = row->goal};
    set->has[row->of] = true;
    return curve;
}

static goals_mean mean_of(const epoch_sum *sum)
{
    const int n = sum->count;
    double total = 0, squares = 0;
    if (n == 0) return (goals_mean){NAN, NAN, NAN};
    for (int i = 0; i < n; i++) total += sum->seconds[i];
    const double mean = total / n;
    for (int i = 0; i < n; i++) squares += (sum->seconds[i] - mean) * (sum->seconds[i] - mean);
    const double half = n > 1 ? student_quantile(0.05, n - 1) * sqrt(squares / (n - 1) / n) : NAN;
    return (goals_mean){mean, mean - half, mean + half};
}

/* Of all trainings with this curve's setting and goal at the row's batch. */
static void add_point(goals_curve *curve, const goal_table *table, const goal_row *row)
{
    goals_point point = {.batch = (double)row->setting.batch, .seconds = NAN};
    epoch_sum epochs = {.count = 0}, seconds = {.count = 0}, train_s = {.count = 0};
    bench_stats stats;
    for (int i = 0; i < curve->count; i++)
        if (same(curve->points[i].batch, point.batch)) return;
    if (curve->count == SERIES_POINTS_MAX) return;
    for (int i = 0; i < table->count; i++) {
        const goal_row *other = &table->rows[i];
        if (other->setting.batch != row->setting.batch || !goal_same(row->of, row->goal, other) ||
            !series_same_curve(&other->setting, &row->setting))
            continue;
        point.trained++;
        if (other->outcome != GOAL_REACHED) {
            point.tried = other->epochs > point.tried ? other->epochs : point.tried;
            continue;
        }
        epoch_sum_add(&epochs, (double)other->epochs, 0);
        if (other->seconds > 0.0) epoch_sum_add(&seconds, other->seconds, other->marks);
        if (other->train_s > 0.0) epoch_sum_add(&train_s, other->train_s, other->marks);
    }
    point.reached = epochs.count;
    point.mean_epochs = mean_of(&epochs);
    point.mean_seconds = mean_of(&seconds);
    point.mean_train_s = mean_of(&train_s);
    if (epochs.count > 0) {
        epoch_sum_stats(&epochs, &stats);
        point.epochs = stats.median;
    }
    if (seconds.count > 0) {
        epoch_sum_stats(&seconds, &stats);
        point.seconds = stats.median;
        point.marks = stats.marks;
    }
    curve->points[curve->count++] = point;
}

static int by_batch(const void *a, const void *b)
{
    const goals_point *p = a, *q = b;
    return (p->batch > q->batch) - (p->batch < q->batch);
}

static bool same_job(const epoch_setting *a, const epoch_setting *b)
{
    return strcmp(a->net, b->net) == 0 && strcmp(a->net_crc, b->net_crc) == 0 && a->train_images == b->train_images &&
           a->test_images == b->test_images;
}

/* As other curves are named. */
static cnn_status name_curves(goals_set *set, cnn_error *err)
{
    series_set names = {.count = 0};
    for (int i = 0; i < set->count; i++) {
        series *s = series_add(&names, err);
        if (s == NULL) return err->status;
        s->setting = set->list[i].first->setting;
    }
    series_name(&names);
    for (int i = 0; i < set->count; i++) {
        snprintf(set->list[i].label, SERIES_LABEL_MAX, "%s", names.list[i].label);
        snprintf(set->list[i].facts, SERIES_LABEL_MAX, "%s", names.list[i].facts);
    }
    snprintf(set->subtitle, sizeof set->subtitle, "%s", names.subtitle);
    series_free(&names);
    return CNN_OK;
}

cnn_status goals_make(const goal_table *table, goals_set *set, cnn_error *err)
{
    if (table->count == 0)
        return CNN_FAIL(
            err, CNN_BAD_ARGUMENT,
            "no goals to draw: `benchcnn train --until-loss L --out FILE`, or --until-accuracy, records them");
    set->list = calloc(SERIES_MAX + 1, sizeof *set->list);
    if (set->list == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d curves", SERIES_MAX);
    for (int i = 0; i < table->count; i++) {
        const goal_row *row = &table->rows[i];
        if (!same_job(&row->setting, &table->rows[0].setting)) {
            set->left_out++;
            continue;
        }
        goals_curve *curve = curve_of(set, row, err);
        if (curve == NULL) return err->status;
        add_point(curve, table, row);
    }
    for (int i = 0; i < set->count; i++)
        qsort(set->list[i].points, (size_t)set->list[i].count, sizeof(goals_point), by_batch);
    return name_curves(set, err);
}

void goals_free(goals_set *set)
{
    free(set->list);
    *set = (goals_set){.count = 0};
}

cnn_status goals_add_thesis(goals_set *set, cnn_error *err)
{
    const epoch_setting *job = &set->list[0].first->setting;
    char line[256], path[FOUND_PATH_MAX];
    goals_point point = {.epochs = 0};
    if (!set->has[GOAL_LOSS] || strcmp(job->net, "thesis") != 0 || job->train_images != 60000 ||
        job->test_images != 10000)
        return CNN_OK;
    const cnn_status status = plot_file("thesis_table_4_3.dat", path, err);
    if (status != CNN_OK) return status;
    FILE *file = fopen(path, "re");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "cannot read %s: %s", path, strerror(errno));
    goals_curve *curve = &set->list[set->count++];
    set->published = true;
    *curve = (goals_curve){.label = "GoCuNets, published", .facts = "GTX 1080 Ti", .goal = 0.01};
    while (curve->count < SERIES_POINTS_MAX && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%lf %lf %lf", &point.batch, &point.epochs, &point.seconds) == 3)
            curve->points[curve->count++] = point;
    fclose(file);
    return CNN_OK;
}

/* ---- The picture */

/* What was reached and timed. */
static void take_points(series *s, const goals_curve *curve, bool published)
{
    char goal[64];
    snprintf(s->label, SERIES_LABEL_MAX, "%.180s, to %s", curve->label, goal_text(curve->of, curve->goal, goal));
    snprintf(s->facts, SERIES_LABEL_MAX, "%s", curve->facts);
    if (!published) s->setting = curve->first->setting;
    for (int k = 0; k < curve->count; k++) {
        const goals_point *p = &curve->points[k];
        if (!(p->seconds > 0.0)) continue;
        s->points[s->count++] =
            (series_point){.batch = p->batch, .seconds = p->seconds, .low = NAN, .high = NAN, .marks = p->marks};
    }
}

cnn_status goals_picture(FILE *to, void *user, cnn_error *err)
{
    const goals_set *set = user;
    series_set drawn = {.title = !set->has[GOAL_ACCURACY]
                                     ? "Seconds of training until the test loss is below a goal, over batch size"
                                     : "Seconds of training until a goal is reached, over batch size"};
    const int ours = set->count - set->published;
    snprintf(drawn.subtitle, sizeof drawn.subtitle, "%s", set->subtitle);
    for (int i = 0; i < ours; i++) {
        series *s = series_add(&drawn, err);
        if (s == NULL) return err->status;
        take_points(s, &set->list[i], false);
        if (s->count == 0) memset(&drawn.list[--drawn.count], 0, sizeof *s);
    }
    cnn_status status = drawn.count > 0 ? CNN_OK
                                        : CNN_FAIL(err, CNN_BAD_ARGUMENT,
                                                   "no goal to draw: none was reached by a training that is timed");
    if (status == CNN_OK && set->published) {
        take_points(&drawn.list[drawn.count], &set->list[ours], true);
        drawn.published = 1;
    }
    if (status == CNN_OK) status = series_picture(to, &drawn, err);
    series_free(&drawn);
    return status;
}
