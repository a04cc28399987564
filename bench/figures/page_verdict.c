/* page_verdict.c: what the records come to, in a sentence each: how many held, and who is fastest on which machine. */
#include "harness/base/text.h"
#include "page_parts.h"

#include <stdlib.h>
#include <string.h>

enum { STATES = 6 };
static const char *const states[STATES] = {"PASSED", "FAILED", "MISTRUSTED", "DIVERGED", "SKIPPED", "UNSUPPORTED"};

static cnn_status put(record_sink *to, const char *text, bool counts, bool good, cnn_error *err)
{
    cnn_record *record = record_new("verdict");
    record_text(record, "text", text);
    record_bool(record, "counts", counts);
    record_bool(record, "good", good);
    return record_write(to, record, err);
}

/* "119 of 121 cases PASSED, 2 FAILED (30 UNSUPPORTED)". What is UNSUPPORTED is none of those that were asked. */
static cnn_status put_counts(const page *p, page_kind kind, const char *what, record_sink *to, cnn_error *err)
{
    char text[256];
    int count[STATES + 1] = {0};
    if (p->count[kind] == 0) return CNN_OK;
    for (int i = 0; i < p->count[kind]; i++) {
        const char *state = p->rows[kind][i].state;
        int s = 0;
        while (s < STATES && strcmp(state != NULL ? state : "", states[s]) != 0) s++;
        count[s]++;
    }
    const int asked = p->count[kind] - count[STATES - 1];
    snprintf(text, sizeof text, "%d of %d %s%s PASSED", count[0], asked, what, asked == 1 ? "" : "s");
    for (int s = 1; s < STATES - 1; s++)
        if (count[s] > 0) cnn_append(text, sizeof text, ", %d %s", count[s], states[s]);
    if (count[STATES] > 0) cnn_append(text, sizeof text, ", %d neither", count[STATES]);
    if (count[STATES - 1] > 0) cnn_append(text, sizeof text, " (%d more UNSUPPORTED)", count[STATES - 1]);
    return put(to, text, true, count[0] == asked && asked > 0, err);
}

static const char *article(const char *machine)
{
    return strchr("AEIOU", machine[0]) != NULL || strncmp(machine, "NV", 2) == 0 ? "an" : "a";
}

/* The groups of single operations of this kind on this machine: how many, and in how many each name is first. */
typedef struct winner {
    const page_row *row; /* the first of its name that is first in a group */
    int wins, groups;
} winner;

static bool same_text(const page_row *row, const char *field, const char *text)
{
    const char *own = record_get_text(row->record, field);
    return own != NULL && strcmp(own, text) == 0;
}

/* `seen`: for each group the last name that was counted in it, by its number. */
static int wins_of(const page *p, const page_row *like, int *seen, int number)
{
    const char *name = record_get_text(like->record, "name"), *op = record_get_text(like->record, "op");
    int wins = 0;
    for (int i = 0; i < p->count[PAGE_TIMING]; i++) {
        const page_row *row = &p->rows[PAGE_TIMING][i];
        if (row->rank != 1 || seen[row->group] == number || strcmp(row->machine, like->machine) != 0) continue;
        if (!same_text(row, "name", name) || !same_text(row, "op", op)) continue;
        seen[row->group] = number;
        wins++;
    }
    return wins;
}

/* Of the operation that `like` is of, on its machine. No row: no memory. */
static winner winner_of(const page *p, const page_row *like)
{
    enum { TRIED = 64 };
    const char *tried[TRIED], *op = record_get_text(like->record, "op");
    winner w = {.row = NULL};
    int n_tried = 0, *seen = calloc((size_t)p->groups[PAGE_TIMING].count + 1, sizeof *seen);
    for (int i = 0; i < p->count[PAGE_TIMING] && seen != NULL; i++) {
        const page_row *row = &p->rows[PAGE_TIMING][i];
        if (row->rank == 0 || strcmp(row->machine, like->machine) != 0 || !same_text(row, "op", op)) continue;
        w.groups += row->leads;
        const char *name = record_get_text(row->record, "name");
        int k = 0;
        while (k < n_tried && strcmp(tried[k], name) != 0) k++;
        if (row->rank != 1 || k < n_tried || n_tried == TRIED) continue;
        tried[n_tried++] = name;
        const int wins = wins_of(p, row, seen, n_tried);
        if (wins <= w.wins) continue;
        w.row = row;
        w.wins = wins;
    }
    free(seen);
    return w;
}

static cnn_status put_operation(const page *p, const page_row *like, record_sink *to, cnn_error *err)
{
    char text[640], time[32];
    const winner w = winner_of(p, like);
    const char *op = record_get_text(like->record, "op");
    if (w.row == NULL) return CNN_OK;
    bench_time_text(w.row->stats.median, time, sizeof time);
    snprintf(text, sizeof text, "fastest %s: %s, ", strcmp(op, "conv") == 0 ? "convolution" : op,
             record_get_text(w.row->record, "name"));
    if (w.groups == 1)
        cnn_append(text, sizeof text, "%s", time);
    else
        cnn_append(text, sizeof text, "first in %d of %d comparisons", w.wins, w.groups);
    cnn_append(text, sizeof text, ", on %s %s", article(w.row->machine), w.row->machine);
    return put(to, text, false, true, err);
}

static cnn_status put_training(const page *p, const page_row *like, record_sink *to, cnn_error *err)
{
    char text[640], time[32];
    const page_row *best = NULL;
    for (int i = 0; i < p->count[PAGE_TRAINING]; i++) {
        const page_row *row = &p->rows[PAGE_TRAINING][i];
        if (row->rank == 0 || strcmp(row->machine, like->machine) != 0) continue;
        if (best == NULL || row->stats.median < best->stats.median) best = row;
    }
    if (best == NULL) return CNN_OK;
    const char *net = record_get_text(best->record, "net");
    bench_time_text(best->stats.median, time, sizeof time);
    snprintf(text, sizeof text, "fastest epoch: %s, %s (network %s, batch %.0f), on %s %s",
             record_get_text(best->record, "name"), time, net ? net : "?", record_get_real(best->record, "batch"),
             article(best->machine), best->machine);
    return put(to, text, false, true, err);
}

/* Each machine, and each operation on it, once. */
static bool is_new(const page *p, page_kind kind, int i)
{
    const page_row *row = &p->rows[kind][i];
    const char *op = record_get_text(row->record, "op");
    if (row->rank == 0 || (kind == PAGE_TIMING && op == NULL)) return false;
    for (int k = 0; k < i; k++) {
        const page_row *other = &p->rows[kind][k];
        if (other->rank > 0 && strcmp(other->machine, row->machine) == 0 &&
            (kind == PAGE_TRAINING || same_text(other, "op", op)))
            return false;
    }
    return true;
}

cnn_status page_verdicts(const page *p, record_sink *to, cnn_error *err)
{
    char text[256];
    cnn_status status = put_counts(p, PAGE_CASE, "case", to, err);
    if (status == CNN_OK) status = put_counts(p, PAGE_TIMING, "timed kernel", to, err);
    if (status == CNN_OK && p->kills.count > 0) {
        const bool good = page_mutants_text(p, text, sizeof text);
        status = put(to, text, true, good, err);
    }
    for (int i = 0; i < p->count[PAGE_TIMING] && status == CNN_OK; i++)
        if (is_new(p, PAGE_TIMING, i)) status = put_operation(p, &p->rows[PAGE_TIMING][i], to, err);
    for (int i = 0; i < p->count[PAGE_TRAINING] && status == CNN_OK; i++)
        if (is_new(p, PAGE_TRAINING, i)) status = put_training(p, &p->rows[PAGE_TRAINING][i], to, err);
    return status;
}
