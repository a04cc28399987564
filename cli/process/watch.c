/* watch.c: see watch.h. The watching process keeps its place in the terminal's group and in the shell's list of jobs:
 * it stops and goes on with the run, and what is sent to it alone reaches the run, too. */
#include "watch.h"

#include "cli/cli.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- In the run. */

/* A kernel may fork, end its process and leave the copy to go on as the run: the copy ends with its parent. */
static pid_t forking;

static void before_fork(void) { forking = getpid(); }

static void end_with_parent(void)
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != forking) _exit(EXIT_FAILED); /* it has ended already */
#endif
}

/* ---- In the process that watches. */

static volatile sig_atomic_t watched; /* for the handler */

static void hand_on(int signal_number)
{
    const int before = errno;
    (void)kill((pid_t)watched, signal_number);
    errno = before;
}

static void set_handler(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

/* The run was stopped (Ctrl-Z): so is this process, for the shell to see it, unless the run goes on already. */
static void stop_alike(pid_t pid, int signal_number)
{
    int status;
    if (waitpid(pid, &status, WNOHANG | WCONTINUED) == pid) return;
    set_handler(signal_number, SIG_DFL);
    raise(signal_number);
    if (signal_number == SIGTSTP) set_handler(SIGTSTP, hand_on);
    (void)kill(pid, SIGCONT);
}

static int wait_for(pid_t pid)
{
    int status;
    for (;;) {
        const pid_t got = waitpid(pid, &status, WUNTRACED);
        if (got < 0 && errno != EINTR) return -1;
        if (got == pid && !WIFSTOPPED(status)) return status;
        if (got == pid) stop_alike(pid, WSTOPSIG(status));
    }
}

/* From outside, or since nobody reads what is written: nothing that a plug-in is to be named for. */
static bool is_usual(int signal_number)
{
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i] == signal_number) return true;
    return false;
}

static int end_alike(watch *w, pid_t pid, int ended)
{
    char how[128];
    const char *hint = w->isolated ? "" : "; verify, bench and peaks with --isolate tell in which case, and go on";
    if (child_said(&w->word, pid, ended)) return WEXITSTATUS(ended);
    if (WIFSIGNALED(ended) && is_usual(WTERMSIG(ended))) {
        set_handler(WTERMSIG(ended), SIG_DFL);
        raise(WTERMSIG(ended));
    }
    child_how(ended, how, sizeof how);
    w->loaded[sizeof w->loaded - 1] = '\0';
    if (WIFSIGNALED(ended))
        fprintf(stderr, "benchcnn: a crash, with plug-ins loaded (%s): the process %s%s\n", w->loaded, how, hint);
    else
        fprintf(stderr,
                "benchcnn: a plug-in (%s) ended the process, in the middle of the command: it %s, and never said that "
                "the command ran to its end%s\n",
                w->loaded, how, hint);
    return EXIT_FAILED;
}

cnn_status watch_begin(watch **shared, cnn_error *err)
{
    watch *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w == MAP_FAILED) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with a child process");
    cli_share_interrupt(&w->interrupted);
    const pid_t pid = child_fork();
    if (pid < 0) return CNN_FAIL(err, CNN_INTERNAL, "no child process can be started: %s", strerror(errno));
    if (pid == 0) {
        *shared = w;
        (void)pthread_atfork(before_fork, NULL, end_with_parent);
        return CNN_OK;
    }
    watched = pid;
    cli_catch_interrupt();
    set_handler(SIGTSTP, hand_on);
    set_handler(SIGCONT, hand_on);
    const int ended = wait_for(pid);
    if (ended == -1) {
        CNN_FAIL(err, CNN_INTERNAL, "waiting for a child process: %s", strerror(errno));
        _exit(cli_fail(err));
    }
    _exit(end_alike(w, pid, ended));
}

cnn_status watch_apart(cnn_status (*work)(void *user, watch *shared, cnn_error *err), void *user, cnn_error *err)
{
    int ended = 0;
    watch *w = NULL;
    cnn_error *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (said == MAP_FAILED) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with a child process");
    const pid_t pid = child_fork();
    if (pid == 0) {
        if (watch_begin(&w, said) != CNN_OK) _exit(cli_fail(said));
        if (work(user, w, said) == CNN_OK) said->status = CNN_OK;
        child_end(&w->word, EXIT_HELD);
    }
    while (pid > 0 && waitpid(pid, &ended, 0) != pid) {}
    *err = *said;
    if (pid < 0)
        CNN_FAIL(err, CNN_INTERNAL, "no child process can be started: %s", strerror(errno));
    else if (!WIFEXITED(ended) || WEXITSTATUS(ended) != EXIT_HELD)
        CNN_FAIL(err, CNN_INTERNAL, "loading its plug-ins failed, see above");
    munmap(said, sizeof *said);
    return err->status;
}
