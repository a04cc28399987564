/* plot_problems.c: what gnuplot reads of speedups of single operations; how it looks stands in
 * plots/speedup_problems.gp. */
#include "plot_problems.h"

#include "harness/base/text.h"

#include "harness/base/text.h"
#include "harness/record/identity.h"

#include "cli/bench/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 96, BARS_MAX = 160 }; /* more of them make no picture: `table` has them all */

typedef struct bars {
    const speedup_set *set;
    const speedup *groups[GROUPS_MAX]; /* the first row of each task */
    int curves[SERIES_MAX];            /* of operations, in their order */
    int n_groups, n_curves, left_out;
} bars;

static int group_of(const bars *b, const speedup *row)
{
    for (int i = 0; i < b->n_groups; i++)
        if (strcmp(b->groups[i]->own->task, row->own->task) == 0) return i;
    return -1;
}

static int index_of(const bars *b, int curve)
{
    for (int i = 0; i < b->n_curves; i++)
        if (b->curves[i] == curve) return i;
    return -1;
}

static int by_reading(const void *a, const void *b)
{
    const speedup *p = *(const speedup *const *)a, *q = *(const speedup *const *)b;
    return (p->own > q->own) - (p->own < q->own);
}

static cnn_status find_groups(bars *b, cnn_error *err)
{
    for (int i = 0; i < b->set->count; i++) {
        const speedup *row = &b->set->rows[i];
        if (row->own->epoch || index_of(b, row->curve) >= 0) continue;
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
    if (b->left_out > 0)
        fprintf(stderr, "benchcnn: the picture has the first %d problems; `benchcnn table --kind speedups` has all\n",
                b->n_groups);
    return CNN_OK;
}

/* What is said once, above, where all groups share it; else with each problem. */
typedef struct facts {
    bool dtype, layout, math, cache;
} facts;

static facts varying(const bars *b)
{
    facts v = {false, false, false, false};
    const speedup_figure *first = b->groups[0]->own;
    for (int i = 1; i < b->n_groups; i++) {
        const speedup_figure *f = b->groups[i]->own;
        v.dtype = v.dtype || strcmp(f->dtype, first->dtype) != 0;
        v.layout = v.layout || strcmp(f->layout, first->layout) != 0;
        v.math = v.math || strcmp(f->math, first->math) != 0;
        v.cache = v.cache || strcmp(f->cache, first->cache) != 0;
    }
    return v;
}

/* Those that vary, or those that do not. */
static void facts_text(const speedup_figure *f, const facts *vary, bool varying, char *text, size_t size)
{
    if (vary->dtype == varying) cnn_append(text, size, ", %s", f->dtype);
    if (vary->math == varying && strcmp(f->math, "f32") != 0) cnn_append(text, size, ", %s", f->math);
    if (vary->layout == varying) cnn_append(text, size, ", %s", f->layout);
    if (vary->cache == varying && f->cache[0]) cnn_append(text, size, ", caches %s", f->cache);
}

/* A text in a data file, as gnuplot reads it back: it takes off one level of backslashes in finding the text's end, and
 * one more in reading it. */
static void put_quoted(FILE *file, const char *text)
{
    putc('"', file);
    while (*text) {
        char shown[CNN_SHOWN_MAX];
        text += cnn_show_character(text, shown);
        for (const char *at = shown; *at; at++)
            if (*at == '"' || *at == '\\')
                fputs(*at == '"' ? "\\042" : "\\\\134", file);
            else
                putc(*at, file);
    }
    putc('"', file);
}

static double top_of(const bars *b, int group) { return group * (b->n_curves + 0.7); }

static bool one_baseline(const bars *b)
{
    for (int i = 1; i < b->n_groups; i++)
        if (strcmp(b->groups[i]->base->algorithm, b->groups[0]->base->algorithm) != 0) return false;
    return true;
}

/* A line a group: where it stands, the problem, and what the baseline takes. */
static cnn_status write_groups(const bars *b, const char *folder, cnn_error *err)
{
    const facts vary = varying(b);
    const bool one = one_baseline(b);
    FILE *file = plot_create(folder, "groups.dat", err);
    if (!file) return err->status;
    for (int i = 0; i < b->n_groups; i++) {
        const speedup *row = b->groups[i];
        char label[2 * CNN_PROBLEM_TEXT_MAX], base[2 * CNN_NAME_MAX], time[32];
        record_problem_name(row->own->op, row->own->problem, label, sizeof label);
        const char *space = strchr(label, ' '); /* "conv mb100...": the operation is in the heading where all are one */
        char text[2 * CNN_PROBLEM_TEXT_MAX];
        snprintf(text, sizeof text, "%.80s %s", space && strncmp(label, "conv ", 5) == 0 ? space + 1 : label,
                 row->own->dir);
        facts_text(row->own, &vary, true, text, sizeof text);
        bench_time_text(row->base->seconds, time, sizeof time);
        snprintf(base, sizeof base, "%s%s%s", time, one ? "" : ", ", one ? "" : row->base->algorithm);
        fprintf(file, "%.9g ", top_of(b, i) + (b->n_curves - 1) / 2.0);
        put_quoted(file, text);
        putc(' ', file);
        put_quoted(file, base);
        putc('\n', file);
    }
    return plot_close(file, folder, err);
}

/* A block a curve: where the bar stands, the speedup, its interval, whether it bears a mark, with transfers. A block
 * needs a line: one that no bar is seen of. */
static cnn_status write_bars(const bars *b, const char *folder, cnn_error *err)
{
    FILE *file = plot_create(folder, "bars.dat", err);
    if (!file) return err->status;
    for (int c = 0; c < b->n_curves; c++) {
        for (int i = 0; i < b->set->count; i++) {
            const speedup *row = &b->set->rows[i];
            const int group = row->own->epoch ? -1 : group_of(b, row);
            if (row->curve != b->curves[c] || group < 0) continue;
            fprintf(file, "%.9g %.9g %.9g %.9g %d %.9g\n", top_of(b, group) + c, row->ratio, row->low, row->high,
                    row->marks != 0, row->moved);
        }
        fputs("nan nan nan nan 0 nan\n\n\n", file);
    }
    return plot_close(file, folder, err);
}

static void frame_of(const bars *b, double *low, double *high)
{
    *low = *high = 1;
    for (int i = 0; i < b->set->count; i++) {
        const speedup *row = &b->set->rows[i];
        if (row->own->epoch || group_of(b, row) < 0) continue;
        *low = fmin(fmin(*low, row->moved), fmin(row->ratio, row->low)); /* fmin passes over a NaN */
        *high = fmax(fmax(*high, row->moved), fmax(row->ratio, row->high));
    }
    *low /= 1.25;
    *high *= pow(*high / *low, 0.12); /* room for the number behind a bar */
}

static void make_settings(const bars *b, const char *folder, char *settings)
{
    char text[2 * SERIES_LABEL_MAX], names[128], baseline[SERIES_LABEL_MAX];
    double low, high;
    unsigned marks = 0;
    bool moved = false;
    const facts vary = varying(b);
    settings[0] = '\0';
    frame_of(b, &low, &high);
    gnuplot_set_text(settings, SETTINGS_SIZE, "folder", folder);
    gnuplot_set_real(settings, SETTINGS_SIZE, "groups", b->n_groups);
    gnuplot_set_real(settings, SETTINGS_SIZE, "count", b->n_curves);
    gnuplot_set_real(settings, SETTINGS_SIZE, "x_low", low);
    gnuplot_set_real(settings, SETTINGS_SIZE, "x_high", high);
    for (int c = 0; c < b->n_curves; c++) {
        char machine[CNN_NAME_MAX];
        const speedup_curve *curve = &b->set->curves[b->curves[c]];
        series_machine(curve->machine, machine, sizeof machine);
        snprintf(text, sizeof text, "%s on %s", curve->name, machine);
        plot_set_text(settings, "name", c, text);
    }
    for (int i = 0; i < b->set->count; i++) {
        const speedup *row = &b->set->rows[i];
        if (row->own->epoch || group_of(b, row) < 0) continue;
        marks |= row->marks;
        moved = moved || isfinite(row->moved);
    }
    speedup_baseline_text(b->set, false, baseline, sizeof baseline);
    snprintf(text, sizeof text, "over %s, whose times stand at the right", baseline);
    gnuplot_set_text(settings, SETTINGS_SIZE, "line0", text);
    text[0] = '\0';
    facts_text(b->groups[0]->own, &vary, false, text, sizeof text);
    gnuplot_set_text(settings, SETTINGS_SIZE, "line1", text[0] ? text + 2 : "");
    bench_marks_text(marks, names, sizeof names);
    snprintf(text, sizeof text, "whiskers: what the intervals of both medians allow%s%s%s",
             moved ? ";  stroke: with its transfers counted" : "", marks ? ";  hollow: " : "", names);
    gnuplot_set_text(settings, SETTINGS_SIZE, "foot", text);
}

cnn_status plot_problems(const speedup_set *set, const char *name, cnn_error *err)
{
    char settings[SETTINGS_SIZE], script[PATH_SIZE], folder[PATH_SIZE];
    bars b = {.set = set};
    cnn_status status = find_groups(&b, err);
    if (status == CNN_OK) status = plot_file("speedup_problems.gp", script, PATH_SIZE, err);
    if (status == CNN_OK) status = plot_folder(folder, PATH_SIZE, err);
    if (status != CNN_OK) return status;
    make_settings(&b, folder, settings);
    status = write_groups(&b, folder, err);
    if (status == CNN_OK) status = write_bars(&b, folder, err);
    if (status == CNN_OK) status = plot_draw(settings, script, folder, name, err);
    plot_folder_remove(folder);
    return status;
}
