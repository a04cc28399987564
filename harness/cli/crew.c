/* crew.c: worker processes. Which block comes next, and which case each worker is at, stands in memory that all share;
 * results come through one pipe, in messages small enough to be written whole (PIPE_BUF). */
#include "crew.h"

#include "child.h"
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(crew_message) <= PIPE_BUF, "a message must be written in one piece");

typedef struct slot {
    _Atomic int64_t at, end; /* the case in hand; the end of its block */
} slot;

typedef struct shared {
    _Atomic int64_t next; /* the first case that nobody has taken */
    atomic_bool stop;
    slot slots[CREW_MOST];
} shared;

typedef struct crew {
    const crew_job *job;
    shared *common;
    int pipe[2];
    pid_t pids[CREW_MOST]; /* 0: none */
} crew;

static bool write_message(int fd, const crew_message *message)
{
    ssize_t n;
    do n = write(fd, message, sizeof *message);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *message;
}

/* ---- In a worker. */

static bool next_case(const crew_job *job, shared *common, slot *s)
{
    if (atomic_load(&common->stop) || cli_interrupted()) return false;
    if (atomic_load(&s->at) < atomic_load(&s->end)) return true;
    const int64_t first = atomic_fetch_add(&common->next, job->block);
    if (first >= job->count) return false;
    atomic_store(&s->at, first);
    atomic_store(&s->end, first + job->block < job->count ? first + job->block : job->count);
    return true;
}

static void work(const crew *c, int number)
{
    const crew_job *job = c->job;
    slot *s = &c->common->slots[number];
    void *state = job->start(job->user);
    int status = state == NULL;
    while (state != NULL && next_case(job, c->common, s)) {
        const int64_t index = atomic_load(&s->at);
        crew_message message;
        memset(&message, 0, sizeof message); /* padding too: all of it goes through the pipe */
        message.index = index;
        alarm(job->seconds);
        if (job->work(job->user, state, index, &message) != CNN_OK) break; /* interrupted */
        alarm(0);
        if (!write_message(c->pipe[1], &message)) break;
        atomic_store(&s->at, index + 1);
    }
    alarm(0);
    if (state != NULL) job->finish(state);
    _exit(status); /* no buffers of the parent are flushed, none of its exit handlers run */
}

/* ---- In the parent. */

static bool hire(crew *c, int number, cnn_error *err)
{
    const pid_t pid = child_fork();
    if (pid == 0) work(c, number);
    if (pid > 0) c->pids[number] = pid;
    if (pid < 0) CNN_FAIL(err, CNN_INTERNAL, "no worker process could be started: %s", strerror(errno));
    return pid > 0;
}

static void describe_death(int status, unsigned seconds, crew_message *message)
{
    fuzz_outcome *o = &message->outcome;
    message->result = CREW_DIED;
    o->state = VERIFY_FAILED;
    snprintf(o->check, sizeof o->check, "survival");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(o->reason, sizeof o->reason, "did not finish in %u s", seconds);
    else if (WIFSIGNALED(status))
        snprintf(o->reason, sizeof o->reason, "the process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(o->reason, sizeof o->reason, "the process ended itself, with status %d", WEXITSTATUS(status));
}

/* The next message that has arrived; waits for one a little while. */
static bool receive(const crew *c, int wait_ms, crew_message *message)
{
    struct pollfd wait = {.fd = c->pipe[0], .events = POLLIN};
    if (poll(&wait, 1, wait_ms) <= 0 || !(wait.revents & POLLIN)) return false;
    size_t got = 0;
    while (got < sizeof *message) {
        const ssize_t n = read(c->pipe[0], (char *)message + got, sizeof *message - got);
        if (n == 0 || (n < 0 && errno != EINTR)) return false;
        if (n > 0) got += (size_t)n;
    }
    return true;
}

static void give(const crew *c, const crew_message *message)
{
    if (!c->job->each(c->job->user, message)) atomic_store(&c->common->stop, true);
}

/* If the worker has ended, pids[number] becomes 0. Of a death, the case in hand is given, and another worker goes on
 * behind it. */
static cnn_status look_after(crew *c, int number, cnn_error *err)
{
    slot *s = &c->common->slots[number];
    int status;
    if (c->pids[number] == 0 || waitpid(c->pids[number], &status, WNOHANG) != c->pids[number]) return CNN_OK;
    c->pids[number] = 0;
    const int64_t at = atomic_load(&s->at);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return CNN_OK;
    if (at >= atomic_load(&s->end)) /* not in a case */
        return CNN_FAIL(err, CNN_INTERNAL, "a worker process could not start its work");
    crew_message message = {.index = at};
    describe_death(status, c->job->seconds, &message);
    atomic_store(&s->at, at + 1);
    give(c, &message);
    return atomic_load(&c->common->stop) || hire(c, number, err) ? CNN_OK : err->status;
}

/* Until no worker is left; after a failure, the others finish the case in hand. */
static cnn_status supervise(crew *c, int workers, cnn_error *err)
{
    enum { WAIT_MS = 100, AT_ONCE = 256 };
    crew_message message;
    cnn_status status = CNN_OK;
    for (bool alive = true; alive;) {
        for (int i = 0; i < AT_ONCE && receive(c, i == 0 ? WAIT_MS : 0, &message); i++) give(c, &message);
        alive = false;
        for (int i = 0; i < workers; i++) {
            cnn_error why;
            if (look_after(c, i, &why) != CNN_OK && status == CNN_OK) status = why.status, *err = why;
            alive = alive || c->pids[i] != 0;
        }
        if (status != CNN_OK || c->job->stop(c->job->user)) atomic_store(&c->common->stop, true);
    }
    while (receive(c, 0, &message)) give(c, &message);
    return status;
}

cnn_status crew_run(const crew_job *job, cnn_error *err)
{
    crew c = {.job = job};
    const int workers = job->workers < 1 ? 1 : job->workers > CREW_MOST ? CREW_MOST : job->workers;
    c.common = mmap(NULL, sizeof *c.common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c.common == MAP_FAILED) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with worker processes");
    cnn_status status = CNN_OK;
    if (pipe(c.pipe) != 0) {
        status = CNN_FAIL(err, CNN_INTERNAL, "no pipe to worker processes: %s", strerror(errno));
    } else {
        int hired = 0;
        while (hired < workers && hire(&c, hired, err)) hired++;
        status = hired > 0 ? supervise(&c, hired, err) : err->status;
        close(c.pipe[0]);
        close(c.pipe[1]);
    }
    munmap(c.common, sizeof *c.common);
    return status;
}

cnn_status crew_alone(const crew_job *job, int64_t index, crew_message *message, cnn_error *err)
{
    crew_job one = *job;
    crew c = {.job = &one};
    int status = 0;
    memset(message, 0, sizeof *message);
    message->index = index;
    c.common = mmap(NULL, sizeof *c.common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c.common == MAP_FAILED) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with worker processes");
    cnn_status result = CNN_OK;
    one.count = index + 1; /* one block of this one case */
    one.block = 1;
    atomic_store(&c.common->next, index);
    if (pipe(c.pipe) != 0) {
        result = CNN_FAIL(err, CNN_INTERNAL, "no pipe to a worker process: %s", strerror(errno));
    } else {
        if (!hire(&c, 0, err)) {
            result = err->status;
        } else {
            waitpid(c.pids[0], &status, 0);
            if (!receive(&c, 0, message)) {
                if (status == 0)
                    result = CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
                else
                    describe_death(status, one.seconds, message);
            }
        }
        close(c.pipe[0]);
        close(c.pipe[1]);
    }
    munmap(c.common, sizeof *c.common);
    return result;
}
