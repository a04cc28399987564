/* floors_picture.c: what plots/floor.gp is given. */
#include "bench/measure/stats.h"
#include "floors.h"
#include "gnuplot.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <string.h>

/* "41 %  of 30.1 ms,  7.1 % of the epoch;  fma avx2 f32" */
static void put_note(FILE *to, const floors_bar *bar, int number)
{
    char text[256] = "", took[32];
    if (bar->floor_s > 0.0) {
        bench_time_text(bar->seconds, took, sizeof took);
        snprintf(text, sizeof text, "%.3g %%  of %s,  %.3g %% of the epoch%s%.100s%s",
                 100.0 * bar->floor_s / bar->seconds, took, 100.0 * bar->share, bar->by[0] != '\0' ? ";  " : "",
                 bar->by, bar->doubted ? " *" : "");
    }
    gnuplot_text(to, "note", number, text);
}

static void put_rows(FILE *to, const floors_set *set)
{
    const int runs = set->runs.count;
    char text[2 * CNN_NAME_MAX];
    for (int i = 0; i < set->n_rows; i++) {
        const struct floors_row *row = &set->rows[i];
        snprintf(text, sizeof text, "%s %s", row->layer, cnn_dir_name(row->dir));
        gnuplot_text(to, "row", i, row->layer[0] != '\0' ? text : "all of these");
        fprintf(to, "group%d=%d\n", i, i > 0 && strcmp(row->layer, set->rows[i - 1].layer) != 0);
        for (int r = 0; r < runs; r++) put_note(to, &row->bars[r], i * runs + r);
    }
    fputs("$bars << EOD\n", to);
    for (int r = 0; r < runs; r++, fputs("\n\n", to))
        for (int i = 0; i < set->n_rows; i++) {
            const floors_bar *bar = &set->rows[i].bars[r];
            if (bar->floor_s > 0.0)
                fprintf(to, "%d %.9g %d %d\n", i, 100.0 * bar->floor_s / bar->seconds, bar->moves, i * runs + r);
            else
                fprintf(to, "%d NaN 0 %d\n", i, i * runs + r);
        }
    fputs("EOD\n", to);
}

cnn_status floors_picture(FILE *to, void *user, cnn_error *err)
{
    const floors_set *set = user;
    char text[3 * SERIES_LABEL_MAX];
    bool doubted = false;
    (void)err;
    snprintf(text, sizeof text, "%s; %s", set->job, set->runs.subtitle);
    if (set->first_date[0] != '\0') cnn_append(text, sizeof text, "; measured %s", set->first_date);
    if (strcmp(set->first_date, set->last_date) != 0) cnn_append(text, sizeof text, " to %s", set->last_date);
    gnuplot_text(to, "line", 0, text);
    for (int i = 0; i < set->runs.count; i++) {
        const series *run = &set->runs.list[i];
        snprintf(text, sizeof text, "%s%s%s", run->label, run->facts[0] != '\0' ? "  " : "", run->facts);
        gnuplot_text(to, "name", i, text);
    }
    for (int i = 0; i < set->n_rows; i++)
        for (int r = 0; r < set->runs.count; r++) doubted = doubted || set->rows[i].bars[r].doubted;
    gnuplot_text(to, "foot", -1, doubted ? "*  a ceiling that is in doubt: it bears a mark itself" : "");
    fprintf(to, "rows=%d\nruns=%d\n", set->n_rows, set->runs.count);
    put_rows(to, set);
    return CNN_OK;
}
