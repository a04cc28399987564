/* bars_processes.c: what plots/processes.gp is given: whole processes, a bar a command, below each other by the file
 * that was imported. */
#include "bars.h"
#include "gnuplot.h"
#include "harness/base/text.h"
#include "series.h"

#include <math.h>
#include <string.h>

enum { COMMAND_LETTERS = 150 }; /* that a picture has room for */

bool bars_of_processes(const bars_set *set) { return set->processes && !set->operations && !set->benchmarks; }

static int first_of(const bars_set *set, int curve)
{
    for (int g = 0; g < set->n_groups; g++)
        if (set->cells[g][curve].count > 0) return g;
    return -1;
}

/* Every command of every file: seconds, the fastest and the slowest run (the median, where they are not told), those of
 * the file's first command, which file. A file's first command begins a block of its own. */
static void put_rows(FILE *to, const bars_set *set)
{
    fputs("$rows << EOD\n", to);
    for (int c = 0; c < set->n_curves; c++)
        for (int g = 0; g < set->n_groups; g++) {
            const bars_cell *cell = &set->cells[g][c];
            if (cell->count == 0) continue;
            fprintf(to, "%.9g %.9g %.9g %.9g %d\n", cell->seconds, fmin(cell->seconds, cell->low_s),
                    fmax(cell->seconds, cell->high_s), set->cells[first_of(set, c)][c].seconds, c);
        }
    fputs("EOD\n", to);
}

static void put_words(FILE *to, const bars_set *set)
{
    char text[2 * BARS_TEXT_MAX];
    int row = 0, least = 0, most = 0;
    for (int c = 0; c < set->n_curves; c++) {
        gnuplot_text(to, "file", c, set->curves[c]);
        for (int g = 0; g < set->n_groups; g++) {
            const int samples = set->cells[g][c].samples;
            if (set->cells[g][c].count == 0) continue;
            bars_shorten(set->groups[g].name, COMMAND_LETTERS, text, sizeof text);
            gnuplot_text(to, "command", row, text);
            least = row == 0 || samples < least ? samples : least;
            most = samples > most ? samples : most;
            row++;
        }
    }
    fprintf(to, "rows=%d\nfiles=%d\n", row, set->n_curves);
    snprintf(text, sizeof text, "medians; lines: from the fastest run to the slowest");
    if (least > 0) cnn_append(text, sizeof text, least == most ? " of %d" : " of %d to %d", least, most);
    cnn_append(text, sizeof text, "; ×: of the first command of the same part");
    gnuplot_text(to, "foot", -1, text);
}

cnn_status bars_processes_picture(FILE *to, void *user, cnn_error *err)
{
    const bars_set *set = user;
    char text[2 * CNN_NAME_MAX];
    (void)err;
    gnuplot_text(to, "title", -1, "Times of whole processes");
    series_machine(set->machine, text, CNN_NAME_MAX);
    if (text[0] == '\0') snprintf(text, sizeof text, "of which machine, the records do not say");
    if (set->from[0] != '\0')
        cnn_append(text, sizeof text, strcmp(set->from, set->to) == 0 ? ", %s" : ", %s to %s", set->from, set->to);
    gnuplot_text(to, "line", 0, text);
    put_words(to, set);
    put_rows(to, set);
    return CNN_OK;
}
