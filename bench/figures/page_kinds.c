/* page_kinds.c: of which kinds the records are, and where each kind stands on the page. */
#include "harness/base/grow.h"
#include "harness/problem/names.h"
#include "page_parts.h"

#include <string.h>

static bool is_operation(const char *kind)
{
    cnn_error unknown;
    return strcmp(kind, "sweep") == 0 || cnn_name_find(&cnn_op_names, kind, &unknown) >= 0;
}

/* Shown as it is. */
static cnn_status add_other(page *p, const cnn_record *record, cnn_error *err)
{
    const char *field;
    cnn_record **added = cnn_add_item(&p->others, &p->n_others, &p->other_room, sizeof *added, "records", err);
    if (added == NULL) return err->status;
    *added = record_new("other");
    record_text(*added, "record", record_get_text(record, "kind"));
    record_text(*added, "file", p->path);
    for (int i = 0; (field = record_field(record, i)) != NULL; i++)
        if (strcmp(field, "kind") != 0 && strcmp(field, "samples_s") != 0) record_copy(*added, record, &field, 1);
    return CNN_OK;
}

static cnn_status count_kind(page *p, const char *kind, page_held **held, cnn_error *err)
{
    for (int i = p->n_held - 1; i >= 0 && p->held[i].path == p->path; i--) {
        if (strcmp(p->kind_names.texts[p->held[i].kind], kind) != 0) continue;
        p->held[i].count++;
        *held = &p->held[i];
        return CNN_OK;
    }
    bool fresh;
    const int number = figure_name(&p->kind_names, kind, &fresh, err);
    *held =
        number >= 0 ? cnn_add_item(&p->held, &p->n_held, &p->held_room, sizeof **held, "kinds of records", err) : NULL;
    if (*held == NULL) return err->status;
    **held = (page_held){.path = p->path, .kind = number, .count = 1};
    return CNN_OK;
}

cnn_status page_take(page *p, const cnn_record *record, cnn_error *err)
{
    static const char *const as_they_are[] = {"peak",  "process",        "benchmark",  "compare",        "fuzz",
                                              "step",  "sweep_best",     "eval",       "answer",         "goal",
                                              "tuned", "profiled_epoch", "all_reduce", "all_reduce_line"};
    const char *kind = record_get_text(record, "kind");
    page_held *held;
    const cnn_status status = count_kind(p, kind, &held, err);
    p->records++;
    if (status != CNN_OK) return status;
    if (strcmp(kind, "env") == 0) return page_add_environment(p, record, err);
    if (strcmp(kind, "begin") == 0 || strcmp(kind, "end") == 0) return page_add_command(p, record, err);
    if (strcmp(kind, "verify") == 0) return page_add_row(p, PAGE_CASE, record, err);
    if (strcmp(kind, "epoch") == 0) return page_add_row(p, PAGE_TRAINING, record, err);
    if (strcmp(kind, "profile") == 0) return page_add_row(p, PAGE_PASS, record, err);
    if (strcmp(kind, "kill") == 0) return kills_take(&p->kills, record, err);
    if (is_operation(kind)) return page_add_row(p, PAGE_TIMING, record, err);
    for (size_t i = 0; i < sizeof as_they_are / sizeof *as_they_are; i++)
        if (strcmp(kind, as_they_are[i]) == 0) return add_other(p, record, err);
    held->left_out = true;
    return CNN_OK;
}

int page_holds(const page *p, const char *kind, const char *path)
{
    int count = 0;
    for (int i = 0; i < p->n_held; i++)
        if ((path == NULL || p->held[i].path == path) && strcmp(p->kind_names.texts[p->held[i].kind], kind) == 0)
            count += p->held[i].count;
    return count;
}

cnn_status page_write_left_out(const page *p, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int k = 0; k < p->kind_names.count && status == CNN_OK; k++) {
        int count = 0;
        for (int i = 0; i < p->n_held; i++)
            if (p->held[i].kind == k && p->held[i].left_out) count += p->held[i].count;
        if (count == 0) continue;
        cnn_record *record = record_new("left_out");
        record_text(record, "record", p->kind_names.texts[k]);
        record_int(record, "count", count);
        status = record_write(to, record, err);
    }
    return status;
}
