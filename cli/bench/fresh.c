/* fresh.c: one process of `bench --processes`: this program once more, with one candidate, or with all. Its records
 * come back through a file in memory, and get the number of the round and the arm. */
#include "processes.h"

#include "harness/process/child.h"
#include "harness/process/program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. */
static void become(const fresh *f, FILE *records, FILE *said)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (dup2(fileno(records), STDOUT_FILENO) >= 0 && dup2(fileno(said), STDERR_FILENO) >= 0)
        execv("/proc/self/exe", (char *const *)(uintptr_t)f->words);
    _exit(127);
}

static void show(FILE *said)
{
    char block[4096];
    size_t length;
    rewind(said);
    while ((length = fread(block, 1, sizeof block, said)) > 0) fwrite(block, 1, length, stderr);
}

/* What the process's exit status means for the whole: a wrong or failed figure is a result like others. */
static cnn_status judge_end(const fresh *f, const arm *a, int ended, FILE *said, cnn_error *err)
{
    char how[96], last[CNN_MESSAGE_MAX];
    if (interrupt_seen() || (WIFEXITED(ended) && WEXITSTATUS(ended) == 130))
        return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; the same command with --out goes on behind round %lld",
                        (long long)f->round - 1);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) != EXIT_USAGE && WEXITSTATUS(ended) <= EXIT_NOTHING) return CNN_OK;
    program_last_line(said, last, sizeof last);
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_USAGE)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "round %lld, %s: %s", (long long)f->round, a->name, last);
    child_how(NULL, ended, how, sizeof how);
    return CNN_FAIL(err, CNN_INTERNAL, "round %lld, %s: %s; it said: %.300s", (long long)f->round, a->name, how, last);
}

cnn_status fresh_run(fresh *f, arm *a, cnn_error *err)
{
    FILE *said = program_file("what a process says", err);
    int ended = 0;
    a->records = said != NULL ? program_file("records of a process", err) : NULL;
    if (a->records == NULL) {
        if (said != NULL) fclose(said);
        return err->status;
    }
    f->words[3] = f->all != NULL ? f->all : a->name;
    snprintf(f->number, sizeof f->number, "%lld", (long long)f->round);
    const pid_t pid = child_fork();
    cnn_status status = CNN_OK;
    if (pid == 0) become(f, a->records, said);
    while (pid > 0 && waitpid(pid, &ended, 0) < 0 && errno == EINTR) continue;
    if (pid < 0) status = CNN_FAIL(err, CNN_INTERNAL, "no process can be started: %s", strerror(errno));
    if (status == CNN_OK && (!a->begun || !WIFEXITED(ended) || WEXITSTATUS(ended) != EXIT_HELD)) show(said);
    if (status == CNN_OK) status = judge_end(f, a, ended, said, err);
    fclose(said);
    return status;
}

typedef struct writer {
    fresh *f;
    const arm *arm;
} writer;

static cnn_status write_one(void *user, const cnn_record *record, cnn_error *err)
{
    const writer *w = user;
    const char *name, *kind = record_get_text(record, "kind");
    const bool figure = record_get_text(record, "problem") != NULL;
    if (!figure && w->arm->begun) return CNN_OK; /* its environment, once */
    cnn_record *copy = record_new(kind);
    for (int i = 0; (name = record_field(record, i)) != NULL; i++)
        if (strcmp(name, "kind") != 0 && strcmp(name, "arm") != 0) record_copy(copy, record, &name, 1);
    if (figure) {
        const bool timed = record_is(record, "verified", true);
        const char *state = record_get_text(record, "state"), *letter = record_get_text(record, "arm");
        record_int(copy, "round", w->f->round);
        record_text(copy, "arm", letter != NULL ? letter : w->arm->letter);
        w->f->timed += timed;
        w->f->failed += !timed && state != NULL && strcmp(state, "UNSUPPORTED") != 0 && strcmp(state, "TOO_SHORT") != 0;
    }
    return record_write(w->f->output.sink, copy, err);
}

cnn_status fresh_write(fresh *f, arm *a, cnn_error *err)
{
    char path[64];
    writer w = {f, a};
    fflush(a->records);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(a->records));
    const cnn_status status = record_read_strictly(path, write_one, &w, err);
    a->begun = true;
    return status;
}
