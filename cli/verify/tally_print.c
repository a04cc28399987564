/* tally_print.c: the end of `verify`: reasons, each told once, precisions, and who gives the same bits. */
#include "report.h"

#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <string.h>

void verify_reasons_print(const verify_reasons *r)
{
    for (int i = 0; i < r->count; i++)
        table_print(16, "%5lld %s%s: %s\n", (long long)r->list[i].count, verify_state_name(VERIFY_UNSUPPORTED),
                    r->list[i].differ ? ", such as" : "", r->list[i].text);
    if (r->others > 0)
        printf("%5lld %s: for other reasons\n", (long long)r->others, verify_state_name(VERIFY_UNSUPPORTED));
}

bool verify_reasons_few(const verify_reasons *r, FILE *to)
{
    enum { LEFT_MIN = 4 };
    bool any = false;
    for (int i = 0; i < r->n_shares; i++) {
        const verify_share *s = &r->shares[i];
        if (s->left < LEFT_MIN || s->left <= s->verified) continue;
        any = true;
        table_print_to(to, 4,
                       "%s: of %lld cases that `supports` let through only %lld were verified; the others were refused "
                       "later, or asked for more memory than there is: that is no success\n",
                       s->impl, (long long)(s->verified + s->left), (long long)s->verified);
    }
    return any;
}

void verify_patterns_print(const verify_patterns *patterns, FILE *to)
{
    for (int i = 0; i < patterns->count; i++) {
        char text[256];
        verify_pattern_text(&patterns->list[i], text, sizeof text);
        if (text[0] != '\0') table_print_to(to, 4, "%s: %s\n", patterns->list[i].name, text);
    }
}

/* ---- Precision. */

static bool listed(const verify_table *t, int until, const table_row *row)
{
    for (int i = 0; i < until; i++)
        if (strcmp(t->rows[i].algorithm, row->algorithm) == 0 && strcmp(t->rows[i].precision, row->precision) == 0)
            return true;
    return false;
}

void verify_table_precisions(const verify_table *t, FILE *to)
{
    char line[16384];
    for (int p = 0; p < VERIFY_PRECISIONS; p++) {
        line[0] = '\0';
        for (int i = 0; i < t->row_count; i++)
            if (strcmp(t->rows[i].precision, verify_precisions[p]) == 0 && !listed(t, i, &t->rows[i]))
                cnn_append(line, sizeof line, " %s", t->rows[i].algorithm);
        if (line[0] != '\0') table_print_to(to, 4, "precision %s:%s\n", verify_precisions[p], line);
    }
}

/* Whose products keep fewer bits than their type has, and in how long a sum. */
void verify_table_kept(const verify_table *t, FILE *to)
{
    for (int i = 0; i < t->row_count; i++) {
        const table_row *r = &t->rows[i];
        const table_bits *b = &r->kept;
        char line[1024] = "";
        if (b->count == 0 || b->at[b->count - 1].bits >= b->full) continue;
        for (int k = 0; k < b->count; k++)
            cnn_append(line, sizeof line, k == 0 ? "%d bits at %lld tap%s" : ", %d at %lld%.0s", b->at[k].bits,
                       (long long)b->at[k].taps, b->at[k].taps == 1 ? "" : "s");
        table_print_to(to, 4, "keeps %s, of %d: %s %s %s\n", line, b->full, r->algorithm, cnn_op_name(r->op),
                       cnn_dir_name(r->dir));
    }
}

/* ---- Bits. */

static void append_equals(const verify_table *t, int row, char *line, size_t size)
{
    const table_row *r = &t->rows[row];
    bool any = false;
    for (int i = 0; i < t->row_count; i++) {
        const table_row *o = &t->rows[i];
        int64_t both, same;
        if (i == row || o->op != r->op || o->dir != r->dir || strcmp(o->type, r->type) != 0 || o->digests == 0)
            continue;
        verify_table_common(t, row, i, &both, &same);
        if (same == 0) continue;
        cnn_append(line, size, "%s %s (%lld/%lld)", any ? "," : "", o->algorithm, (long long)same, (long long)both);
        any = true;
    }
    if (!any) cnn_append(line, size, " -");
}

static void print_bits(const verify_table *t, int row, FILE *to)
{
    const table_row *r = &t->rows[row];
    char line[16384], room[128];
    snprintf(line, sizeof line, "  %-24s %-9s %-5s %-16s", table_shorten(r->algorithm, 24, room, sizeof room),
             cnn_op_name(r->op), cnn_dir_name(r->dir), r->type);
    for (int a = 0; a < VERIFY_SAME_COUNT; a++) {
        char cell[48] = "-";
        if (r->asked[a] > 0 && r->differ[a] == 0) snprintf(cell, sizeof cell, "yes");
        if (r->differ[a] > 0)
            snprintf(cell, sizeof cell, "no %lld/%lld", (long long)r->differ[a], (long long)r->asked[a]);
        cnn_append(line, sizeof line, " %-9s", cell);
    }
    cnn_append(line, sizeof line, " ");
    append_equals(t, row, line, sizeof line);
    table_print_to(to, 27, "%s\n", line);
}

void verify_table_bits(const verify_table *t, FILE *to)
{
    bool any = false;
    for (int i = 0; i < t->row_count; i++) {
        if (t->rows[i].digests == 0) continue;
        if (!any)
            table_print_to(to, 27, "\nThe same bits? %-44s %-9s %-9s %-9s %-9s  as (same / problems)\n",
                           "(problems that differ / problems)", "runs", "threads", "position", "contexts");
        any = true;
        print_bits(t, i, to);
    }
    if (any) fprintf(to, "\n");
}
