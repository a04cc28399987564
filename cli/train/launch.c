/* launch.c: see launch.h. */
#include "launch.h"

#include "harness/base/text.h"
#include "harness/cpu/threads.h"
#include "harness/process/child.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

typedef struct launch {
    wordexp_t launcher;
    char program[4096];
    char **words; /* all of them */
} launch;

/* Open MPI takes no more ranks than there are cores, and binds each to one, unless it is told otherwise. */
static const char *usual(int count)
{
    return count > cpu_count() ? "mpirun --oversubscribe --bind-to none -n {}" : "mpirun --bind-to none -n {}";
}

/* The number for each {}, then words as a shell splits them, without commands. */
static cnn_status read_launcher(const char *text, int count, wordexp_t *words, cnn_error *err)
{
    char filled[1024] = "";
    const char *at = text;
    if (strstr(text, "{}") == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--launcher %.200s has no {}, where the number of ranks stands: 'mpirun -n {}', 'srun -n {}'",
                        text);
    for (const char *next; (next = strstr(at, "{}")) != NULL; at = next + 2)
        cnn_append(filled, sizeof filled, "%.*s%d", (int)(next - at), at, count);
    cnn_append(filled, sizeof filled, "%s", at);
    if (strlen(text) < sizeof filled / 2 && wordexp(filled, words, WRDE_NOCMD | WRDE_UNDEF) == 0) {
        if (words->we_wordc > 0) return CNN_OK;
        wordfree(words);
    }
    return CNN_FAIL(
        err, CNN_BAD_ARGUMENT,
        "--launcher %.200s is no command: it may hold words, quotes and variables that are set, and none of "
        "| & ; < > ( ) { }",
        text);
}

cnn_status launch_check(const char *launcher, cnn_error *err)
{
    wordexp_t words;
    if (launcher == NULL) return CNN_OK;
    const cnn_status status = read_launcher(launcher, 1, &words, err);
    if (status == CNN_OK) wordfree(&words);
    return status;
}

/* In the child. */
static void become(void *user)
{
    const launch *l = user;
    cnn_error err;
    execvp(l->words[0], l->words);
    if (errno == ENOENT)
        CNN_FAIL(
            &err, CNN_UNAVAILABLE,
            "%.200s is not installed, and ranks are started with it (Debian, Ubuntu: apt-get install openmpi-bin); "
            "--launcher names another",
            l->words[0]);
    else
        CNN_FAIL(&err, CNN_UNAVAILABLE, "cannot start %.200s: %s", l->words[0], strerror(errno));
    _exit(cli_fail(&err));
}

static cnn_status run(launch *l, const char *const *words, int n_words, int *result, cnn_error *err)
{
    const ssize_t length = readlink("/proc/self/exe", l->program, sizeof l->program - 1);
    const size_t n = l->launcher.we_wordc;
    int ended = 0;
    bool stopped;
    if (length <= 0) return CNN_FAIL(err, CNN_INTERNAL, "this program's file is not known: %s", strerror(errno));
    l->words = calloc(n + (size_t)n_words + 2, sizeof *l->words);
    if (l->words == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a command");
    memcpy(l->words, l->launcher.we_wordv, n * sizeof *l->words);
    l->words[n] = l->program;
    memcpy(l->words + n + 1, words, (size_t)n_words * sizeof *l->words);
    const cnn_status status = child_run(become, l, &ended, &stopped, err);
    free(l->words);
    if (status != CNN_OK) return status;
    *result = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
    return stopped || *result == 130 ? CNN_FAIL(err, CNN_INTERRUPTED, "interrupted") : CNN_OK;
}

cnn_status launch_ranks(const char *launcher, int count, const char *const *words, int n_words, int *result,
                        cnn_error *err)
{
    launch l = {.words = NULL};
    cnn_status status = read_launcher(launcher != NULL ? launcher : usual(count), count, &l.launcher, err);
    if (status != CNN_OK) return status;
    status = run(&l, words, n_words, result, err);
    wordfree(&l.launcher);
    return status;
}
