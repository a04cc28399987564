/* isolate.c: one child after the other. The child notes in shared memory which case it has in hand; its death tells the
 * parent the rest. */
#include "isolate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

bool isolate_take(isolate_page *page, int64_t number)
{
    if (page == NULL) return true;
    if (number < page->begun) return false;
    page->begun = number + 1;
    page->in_case = true;
    alarm((unsigned)page->limit_s); /* SIGALRM ends the process, wherever it hangs */
    return true;
}

void isolate_done(isolate_page *page)
{
    if (page == NULL) return;
    alarm(0);
    page->in_case = false;
}

static void describe(int status, int64_t limit_s, char *how, size_t size)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(how, size, "it did not finish in %lld s (--isolate-limit)", (long long)limit_s);
    else if (WIFSIGNALED(status))
        snprintf(how, size, "its process was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(how, size, "it ended its process itself, with status %d", WEXITSTATUS(status));
}

/* What is in the buffers belongs to the parent alone. */
static pid_t start_child(const isolate_job *job, isolate_page *page)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const int status = job->work(job->user, page);
    fflush(NULL);
    _exit(status);
}

static cnn_status wait_for(pid_t pid, int *status, cnn_error *err)
{
    while (waitpid(pid, status, 0) != pid)
        if (errno != EINTR) return CNN_FAIL(err, CNN_INTERNAL, "waiting for a child process: %s", strerror(errno));
    return CNN_OK;
}

cnn_status isolate_run(const isolate_job *job, int *exit_status, cnn_error *err)
{
    char how[256];
    isolate_page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with a child process");
    memset(page, 0, sizeof *page);
    page->limit_s = job->limit_s;
    cnn_status status = CNN_OK;
    for (bool again = true; again && status == CNN_OK;) {
        int ended;
        page->in_case = false;
        const pid_t pid = start_child(job, page);
        if (pid < 0) status = CNN_FAIL(err, CNN_INTERNAL, "no child process can be started: %s", strerror(errno));
        if (status == CNN_OK) status = wait_for(pid, &ended, err);
        if (status != CNN_OK) break;
        again = page->in_case || !WIFEXITED(ended);
        if (!again) *exit_status = WEXITSTATUS(ended);
        if (!again) break;
        describe(ended, job->limit_s, how, sizeof how);
        if (page->in_case)
            job->died(job->user, page, how);
        else
            status = CNN_FAIL(err, CNN_INTERNAL, "outside of any case, while opening or closing: %s", how);
    }
    munmap(page, sizeof *page);
    return status;
}
