/* fuzz_tally.c: how many cases of which algorithm and operation ended how. What was not run is counted apart: an
 * unsupported case proves nothing. */
#include "fuzz.h"

#include "harness/base/clock.h"
#include "harness/problem/names.h"

#include <string.h>

static int row_of(fuzz_tally *t, const fuzz_case *c, const char *algorithm)
{
    for (int i = 0; i < t->n_rows; i++)
        if (t->rows[i].impl == c->impl && t->rows[i].op == c->problem.op &&
            strcmp(t->rows[i].algorithm, algorithm) == 0)
            return i;
    if (t->n_rows == FUZZ_ROWS) return FUZZ_ROWS - 1; /* the last row takes what is left */
    fuzz_row *row = &t->rows[t->n_rows];
    row->impl = c->impl;
    row->op = c->problem.op;
    snprintf(row->algorithm, sizeof row->algorithm, "%s", algorithm);
    return t->n_rows++;
}

void fuzz_count(fuzz_session *s, const fuzz_case *c, const worker_message *message)
{
    fuzz_tally *t = &s->tally;
    const verify_state state = message->outcome.state;
    const char *check = message->outcome.check;
    const bool left = strcmp(check, verify_late_refusal) == 0 || strcmp(check, verify_no_room) == 0;
    if (left || state >= VERIFY_PASSED)
        verify_reasons_share(&t->reasons, s->space.impls[c->impl]->name, state >= VERIFY_PASSED);
    t->rows[row_of(t, c, message->outcome.algorithm)].cases[state]++;
    t->cases[state]++;
    if (state == VERIFY_UNSUPPORTED) verify_reasons_count(&t->reasons, message->outcome.reason);
}

fuzz_kind *fuzz_kind_of(fuzz_tally *t, const fuzz_case *c, const worker_message *message)
{
    const int row = row_of(t, c, message->outcome.algorithm);
    for (int i = 0; i < t->n_kinds; i++) {
        fuzz_kind *k = &t->kinds[i];
        if (k->row == row && k->dir == c->dir && k->failed == message->outcome.failed && k->result == message->result)
            return k;
    }
    if (t->n_kinds == FUZZ_KINDS) return NULL;
    t->kinds[t->n_kinds] = (fuzz_kind){row, c->dir, message->outcome.failed, message->result, 0, message->index};
    return &t->kinds[t->n_kinds++];
}

static void print_table(const fuzz_session *s, FILE *to)
{
    const fuzz_tally *t = &s->tally;
    fprintf(to, "%-32s %-9s", "algorithm", "operation");
    for (int state = VERIFY_FAILED; state >= 0; state--) fprintf(to, " %11s", verify_state_name((verify_state)state));
    fprintf(to, "\n");
    for (int i = 0; i < s->space.n_impls; i++)
        for (int op = 0; op < CNN_OP_COUNT; op++)
            for (int r = 0; r < t->n_rows; r++) {
                const fuzz_row *row = &t->rows[r];
                char name[2 * CNN_NAME_MAX + 2];
                if (row->impl != i || row->op != (cnn_op)op) continue;
                snprintf(name, sizeof name, "%s:%s", s->space.impls[i]->name, row->algorithm[0] ? row->algorithm : "-");
                fprintf(to, "%-32s %-9s", name, cnn_op_name(row->op));
                for (int state = VERIFY_FAILED; state >= 0; state--)
                    fprintf(to, " %11lld", (long long)row->cases[state]);
                fprintf(to, "\n");
            }
}

static void record_row(fuzz_session *s, const fuzz_row *row)
{
    static const char *const keys[] = {"unsupported", "skipped", "passed", "mistrusted", "failed"};
    cnn_error err;
    cnn_record *record = record_new("fuzz");
    record_text(record, "impl", s->space.impls[row->impl]->name);
    record_text(record, "algorithm", row->algorithm);
    record_text(record, "op", cnn_op_name(row->op));
    record_int(record, "seed", (int64_t)s->seed);
    for (int state = 0; state <= VERIFY_FAILED; state++) record_int(record, keys[state], row->cases[state]);
    if (record_write(s->output.sink, record, &err) != CNN_OK && s->status == CNN_OK)
        s->status = err.status, s->error = err;
}

int fuzz_summary(fuzz_session *s)
{
    const fuzz_tally *t = &s->tally;
    FILE *to = s->options->json ? stderr : stdout;
    int64_t all = 0;
    for (int state = 0; state <= VERIFY_FAILED; state++) all += t->cases[state];
    for (int i = 0; i < t->n_rows; i++) record_row(s, &t->rows[i]);
    print_table(s, to);
    if (!s->options->json) verify_reasons_print(&t->reasons);
    fprintf(to, "%lld of %lld cases:", (long long)all, (long long)s->options->fuzz);
    for (int state = VERIFY_FAILED; state >= 0; state--)
        fprintf(to, " %lld %s%s", (long long)t->cases[state], verify_state_name((verify_state)state),
                state > 0 ? "," : "");
    fprintf(to, " (seed %llu, %.1f s)\n", (unsigned long long)s->seed, cnn_now() - t->started);
    const bool few = verify_reasons_few(&t->reasons, to);
    if (t->cases[VERIFY_FAILED] > 0 || (few && t->cases[VERIFY_PASSED] > 0)) return EXIT_FAILED;
    return t->cases[VERIFY_PASSED] > 0 ? EXIT_HELD : EXIT_NOTHING;
}
