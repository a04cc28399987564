/* runner.c: see runner.h. */
#include "runner.h"

#include "apart.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The runner's open files, by number: sockets from FIRST on, the region, RUNNER_CODE. */
enum { RUNNER_FIRST = STDERR_FILENO + 1, RUNNER_REGION = RUNNER_FIRST + RUNNER_SOCKETS, RUNNER_FILES = 4 };
_Static_assert(RUNNER_CODE == RUNNER_REGION + 1, "they follow one another");

static const char runner_name[] = "benchcnn-runner";

/* ---- In the process that starts it. */

static void close_others(void)
{
    DIR *open_files = opendir("/proc/self/fd");
    const struct dirent *entry;
    while (open_files != NULL && (entry = readdir(open_files)) != NULL) {
        const int fd = atoi(entry->d_name);
        if (fd >= RUNNER_FIRST + RUNNER_FILES && fd != dirfd(open_files)) close(fd);
    }
    if (open_files != NULL) closedir(open_files);
}

/* Files get their numbers; first of all numbers that are nobody's. What it prints goes to standard error: standard
 * output is the judge's. */
static bool place_files(const int files[RUNNER_FILES])
{
    enum { ABOVE = 64 };
    int high[RUNNER_FILES];
    const int none = open("/dev/null", O_RDWR);
    for (int i = 0; i < RUNNER_FILES; i++) {
        high[i] = fcntl(files[i] >= 0 ? files[i] : none, F_DUPFD, ABOVE);
        if (high[i] < 0) return false;
    }
    for (int i = 0; i < RUNNER_FILES; i++)
        if (dup2(high[i], RUNNER_FIRST + i) < 0) return false;
    if (dup2(none, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return false;
    close_others();
    return true;
}

/* In the child. A terminal's Ctrl-C is the judge's, who ends between two calls. */
static _Noreturn void become(const runner *r, const char *const words[], const int files[RUNNER_FILES])
{
    const char *argv[RUNNER_WORDS_MAX + 3] = {runner_name};
    char place[64];
    snprintf(place, sizeof place, "%zx:%zx", (size_t)(uintptr_t)r->memory.start, r->memory.bytes);
    argv[1] = place;
    for (int i = 0; i < RUNNER_WORDS_MAX && words[i] != NULL; i++) argv[i + 2] = words[i];
    apart_begin(1);
    signal(SIGINT, SIG_IGN);
    if (place_files(files)) execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
    _exit(127);
}

static cnn_status start(runner *r, const char *const words[], int shared, int code, cnn_error *err)
{
    int theirs[RUNNER_SOCKETS], pair[2];
    for (int i = 0; i < RUNNER_SOCKETS; i++) r->sockets[i] = theirs[i] = -1;
    bool made = true;
    for (int i = 0; i < RUNNER_SOCKETS && made; i++) {
        made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
        if (made) r->sockets[i] = pair[0], theirs[i] = pair[1];
    }
    (void)apart_hide();
    r->pid = made ? child_fork() : -1;
    if (r->pid == 0) become(r, words, (const int[RUNNER_FILES]){theirs[0], theirs[1], shared, code});
    const int why = errno;
    for (int i = 0; i < RUNNER_SOCKETS; i++)
        if (theirs[i] >= 0) close(theirs[i]);
    if (r->pid > 0) return CNN_OK;
    r->pid = 0;
    return CNN_FAIL(err, CNN_INTERNAL, "no process for a plug-in can be started: %s", strerror(why));
}

cnn_status runner_start(runner *r, const char *const words[], int code, size_t bytes, cnn_error *err)
{
    int shared;
    cnn_status status = region_make(&r->memory, bytes, &shared, err);
    r->pid = 0;
    if (status != CNN_OK) return status;
    r->shared = region_take(&r->memory, sizeof *r->shared);
    if (r->shared == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with another process");
    if (status == CNN_OK) status = start(r, words, shared, code, err);
    close(shared);
    if (status != CNN_OK) runner_stop(r);
    return status;
}

bool runner_listen(const runner *r, int which)
{
    enum { PATIENCE_MS = 200 };
    for (;;) {
        struct pollfd socket = {.fd = r->sockets[which], .events = POLLIN};
        siginfo_t ended = {.si_pid = 0};
        if (poll(&socket, 1, PATIENCE_MS) > 0) return true; /* its end, too, which who reads finds */
        if (waitid(P_PID, (id_t)r->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) return false;
    }
}

/* It may be about to end. */
static bool ended_by_itself(pid_t pid, int *how)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 100; i++) {
        if (waitpid(pid, how, WNOHANG) == pid) return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

void runner_end(runner *r, char *how, size_t size)
{
    int ended = 0;
    if (ended_by_itself(r->pid, &ended)) {
        child_how(r->shared, ended, how, size);
    } else {
        snprintf(how, size, "its process no longer answered what it was asked");
        kill(r->pid, SIGKILL);
        waitpid(r->pid, &ended, 0);
    }
    r->pid = 0;
}

void runner_stop(runner *r)
{
    for (int i = 0; i < RUNNER_SOCKETS; i++)
        if (r->sockets[i] >= 0) close(r->sockets[i]);
    if (r->pid > 0) {
        kill(r->pid, SIGKILL);
        while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    region_free(&r->memory);
    *r = (runner){.sockets = {-1, -1}};
}

/* ---- In the runner. */

static pid_t self; /* who answers: a copy that foreign code forks does not */

bool runner_is(char **argv, char ***words)
{
    if (argv[0] == NULL || strcmp(argv[0], runner_name) != 0 || argv[1] == NULL) return false;
    *words = argv + 2;
    return true;
}

cnn_status runner_begin(char **argv, int sockets[RUNNER_SOCKETS], cnn_error *err)
{
    size_t start, bytes;
    if (sscanf(argv[1], "%zx:%zx", &start, &bytes) != 2)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "benchcnn starts this process by itself, and nobody else does");
    const cnn_status status = region_join((void *)(uintptr_t)start, bytes, RUNNER_REGION, err);
    close(RUNNER_REGION);
    if (status != CNN_OK) return status;
    for (int i = 0; i < RUNNER_SOCKETS; i++) (void)fcntl(sockets[i] = RUNNER_FIRST + i, F_SETFD, FD_CLOEXEC);
    child_shared *shared = (child_shared *)(uintptr_t)(start + (size_t)sysconf(_SC_PAGESIZE)); /* the first block */
    if (!region_open(shared, sizeof *shared, true)) return CNN_FAIL(err, CNN_INTERNAL, "memory cannot be opened");
    self = getpid();
    child_guard();
    crash_place_prepare();
    crash_begin(&shared->crash);
    return CNN_OK;
}

void runner_check_self(void)
{
    if (getpid() != self) _exit(1);
}
