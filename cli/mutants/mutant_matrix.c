/* mutant_matrix.c: the kill matrix. A cell is `x` where the check failed on at least one case, `.` where it passed all,
 * empty where it said nothing. */
#include "mutant_matrix.h"

#include "cli/cli.h"

#include <errno.h>
#include <string.h>

enum { NAME_WIDTH = 34 };

bool mutant_killed(const mutant_run *run)
{
    return run->end == RUN_CAUGHT || run->end == RUN_CRASHED || run->end == RUN_HUNG;
}

static int checks_failed(const mutant_run *run)
{
    int sum = 0;
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) sum += run->failed[i] > 0;
    return sum;
}

static void sum_checks(const mutant_run *run, matrix_sums *sums)
{
    const int others = checks_failed(run) - 1;
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) {
        matrix_check *c = &sums->checks[i];
        if (run->failed[i] == 0) continue;
        c->caught++;
        c->alone += others == 0;
        if (c->own == NULL || others < c->others) c->own = run, c->others = others;
    }
}

void matrix_sum(const mutant_run *runs, int count, matrix_sums *sums)
{
    *sums = (matrix_sums){0};
    for (int i = 0; i < count; i++) {
        const mutant_run *r = &runs[i];
        if (r->control) {
            sums->controls++;
            sums->controls_held += r->end == RUN_HELD;
            continue;
        }
        sums->mutants++;
        sums->killed += mutant_killed(r);
        sums->crashed += r->end == RUN_CRASHED;
        sums->hung += r->end == RUN_HUNG;
        sums->survived += r->end == RUN_HELD;
        sums->broken += r->end == RUN_BROKEN;
        sum_checks(r, sums);
    }
}

static const char *cell(const mutant_run *run, int check)
{
    return run->failed[check] > 0 ? "x" : run->passed[check] > 0 ? "." : "";
}

/* What stands in the last column: how it ended where no check said so. */
static const char *ended(const mutant_run *run)
{
    if (run->end == RUN_HELD) return run->control ? "held" : "SURVIVED";
    if (run->end == RUN_CAUGHT) return run->control ? "FAILED" : checks_failed(run) == 0 ? "x" : "";
    return run_end_name(run->end);
}

/* All runs of an unchanged implementation as one row; false unless `at` is the first of them. */
static bool join_controls(const mutant_run *runs, int count, int at, mutant_run *row)
{
    for (int i = 0; i < at; i++)
        if (strcmp(runs[i].program, runs[at].program) == 0) return false;
    *row = runs[at];
    for (int i = at + 1; i < count; i++) {
        if (strcmp(runs[i].program, row->program) != 0) continue;
        if (runs[i].end > row->end) row->end = runs[i].end;
        for (int k = 0; k < VERIFY_CHECK_COUNT; k++) {
            row->failed[k] += runs[i].failed[k];
            row->passed[k] += runs[i].passed[k];
        }
    }
    return true;
}

static void print_row(FILE *to, const mutant_run *run)
{
    fprintf(to, "%-*s", NAME_WIDTH, run->program);
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++)
        fprintf(to, " %-*s", (int)strlen(verify_check_name((verify_check)i)), cell(run, i));
    fprintf(to, " %-9s %s\n", ended(run),
            run->control ? "the implementation as it is, asked the same" : run->mutant->why);
}

static void print_reason(FILE *to, const mutant_run *run)
{
    if (run->end == RUN_BROKEN || (run->control ? run->end != RUN_HELD : run->end == RUN_CRASHED))
        fprintf(to, "    %s%s%s\n", run->control ? run->mutant->verify : "", run->control ? ": " : "", run->reason);
}

void matrix_print(FILE *to, const mutant_run *runs, int count)
{
    mutant_run row;
    fprintf(to, "%-*s", NAME_WIDTH, "");
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) fprintf(to, " %s", verify_check_name((verify_check)i));
    fprintf(to, " otherwise\n");
    for (int i = 0; i < count; i++) {
        if (runs[i].control) continue;
        print_row(to, &runs[i]);
        print_reason(to, &runs[i]);
    }
    for (int i = 0; i < count; i++)
        if (runs[i].control && join_controls(runs, count, i, &row)) print_row(to, &row);
    for (int i = 0; i < count; i++)
        if (runs[i].control) print_reason(to, &runs[i]);
}

static void others_text(const matrix_check *c, char *text, size_t size)
{
    if (c->own == NULL)
        snprintf(text, size, "none");
    else if (c->others == 0)
        snprintf(text, size, "%s (no other check)", c->own->program);
    else
        snprintf(text, size, "%s (and %d other%s)", c->own->program, c->others, c->others > 1 ? "s" : "");
}

void matrix_print_sums(FILE *to, const matrix_sums *s)
{
    fprintf(to, "%-*s %8s %8s  its own\n", NAME_WIDTH, "check", "catches", "alone");
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) {
        char text[256];
        others_text(&s->checks[i], text, sizeof text);
        fprintf(to, "%-*s %8d %8d  %s\n", NAME_WIDTH, verify_check_name((verify_check)i), s->checks[i].caught,
                s->checks[i].alone, text);
    }
    fprintf(to, "%d mutants: %d killed (%d by a crash, %d by a hang), %d SURVIVED", s->mutants, s->killed, s->crashed,
            s->hung, s->survived);
    if (s->broken > 0) fprintf(to, ", %d that could not be run", s->broken);
    fprintf(to, "; the unchanged implementations held in %d of %d runs\n", s->controls_held, s->controls);
}

/* ---- Markdown. */

static void write_cells(FILE *to, const mutant_run *r)
{
    fprintf(to, "| `%s` |", r->program);
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) fprintf(to, " %s |", cell(r, i));
    fprintf(to, " %s | %s |\n", ended(r), r->control ? "nothing: the implementation as it is" : r->mutant->why);
}

static void write_table(FILE *to, const mutant_run *runs, int count)
{
    mutant_run row;
    fprintf(to, "\n| mutant |");
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) fprintf(to, " %s |", verify_check_name((verify_check)i));
    fprintf(to, " otherwise | what is wrong |\n|---|");
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) fprintf(to, ":-:|");
    fprintf(to, ":-:|---|\n");
    for (int i = 0; i < count; i++)
        if (!runs[i].control) write_cells(to, &runs[i]);
    for (int i = 0; i < count; i++)
        if (runs[i].control && join_controls(runs, count, i, &row)) write_cells(to, &row);
}

static void write_sums(FILE *to, const matrix_sums *s)
{
    fprintf(to,
            "\n%d mutants: %d killed (%d by a crash, %d by a hang), %d survived; the unchanged implementations held in "
            "%d of %d runs.\n\n| check | catches | alone | its own |\n|---|--:|--:|---|\n",
            s->mutants, s->killed, s->crashed, s->hung, s->survived, s->controls_held, s->controls);
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) {
        char text[256];
        others_text(&s->checks[i], text, sizeof text);
        fprintf(to, "| %s | %d | %d | %s |\n", verify_check_name((verify_check)i), s->checks[i].caught,
                s->checks[i].alone, text);
    }
}

static const char heading[] = "# The kill matrix";

cnn_status matrix_check_file(const char *path, cnn_error *err)
{
    return cli_check_replaced(path, "kill matrix", heading, err);
}

cnn_status matrix_write(const char *path, const mutant_run *runs, int count, const matrix_sums *s, cnn_error *err)
{
    FILE *to = fopen(path, "we");
    if (to == NULL) return CNN_FAIL(err, CNN_IO, "cannot write %s: %s", path, strerror(errno));
    fprintf(
        to,
        "%s\n\nWritten by `benchcnn verify --mutants --matrix FILE`. Each mutant is the real "
        "implementation "
        "with one small change in its source\n(`verify/mutants/*.mutants`), compiled and verified like any other. `x`: "
        "the check failed on at least one problem; `.`: it passed\nthem all; empty: it had nothing to say. Every row "
        "but "
        "the unchanged ones must have an `x`, a crash or a hang.\n",
        heading);
    write_sums(to, s);
    write_table(to, runs, count);
    const bool written = !ferror(to);
    if (fclose(to) != 0 || !written) return CNN_FAIL(err, CNN_IO, "cannot write %s: %s", path, strerror(errno));
    return CNN_OK;
}
