/* speedup_read.c: from records to figures: epochs by way of their curves, single operations run by run. */
#include "harness/base/grow.h"
#include "harness/problem/names.h"
#include "harness/record/identity.h"
#include "speedup.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    speedup_set *set;
    const char *path;
} reader;

cnn_status speedup_note(speedup_set *set, cnn_error *err, const char *format, ...)
{
    va_list arguments;
    char *note = cnn_add_item(&set->notes, &set->n_notes, &set->note_room, CNN_MESSAGE_MAX, "notes", err);
    if (!note) return err->status;
    va_start(arguments, format);
    vsnprintf(note, CNN_MESSAGE_MAX, format, arguments);
    va_end(arguments);
    return CNN_OK;
}

static void copy_text(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from ? from : ""); }

/* ---- Single operations */

/* NULL: no memory. */
static speedup_figure *new_figure(speedup_set *set, cnn_error *err)
{
    speedup_figure *f = cnn_add_item(&set->figures, &set->n_figures, &set->figure_room, sizeof *f, "figures", err);
    if (f) f->images_per_s = f->transfer_s = f->low = f->high = NAN;
    return f;
}

static bool is_gpu(const speedup_set *set, const char *machine)
{
    for (int i = 0; i < set->n_gpus; i++)
        if (strcmp(set->gpus[i], machine) == 0) return true;
    return false;
}

static void describe_operation(const reader *r, const cnn_record *record, speedup_figure *f)
{
    copy_text(f->impl, sizeof f->impl, record_get_text(record, "impl"));
    copy_text(f->algorithm, sizeof f->algorithm, record_get_text(record, "algorithm"));
    copy_text(f->machine, sizeof f->machine, record_get_text(record, "machine"));
    copy_text(f->problem, sizeof f->problem, record_get_text(record, "problem"));
    copy_text(f->op, sizeof f->op, record_get_text(record, "op"));
    copy_text(f->dir, sizeof f->dir, record_get_text(record, "dir"));
    copy_text(f->dtype, sizeof f->dtype, record_get_text(record, "dtype"));
    copy_text(f->layout, sizeof f->layout, record_get_text(record, "layout"));
    copy_text(f->math, sizeof f->math, record_get_text(record, "math"));
    copy_text(f->cache, sizeof f->cache, record_get_text(record, "cache"));
    f->gpu = is_gpu(r->set, f->machine);
    f->threads = (int)fmin(fmax(record_get_real(record, "threads"), 0), 1 << 20);
    f->path = r->path;
    f->line = record_line(record);
}

/* The number of the figure that the record is a run of, and whether it is a new one; -1: no memory. */
static int number_of(speedup_set *set, const cnn_record *record, const char *key, bool *fresh, cnn_error *err)
{
    const char *machine = record_get_text(record, "machine");
    char *whole = NULL;
    const int length = asprintf(&whole, "%s on %s", key, machine ? machine : "");
    const int number = length >= 0 ? figure_name(&set->keys, whole, fresh, err) : -1;
    if (length < 0) CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a figure's key");
    if (length >= 0) free(whole);
    return number;
}

/* The figure that the record is a run of, made if need be; NULL: no memory. */
static speedup_figure *find_figure(const reader *r, const cnn_record *record, cnn_error *err)
{
    speedup_set *set = r->set;
    char *key = record_identity(record, IDENTITY_FIGURE, NULL), *task = NULL;
    speedup_figure *found = NULL;
    bool fresh = false;
    const int number = key ? number_of(set, record, key, &fresh, err) : -1;
    if (!key) CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a figure's key");
    if (number >= 0 && !fresh) {
        found = &set->figures[number];
    } else if (number >= 0) {
        task = record_identity(record, IDENTITY_TASK, NULL);
        if (!task) CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a figure's key");
        found = task ? new_figure(set, err) : NULL;
    }
    if (found && fresh) {
        describe_operation(r, record, found);
        found->key = key;
        found->task = task;
        return found;
    }
    free(key);
    free(task);
    return found;
}

/* The interval covers that of each run: what differs between runs is more than what differs within one. */
static cnn_status add_run(const reader *r, const cnn_record *record, double median, cnn_error *err)
{
    speedup_figure *f = find_figure(r, record, err);
    if (!f) return err->status;
    double *run = cnn_add_item(&f->runs, &f->repetitions, &f->room, sizeof *run, "runs of a figure", err);
    if (!run) return err->status;
    *run = median;
    f->low = fmin(f->low, record_get_real(record, "low_s")); /* fmin and fmax pass over a NaN */
    f->high = fmax(f->high, record_get_real(record, "high_s"));
    f->marks |= bench_marks_of(record_get_text(record, "marks"));
    if (f->gpu)
        f->transfer_s =
            fmin(f->transfer_s, record_get_real(record, "upload_s") + record_get_real(record, "download_s"));
    return CNN_OK;
}

static cnn_status take_record(void *user, const cnn_record *record, cnn_error *err)
{
    reader *r = user;
    cnn_error unknown;
    const char *kind = record_get_text(record, "kind"), *gpu = record_get_inner_text(record, "implementation", "gpu");
    if (gpu && !is_gpu(r->set, gpu) && r->set->n_gpus < (int)(sizeof r->set->gpus / sizeof r->set->gpus[0]))
        copy_text(r->set->gpus[r->set->n_gpus++], sizeof r->set->gpus[0], gpu);
    const bool epoch = strcmp(kind, "epoch") == 0;
    if (!epoch && strcmp(kind, "sweep") != 0 && cnn_name_find(&cnn_op_names, kind, &unknown) < 0) return CNN_OK;
    const char *field = epoch ? "seconds" : "median_s";
    const double seconds = record_get_real(record, field);
    if (isnan(seconds)) return CNN_OK; /* it was refused, or wrong */
    if (!(seconds > 0 && isfinite(seconds)))
        return speedup_note(r->set, err, "%.200s:%d: %s is %g, which is no time: left out", r->path,
                            record_line(record), field, seconds);
    if (epoch) return CNN_OK; /* by way of the table */
    if (record_is(record, "verified", false))
        return speedup_note(r->set, err, "%.200s:%d: it is not verified: left out", r->path, record_line(record));
    return add_run(r, record, seconds, err);
}

cnn_status speedup_read(speedup_set *set, const char *path, int *bad, cnn_error *err)
{
    reader r = {set, path};
    const cnn_status status = record_read(path, take_record, &r, bad, err);
    return status == CNN_OK ? epoch_table_read(&set->epochs, path, bad, err) : status;
}

/* ---- Epochs */

static cnn_status add_epochs(speedup_set *set, const series *s, const series_point *p, cnn_error *err)
{
    const epoch_setting *e = &s->setting;
    speedup_figure *f = new_figure(set, err);
    if (!f) return err->status;
    f->epoch = e;
    copy_text(f->impl, sizeof f->impl, e->impl);
    copy_text(f->algorithm, sizeof f->algorithm, e->algorithm);
    if (e->gpu[0] != '\0' && e->ranks > 1)
        snprintf(f->machine, sizeof f->machine, "%lld x %.*s", (long long)e->ranks, (int)sizeof f->machine - 24,
                 e->gpu);
    else
        copy_text(f->machine, sizeof f->machine, e->gpu[0] ? e->gpu : e->cpu);
    copy_text(f->problem, sizeof f->problem, e->net);
    copy_text(f->dtype, sizeof f->dtype, e->dtype);
    copy_text(f->layout, sizeof f->layout, e->layout);
    copy_text(f->math, sizeof f->math, e->math);
    f->gpu = e->gpu[0] != '\0';
    f->uploaded = strcmp(e->data_on, "host") == 0;
    f->threads = (int)(e->threads * e->ranks);
    f->batch = (int64_t)p->batch;
    f->seconds = p->seconds;
    f->low = p->low;
    f->high = p->high;
    f->images_per_s = p->images_per_s;
    f->repetitions = p->epochs;
    f->marks = p->marks;
    f->path = p->path;
    f->line = p->line;
    return CNN_OK;
}

/* The images of one call, from "mb16ic4..."; NaN where the descriptor tells of none. */
static double images_of(const char *problem)
{
    long long images;
    const char *at = strstr(problem, "mb");
    return at && sscanf(at, "mb%lld", &images) == 1 && images > 0 ? (double)images : NAN;
}

cnn_status speedup_finish_figures(speedup_set *set, cnn_error *err)
{
    for (int i = 0; i < set->n_figures; i++) {
        speedup_figure *f = &set->figures[i];
        f->seconds = bench_median(f->runs, f->repetitions);
        f->images_per_s = images_of(f->problem) / f->seconds;
    }
    if (set->epochs.count == 0) return CNN_OK;
    const epoch_row *first = &set->epochs.rows[0];
    cnn_status status = series_make(&set->epochs, &set->series, err);
    if (status == CNN_BAD_ARGUMENT) { /* no curve can be made: single operations may be there yet */
        const cnn_error why = *err;
        return speedup_note(set, err, "%.200s:%d: %.250s", first->path, first->line, why.message);
    }
    if (status == CNN_OK && set->series.left_out > 0)
        status = speedup_note(set, err,
                              "%.200s:%d: epochs of network %s with %lld + %lld images are compared; %d record%s of "
                              "others left out",
                              first->path, first->line, first->setting.net, (long long)first->setting.train_images,
                              (long long)first->setting.test_images, set->series.left_out,
                              set->series.left_out == 1 ? "" : "s");
    if (status == CNN_OK && set->series.diverged > 0)
        status = speedup_note(set, err, "%.200s: %d epoch%s left out: the loss is not finite", first->path,
                              set->series.diverged, set->series.diverged == 1 ? "" : "s");
    for (int i = 0; status == CNN_OK && i < set->series.count; i++)
        for (int k = 0; status == CNN_OK && k < set->series.list[i].count; k++)
            status = add_epochs(set, &set->series.list[i], &set->series.list[i].points[k], err);
    return status;
}

void speedup_free(speedup_set *set)
{
    for (int i = 0; i < set->n_figures; i++) {
        free(set->figures[i].key);
        free(set->figures[i].task);
        free(set->figures[i].runs);
    }
    free(set->figures);
    figure_names_free(&set->keys);
    free(set->curves);
    free(set->rows);
    free(set->notes);
    series_free(&set->series);
    epoch_table_free(&set->epochs);
    memset(set, 0, sizeof *set);
}
