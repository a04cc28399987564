/* mutant_runs.c: runs programs side by side, each with a time limit, and reads the records that they print. */
#include "mutant_runs.h"

#include "cli/cli.h"
#include "cli/process/child.h"
#include "harness/base/clock.h"
#include "harness/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 64, MOST_WORDS = 64, COMMAND_MAX = 2048, PATH_SIZE = 1024 };

typedef struct job {
    mutant_run *run; /* NULL: none */
    pid_t pid;
    double start;
    char output[PATH_SIZE]; /* its records; its messages beside, with ".err" */
} job;

const char *run_end_name(run_end end)
{
    static const char *const names[] = {"held", "caught", "crash", "hang", "broken"};
    return names[end];
}

void mutant_command(const mutant_run *run, const run_settings *s, char *text, size_t size)
{
    int used = snprintf(text, size, "%s/%s verify --impl %s %s --threads %lld --seed %lld", s->folder, run->program,
                        run->mutant->of, run->mutant->verify, (long long)s->threads, (long long)s->seed);
    if (s->device != 0 && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, " --device %lld", (long long)s->device);
}

/* ---- The child. */

/* A sanitizer that finds something ends the program like any other crash, not with a status of ours; leaks are no
 * wrong results. */
static void set_sanitizers(void)
{
    static const char *const names[] = {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char value[PATH_SIZE];
        const char *old = getenv(names[i]);
        snprintf(value, sizeof value, "%s%sabort_on_error=1:detect_leaks=0", old != NULL ? old : "",
                 old != NULL ? ":" : "");
        setenv(names[i], value, 1);
    }
}

_Noreturn static void be_mutant(const job *j, const run_settings *s)
{
    char command[COMMAND_MAX], messages[PATH_SIZE + 8], *words[MOST_WORDS + 4], *rest = command;
    const struct rlimit no_core = {0, 0};
    int n = 0;
    mutant_command(j->run, s, command, sizeof command);
    while (n < MOST_WORDS && (words[n] = strsep(&rest, " ")) != NULL)
        if (words[n][0] != '\0') n++;
    words[n++] = (char[]){"--json"};
    words[n++] = (char[]){"--quiet"};
    words[n] = NULL;
    snprintf(messages, sizeof messages, "%s.err", j->output);
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &no_core);
    set_sanitizers();
    const int out = open(j->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int problems = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || problems < 0 || dup2(out, 1) < 0 || dup2(problems, 2) < 0) _exit(126);
    execv(words[0], words);
    fprintf(stderr, "benchcnn: cannot run %s: %s\n", words[0], strerror(errno));
    fflush(stderr);
    _exit(127);
}

/* ---- What came of it. */

static int check_of(const char *name)
{
    for (int i = 0; name != NULL && i < VERIFY_CHECK_COUNT; i++)
        if (strcmp(name, verify_check_name((verify_check)i)) == 0) return i;
    return -1;
}

static cnn_status count_record(void *user, const cnn_record *record, cnn_error *err)
{
    mutant_run *run = user;
    const char *kind = record_get_text(record, "kind"), *state = record_get_text(record, "state");
    const char *check = record_get_text(record, "check"), *reason = record_get_text(record, "reason");
    (void)err;
    if (kind == NULL || state == NULL || strcmp(kind, "verify") != 0) return CNN_OK;
    const bool failed = strcmp(state, "FAILED") == 0 || strcmp(state, "MISTRUSTED") == 0;
    const int i = check_of(check);
    if (failed && run->reason[0] == '\0')
        snprintf(run->reason, sizeof run->reason, "%.32s: %.400s", check != NULL ? check : "",
                 reason != NULL ? reason : "");
    if (i >= 0 && failed) run->failed[i]++;
    if (i >= 0 && strcmp(state, "PASSED") == 0) run->passed[i]++;
    return CNN_OK;
}

/* The last line of its messages. */
static void last_message(const char *output, char *text, size_t size)
{
    char path[PATH_SIZE + 8], line[VERIFY_TEXT_MAX];
    snprintf(path, sizeof path, "%s.err", output);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "SUMMARY: ", 9) == 0 || strstr(line, "runtime error") != NULL ||
            strncmp(line, "benchcnn: ", 10) == 0)
            snprintf(text, size, "%s", line);
    }
    fclose(file);
}

static int failures(const mutant_run *run)
{
    int sum = 0;
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) sum += run->failed[i];
    return sum;
}

/* How it ended, from its records and the status of waitpid(). */
static void judge(job *j, int status, bool timed_out, const run_settings *s)
{
    mutant_run *run = j->run;
    cnn_error err;
    int bad = 0;
    (void)record_read(j->output, count_record, run, &bad, &err); /* no records: then nothing is counted */
    const int exited = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    char message[VERIFY_TEXT_MAX] = "";
    last_message(j->output, message, sizeof message);
    if (timed_out) {
        run->end = RUN_HUNG;
        snprintf(run->reason, sizeof run->reason, "did not end within %.0f s", s->most);
    } else if (exited < 0) {
        run->end = RUN_CRASHED;
        snprintf(run->reason, sizeof run->reason, "%s%s%.400s", strsignal(WTERMSIG(status)),
                 message[0] != '\0' ? ": " : "", message);
    } else if (exited == EXIT_HELD && failures(run) == 0) {
        run->end = RUN_HELD;
    } else if (exited == EXIT_FAILED && (failures(run) > 0 || run->reason[0] != '\0')) {
        run->end = RUN_CAUGHT;
    } else {
        run->end = RUN_BROKEN;
        snprintf(run->reason, sizeof run->reason, "ended with status %d: %.400s", exited, message);
    }
}

static bool start(job *j, mutant_run *run, const char *folder, const run_settings *s)
{
    static int number; /* of the output files; a command runs once */
    *j = (job){.run = run, .start = cnn_now()};
    snprintf(j->output, sizeof j->output, "%s/%d", folder, number++);
    j->pid = child_fork();
    if (j->pid == 0) be_mutant(j, s);
    if (j->pid > 0) return true;
    run->end = RUN_BROKEN;
    snprintf(run->reason, sizeof run->reason, "cannot start a process: %s", strerror(errno));
    j->run = NULL;
    return false;
}

/* Whether it is over; a run that takes too long is ended. */
static bool poll_job(job *j, const run_settings *s)
{
    char messages[PATH_SIZE + 8];
    int status = 0;
    const double seconds = cnn_now() - j->start;
    const bool late = seconds > s->most;
    if (late) kill(-j->pid, SIGKILL);
    if (waitpid(j->pid, &status, late ? 0 : WNOHANG) != j->pid) return false;
    j->run->seconds = seconds;
    judge(j, status, late && WIFSIGNALED(status), s);
    snprintf(messages, sizeof messages, "%s.err", j->output);
    (void)unlink(j->output);
    (void)unlink(messages);
    return true;
}

static void end_all(job jobs[MOST_JOBS])
{
    for (int i = 0; i < MOST_JOBS; i++) {
        char messages[PATH_SIZE + 8];
        if (jobs[i].run == NULL) continue;
        kill(-jobs[i].pid, SIGKILL);
        (void)waitpid(jobs[i].pid, NULL, 0);
        snprintf(messages, sizeof messages, "%s.err", jobs[i].output);
        (void)unlink(jobs[i].output);
        (void)unlink(messages);
    }
}

cnn_status mutant_runs(mutant_run *runs, int count, const run_settings *s, cnn_error *err)
{
    static job jobs[MOST_JOBS]; /* large: kept off the stack; a command runs once */
    const char *tmp = getenv("TMPDIR");
    char folder[PATH_SIZE / 2];
    int next = 0, running = 0;
    cnn_status status = CNN_OK;
    memset(jobs, 0, sizeof jobs);
    snprintf(folder, sizeof folder, "%.400s/benchcnn-mutants-XXXXXX", tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL) return CNN_FAIL(err, CNN_IO, "cannot make the folder %s: %s", folder, strerror(errno));
    while (next < count || running > 0) {
        if (cli_interrupted()) {
            status = CNN_FAIL(err, CNN_INTERRUPTED, "interrupted; what was finished is recorded");
            break;
        }
        for (int i = 0; i < s->jobs && i < MOST_JOBS; i++) {
            if (jobs[i].run != NULL && poll_job(&jobs[i], s)) {
                s->done(s->user, jobs[i].run);
                jobs[i].run = NULL;
                running--;
            }
            if (jobs[i].run == NULL && next < count) running += start(&jobs[i], &runs[next++], folder, s);
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    end_all(jobs);
    (void)rmdir(folder);
    return status;
}
