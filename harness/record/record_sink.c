/* record_sink.c: where records go: a file, standard output, or the process that holds both (record_keeper.h). */
#include "record_keeper.h"
#include "record_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct record_sink {
    record_file *file;     /* NULL: none */
    FILE *json;            /* (optional) where each record goes, too */
    record_keeper *keeper; /* NULL: they are this process's own */
    kept_sink kept;
    bool to_file, to_json; /* of the keeper */
    record_there *there;   /* NULL: nothing is */
    void *user;
    struct {
        record_pair text;
        bool whole;        /* it is a number */
    } marks[RECORD_MARKS]; /* fields of every record */
    int n_marks;
};

static void set_mark(record_sink *sink, const char *key, const char *value, bool whole)
{
    int i = 0;
    while (i < sink->n_marks && strcmp(sink->marks[i].text.key, key) != 0) i++;
    if (i == RECORD_MARKS) return;
    record_pair *mark = &sink->marks[i].text;
    snprintf(mark->key, sizeof mark->key, "%s", key);
    snprintf(mark->value, sizeof mark->value, "%s", value);
    sink->marks[i].whole = whole;
    if (i == sink->n_marks) sink->n_marks++;
}

void record_sink_mark(record_sink *sink, const char *key, const char *value) { set_mark(sink, key, value, false); }

void record_sink_mark_int(record_sink *sink, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    set_mark(sink, key, text, true);
}

void record_sink_unmark(record_sink *sink) { sink->n_marks = 0; }

static void put_marks(const record_sink *sink, cnn_record *record)
{
    for (int i = 0; i < sink->n_marks; i++) {
        const record_pair *mark = &sink->marks[i].text;
        if (sink->marks[i].whole)
            record_int(record, mark->key, strtoll(mark->value, NULL, 10));
        else
            record_text(record, mark->key, mark->value);
    }
}

void record_sink_pass_over(record_sink *sink, record_there *there, void *user)
{
    sink->there = there;
    sink->user = user;
}

int64_t record_sink_cut(const record_sink *sink)
{
    return !sink ? 0 : sink->keeper ? sink->kept.cut : sink->file ? record_file_cut(sink->file) : 0;
}

int record_sink_unlocked(const record_sink *sink)
{
    return !sink ? 0 : sink->keeper ? sink->kept.unlocked : sink->file ? record_file_unlocked(sink->file) : 0;
}

static cnn_status new_sink(record_sink **sink, cnn_error *err)
{
    *sink = calloc(1, sizeof **sink);
    return *sink ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the record file");
}

static cnn_status give_up(record_sink **sink, cnn_status status)
{
    record_sink_close(*sink);
    *sink = NULL;
    return status;
}

static cnn_status open_sink(const char *path, FILE *json, bool shared, record_sink **sink, cnn_error *err)
{
    if (new_sink(sink, err) != CNN_OK) return err->status;
    (*sink)->json = json;
    if (path && record_file_open(path, shared, &(*sink)->file, err) != CNN_OK) return give_up(sink, err->status);
    return CNN_OK;
}

cnn_status record_sink_open(const char *path, FILE *json, record_sink **sink, cnn_error *err)
{
    return open_sink(path, json, false, sink, err);
}

cnn_status record_sink_share(const char *path, record_sink **sink, cnn_error *err)
{
    return open_sink(path, NULL, true, sink, err);
}

cnn_status record_sink_keep(record_keeper *keeper, const record_kept *what, record_sink **sink, cnn_error *err)
{
    if (new_sink(sink, err) != CNN_OK) return err->status;
    record_sink *s = *sink;
    s->to_file = what->path != NULL;
    s->to_json = what->json;
    if (!s->to_file && !s->to_json) return CNN_OK;
    s->keeper = keeper;
    if (record_keeper_open(keeper, what, &s->kept, err) != CNN_OK) return give_up(sink, err->status);
    return CNN_OK;
}

cnn_status record_sink_hand_down(const record_sink *sink, cnn_error *err)
{
    return sink->file ? record_lock_hand_down(record_file_fd(sink->file), err) : CNN_OK;
}

/* With its end. */
static cnn_status put_line(record_sink *sink, const cnn_record *record, const char *line, size_t length, cnn_error *err)
{
    cnn_status status = CNN_OK;
    const bool there = sink->there && sink->there(sink->user, record);
    if (sink->keeper) {
        if (there && !sink->to_json) return CNN_OK;
        return record_keeper_write(sink->keeper, &sink->kept, sink->to_file && !there, line, length, err);
    }
    if (sink->file && !there) status = record_file_append(sink->file, line, length, err);
    if (sink->json && (fwrite(line, 1, length, sink->json) != length || fflush(sink->json) != 0) && status == CNN_OK)
        status = CNN_FAIL(err, CNN_IO, "cannot write standard output: %s", strerror(errno));
    return status;
}

cnn_status record_write_line(record_sink *sink, const char *line, size_t length, cnn_error *err)
{
    char *own = malloc(length + 2);
    if (!own) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
    memcpy(own, line, length);
    own[length] = '\0';
    cnn_record record = {.object = record_parse(own, length)};
    own[length] = '\n';
    cnn_status status = record.object ? put_line(sink, &record, own, length + 1, err)
                                      : CNN_FAIL(err, CNN_BAD_FORMAT, "'%.40s' is no record", line);
    cJSON_Delete(record.object);
    free(own);
    return status;
}

cnn_status record_write(record_sink *sink, cnn_record *record, cnn_error *err)
{
    cnn_status status = CNN_OK;
    char *line = NULL;
    put_marks(sink, record);
    if (!record || record->failed) {
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
        goto cleanup;
    }
    if (!sink->file && !sink->json && !sink->keeper) goto cleanup;
    line = cJSON_PrintUnformatted(record->object);
    if (!line) {
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
        goto cleanup;
    }
    size_t length = strlen(line);
    line[length] = '\n'; /* in the place of the end mark: from here on it is bytes, not a string */
    status = put_line(sink, record, line, length + 1, err);
cleanup:
    cJSON_free(line);
    record_free(record);
    return status;
}

void record_sink_close(record_sink *sink)
{
    if (!sink) return;
    record_file_close(sink->file);
    free(sink);
}
