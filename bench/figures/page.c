/* page.c: see page.h: from files of records to rows. */
#include "page_parts.h"

#include "harness/base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cnn_status page_open(page **result, cnn_error *err)
{
    *result = calloc(1, sizeof **result);
    return *result != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a page of records");
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    return page_take(user, record, err);
}

cnn_status page_read(page *p, const char *path, int *bad, cnn_error *err)
{
    p->path = path;
    p->session = p->command = -1;
    p->records = 0;
    const cnn_status status = record_read(path, take_record, p, bad, err);
    if (status != CNN_OK) return status;
    if (p->records == 0) return CNN_FAIL(err, CNN_BAD_FORMAT, "%.400s holds no records", path);
    cnn_record **source = cnn_add_item(&p->sources, &p->n_sources, &p->source_room, sizeof *source, "files", err);
    if (source == NULL) return err->status;
    *source = record_new("source");
    record_text(*source, "path", path);
    record_int(*source, "records", p->records);
    record_int(*source, "bad", *bad);
    return CNN_OK;
}

int page_longest_training(const page *p, const char *path)
{
    int longest = 0;
    for (int i = 0; i < p->count[PAGE_TRAINING]; i++) {
        const page_row *row = &p->rows[PAGE_TRAINING][i];
        if ((path == NULL || row->file == path) && row->n_points > longest) longest = row->n_points;
    }
    return longest;
}

bool page_over_ranks(const page *p, const char *path)
{
    for (int i = 0; i < p->count[PAGE_TRAINING]; i++) {
        const page_row *row = &p->rows[PAGE_TRAINING][i];
        if ((path == NULL || row->file == path) && row->over_ranks) return true;
    }
    return false;
}

int page_timings(const page *p) { return p->count[PAGE_TIMING]; }

int page_problems(const page *p) { return p->groups[PAGE_TIMING].count; }

int page_epochs(const page *p)
{
    int count = 0;
    for (int i = 0; i < p->count[PAGE_TRAINING]; i++) count += p->rows[PAGE_TRAINING][i].count;
    return count;
}

bool page_rounded(const page *p, const char *path)
{
    for (int i = 0; i < p->count[PAGE_CASE]; i++) {
        const page_row *row = &p->rows[PAGE_CASE][i];
        if ((path == NULL || row->file == path) && row->budget_used > 0) return true;
    }
    return false;
}

static void free_records(cnn_record **list, int count)
{
    for (int i = 0; i < count; i++) record_free(list[i]);
    free(list);
}

void page_close(page *p)
{
    if (p == NULL) return;
    for (int kind = 0; kind < PAGE_KINDS; kind++) {
        for (int i = 0; i < p->count[kind]; i++) {
            page_row *row = &p->rows[kind][i];
            record_free(row->record);
            free(row->state);
            free(row->reason);
            free(row->repro);
            free(row->seconds);
            free(row->points);
        }
        free(p->rows[kind]);
        figure_names_free(&p->keys[kind]);
        figure_names_free(&p->groups[kind]);
    }
    for (int i = 0; i < p->n_environments; i++) record_free(p->environments[i].record);
    for (int i = 0; i < p->n_sessions; i++) record_free(p->sessions[i].record);
    free(p->environments);
    free(p->sessions);
    free(p->commands);
    free_records(p->sources, p->n_sources);
    free_records(p->others, p->n_others);
    free(p->held);
    kills_free(&p->kills);
    figure_names_free(&p->kind_names);
    figure_names_free(&p->command_names);
    figure_names_free(&p->environment_names);
    figure_names_free(&p->session_names);
    free(p);
}
