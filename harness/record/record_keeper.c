/* record_keeper.c: see record_keeper.h. */
#include "record_keeper.h"

#include "harness/process/apart.h"
#include "record_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT_MAX = 8 };

typedef enum request_kind { REQUEST_OPEN = 1, REQUEST_WRITE, REQUEST_RELEASE, REQUEST_END } request_kind;

typedef struct request { /* what a message begins with; a path or a record follows */
    int64_t count;       /* of an end: records that were sent */
    int32_t kind, sink, status;
    bool json, shared, to_file;
} request;

typedef struct kept {
    bool used, json;
    record_file *file; /* NULL: it goes to what --json prints to alone */
} kept;

struct record_keeper {
    FILE *json;
    mail mail;
    bool in_run;
    int64_t count; /* records that were sent, or have come */
    kept sinks[KEPT_MAX];
    bool ended;      /* the run said how it ends: */
    int32_t status;  /* with this status */
    int64_t sent;    /* and so many records */
    bool failed;     /* a record could not be written: */
    cnn_error error; /* for this reason */
};

cnn_status record_keeper_new(FILE *json, mail_box *box, record_keeper **keeper, cnn_error *err)
{
    record_keeper *k = *keeper = calloc(1, sizeof *k);
    if (k == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the records");
    k->json = json;
    return mail_open(&k->mail, box, err);
}

static void close_files(record_keeper *k)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        record_file_close(k->sinks[i].file);
        k->sinks[i] = (kept){.used = false};
    }
}

void record_keeper_close(record_keeper *k)
{
    if (k == NULL) return;
    close_files(k);
    mail_close(&k->mail);
    free(k);
}

/* ---- In the run. */

void record_keeper_begin(record_keeper *k, const char *const *paths, int count)
{
    k->in_run = true;
    k->count = 0;
    for (int i = 0; i < count; i++) {
        struct stat info;
        if (paths[i] != NULL && stat(paths[i], &info) == 0) apart_close_files(&info, 1);
    }
    close_files(k); /* of a run before this one */
    record_lock_let_go();
    if (k->json != NULL && k->json != stdout) fclose(k->json);
    k->json = NULL;
}

static cnn_status ask(record_keeper *k, const request *r, const char *text, size_t length, mail_answer *answer,
                      cnn_error *err)
{
    char *message = malloc(sizeof *r + length + 1);
    if (message == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
    memcpy(message, r, sizeof *r);
    memcpy(message + sizeof *r, text, length);
    mail_ask(&k->mail, message, sizeof *r + length, answer);
    free(message);
    return answer->status == CNN_OK ? CNN_OK : CNN_FAIL(err, (cnn_status)answer->status, "%s", answer->text);
}

cnn_status record_keeper_open(record_keeper *k, const record_kept *what, kept_sink *sink, cnn_error *err)
{
    const char *path = what->path != NULL ? what->path : "";
    const request r = {.kind = REQUEST_OPEN, .json = what->json, .shared = what->shared};
    mail_answer answer;
    if (ask(k, &r, path, strlen(path), &answer, err) != CNN_OK) return err->status;
    *sink = (kept_sink){answer.numbers[0], answer.numbers[1], (int)answer.numbers[2]};
    return CNN_OK;
}

cnn_status record_keeper_write(record_keeper *k, const kept_sink *sink, bool to_file, const char *line, size_t length,
                               cnn_error *err)
{
    const request r = {.kind = REQUEST_WRITE, .sink = (int32_t)sink->number, .to_file = to_file};
    mail_answer answer;
    k->count++;
    return ask(k, &r, line, length, &answer, err);
}

cnn_status record_keeper_release(record_keeper *k, const char *path, cnn_error *err)
{
    mail_answer answer;
    return ask(k, &(request){.kind = REQUEST_RELEASE}, path, strlen(path), &answer, err);
}

void record_keeper_end(record_keeper *k, int status)
{
    mail_answer answer;
    cnn_error err;
    if (k == NULL || !k->in_run) return;
    (void)ask(k, &(request){.kind = REQUEST_END, .count = k->count, .status = status}, "", 0, &answer, &err);
}

/* ---- In the process that watches. */

static kept *find(record_keeper *k, const char *path)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        kept *s = &k->sinks[i];
        if (s->used && (s->file != NULL ? strcmp(record_file_path(s->file), path) == 0 : path[0] == '\0')) return s;
    }
    return NULL;
}

/* One that a run before this one opened is open still. */
static cnn_status open_one(record_keeper *k, const request *r, const char *path, mail_answer *answer, cnn_error *err)
{
    kept *s = find(k, path);
    const bool again = s != NULL;
    for (int i = 0; s == NULL && i < KEPT_MAX; i++)
        if (!k->sinks[i].used) s = &k->sinks[i];
    if (s == NULL) return CNN_FAIL(err, CNN_INTERNAL, "more than %d files of records at a time", KEPT_MAX);
    if (!again && path[0] != '\0') {
        if (record_file_open(path, r->shared, &s->file, err) != CNN_OK) return err->status;
        answer->numbers[1] = record_file_cut(s->file);
        answer->numbers[2] = record_file_unlocked(s->file);
    }
    s->used = true;
    s->json = r->json;
    answer->numbers[0] = s - k->sinks;
    return !again && s->file != NULL ? record_file_guard(s->file, err) : CNN_OK;
}

static cnn_status fail(record_keeper *k, const cnn_error *err)
{
    if (!k->failed) k->error = *err;
    k->failed = true;
    return err->status;
}

/* A line of another process: whole, a record, of a kind that there is. */
static cnn_status check_line(char *line, size_t length, cnn_error *err)
{
    if (length > 0 && line[length - 1] == '\n' && memchr(line, '\n', length - 1) == NULL) {
        line[length - 1] = '\0';
        const bool known = record_known(line, length - 1);
        line[length - 1] = '\n';
        if (known) return CNN_OK;
    }
    return CNN_FAIL(err, CNN_INTERNAL, "'%.60s' came in the place of a record, and was not written: a plug-in made it",
                    line);
}

static cnn_status write_one(record_keeper *k, const request *r, char *line, size_t length, cnn_error *err)
{
    k->count++;
    if (r->sink < 0 || r->sink >= KEPT_MAX || !k->sinks[r->sink].used)
        return CNN_FAIL(err, CNN_INTERNAL, "a record came for a file that is not open");
    const kept *s = &k->sinks[r->sink];
    cnn_status status = check_line(line, length, err);
    if (status == CNN_OK && s->file != NULL && r->to_file) status = record_file_append(s->file, line, length, err);
    if (status != CNN_OK || !s->json || k->json == NULL) return status;
    if (fwrite(line, 1, length, k->json) == length && fflush(k->json) == 0) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "cannot write standard output: %s", strerror(errno));
}

static cnn_status release(record_keeper *k, const char *path, cnn_error *err)
{
    kept *s = find(k, path);
    if (s == NULL || s->file == NULL) return CNN_OK;
    const cnn_status status = record_file_check(s->file, err);
    record_file_close(s->file);
    *s = (kept){.used = false};
    return status;
}

static void answer_one(void *user, char *message, size_t length, mail_answer *answer)
{
    record_keeper *k = user;
    request r = {.kind = 0};
    cnn_error err = {.message = ""};
    cnn_status status;
    if (length >= sizeof r) memcpy(&r, message, sizeof r);
    char *text = message + sizeof r;
    switch (r.kind) {
    case REQUEST_OPEN:
        status = open_one(k, &r, text, answer, &err);
        break;
    case REQUEST_WRITE:
        status = write_one(k, &r, text, length - sizeof r, &err);
        if (status != CNN_OK) (void)fail(k, &err);
        break;
    case REQUEST_RELEASE:
        status = release(k, text, &err);
        if (status != CNN_OK) (void)fail(k, &err);
        break;
    case REQUEST_END:
        k->ended = true;
        k->status = r.status;
        k->sent = r.count;
        status = CNN_OK;
        break;
    default:
        status = CNN_FAIL(&err, CNN_INTERNAL, "a message of kind %d, which there is not", (int)r.kind);
        (void)fail(k, &err);
    }
    answer->status = (int32_t)status;
    snprintf(answer->text, sizeof answer->text, "%s", err.message);
}

static cnn_status end_run(void *user, int status, cnn_error *err)
{
    record_keeper *k = user;
    const bool said = k->ended && k->status == status;
    k->ended = false;
    if (k->failed && said && status != 0) return CNN_OK; /* the run was told, and said why it ended */
    if (k->failed) *err = k->error;
    if (k->failed) return err->status;
    if (!said)
        return CNN_FAIL(err, CNN_INTERNAL,
                        "the run ended with status %d, and did not say so to the process that writes its records: a "
                        "plug-in ended it",
                        status);
    if (k->sent != k->count)
        return CNN_FAIL(err, CNN_INTERNAL,
                        "the run made %lld records, and %lld came to be written: a plug-in lost or made some",
                        (long long)k->sent, (long long)k->count);
    for (int i = 0; i < KEPT_MAX; i++)
        if (k->sinks[i].file != NULL && record_file_check(k->sinks[i].file, err) != CNN_OK) return err->status;
    return CNN_OK;
}

static void begin_run(void *user) { ((record_keeper *)user)->count = 0; }

watch_service record_keeper_service(record_keeper *k)
{
    return (watch_service){.mail = &k->mail, .user = k, .begin = begin_run, .answer = answer_one, .end = end_run};
}
