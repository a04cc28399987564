/* resume.c: what an unfinished run of the same command left. Runs of other commands may stand in between, one behind
 * the other: a record belongs to the latest beginning before it. */
#include "resume.h"

#include "build_info.h"
#include "harness/base/grow.h"
#include "identity.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STATE_MAX = 24, STATES = 16 };

typedef struct left { /* a record */
    char *key;
    char state[STATE_MAX];
    bool taken;
} left;

struct resume {
    char *command, build[BUILD_ID_MAX]; /* build "": not to be told, so that nothing is the same */
    bool to_file;                       /* there is a file to go on in */
    bool open;                          /* while reading: the records belong to a run of this command */
    left *list;
    int count, capacity;
    uint64_t *done; /* a bit for each unit, up to those that were seen */
    int64_t room;   /* bits */
    bool pieces, keeps;
    char **kept; /* lines of units */
    int n_kept, room_kept;
    struct {
        char state[STATE_MAX];
        int64_t count;
    } states[STATES];
    int n_states;
    int64_t seed, left_seed; /* drawn for this run, and for the one that was left; -1: none */
    bool elsewhere;          /* another build of the program, or of a plug-in, has written to the file */
};

static void forget_records(resume *r)
{
    for (int i = 0; i < r->count; i++) free(r->list[i].key);
    r->count = 0;
}

static void forget(resume *r)
{
    forget_records(r);
    for (int i = 0; i < r->n_kept; i++) free(r->kept[i]);
    r->n_kept = 0;
    r->n_states = 0;
    for (int64_t i = 0; i < r->room / 64; i++) r->done[i] = 0;
}

void resume_forget(resume *r)
{
    forget(r);
    r->to_file = false;
}

static void copy_state(char state[STATE_MAX], const cnn_record *record)
{
    const char *text = record_get_text(record, "state");
    snprintf(state, STATE_MAX, "%s", text ? text : "");
}

bool resume_has(const resume *r, int64_t number)
{
    return r && number >= 0 && number < r->room && (r->done[number / 64] >> number % 64 & 1);
}

static cnn_status mark_done(resume *r, int64_t number, cnn_error *err)
{
    const int64_t room = number < r->room ? r->room : (number / 64 + 1) * 128;
    uint64_t *longer = room > r->room ? realloc(r->done, (size_t)room / 8) : r->done;
    if (!longer) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the cases of an earlier run");
    for (int64_t i = r->room / 64; i < room / 64; i++) longer[i] = 0;
    r->done = longer;
    r->room = room;
    r->done[number / 64] |= UINT64_C(1) << number % 64;
    return CNN_OK;
}

static cnn_status keep(resume *r, const cnn_record *record, cnn_error *err)
{
    char **line = cnn_add_item(&r->kept, &r->n_kept, &r->room_kept, sizeof *line, "records of an earlier run", err);
    if (line) *line = strdup(record_source(record));
    if (line && *line) return CNN_OK;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the records of an earlier run");
}

cnn_status resume_each_case(const resume *r, record_each *each, void *user, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < r->n_kept; i++) status = record_read_line(r->kept[i], each, user, err);
    return status;
}

static cnn_status add_case(resume *r, const cnn_record *record, cnn_error *err)
{
    const double number = record_get_real(record, "number"), most = 1e10;
    char state[STATE_MAX];
    int i = 0;
    if (!(number >= 0 && number < most) || resume_has(r, (int64_t)number)) return CNN_OK;
    if (mark_done(r, (int64_t)number, err) != CNN_OK) return err->status;
    forget_records(r); /* they are the case's; what comes behind them is of one that was not finished */
    if (r->keeps) return keep(r, record, err);
    copy_state(state, record);
    while (i < r->n_states && strcmp(r->states[i].state, state) != 0) i++;
    if (i == STATES) return CNN_FAIL(err, CNN_BAD_FORMAT, "a case of the unknown state '%s'", state);
    if (i == r->n_states) {
        memcpy(r->states[i].state, state, STATE_MAX);
        r->states[r->n_states++].count = 0;
    }
    r->states[i].count++;
    return CNN_OK;
}

static cnn_status add(resume *r, const cnn_record *record, cnn_error *err)
{
    left *l = cnn_add_item(&r->list, &r->count, &r->capacity, sizeof *l, "records of an earlier run", err);
    if (!l) return err->status;
    l->key = record_identity(record, IDENTITY_RECORD, NULL);
    if (!l->key) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the records of an earlier run");
    copy_state(l->state, record);
    return CNN_OK;
}

static bool is_ours(const resume *r, const cnn_record *record)
{
    const char *command = record_get_text(record, "command"), *build = record_get_text(record, "build");
    return command && build && r->build[0] && strcmp(command, r->command) == 0 && strcmp(build, r->build) == 0 &&
           record_is(record, "pieces", true) == r->pieces;
}

static cnn_status read_one(void *user, const cnn_record *record, cnn_error *err)
{
    resume *r = user;
    const char *kind = record_get_text(record, "kind");
    if (strcmp(kind, "begin") == 0) {
        const char *build = record_get_text(record, "build");
        r->open = is_ours(r, record);
        r->elsewhere = r->elsewhere || (build && build[0] && r->build[0] && strcmp(build, r->build) != 0);
        if (r->open && !record_is(record, "resumed", true)) forget(r);
        const double seed = record_get_real(record, "seed");
        if (r->open) r->left_seed = seed >= 0 && seed < 1e15 ? (int64_t)seed : -1;
        return CNN_OK;
    }
    if (strcmp(kind, "end") == 0) {
        if (r->open) {
            forget(r);
            r->left_seed = -1;
        }
        r->open = false;
        return CNN_OK;
    }
    if (!r->open || strcmp(kind, "env") == 0 || strcmp(kind, "step") == 0) return CNN_OK; /* a recipe's own */
    return strcmp(kind, "case") == 0 ? add_case(r, record, err) : add(r, record, err);
}

cnn_status resume_open(const resume_run *run, resume **result, cnn_error *err)
{
    const char *path = run->path;
    struct stat info;
    int bad;
    resume *r = *result = calloc(1, sizeof *r);
    if (r) r->command = strdup(run->command);
    if (!r || !r->command) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to go on with an earlier run");
    if (!path || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))) return CNN_OK;
    r->to_file = true;
    r->seed = run->seed;
    r->pieces = run->pieces;
    r->keeps = run->keeps;
    r->left_seed = -1;
    cnn_build_id(run->plugins, run->n_plugins, r->build);
    return stat(path, &info) == 0 ? record_read(path, read_one, r, &bad, err) : CNN_OK;
}

bool resume_elsewhere(const resume *r) { return r->elsewhere; }
int64_t resume_seed(const resume *r) { return r->to_file ? r->left_seed : -1; }

void resume_close(resume *r)
{
    if (!r) return;
    forget(r);
    free(r->list);
    free(r->done);
    free(r->kept);
    free(r->command);
    free(r);
}

cnn_status resume_begin(const resume *r, record_sink *sink, cnn_error *err)
{
    if (!r->to_file) return CNN_OK;
    cnn_record *record = record_new("begin");
    record_text(record, "command", r->command);
    record_text(record, "commit", BUILD_COMMIT);
    record_text(record, "build", r->build);
    if (r->seed >= 0) record_int(record, "seed", r->seed);
    if (r->pieces) record_bool(record, "pieces", true);
    record_bool(record, "resumed", r->count > 0 || resume_done(r) > 0);
    return record_write(sink, record, err);
}

cnn_status resume_end(const resume *r, record_sink *sink, int exit_status, cnn_error *err)
{
    if (!r->to_file) return CNN_OK;
    cnn_record *record = record_new("end");
    record_text(record, "command", r->command);
    record_int(record, "status", exit_status);
    return record_write(sink, record, err);
}

static bool is_there(void *user, const cnn_record *record) { return resume_take(user, record) != NULL; }

void resume_pass_over(resume *r, record_sink *sink) { record_sink_pass_over(sink, is_there, r); }

int resume_left(const resume *r) { return r->count; }

const char *resume_take(resume *r, const cnn_record *record)
{
    const char *state = NULL;
    if (!r || r->count == 0 || !record) return NULL;
    char *key = record_identity(record, IDENTITY_RECORD, NULL);
    for (int i = 0; key && !state && i < r->count; i++) {
        left *l = &r->list[i];
        if (l->taken || strcmp(l->key, key) != 0) continue;
        l->taken = true;
        state = l->state;
    }
    free(key);
    return state;
}

int64_t resume_done(const resume *r)
{
    int64_t done = r->n_kept;
    for (int i = 0; i < r->n_states; i++) done += r->states[i].count;
    return done;
}

int64_t resume_count(const resume *r, const char *state)
{
    for (int i = 0; i < r->n_states; i++)
        if (strcmp(r->states[i].state, state) == 0) return r->states[i].count;
    return 0;
}

cnn_status resume_case(const resume *r, record_sink *sink, int64_t number, const char *state, cnn_error *err)
{
    if (!r->to_file) return CNN_OK;
    cnn_record *record = record_new("case");
    record_int(record, "number", number);
    record_text(record, "state", state);
    return record_write(sink, record, err);
}
