/* solved_picture.c: a curve a candidate, of which the best stands first, for plots/solved.gp. */
#include "bars.h"
#include "gnuplot.h"
#include "harness/base/text.h"
#include "series.h"
#include "solved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far the axis goes at most: what is slower counts for little, and is at the edge. */
static const double most_times = 32.0, most_speedup = 64.0;
enum { LABEL_LETTERS = 44 };

static int upward(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The ratios of a candidate where it is right, sorted; how many. */
static int ratios_of(const solved_set *set, int candidate, double *list)
{
    int count = 0;
    for (int p = 0; p < set->n_problems; p++)
        if (solved_at(set, candidate, p)->state == SOLVED_RIGHT) list[count++] = solved_at(set, candidate, p)->ratio;
    qsort(list, (size_t)count, sizeof *list, upward);
    return count;
}

typedef struct place {
    int candidate;
    double area; /* under its curve, on the logarithmic axis */
} place;

static int by_area(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->area != y->area) return x->area < y->area ? 1 : -1;
    return x->candidate - y->candidate;
}

typedef struct axis {
    double least, most;
} axis;

static double within(const axis *x, double ratio) { return fmin(fmax(ratio, x->least), x->most); }

static axis axis_of(const solved_set *set)
{
    const bool over = set->request.baseline != NULL;
    axis x = {1.0, over ? 2.0 : 4.0};
    for (int c = 0; c < set->n_candidates; c++)
        for (int p = 0; p < set->n_problems; p++) {
            const double ratio = solved_at(set, c, p)->ratio;
            if (isnan(ratio)) continue;
            x.least = fmin(x.least, ratio);
            x.most = fmax(x.most, ratio * 1.1);
        }
    if (over) x.least = fmax(x.least / 1.1, 1.0 / most_speedup);
    x.most = fmin(x.most, over ? most_speedup : most_times);
    return x;
}

static void sort_candidates(const solved_set *set, const axis *x, double *list, place *places)
{
    for (int c = 0; c < set->n_candidates; c++) {
        const int count = ratios_of(set, c, list);
        places[c] = (place){c, 0.0};
        for (int i = 0; i < count; i++)
            places[c].area +=
                set->request.baseline ? log(within(x, list[i]) / x->least) : log(x->most / within(x, list[i]));
    }
    qsort(places, (size_t)set->n_candidates, sizeof *places, by_area);
}

/* A line of steps: up where a problem comes in, or, over a baseline, down behind the last p that it reaches. */
static void put_curve(FILE *to, const solved_set *set, const axis *x, const double *list, int count)
{
    const double each = 100.0 / set->n_problems;
    const bool over = set->request.baseline != NULL;
    double share = over ? count * each : 0.0;
    fprintf(to, "%.6g %.6g\n", x->least, share);
    for (int i = 0; i < count; i++) {
        if (list[i] > x->most) break;
        fprintf(to, "%.6g %.6g\n", within(x, list[i]), share);
        share = over ? (count - 1 - i) * each : (i + 1) * each;
        fprintf(to, "%.6g %.6g\n", within(x, list[i]), share);
    }
    fprintf(to, "%.6g %.6g\n\n\n", x->most, share);
}

static void note_of(const solved_set *set, const solved_candidate *c, int number, char *text, size_t size)
{
    text[0] = '\0';
    cnn_append(text, size, "right %d", c->all.right);
    if (c->all.wrong > 0) cnn_append(text, size, ", WRONG %d", c->all.wrong);
    if (c->all.refused > 0) cnn_append(text, size, ", refused %d", c->all.refused);
    if (c->all.not_asked > 0) cnn_append(text, size, ", not asked %d", c->all.not_asked);
    if (set->request.baseline)
        cnn_append(text, size, "; faster %.0f %%, twice %.0f %%", 100.0 * solved_share(set, number, 1.0),
                   100.0 * solved_share(set, number, 2.0));
    else
        cnn_append(text, size, "; fastest %d, within 1.1 times %.0f %%", c->all.fastest,
                   100.0 * solved_share(set, number, 1.1));
    if (set->request.baseline && c->all.right > 0) cnn_append(text, size, ", mean %.3g times", c->all.mean);
}

/* The machine, where all ran on one. */
static void machine_of(const solved_set *set, char *text, size_t size)
{
    char machine[CNN_NAME_MAX];
    text[0] = '\0';
    for (int i = 1; i < set->n_candidates; i++)
        if (strcmp(set->candidates[i].machine, set->candidates[0].machine) != 0) return;
    series_machine(set->candidates[0].machine, machine, sizeof machine);
    snprintf(text, size, "%s", machine);
}

static void put_heading(FILE *to, const solved_set *set)
{
    char machine[CNN_NAME_MAX], line[4 * CNN_NAME_MAX];
    const bool over = set->request.baseline != NULL;
    machine_of(set, machine, sizeof machine);
    gnuplot_text(to, "title", -1,
                 over ? "Problems solved at least so many times as fast"
                      : "Problems solved, and how near to the fastest");
    snprintf(line, sizeof line, "%d problem%s%s%s%s%s", set->n_problems, set->n_problems == 1 ? "" : "s",
             machine[0] ? " on " : "", machine, set->from[0] ? ", " : "", set->from);
    if (strcmp(set->from, set->to) != 0) cnn_append(line, sizeof line, " to %s", set->to);
    gnuplot_text(to, "line", 0, line);
    snprintf(line, sizeof line, over ? "over %s%s" : "%s%s",
             over ? strchr(set->baseline, ',') ? "the fastest of " : "" : "the fastest of all that are shown is 1",
             over ? set->baseline : "");
    gnuplot_text(to, "line", 1, line);
    gnuplot_text(to, "beside", -1,
                 over ? "times as fast as the baseline, at least" : "times as long as the fastest, at most");
}

cnn_status solved_picture(FILE *to, void *user, cnn_error *err)
{
    const solved_set *set = user;
    place places[SOLVED_CURVES_MAX];
    char text[SOLVED_LABEL_MAX];
    if (set->n_candidates > SOLVED_CURVES_MAX)
        return CNN_FAIL(
            err, CNN_BAD_ARGUMENT,
            "%d curves are more than the %d that can be told apart: name fewer with --impl (a name without an "
            "algorithm is its fastest one, problem by problem)",
            set->n_candidates, SOLVED_CURVES_MAX);
    double *list = malloc((size_t)set->n_problems * sizeof *list);
    if (!list) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d problems", set->n_problems);
    const axis x = axis_of(set);
    sort_candidates(set, &x, list, places);
    fprintf(to, "count=%d\nleast=%.6g\nmost=%.6g\nover=%d\n", set->n_candidates, x.least, x.most,
            set->request.baseline != NULL);
    put_heading(to, set);
    for (int i = 0; i < set->n_candidates; i++) {
        const solved_candidate *c = &set->candidates[places[i].candidate];
        bars_shorten(c->label, LABEL_LETTERS, text, sizeof text);
        gnuplot_text(to, "name", i, text);
        note_of(set, c, places[i].candidate, text, sizeof text);
        gnuplot_text(to, "note", i, text);
    }
    fputs("$curves << EOD\n", to);
    for (int i = 0; i < set->n_candidates; i++) put_curve(to, set, &x, list, ratios_of(set, places[i].candidate, list));
    fputs("EOD\n", to);
    free(list);
    return CNN_OK;
}
