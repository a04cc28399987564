/* print.c: what `verify` shows of a case: its line, and of a failure what there is to say beneath. */
#include "report.h"

#include "cli/table.h"

#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <math.h>
#include <string.h>

enum { LINE = 4096 };

static void append_head(const verify_report *r, char text[LINE])
{
    const report_case *c = &r->now;
    char name[2 * CNN_NAME_MAX + 2];
    snprintf(name, sizeof name, "%s:%s", c->session->impl->name, c->tuned != NULL ? CNN_TUNED : c->algorithm);
    cnn_append(text, LINE, "%-11s %-14s ", verify_state_name(r->state), name);
    if (c->problem != NULL)
        cnn_append(text, LINE, "%-9s %-5s %s", cnn_op_name(c->problem->op), cnn_dir_name(c->dir), c->what);
    else
        cnn_append(text, LINE, "net %s batch %lld", c->what, (long long)c->batch);
    cnn_append(text, LINE, " %s %s", cnn_dtype_name(c->type.dtype), cnn_layout_name(c->type.layout));
    if (c->type.math != CNN_MATH_F32) cnn_append(text, LINE, " %s", cnn_math_name(c->type.math));
}

/* How close it came. The precision of something else than what was to be computed says nothing. */
static void append_bound(const verify_report *r, char text[LINE])
{
    const char *precision = strcmp(r->precision, "worse") == 0 ? "worse than f16" : r->precision;
    const bool ran = r->state >= VERIFY_PASSED, known = precision[0] != '\0' && strstr(r->failed, " exact") == NULL;
    if (ran && isfinite(r->budget_used))
        cnn_append(text, LINE, " | %.2g %%%s", 100.0 * r->budget_used, table_columns() == 0 ? " of the bound" : "");
    else if (ran && isinf(r->budget_used))
        cnn_append(text, LINE, " | beyond any bound");
    if (known) cnn_append(text, LINE, "%s%s", ran && !isnan(r->budget_used) ? ", " : " | ", precision);
}

/* Why it is not PASSED, or what must be known of it all the same. */
static void append_remarks(const verify_report *r, char text[LINE])
{
    const report_case *c = &r->now;
    if (r->transform[0] != '\0') cnn_append(text, LINE, " | %s", r->transform);
    if (r->reason[0] != '\0')
        cnn_append(text, LINE, " | %s", r->reason);
    else if (r->state == VERIFY_SKIPPED)
        cnn_append(text, LINE, " | %s", r->skipped);
    if (c->tuned != NULL) {
        char choice[1024];
        tuned_text(c->tuned, choice, sizeof choice);
        cnn_append(text, LINE, " | %s", choice);
    }
    cnn_append(text, LINE, "%s", r->remarks);
    if (r->order[0] != '\0') cnn_append(text, LINE, " | %s", r->order);
}

/* --quiet: what held, and what cannot be asked of this implementation, is counted alone. */
bool report_shows(const verify_report *r, verify_state state)
{
    return !r->options->json && !(r->options->quiet && (state == VERIFY_PASSED || state == VERIFY_UNSUPPORTED));
}

void report_clear_line(const verify_report *r)
{
    if (r->progress != NULL) cli_progress_end(r->progress);
}

/* Of each kind of failure the first few; those that --fuzz found are few. */
static bool is_whole(const verify_report *r)
{
    failure_kind *k = r->sums->kinds;
    if (r->state <= VERIFY_PASSED) return false;
    if (r->now.drawn) return true;
    while (k->count > 0 && strcmp(k->checks, r->failed) != 0 && k < &r->sums->kinds[FAILURE_KINDS - 1]) k++;
    snprintf(k->checks, sizeof k->checks, "%s", r->failed);
    if (k->count++ < r->options->details) return true;
    r->sums->lines++;
    return false;
}

void report_print(const verify_report *r)
{
    char text[LINE] = "", command[CLI_REPEAT_MAX], typed[CLI_REPEAT_MAX];
    if (!report_shows(r, r->state)) return;
    report_clear_line(r);
    append_head(r, text);
    const char *word = r->state == VERIFY_MISTRUSTED ? "mistrusted" : "failed";
    if (r->failed[0] != '\0') cnn_append(text, LINE, " | %s:%s", word, r->failed);
    if (r->passed[0] != '\0' && table_columns() == 0) /* a terminal has no room for what is so usual */
        cnn_append(text, LINE, " |%s%s", r->failed[0] != '\0' ? " passed:" : "", r->passed);
    append_bound(r, text);
    append_remarks(r, text);
    table_print(4, "%s\n", text);
    if (!is_whole(r)) return;
    table_print(8, "%s", r->failures);
    if (r->dumped[0] != '\0') printf("    arrays: %s\n", r->dumped);
    report_repro(r, command);
    printf("    repeat with: %s\n", cli_typed(r->options, command, typed, sizeof typed)); /* to be copied: whole */
}
