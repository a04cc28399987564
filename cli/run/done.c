/* done.c: what stands in a recipe's records of its steps. A step has two: one when it begins, one with its exit
 * status when it has ended. A run that is killed between the end of a step and that second record is survived, too: the
 * step's own last record, "end", holds its exit status. */
#include "parts.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    recipe *recipe;
    step *begun; /* the latest to begin, without an end; NULL: none */
    bool ended;  /* but for its second record */
} reader;

/* Lines may be alike: each time one was done counts for one of them. With other values of its variables it is another
 * step. */
static step *find_open(const recipe *r, const char *text, const char *ran)
{
    for (int i = 0; i < r->count; i++) {
        step *s = &r->steps[i];
        if (s->done || strcmp(s->text, text) != 0) continue;
        if (!s->varies || (ran != NULL && s->command != NULL && strcmp(s->command, ran) == 0)) return s;
    }
    return NULL;
}

static cnn_status read_one(void *user, const cnn_record *record, cnn_error *err)
{
    reader *from = user;
    const double status = record_get_real(record, "status");
    const char *kind = record_get_text(record, "kind"), *command = record_get_text(record, "command");
    (void)err;
    if (command == NULL) return CNN_OK;
    const bool held = fpclassify(status) == FP_ZERO;
    if (strcmp(kind, "end") == 0 && from->begun != NULL && from->begun->command != NULL &&
        strcmp(command, from->begun->command) == 0)
        from->ended = held; /* one that failed is run again */
    if (strcmp(kind, "step") != 0) return CNN_OK;
    step *s = find_open(from->recipe, command, record_get_text(record, "ran"));
    from->begun = isnan(status) ? s : NULL;
    from->ended = false;
    if (held && s != NULL) s->done = true;
    return CNN_OK;
}

cnn_status run_find_done(recipe *r, cnn_error *err)
{
    reader from = {.recipe = r};
    int bad;
    const cnn_status status = record_read(r->options->out, read_one, &from, &bad, err);
    if (status != CNN_OK || !from.ended) return status;
    from.begun->done = true;
    return r->options->dry_run ? CNN_OK : run_record(r, from.begun, EXIT_HELD, NAN, err);
}

cnn_status run_record(const recipe *r, const step *s, int status, double seconds, cnn_error *err)
{
    cnn_record *record = record_new("step");
    record_text(record, "recipe", r->path);
    record_int(record, "line", s->line);
    record_text(record, "command", s->text);
    if (s->varies) record_text(record, "ran", s->command);
    if (status < 0) {
        record_text(record, "state", "begun");
    } else {
        record_int(record, "status", status);
        record_real(record, "seconds", seconds);
    }
    return record_write(r->sink, record, err);
}
