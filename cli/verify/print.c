/* print.c: what `verify` shows of a case, and of all of them. A file or a pipe gets a line a case with all there
 * is to say; a terminal gets short ones, with the descriptor last, and what there is to say beneath. */
#include "report.h"

#include "cli/table.h"

#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <math.h>
#include <string.h>

enum { LINE = 4096, SHORTEST_WHAT = 16 };

static void append_bound(const verify_report *r, char text[LINE], const char *of)
{
    if (r->state >= VERIFY_PASSED && isfinite(r->budget_used))
        cnn_append(text, LINE, "%.2g %%%s", 100.0 * r->budget_used, of);
    else if (r->state >= VERIFY_PASSED && isinf(r->budget_used))
        cnn_append(text, LINE, "beyond any bound");
    if (r->precision[0] != '\0' && strstr(r->failed, " exact") == NULL)
        cnn_append(text, LINE, "%s%s", text[0] != '\0' ? ", " : "",
                   strcmp(r->precision, "worse") == 0 ? "worse than f16" : r->precision);
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
        cli_tuned_text(c->tuned, choice, sizeof choice);
        cnn_append(text, LINE, " | %s", choice);
    }
    cnn_append(text, LINE, "%s", r->remarks);
}

static void append_head(const verify_report *r, char text[LINE])
{
    const report_case *c = &r->now;
    char name[2 * CNN_NAME_MAX + 2];
    snprintf(name, sizeof name, "%s:%s", c->session->impl->name, c->tuned != NULL ? CNN_TUNED : c->algorithm);
    cnn_append(text, LINE, "%-11s %-14s ", verify_state_name(r->state), name);
    if (c->problem != NULL)
        cnn_append(text, LINE, "%-9s %-5s ", cnn_op_name(c->problem->op), cnn_dir_name(c->dir));
    else
        cnn_append(text, LINE, "net ");
}

static void append_type(const cnn_type *type, char text[LINE])
{
    cnn_append(text, LINE, " %s %s", cnn_dtype_name(type->dtype), cnn_layout_name(type->layout));
    if (type->math != CNN_MATH_F32) cnn_append(text, LINE, " %s", cnn_math_name(type->math));
}

static void print_whole(const verify_report *r)
{
    char text[LINE] = "", bound[LINE] = "";
    append_head(r, text);
    cnn_append(text, LINE, "%s", r->now.what);
    append_type(&r->now.type, text);
    if (r->failed[0] != '\0') cnn_append(text, LINE, " | failed:%s", r->failed);
    if (r->passed[0] != '\0') cnn_append(text, LINE, " |%s%s", r->failed[0] != '\0' ? " passed:" : "", r->passed);
    append_bound(r, bound, " of the bound");
    if (bound[0] != '\0') cnn_append(text, LINE, " | %s", bound);
    append_remarks(r, text);
    printf("%s\n", text);
}

static void print_short(const verify_report *r, int columns)
{
    char text[LINE] = "", bound[LINE] = "", remarks[LINE] = "", what[CNN_PROBLEM_TEXT_MAX];
    append_head(r, text);
    text[strlen(text) - 1] = '\0';
    append_type(&r->now.type, text);
    append_bound(r, bound, "");
    cnn_append(text, LINE, "  %-10s ", bound);
    const int room = columns - table_width(text);
    cnn_append(text, LINE, "%s",
               table_shorten(r->now.what, room > SHORTEST_WHAT ? room : SHORTEST_WHAT, what, sizeof what));
    if (r->failed[0] != '\0') cnn_append(remarks, LINE, " | failed:%s", r->failed);
    append_remarks(r, remarks);
    table_print(4, "%s\n", text);
    if (remarks[0] != '\0') table_print(4, "    %s\n", remarks + strspn(remarks, " |;"));
}

/* --quiet: what held, and what cannot be asked of this implementation, is counted alone. */
bool report_shows(const verify_report *r, verify_state state)
{
    return !r->options->json && !(r->options->quiet && (state == VERIFY_PASSED || state == VERIFY_UNSUPPORTED));
}

void report_print(const verify_report *r)
{
    const int columns = table_columns();
    if (!report_shows(r, r->state)) return;
    if (columns > 0)
        print_short(r, columns);
    else
        print_whole(r);
    table_print(8, "%s", r->failures);
    if (r->state > VERIFY_PASSED) {
        char command[CLI_REPEAT_MAX], typed[CLI_REPEAT_MAX];
        report_repro(r, command);
        if (r->dumped[0] != '\0') printf("    arrays: %s\n", r->dumped);
        printf("    repeat with: %s\n", cli_typed(r->options, command, typed, sizeof typed)); /* to be copied: whole */
    }
}
