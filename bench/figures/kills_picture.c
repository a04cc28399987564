/* kills_picture.c: what plots/kills.gp is given. */
#include "gnuplot.h"
#include "harness/base/text.h"
#include "kills.h"

#include <string.h>

static void put_heading(FILE *to, const kills_set *set)
{
    const int *ends = set->ends;
    char text[512];
    snprintf(text, sizeof text, "%d broken kernels, each the real one with one small change: %d caught by checks",
             set->count, ends[KILLS_CAUGHT]);
    cnn_append(text, sizeof text, ", %d killed by a crash, %d by a hang, %d survived", ends[KILLS_CRASH],
               ends[KILLS_HANG], ends[KILLS_SURVIVED]);
    if (ends[KILLS_NOT_RUN] > 0) cnn_append(text, sizeof text, ", %d not run", ends[KILLS_NOT_RUN]);
    gnuplot_text(to, "line", 0, text);
    snprintf(text, sizeof text, "the unchanged kernels held in %d of %d runs", set->held, set->runs);
    if (set->first_date[0] != '\0') cnn_append(text, sizeof text, ";  run %s", set->first_date);
    if (strcmp(set->first_date, set->last_date) != 0) cnn_append(text, sizeof text, " to %s", set->last_date);
    gnuplot_text(to, "line", 1, text);
    for (int k = 0; k < VERIFY_CHECK_COUNT; k++) {
        snprintf(text, sizeof text, "%s  %d", verify_check_name((verify_check)k), set->catches[k]);
        gnuplot_text(to, "check", k, text);
    }
}

/* What a row says behind its cells. */
static const char *word_of(const kills_row *row)
{
    bool known = false;
    for (int k = 0; k < VERIFY_CHECK_COUNT; k++) known = known || row->caught[k];
    switch (row->end) {
    case KILLS_CRASH:
        return "crash";
    case KILLS_HANG:
        return "hang";
    case KILLS_SURVIVED:
        return "SURVIVED";
    case KILLS_NOT_RUN:
        return "not run";
    default:
        return known ? "" : "other";
    }
}

cnn_status kills_picture(FILE *to, void *user, cnn_error *err)
{
    const kills_set *set = user;
    (void)err;
    put_heading(to, set);
    fprintf(to, "checks=%d\ncolumns=%d\nlines=%d\n", VERIFY_CHECK_COUNT, set->rows[set->count - 1].column + 1,
            set->lines);
    int heads = 0;
    for (int i = 0; i < set->count; i++) {
        gnuplot_text(to, "name", i, set->rows[i].mutant);
        gnuplot_text(to, "end", i, word_of(&set->rows[i]));
        const bool first = kills_begins(set, i);
        if (!first && set->rows[i].column == set->rows[i - 1].column) continue;
        gnuplot_text(to, "list", heads, set->rows[i].list);
        fprintf(to, "list_column%d=%d\nlist_line%d=%d\n", heads, set->rows[i].column, heads, set->rows[i].line - 1);
        heads++;
    }
    fprintf(to, "lists=%d\n$rows << EOD\n", heads);
    for (int i = 0; i < set->count; i++)
        fprintf(to, "%d %d %d %d\n", set->rows[i].column, set->rows[i].line, set->rows[i].end, i);
    fputs("EOD\n$cells << EOD\n", to); /* two blocks: what was caught, what was missed */
    for (int missed = 0; missed < 2; missed++, fputs("\n\n", to)) {
        bool any = false;
        for (int i = 0; i < set->count; i++)
            for (int k = 0; k < VERIFY_CHECK_COUNT; k++) {
                if (!(missed ? set->rows[i].passed[k] : set->rows[i].caught[k])) continue;
                fprintf(to, "%d %d %d\n", set->rows[i].column, set->rows[i].line, k);
                any = true;
            }
        if (!any) fputs("NaN NaN NaN\n", to);
    }
    fputs("EOD\n", to);
    return CNN_OK;
}
