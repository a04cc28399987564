/* step.c: runs a line of a recipe. Its process is killed with this one, however this one ends; signals that ask
 * this one to stop are passed on, so that both stop after what is in hand. */
#include "harness/base/text.h"
#include "harness/process/child.h"
#include "parts.h"

#include "harness/base/clock.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct started {
    const recipe *recipe;
    const step *step;
} started;

/* In the child. */
static void become(void *user)
{
    const started *s = user;
    cnn_error err;
    if (record_sink_hand_down(s->recipe->sink, &err) == CNN_OK) {
        execv("/proc/self/exe", s->step->words.we_wordv);
        CNN_FAIL(&err, CNN_INTERNAL, "%.200s:%d: %s", s->recipe->path, s->step->line, strerror(errno));
    }
    _exit(cli_fail(&err));
}

/* A step that came to its end in spite of a signal is recorded; a stopped one is not: it goes on another time. */
static cnn_status finish(recipe *r, const step *s, int status, bool stopped, double seconds, cnn_error *err)
{
    const int ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended != 130 && !(stopped && WIFSIGNALED(status))) {
        r->failed += ended != EXIT_HELD;
        if (ended != EXIT_HELD) fprintf(stderr, "%s:%d: exit status %d\n", r->path, s->line, ended);
        if (run_record(r, s, ended, seconds, err) != CNN_OK) return err->status;
        if (!stopped) return CNN_OK;
    }
    return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted at line %d; the same command goes on from there", s->line);
}

cnn_status run_step(recipe *r, const step *s, cnn_error *err)
{
    const double start = cnn_now();
    started child = {r, s};
    int ended = 0;
    bool stopped = interrupt_seen();
    cnn_status status = stopped ? CNN_FAIL(err, CNN_INTERRUPTED, "interrupted before line %d", s->line)
                                : run_record(r, s, -1, NAN, err);
    if (status != CNN_OK) return status;
    status = child_run(become, &child, &ended, &stopped, err);
    if (status != CNN_OK) return cnn_error_before(err, status, "%.200s:%d: ", r->path, s->line);
    return finish(r, s, ended, stopped, cnn_now() - start, err);
}
