/* step.c: runs a line of a recipe. Its process is killed with this one, however this one ends; signals that ask
 * this one to stop are passed on, so that both stop after what is in hand. */
#include "harness/process/child.h"
#include "parts.h"

#include "harness/base/clock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. A signal that comes before the program has a handler of its own ends it. */
static void become(const recipe *r, const step *s, const sigset_t *mask)
{
    cnn_error err;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (record_sink_hand_down(r->sink, &err) == CNN_OK) {
        execv("/proc/self/exe", s->words.we_wordv);
        CNN_FAIL(&err, CNN_INTERNAL, "%.200s:%d: %s", r->path, s->line, strerror(errno));
    }
    _exit(cli_fail(&err));
}

/* Until the child ends, with `signals` blocked. A terminal's Ctrl-C goes to all processes that it controls, and so to
 * the child already; what one process sends another (kill) is passed on. */
static cnn_status wait_for(pid_t pid, const sigset_t *signals, int *status, bool *stopped, cnn_error *err)
{
    for (;;) {
        siginfo_t info;
        const pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid) return CNN_OK;
        if (ended < 0 && errno != EINTR) return CNN_FAIL(err, CNN_INTERNAL, "waiting for a step: %s", strerror(errno));
        const int number = sigwaitinfo(signals, &info);
        if (number != SIGINT && number != SIGTERM) continue; /* SIGCHLD, or none */
        *stopped = true;
        if (info.si_code <= 0) kill(pid, number);
    }
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
    sigset_t signals, before;
    int ended = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before); /* from here on they are waited for, and none is missed */
    bool stopped = interrupt_seen();
    cnn_status status = stopped ? CNN_FAIL(err, CNN_INTERRUPTED, "interrupted before line %d", s->line)
                                : run_record(r, s, -1, NAN, err);
    if (status == CNN_OK) {
        const pid_t pid = child_fork();
        if (pid == 0) become(r, s, &before);
        status = pid > 0 ? wait_for(pid, &signals, &ended, &stopped, err)
                         : CNN_FAIL(err, CNN_INTERNAL, "%.200s:%d: %s", r->path, s->line, strerror(errno));
        if (status == CNN_OK) status = finish(r, s, ended, stopped, cnn_now() - start, err);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
