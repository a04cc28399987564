/* find.c: --find: of one problem a table of all algorithms, the fastest first: time, workspace, verdict, as a library's
 * search of algorithms gives it. What could not be timed stands below, with the reason. */
#include "cli/table.h"
#include "parts.h"

#include <math.h>
#include <stdlib.h>

enum { NAME_MAX_COLUMNS = 40, BYTES_TEXT = 32 };

static void bytes_text(size_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1023.5 && unit < 4) value /= 1024, unit++;
    snprintf(text, size, unit > 0 && value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void name_of(const candidate *c, char *text, size_t size)
{
    snprintf(text, size, "%s:%s", c->session->impl->name, c->tuned ? CNN_TUNED : c->algorithm.name);
}

/* Timed ones by their time; the others behind them, as they come. */
static int by_time(const void *a, const void *b)
{
    const candidate *const *p = a, *const *q = b;
    const bool timed_p = (*p)->state == CANDIDATE_TIMED, timed_q = (*q)->state == CANDIDATE_TIMED;
    if (timed_p != timed_q) return timed_p ? -1 : 1;
    if (!timed_p) return *p < *q ? -1 : *p > *q;
    const double s = (*p)->result.stats.median, t = (*q)->result.stats.median;
    return s != t ? (s < t ? -1 : 1) : *p < *q ? -1 : *p > *q;
}

static const char *state_of(const candidate *c)
{
    switch (c->state) {
    case CANDIDATE_TIMED:
        return "PASSED";
    case CANDIDATE_WRONG:
        return "WRONG";
    case CANDIDATE_FAILED:
        return "FAILED";
    case CANDIDATE_NO_MEMORY:
        return "NO MEMORY";
    case CANDIDATE_TOO_SHORT:
        return "TOO SHORT";
    default:
        return "UNSUPPORTED";
    }
}

static void print_row(const candidate *c, int place, const candidate *first, int width)
{
    char name[2 * CNN_NAME_MAX], time[32] = "-", bytes[BYTES_TEXT] = "-", ratio[32] = "-", marks[128] = "",
                                 number[16] = "";
    const bool timed = c->state == CANDIDATE_TIMED;
    name_of(c, name, sizeof name);
    if (timed) {
        bench_time_text(c->result.stats.median, time, sizeof time);
        bytes_text(c->result.workspace_bytes, bytes, sizeof bytes);
        snprintf(ratio, sizeof ratio, "%.2f", c->result.stats.median / first->result.stats.median);
        bench_marks_text(c->result.stats.marks, marks, sizeof marks);
        snprintf(number, sizeof number, "%d", place);
    }
    const bool chose = timed && c->result.choice[0] != '\0';
    table_print(8, "%4s  %-*s  %*s  %7s  %*s  %-11s  %s%s%s%s\n", number, table_field(name, width), name,
                table_field(time, 9), time, ratio, table_field(bytes, 10), bytes, state_of(c),
                timed ? marks : c->reason, chose ? (marks[0] != '\0' ? "; it chose " : "it chose ") : "",
                chose ? c->result.choice : "", c->beyond ? " (it beats a ceiling)" : "");
}

void bench_find_print(const bench *b, const candidate *list, int count, const vf_case *pc)
{
    const candidate **sorted = malloc((size_t)(count > 0 ? count : 1) * sizeof *sorted);
    int width = table_width("algorithm");
    if (sorted == NULL) return;
    for (int i = 0; i < count; i++) {
        char name[2 * CNN_NAME_MAX];
        sorted[i] = &list[i];
        name_of(&list[i], name, sizeof name);
        const int its = table_width(name);
        if (its > width && its <= NAME_MAX_COLUMNS) width = its;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, by_time);
    table_print(8, "%4s  %-*s  %9s  %7s  %10s  %-11s\n", "", width, "algorithm", "time", "by best", "workspace",
                "verdict");
    for (int i = 0; i < count; i++) {
        print_row(sorted[i], i + 1, sorted[0], width);
        bench_print_repeat(b, sorted[i], pc);
    }
    free(sorted);
}
