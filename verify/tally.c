/* table.c: A row is an algorithm, direction and type; a digest is what one problem gave in a
 * row, kept to be compared with the other rows' of the same problem. */
#include "report.h"

#include "cli/table.h"
#include "harness/base/text.h"
#include "harness/problem/names.h"

#include <string.h>

/* ---- Collecting. */

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text != '\0'; text++) h = (h ^ (uint64_t)(unsigned char)*text) * 1099511628211u;
    return h;
}

static table_row *row_for(verify_table *t, const verify_result *v)
{
    const cnn_type *type = &v->problem->u.type;
    table_row row = {.op = v->problem->op, .dir = v->dir};
    snprintf(row.algorithm, sizeof row.algorithm, "%s:%s", v->session->impl->name, v->algorithm);
    snprintf(row.type, sizeof row.type, "%s %s%s%s", cnn_dtype_name(type->dtype), cnn_layout_name(type->layout),
             type->math != CNN_MATH_F32 ? " " : "", type->math != CNN_MATH_F32 ? cnn_math_name(type->math) : "");
    for (int i = 0; i < t->row_count; i++)
        if (t->rows[i].op == row.op && t->rows[i].dir == row.dir && strcmp(t->rows[i].type, row.type) == 0 &&
            strcmp(t->rows[i].algorithm, row.algorithm) == 0)
            return &t->rows[i];
    if (t->row_count == TABLE_ROWS) return NULL;
    t->rows[t->row_count] = row;
    return &t->rows[t->row_count++];
}

/* From the finest to the coarsest; -1: none. */
static const char *const precisions[] = {"f64", "f32", "tf32", "bf16", "f16", "worse"};
enum { PRECISIONS = sizeof precisions / sizeof precisions[0] };

static int rank(const char *precision)
{
    int i = PRECISIONS - 1;
    while (i >= 0 && strcmp(precisions[i], precision) != 0) i--;
    return i;
}

static void add_digest(verify_table *t, int row, const verify_result *v, const char *what)
{
    if (t->digest_count == TABLE_DIGESTS) return;
    t->rows[row].digests++;
    t->digests[t->digest_count++] = (table_digest){hash_text(14695981039346656037u, what), v->bits.digest, row};
}

void verify_table_add(verify_table *t, const verify_result *v, const char *what)
{
    if (v->problem == NULL || (v->precision[0] == '\0' && v->bits.digest == 0)) return;
    table_row *row = row_for(t, v);
    if (row == NULL) return;
    if (v->bits.digest == 0 && rank(v->precision) > rank(row->precision))
        memcpy(row->precision, v->precision, sizeof row->precision);
    for (int a = 0; a < VERIFY_SAME_COUNT && v->bits.digest != 0; a++) {
        row->asked[a] += v->bits.same[a] != 0;
        row->differ[a] += v->bits.same[a] == 'n';
    }
    if (v->bits.digest != 0) add_digest(t, (int)(row - t->rows), v, what);
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
    for (int p = 0; p < PRECISIONS; p++) {
        line[0] = '\0';
        for (int i = 0; i < t->row_count; i++)
            if (strcmp(t->rows[i].precision, precisions[p]) == 0 && !listed(t, i, &t->rows[i]))
                cnn_append(line, sizeof line, " %s", t->rows[i].algorithm);
        if (line[0] != '\0') table_print_to(to, 4, "precision %s:%s\n", precisions[p], line);
    }
}

/* ---- Bits. */

/* On how many problems both rows were, and on how many of these with the same bits. */
static void in_common(const verify_table *t, int a, int b, int64_t *both, int64_t *same)
{
    *both = *same = 0;
    for (int64_t i = 0; i < t->digest_count; i++)
        for (int64_t j = 0; t->digests[i].row == a && j < t->digest_count; j++)
            if (t->digests[j].row == b && t->digests[j].problem == t->digests[i].problem) {
                (*both)++;
                *same += t->digests[j].digest == t->digests[i].digest;
            }
}

static void append_equals(const verify_table *t, int row, char *line, size_t size)
{
    const table_row *r = &t->rows[row];
    bool any = false;
    for (int i = 0; i < t->row_count; i++) {
        const table_row *o = &t->rows[i];
        int64_t both, same;
        if (i == row || o->op != r->op || o->dir != r->dir || strcmp(o->type, r->type) != 0 || o->digests == 0)
            continue;
        in_common(t, row, i, &both, &same);
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
