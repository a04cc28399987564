/* summary.c: the table at the end of several points: seconds per epoch, medians over the epochs. */
#include "cli/table.h"
#include "harness/base/text.h"
#include "parts.h"

#include <string.h>

static int column_width(const train *t, int c)
{
    const int label = (int)strlen(t->curves[c].label);
    return label > 10 ? label : 10;
}

/* "0.841", "0.841 dt" (the first letters of its marks), "diverged", or "-". */
static void cell_text(const train_figure *f, char *text, size_t size)
{
    if (f->diverged || !(f->seconds > 0.0)) {
        snprintf(text, size, "%s", f->diverged ? "diverged" : "-");
        return;
    }
    snprintf(text, size, "%.3f%s", f->seconds, f->marks ? " " : "");
    for (int i = 0; i < BENCH_MARK_COUNT; i++)
        if (f->marks >> i & 1u) cnn_append(text, size, "%c", bench_mark_name(i)[0]);
}

/* Columns first ... end - 1: as many as a terminal has room for. */
static void print_columns(const train *t, int first, int end)
{
    char cell[64];
    const bool workers = t->params.workers > 0; /* a row each; else a row a batch size */
    printf("%8s", workers ? "workers" : "batch");
    for (int c = first; c < end; c++) printf("  %*s", column_width(t, c), t->curves[c].label);
    putchar('\n');
    for (int b = 0; b < t->n_batches; b++) {
        printf("%8lld", (long long)(workers ? t->workers[b] : t->batches[b]));
        for (int c = first; c < end; c++) {
            cell_text(&t->sums->figures[b][c], cell, sizeof cell);
            printf("  %*s", column_width(t, c), cell);
        }
        putchar('\n');
    }
}

void train_print_summary(const train *t)
{
    const int columns = table_columns();
    unsigned seen = 0;
    bool any = false;
    for (int b = 0; b < t->n_batches; b++)
        for (int c = 0; c < t->n_curves; c++) {
            const train_figure *f = &t->sums->figures[b][c];
            any = any || f->seconds > 0.0 || f->diverged;
            seen |= f->marks;
        }
    if (t->options->json || !any) return;
    printf("\nseconds per epoch (%lld images trained, %lld tested)%s\n", (long long)t->data.train.count,
           (long long)t->data.test.count, seen ? "; a letter behind one is the first of its mark" : "");
    for (int first = 0, end; first < t->n_curves; first = end) {
        int width = 8;
        for (end = first; end < t->n_curves; end++) {
            width += 2 + column_width(t, end);
            if (columns > 0 && width > columns && end > first) break;
        }
        print_columns(t, first, end);
    }
    table_legend(seen);
}
