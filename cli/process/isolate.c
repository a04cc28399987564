/* isolate.c: one child after the other. The child notes in shared memory which case it has in hand; its death tells the
 * parent the rest. */
#include "isolate.h"

#include "harness/base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool isolate_take(isolate_page *page, int64_t number)
{
    if (page == NULL) return true;
    if (number < page->begun) return false;
    page->begun = number + 1;
    isolate_in_case(page, true);
    return true;
}

void isolate_in_case(isolate_page *page, bool in_case)
{
    const bool in_hand = in_case || page->outside[0] != '\0';
    if (getpid() != atomic_load(&page->owner)) _exit(EXIT_FAILED);
    atomic_store(&page->in_case, in_case);
    atomic_store(&page->began, in_hand ? cnn_now() : 0.0);
}

void isolate_done(isolate_page *page)
{
    if (page != NULL) isolate_in_case(page, false);
}

const isolate_lost *isolate_find_lost(const isolate_page *page, const char *key)
{
    for (int i = 0; page != NULL && i < page->n_lost; i++)
        if (strcmp(page->lost[i].key, key) == 0) return &page->lost[i];
    return NULL;
}

bool isolate_enter(isolate_page *page, const char *key, const char *doing)
{
    if (page == NULL) return true;
    if (key != NULL && isolate_find_lost(page, key) != NULL) return false;
    snprintf(page->outside, sizeof page->outside, "%s", key != NULL ? key : "");
    snprintf(page->doing, sizeof page->doing, "%s", key != NULL ? doing : "");
    isolate_in_case(page, false);
    return true;
}

static void describe(int status, const isolate_page *page, bool hung, char *how, size_t size)
{
    if (hung) {
        snprintf(how, size, "it did not finish in %lld s (--isolate-limit)", (long long)page->limit_s);
    } else if (WIFEXITED(status)) {
        snprintf(how, size, "it ended its process itself, with status %d", WEXITSTATUS(status));
    } else {
        const int at = snprintf(how, size, "its process ");
        child_how(status, how + at, size - (size_t)at);
    }
}

static pid_t start_child(const isolate_job *job, isolate_page *page)
{
    atomic_store(&page->word, 0);
    const pid_t pid = child_fork();
    if (pid != 0) return pid;
    atomic_store(&page->owner, getpid());
    const int status = job->work(job->user, page);
    (void)isolate_enter(page, NULL, NULL); /* it returned: whatever was in hand is not any more */
    child_end(&page->word, status);
}

/* *hung: it was ended here, since its case took too long; the child itself may block every signal but this one. */
static cnn_status wait_for(pid_t pid, isolate_page *page, int *status, bool *hung, cnn_error *err)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    *hung = false;
    for (;;) {
        const pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid) return CNN_OK;
        if (ended < 0 && errno != EINTR)
            return CNN_FAIL(err, CNN_INTERNAL, "waiting for a child process: %s", strerror(errno));
        const double began = atomic_load(&page->began);
        if (began > 0 && cnn_now() - began > (double)page->limit_s) *hung = kill(pid, SIGKILL) == 0;
        nanosleep(&pause, NULL);
    }
}

static cnn_status page_new(int64_t limit_s, isolate_page **page, cnn_error *err)
{
    *page = mmap(NULL, sizeof **page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (*page == MAP_FAILED) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with a child process");
    (*page)->limit_s = limit_s;
    atomic_store(&(*page)->owner, getpid());
    return CNN_OK;
}

/* A child ended before its work did: tells of whom. */
static cnn_status tell(const isolate_job *job, isolate_page *page, const char *how, cnn_error *err)
{
    if (atomic_load(&page->in_case)) {
        job->died(job->user, page, how);
        return CNN_OK;
    }
    if (page->outside[0] == '\0' || page->n_lost == ISOLATE_LOST_MAX)
        return CNN_FAIL(err, CNN_INTERNAL, "outside of any case, with no implementation in hand: %s", how);
    isolate_lost *lost = &page->lost[page->n_lost++];
    memcpy(lost->key, page->outside, sizeof lost->key);
    lost->next = page->next;
    job->lost(job->user, page, how);
    return CNN_OK;
}

cnn_status isolate_run(const isolate_job *job, int *exit_status, cnn_error *err)
{
    char how[ISOLATE_HOW_MAX];
    isolate_page *page;
    cnn_status status = page_new(job->limit_s, &page, err);
    if (status != CNN_OK) return status;
    for (bool again = true; again && status == CNN_OK; page->child++) {
        int ended;
        bool hung;
        page->next = 0;
        page->outside[0] = '\0';
        atomic_store(&page->owner, getpid());
        isolate_in_case(page, false);
        const pid_t pid = start_child(job, page);
        if (pid < 0) status = CNN_FAIL(err, CNN_INTERNAL, "no child process can be started: %s", strerror(errno));
        if (status == CNN_OK) status = wait_for(pid, page, &ended, &hung, err);
        if (status != CNN_OK) break;
        again = !child_said(&page->word, pid, ended);
        if (!again) *exit_status = WEXITSTATUS(ended);
        if (!again) break;
        describe(ended, page, hung, how, sizeof how);
        status = tell(job, page, how, err);
    }
    munmap(page, sizeof *page);
    return status;
}

typedef struct trial {
    void (*work)(void *user, isolate_page *page);
    void *user;
} trial;

static int run_trial(void *user, isolate_page *page)
{
    const trial *t = user;
    t->work(t->user, page);
    return 0;
}

cnn_status isolate_try(int64_t limit_s, void (*work)(void *user, isolate_page *page), void *user, bool *survived,
                       char how[ISOLATE_HOW_MAX], char impl[CNN_NAME_MAX], cnn_error *err)
{
    trial t = {work, user};
    const isolate_job job = {.user = &t, .limit_s = limit_s, .work = run_trial};
    isolate_page *page;
    int ended = 0;
    bool hung = false;
    cnn_status status = page_new(limit_s, &page, err);
    if (status != CNN_OK) return status;
    isolate_in_case(page, true);
    const pid_t pid = start_child(&job, page);
    if (pid < 0) status = CNN_FAIL(err, CNN_INTERNAL, "no child process can be started: %s", strerror(errno));
    if (status == CNN_OK) status = wait_for(pid, page, &ended, &hung, err);
    if (status == CNN_OK) {
        *survived = child_said(&page->word, pid, ended);
        if (!*survived) describe(ended, page, hung, how, ISOLATE_HOW_MAX);
        memcpy(impl, page->impl, CNN_NAME_MAX);
    }
    munmap(page, sizeof *page);
    return status;
}
