/* workers.c: worker processes. Which block comes next, which case each worker is at and what came of its last ones
 * stands in memory that all share. No pipe: a kernel that writes to whatever it finds open would be read as a result.
 */
#include "workers.h"

#include "harness/process/child.h"
#include "harness/process/interrupt.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RING = 256 }; /* messages of one worker that wait to be taken */

typedef struct slot {
    _Atomic int64_t at, end;    /* the case in hand; the end of its block */
    _Atomic int64_t put, taken; /* messages, by the worker and by the parent */
    child_shared worker;
    worker_message now; /* of the case in hand */
    worker_message ring[RING];
} slot;

typedef struct shared {
    _Atomic int64_t next; /* the first case that nobody has taken */
    atomic_bool stop;
    slot slots[WORKERS_MOST];
} shared;

typedef struct worker_set {
    const workers_job *job;
    shared *common;
    pid_t pids[WORKERS_MOST]; /* 0: none */
    bool hung[WORKERS_MOST];
    int64_t given; /* messages, and deaths, that the job was told */
} worker_set;

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); }

/* ---- In a worker. */

static bool next_case(const workers_job *job, shared *common, slot *s)
{
    if (atomic_load(&common->stop) || interrupt_seen()) return false;
    if (atomic_load(&s->at) < atomic_load(&s->end)) return true;
    const int64_t first = atomic_fetch_add(&common->next, job->block);
    if (first >= job->count) return false;
    atomic_store(&s->at, first);
    atomic_store(&s->end, first + job->block < job->count ? first + job->block : job->count);
    return true;
}

static void put(slot *s, const worker_message *message)
{
    const int64_t at = atomic_load(&s->put);
    while (at - atomic_load(&s->taken) >= RING) rest();
    s->ring[at % RING] = *message;
    atomic_store(&s->put, at + 1);
}

static void work(const worker_set *c, int number)
{
    const workers_job *job = c->job;
    slot *s = &c->common->slots[number];
    void *state = job->start != NULL ? job->start(job->user) : job->user;
    int status = state == NULL;
    while (state != NULL && next_case(job, c->common, s)) {
        const int64_t index = atomic_load(&s->at);
        memset(&s->now, 0, sizeof s->now);
        s->now.index = index;
        child_hand(&s->worker, true);
        const cnn_status done = job->work(job->user, state, index, &s->now);
        child_hand(&s->worker, false);
        if (done != CNN_OK) break; /* interrupted */
        put(s, &s->now);
        atomic_store(&s->at, index + 1);
    }
    if (state != NULL && job->start != NULL) job->finish(state);
    child_end(&s->worker, status);
}

/* ---- In the parent. */

static bool hire(worker_set *c, int number, cnn_error *err)
{
    c->hung[number] = false;
    const pid_t pid = child_start(&c->common->slots[number].worker);
    if (pid == 0) work(c, number);
    if (pid > 0) c->pids[number] = pid;
    if (pid < 0) CNN_FAIL(err, CNN_INTERNAL, "no worker process could be started: %s", strerror(errno));
    return pid > 0;
}

static void describe_death(const slot *s, int status, bool hung, int64_t seconds, worker_message *message)
{
    fuzz_outcome *o = &message->outcome;
    message->result = WORKER_DIED;
    o->state = VERIFY_FAILED;
    snprintf(o->check, sizeof o->check, "survival");
    if (hung)
        snprintf(o->reason, sizeof o->reason, "it did not finish in %lld s", (long long)seconds);
    else
        child_how(&s->worker, status, o->reason, sizeof o->reason);
}

/* The next message of this worker that has come. What a kernel may have written over is no index and no text yet. */
static bool receive(const worker_set *c, int number, worker_message *message)
{
    slot *s = &c->common->slots[number];
    const int64_t at = atomic_load(&s->taken);
    if (at >= atomic_load(&s->put)) return false;
    *message = s->ring[at % RING];
    atomic_store(&s->taken, at + 1);
    fuzz_outcome *o = &message->outcome;
    if (message->index < 0 || message->index >= c->job->count || o->state > VERIFY_FAILED) return false;
    o->algorithm[sizeof o->algorithm - 1] = o->check[sizeof o->check - 1] = '\0';
    o->reason[sizeof o->reason - 1] = o->worst[sizeof o->worst - 1] = '\0';
    return true;
}

static void give(worker_set *c, const worker_message *message)
{
    c->given++;
    if (!c->job->each(c->job->each_user, message)) atomic_store(&c->common->stop, true);
}

static bool give_all(worker_set *c, int workers)
{
    const int64_t before = c->given;
    worker_message message;
    for (int i = 0; i < workers; i++)
        while (receive(c, i, &message)) give(c, &message);
    return c->given > before;
}

/* If the worker has ended, pids[number] becomes 0. Of a death, the case in hand is given, and another worker goes on
 * behind it. */
static cnn_status look_after(worker_set *c, int number, cnn_error *err)
{
    slot *s = &c->common->slots[number];
    const pid_t pid = c->pids[number];
    int status;
    if (pid == 0 || child_wait(&s->worker, pid, WNOHANG, c->job->seconds, &status, &c->hung[number]) != pid)
        return CNN_OK;
    c->pids[number] = 0;
    give_all(c, number + 1); /* what it did before it ended comes first */
    const int64_t at = atomic_load(&s->at);
    const bool said = child_said(&s->worker, pid, status);
    if (said && WEXITSTATUS(status) == 0) return CNN_OK;
    worker_message message = {.index = at, .attempt = s->now.attempt};
    describe_death(s, status, c->hung[number], c->job->seconds, &message);
    if (said || at >= atomic_load(&s->end)) /* not in a case */
        return CNN_FAIL(err, CNN_INTERNAL,
                        "a worker process could not start its work, or goes between two cases: %.300s",
                        message.outcome.reason);
    atomic_store(&s->at, at + 1);
    give(c, &message);
    return atomic_load(&c->common->stop) || hire(c, number, err) ? CNN_OK : err->status;
}

/* Until no worker is left; after a failure, the others finish the case in hand. */
static cnn_status supervise(worker_set *c, int workers, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (bool alive = true; alive;) {
        if (!give_all(c, workers)) rest();
        alive = false;
        for (int i = 0; i < workers; i++) {
            cnn_error why;
            if (look_after(c, i, &why) != CNN_OK && status == CNN_OK) status = why.status, *err = why;
            alive = alive || c->pids[i] != 0;
        }
        if (status != CNN_OK || (c->job->stop != NULL && c->job->stop(c->job->each_user)))
            atomic_store(&c->common->stop, true);
    }
    give_all(c, workers);
    if (status == CNN_OK && !atomic_load(&c->common->stop) && !interrupt_seen() &&
        c->given != c->job->count - c->job->first)
        status = CNN_FAIL(err, CNN_INTERNAL, "%lld cases were to be run, and workers told of %lld",
                          (long long)(c->job->count - c->job->first), (long long)c->given);
    return status;
}

cnn_status workers_run(const workers_job *job, cnn_error *err)
{
    worker_set c = {.job = job};
    const int workers = job->workers < 1 ? 1 : job->workers > WORKERS_MOST ? WORKERS_MOST : job->workers;
    c.common = mmap(NULL, sizeof *c.common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c.common == MAP_FAILED) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with worker processes");
    atomic_store(&c.common->next, job->first);
    int hired = 0;
    while (hired < workers && hire(&c, hired, err)) hired++;
    const cnn_status status = hired > 0 ? supervise(&c, hired, err) : err->status;
    munmap(c.common, sizeof *c.common);
    return status;
}

static bool keep(void *user, const worker_message *message)
{
    *(worker_message *)user = *message;
    return false;
}

cnn_status workers_alone(const workers_job *job, int64_t index, worker_message *message, cnn_error *err)
{
    workers_job one = *job;
    one.workers = 1;
    one.first = index;
    one.count = index + 1; /* one block of this one case */
    one.each = keep;
    one.each_user = message;
    one.stop = NULL;
    memset(message, 0, sizeof *message);
    message->index = -1;
    const cnn_status status = workers_run(&one, err);
    if (status != CNN_OK || message->index == index) return status;
    return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
}
