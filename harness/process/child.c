/* child.c: see child.h. */
#include "child.h"

#include "harness/base/clock.h"
#include "interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

static pid_t forking; /* the process that forks; 0: none has */

static void before_fork(void) { forking = getpid(); }

void child_adopt(void)
{
#ifdef __linux__
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* kept when the process becomes another program; not by its children */
#endif
}

static void end_with_parent(void)
{
    child_adopt();
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* kept when the child becomes another program */
    if (getppid() != forking) _exit(1);     /* it died before that */
#endif
}

/* A kernel may fork, end its process and leave the copy to go on as the child: every fork() ends with its parent. */
void child_guard(void)
{
    if (forking == 0) (void)pthread_atfork(before_fork, NULL, end_with_parent);
}

pid_t child_fork(void)
{
    fflush(NULL);
    crash_place_prepare();
    child_guard();
    return fork();
}

pid_t child_start(child_shared *c)
{
    atomic_store(&c->word, 0);
    atomic_store(&c->began, 0.0);
    const pid_t pid = child_fork();
    if (pid != 0) return pid;
    atomic_store(&c->pid, getpid());
    crash_begin(&c->crash);
    return pid;
}

/* Until it ends, with `signals` blocked. */
static cnn_status wait_for(pid_t pid, const sigset_t *signals, int *ended, bool *stopped, cnn_error *err)
{
    for (;;) {
        siginfo_t info;
        const pid_t got = waitpid(pid, ended, WNOHANG);
        if (got == pid) return CNN_OK;
        if (got < 0 && errno != EINTR) return CNN_FAIL(err, CNN_INTERNAL, "waiting for a process: %s", strerror(errno));
        const int number = sigwaitinfo(signals, &info);
        if (number != SIGINT && number != SIGTERM) continue; /* SIGCHLD, or none */
        *stopped = true;
        if (info.si_code <= 0) kill(pid, number);
    }
}

/* In the child. A signal that comes before the program has a handler of its own ends it. */
static void become_other(child_become *become, void *user, const sigset_t *mask)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    become(user);
    _exit(127);
}

cnn_status child_run(child_become *become, void *user, int *ended, bool *stopped, cnn_error *err)
{
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before); /* from here on they are waited for, and none is missed */
    *stopped = interrupt_seen();
    cnn_status status = *stopped ? CNN_FAIL(err, CNN_INTERRUPTED, "interrupted") : CNN_OK;
    if (status == CNN_OK) {
        const pid_t pid = child_fork();
        if (pid == 0) become_other(become, user, &before);
        status = pid > 0 ? wait_for(pid, &signals, ended, stopped, err)
                         : CNN_FAIL(err, CNN_INTERNAL, "no process can be started: %s", strerror(errno));
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* Nothing that a stray store leaves, and no status of another process. */
static uint64_t word_of(pid_t pid, int status)
{
    return UINT64_C(0x6c61737420776f72) ^ ((uint64_t)pid << 8 | ((uint64_t)status & 0xFF));
}

void child_hand(child_shared *c, bool anything)
{
    if (getpid() != atomic_load(&c->pid)) _exit(1);
    atomic_store(&c->began, anything ? cnn_now() : 0.0);
}

void child_end(child_shared *c, int status)
{
    fflush(NULL);
    atomic_store(&c->word, word_of(getpid(), status));
    _exit(status);
}

pid_t child_wait(child_shared *c, pid_t pid, int flags, int64_t limit_s, int *ended, bool *hung)
{
    const pid_t got = waitpid(pid, ended, flags);
    const double began = atomic_load(&c->began);
    if (got == 0 && limit_s > 0 && began > 0 && cnn_now() - began > (double)limit_s) *hung = kill(pid, SIGKILL) == 0;
    return got;
}

bool child_said(const child_shared *c, pid_t pid, int ended)
{
    return WIFEXITED(ended) && atomic_load(&c->word) == word_of(pid, WEXITSTATUS(ended));
}

void child_how(const child_shared *c, int ended, char *how, size_t size)
{
    enum { WORDS = 430 };
    char crash[WORDS] = "";
    if (!WIFSIGNALED(ended)) {
        snprintf(how, size, "it ended its process itself, with status %d", WEXITSTATUS(ended));
        return;
    }
    const int by = WTERMSIG(ended);
    if (c != NULL && (by == SIGSEGV || by == SIGBUS)) crash_text(&c->crash, crash, sizeof crash);
    snprintf(how, size, "its process was ended by signal %d (%s)%s%s", by, strsignal(by), crash[0] != '\0' ? ": " : "",
             crash);
}
