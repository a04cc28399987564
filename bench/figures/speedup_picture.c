/* speedup_picture.c: speedups as pictures: of epochs as curves, by way of series; of single operations as bars, a group
 * of them for each problem, direction and type. How the bars look stands in plots/speedup_problems.gp. */
#include "gnuplot.h"
#include "harness/base/text.h"
#include "harness/record/identity.h"
#include "speedup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Epochs */

static cnn_status add_curve(series_set *set, const speedup_curve *curve, const speedup *row, cnn_error *err)
{
    series *s = series_add(set, err);
    if (!s) return err->status;
    s->setting = *row->own->epoch;
    s->setting.graph = false; /* each point has its own, with its algorithm and its knobs */
    snprintf(s->setting.knobs, sizeof s->setting.knobs, "{}");
    if (!strchr(curve->name, ':')) s->setting.algorithm[0] = '\0';
    return CNN_OK;
}

cnn_status speedup_curves(FILE *to, void *user, cnn_error *err)
{
    const speedup_set *speedups = user;
    series_set set = {.count = 0};
    int latest = -1;
    bool with_gpu = false;
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < speedups->count; i++) {
        const speedup *row = &speedups->rows[i];
        if (!row->own->epoch) continue;
        if (row->curve != latest) status = add_curve(&set, &speedups->curves[row->curve], row, err);
        if (status != CNN_OK) break;
        latest = row->curve;
        with_gpu = with_gpu || (row->own->gpu && !row->base->gpu);
        series *s = &set.list[set.count - 1];
        if (s->count < SERIES_POINTS_MAX)
            s->points[s->count++] = (series_point){.batch = (double)row->own->batch,
                                                   .seconds = row->ratio,
                                                   .low = row->low,
                                                   .high = row->high,
                                                   .marks = row->marks};
    }
    speedup_baseline_text(speedups, true, set.baseline, sizeof set.baseline);
    if (status == CNN_OK && with_gpu) status = series_add_thesis(&set, err);
    if (status == CNN_OK) {
        series_name(&set);
        status = series_picture(to, &set, err);
    }
    series_free(&set);
    return status;
}

/* ---- Single operations */

enum { GROUPS_MAX = 96, BARS_MAX = 160 }; /* more of them make no picture: `table` has them all */

typedef struct bars {
    const speedup_set *set;
    const speedup *groups[GROUPS_MAX]; /* the first row of each task */
    int curves[SERIES_MAX];            /* of operations, in their order */
    int n_groups, n_curves, left_out;
} bars;

/* -1: an epoch, or one of those that are left out. */
static int group_of(const bars *b, const speedup *row)
{
    for (int i = 0; !row->own->epoch && i < b->n_groups; i++)
        if (strcmp(b->groups[i]->own->task, row->own->task) == 0) return i;
    return -1;
}

static int by_reading(const void *a, const void *b)
{
    const speedup *p = *(const speedup *const *)a, *q = *(const speedup *const *)b;
    return (p->own > q->own) - (p->own < q->own);
}

/* Rows stand curve by curve. */
static cnn_status find_groups(bars *b, cnn_error *err)
{
    for (int i = 0; i < b->set->count; i++) {
        const speedup *row = &b->set->rows[i];
        if (row->own->epoch || (b->n_curves > 0 && b->curves[b->n_curves - 1] == row->curve)) continue;
        if (b->n_curves == SERIES_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d bars a problem: name fewer with --impl", SERIES_MAX);
        b->curves[b->n_curves++] = row->curve;
    }
    for (int i = 0; i < b->set->count; i++) {
        const speedup *row = &b->set->rows[i];
        if (row->own->epoch || group_of(b, row) >= 0) continue;
        if (b->n_groups == GROUPS_MAX || (b->n_groups + 1) * b->n_curves > BARS_MAX)
            b->left_out++; /* of rows: a problem may be counted more than once */
        else
            b->groups[b->n_groups++] = row;
    }
    qsort(b->groups, (size_t)b->n_groups, sizeof b->groups[0], by_reading);
    return CNN_OK;
}

/* What else there is to say of a group. */
enum { FACTS = 4 };
static const char *fact_of(const speedup_figure *f, int fact)
{
    const char *const facts[FACTS] = {f->dtype, strcmp(f->math, "f32") == 0 ? "" : f->math, f->layout, f->cache};
    return facts[fact];
}

/* It is said once, above, where all groups share it; else with each of them: those that vary, or those that do not. */
static void append_facts(const bars *b, const speedup_figure *f, bool varying, char *text, size_t size)
{
    for (int k = 0; k < FACTS; k++) {
        bool varies = false;
        for (int i = 1; i < b->n_groups; i++)
            varies = varies || strcmp(fact_of(b->groups[i]->own, k), fact_of(b->groups[0]->own, k)) != 0;
        if (varies == varying && fact_of(f, k)[0])
            cnn_append(text, size, ", %s%s", k == FACTS - 1 ? "caches " : "", fact_of(f, k));
    }
}

/* The problem, and what the baseline takes. */
static void put_groups(FILE *to, const bars *b)
{
    bool one_baseline = true;
    for (int i = 1; i < b->n_groups; i++)
        if (strcmp(b->groups[i]->base->algorithm, b->groups[0]->base->algorithm) != 0) one_baseline = false;
    for (int i = 0; i < b->n_groups; i++) {
        const speedup *row = b->groups[i];
        char name[2 * CNN_PROBLEM_TEXT_MAX], text[2 * CNN_PROBLEM_TEXT_MAX], time[CNN_NAME_MAX + 32];
        record_problem_name(row->own->op, row->own->problem, name, sizeof name);
        snprintf(text, sizeof text, "%.80s %s", name + (strncmp(name, "conv ", 5) == 0 ? 5 : 0), row->own->dir);
        append_facts(b, row->own, true, text, sizeof text);
        bench_time_text(row->base->seconds, time, sizeof time);
        if (!one_baseline) cnn_append(time, sizeof time, ", %s", row->base->algorithm);
        gnuplot_text(to, "problem", i, text);
        gnuplot_text(to, "time", i, time);
    }
}

/* A block a curve: where the bar stands, the speedup, its interval, whether it bears a mark, with transfers. A block
 * needs a line: one that no bar is seen of. Then the foot. */
static void put_bars(FILE *to, const bars *b)
{
    char names[128], text[512];
    unsigned marks = 0;
    bool moved = false;
    fputs("$bars << EOD\n", to);
    for (int c = 0; c < b->n_curves; c++, fputs("nan nan nan nan 0 nan\n\n\n", to))
        for (int i = 0; i < b->set->count; i++) {
            const speedup *row = &b->set->rows[i];
            const int group = group_of(b, row);
            if (row->curve != b->curves[c] || group < 0) continue;
            fprintf(to, "%.9g %.9g %.9g %.9g %d %.9g\n", group * (b->n_curves + 0.7) + c, row->ratio, row->low,
                    row->high, row->marks != 0, row->moved);
            marks |= row->marks;
            moved = moved || isfinite(row->moved);
        }
    fputs("EOD\n", to);
    snprintf(text, sizeof text, "whiskers: what the intervals of both medians allow%s%s%s",
             moved ? ";  stroke: with its transfers counted" : "", marks ? ";  hollow: " : "",
             bench_marks_text(marks, names, sizeof names));
    gnuplot_text(to, "foot", -1, text);
}

cnn_status speedup_bars(FILE *to, void *user, cnn_error *err)
{
    speedup_set *set = user;
    char text[2 * SERIES_LABEL_MAX], baseline[SERIES_LABEL_MAX];
    bars b = {.set = set};
    cnn_status status = find_groups(&b, err);
    if (status != CNN_OK) return status;
    fprintf(to, "groups=%d\ncount=%d\n", b.n_groups, b.n_curves);
    for (int c = 0; c < b.n_curves; c++) {
        const speedup_curve *curve = &set->curves[b.curves[c]];
        series_machine(curve->first->machine, baseline, sizeof baseline);
        snprintf(text, sizeof text, "%s on %s", curve->name, baseline);
        gnuplot_text(to, "name", c, text);
    }
    speedup_baseline_text(set, false, baseline, sizeof baseline);
    snprintf(text, sizeof text, "over %s, whose times stand at the right", baseline);
    gnuplot_text(to, "line", 0, text);
    text[0] = '\0';
    append_facts(&b, b.groups[0]->own, false, text, sizeof text);
    gnuplot_text(to, "line", 1, text[0] ? text + 2 : "");
    put_groups(to, &b);
    put_bars(to, &b);
    if (b.left_out == 0) return CNN_OK;
    return speedup_note(set, err, "the picture has the first %d problems; `benchcnn table --kind speedups` has all",
                        b.n_groups);
}
