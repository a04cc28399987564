/* fuzz_tally.c: how many cases of which algorithm and operation ended how. What was not run is counted apart: an
 * unsupported case proves nothing. */
#include "fuzz.h"

#include "cli/table.h"

#include "harness/problem/names.h"

#include <string.h>

static int row_of(fuzz_session *s, const fuzz_case *c, const char *algorithm)
{
    for (int i = 0; i < s->n_rows; i++)
        if (s->rows[i].impl == c->impl && s->rows[i].op == c->problem.op &&
            strcmp(s->rows[i].algorithm, algorithm) == 0)
            return i;
    if (s->n_rows == FUZZ_ROWS) return FUZZ_ROWS - 1; /* the last row takes what is left */
    fuzz_row *row = &s->rows[s->n_rows];
    *row = (fuzz_row){.impl = c->impl, .op = c->problem.op};
    snprintf(row->algorithm, sizeof row->algorithm, "%s", algorithm);
    return s->n_rows++;
}

static uint64_t hash_of(const fuzz_case *c, const fuzz_outcome *o)
{
    char text[CNN_PROBLEM_TEXT_MAX], line[CNN_PROBLEM_TEXT_MAX + 128];
    const cnn_type *type = &c->problem.u.type;
    uint64_t hash = 14695981039346656037u;
    cnn_problem_format(&c->problem, text);
    snprintf(line, sizeof line, "%lld %s %d %d %d %d %d %d", (long long)c->index, text, (int)c->dir, (int)type->dtype,
             (int)type->layout, (int)type->math, c->threads, (int)o->state);
    for (const char *at = line; *at != '\0'; at++) hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    return hash;
}

void fuzz_count(fuzz_session *s, const fuzz_case *c, const worker_message *message)
{
    const fuzz_outcome *o = &message->outcome;
    const bool left = strcmp(o->check, verify_late_refusal) == 0 || strcmp(o->check, verify_no_room) == 0;
    report_count(s->report.sums, s->space.impls[c->impl]->name, o->state, left, o->reason);
    fuzz_row *row = &s->rows[row_of(s, c, o->algorithm)];
    if (o->state == VERIFY_MISTRUSTED && (row->cases[o->state] == 0 || c->index < row->mistrusted)) {
        row->mistrusted = c->index;
        row->attempt = message->attempt;
        memcpy(row->tried, o->algorithm, sizeof row->tried);
        snprintf(row->why, sizeof row->why, "%s: %.400s", o->check, o->reason);
    }
    row->cases[o->state]++;
    row->digest += hash_of(c, o);
    s->done++;
}

/* The row's first MISTRUSTED case, drawn again, and the command that repeats it. */
static void repeat_mistrusted(fuzz_session *s, const fuzz_row *row, fuzz_case *c, char command[CLI_REPEAT_MAX])
{
    fuzz_draw(&s->space, s->seed, row->mistrusted, row->attempt, c);
    memcpy(c->algorithm, row->tried, sizeof c->algorithm);
    fuzz_command(s, c, command);
}

static void print_mistrusted(fuzz_session *s, const fuzz_row *const *rows, FILE *to)
{
    char command[CLI_REPEAT_MAX], typed[CLI_REPEAT_MAX];
    fuzz_case c;
    if (s->report.sums->cases[VERIFY_MISTRUSTED] == 0) return;
    table_print_to(to, 0, "MISTRUSTED: these results are too uniform to prove anything. Of each row the first case:\n");
    for (int r = 0; r < s->n_rows; r++) {
        const fuzz_row *row = rows[r];
        if (row->cases[VERIFY_MISTRUSTED] == 0) continue;
        repeat_mistrusted(s, row, &c, command);
        table_print_to(to, 4, "  case %lld, %s:%s %s %s: %s\n", (long long)c.index, s->space.impls[c.impl]->name,
                       c.algorithm, cnn_op_name(c.problem.op), cnn_dir_name(c.dir), row->why);
        table_put(to, "    repeat with: %s\n", cli_typed(s->options, command, typed, sizeof typed));
    }
}

fuzz_kind *fuzz_kind_of(fuzz_session *s, const fuzz_case *c, const worker_message *message)
{
    const int row = row_of(s, c, message->outcome.algorithm);
    for (int i = 0; i < s->n_kinds; i++) {
        fuzz_kind *k = &s->kinds[i];
        if (k->row == row && k->dir == c->dir && k->failed == message->outcome.failed && k->result == message->result)
            return k;
    }
    if (s->n_kinds == FUZZ_KINDS) return NULL;
    s->kinds[s->n_kinds] = (fuzz_kind){row, c->dir, message->outcome.failed, message->result, 0};
    return &s->kinds[s->n_kinds++];
}

static void print_row(const fuzz_session *s, const fuzz_row *row, FILE *to)
{
    char name[2 * CNN_NAME_MAX + 2];
    snprintf(name, sizeof name, "%s:%s", s->space.impls[row->impl]->name, row->algorithm[0] ? row->algorithm : "-");
    fprintf(to, "%-32s %-9s", name, cnn_op_name(row->op));
    for (int state = VERIFY_FAILED; state >= 0; state--) fprintf(to, " %11lld", (long long)row->cases[state]);
    fprintf(to, "\n");
}

static void record_row(fuzz_session *s, const fuzz_row *row)
{
    static const char *const keys[] = {"unsupported", "skipped", "passed", "mistrusted", "failed"};
    char digest[24], command[CLI_REPEAT_MAX];
    fuzz_case c;
    cnn_record *record = record_new("fuzz");
    record_text(record, "impl", s->space.impls[row->impl]->name);
    record_text(record, "algorithm", row->algorithm);
    record_text(record, "op", cnn_op_name(row->op));
    record_int(record, "seed", (int64_t)s->seed);
    for (int state = 0; state <= VERIFY_FAILED; state++) record_int(record, keys[state], row->cases[state]);
    if (row->cases[VERIFY_MISTRUSTED] > 0) {
        repeat_mistrusted(s, row, &c, command);
        record_text(record, "mistrusted_why", row->why);
        record_text(record, "mistrusted_repro", command);
    }
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)row->digest);
    record_text(record, "digest", digest);
    report_write(&s->report, record);
}

/* By implementation and operation. */
static void sort_rows(const fuzz_session *s, const fuzz_row *rows[FUZZ_ROWS])
{
    int count = 0;
    for (int impl = 0; impl < s->space.n_impls; impl++)
        for (int op = 0; op < CNN_OP_COUNT; op++)
            for (int r = 0; r < s->n_rows; r++)
                if (s->rows[r].impl == impl && s->rows[r].op == (cnn_op)op) rows[count++] = &s->rows[r];
}

void fuzz_table(fuzz_session *s, bool whole)
{
    const fuzz_row *rows[FUZZ_ROWS];
    FILE *to = s->options->json ? stderr : stdout;
    fprintf(to, "%-32s %-9s", "algorithm", "operation");
    for (int state = VERIFY_FAILED; state >= 0; state--) fprintf(to, " %11s", verify_state_name((verify_state)state));
    fprintf(to, "\n");
    if (s->n_kinds > 0 && !s->options->json)
        fprintf(to, "of each kind of failure (%d) up to %d are shown, the first of them shrunk\n", s->n_kinds,
                FUZZ_SHOWN);
    for (int i = 0; whole && i < s->n_rows; i++) record_row(s, &s->rows[i]);
    sort_rows(s, rows);
    for (int r = 0; r < s->n_rows; r++) print_row(s, rows[r], to);
    print_mistrusted(s, rows, to);
}
