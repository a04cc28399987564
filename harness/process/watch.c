/* watch.c: see watch.h. The watching process keeps its place in the terminal's group and in the shell's list of jobs:
 * it stops and goes on with the run, and what is sent to it alone reaches the run, too. */
#include "watch.h"

#include "apart.h"
#include "harness/base/clock.h"
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t watched; /* for the handlers: the run, and what this process waits for */
static sem_t *bell;

static void hand_on(int signal_number)
{
    const int before = errno;
    (void)kill((pid_t)watched, signal_number);
    errno = before;
}

static void ring(int signal_number)
{
    (void)signal_number;
    (void)sem_post(bell);
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

static int64_t limit_of(const run_watch *w) { return w->hung == 0 || w->limit_s < 20 ? w->limit_s : w->limit_s / 10; }

static cnn_status refuse_mail(const run_watch *w, mail_state state, cnn_error *err)
{
    if (state == MAIL_NO_MEMORY) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a record");
    return CNN_FAIL(
        err, CNN_INTERNAL,
        "a message to the process that writes the records is not the program's: a plug-in (%.140s) wrote over "
        "memory that is not its own; the run was ended, and this message is not among the records",
        w->loaded);
}

/* What the run has asked. */
static cnn_status serve(const run_watch *w, const watch_service *service, cnn_error *err)
{
    for (mail_state state; (state = mail_take(service->mail)) != MAIL_NONE;) {
        mail_answer answer = {.status = CNN_OK};
        if (state == MAIL_PARTLY) continue;
        if (state != MAIL_WHOLE) return refuse_mail(w, state, err);
        service->answer(service->user, service->mail->message, service->mail->length, &answer);
        mail_reply(service->mail, &answer);
    }
    return CNN_OK;
}

static cnn_status wait_for(run_watch *w, const watch_service *service, pid_t pid, int *ended, bool *hung,
                           cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (*hung = false;;) {
        const pid_t got = child_wait(&w->run, pid, WUNTRACED | WNOHANG, limit_of(w), ended, hung);
        if (got < 0 && errno != EINTR)
            return CNN_FAIL(err, CNN_INTERNAL, "waiting for a child process: %s", strerror(errno));
        if (got == pid && !WIFSTOPPED(*ended)) return status;
        if (got == pid) {
            stop_alike(pid, WSTOPSIG(*ended));
            if (atomic_load(&w->run.began) > 0) atomic_store(&w->run.began, cnn_now());
        } else if (status == CNN_OK && (status = serve(w, service, err)) != CNN_OK) {
            (void)kill(pid, SIGKILL);
        } else {
            mail_wait(&w->box, w->limit_s > 0 ? 10 : 1000);
        }
    }
}

/* From outside, or since nobody reads what is written: nothing that a plug-in is to be named for. With --isolate a
 * kernel that sends it to itself is a failure like others. */
static bool is_default(const run_watch *w, int signal_number)
{
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    if (w->limit_s > 0 && signal_number != SIGPIPE && !interrupt_seen()) return false;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i] == signal_number) return true;
    return false;
}

/* A death in a case that is done since then is told, and nobody asks for it any more; nor for the same one again. */
static watch_death *room_for_death(run_watch *w)
{
    for (int i = 0; i < w->n_deaths; i++) {
        watch_death *d = &w->deaths[i];
        const bool same = strcmp(d->key, w->key) == 0 && strcmp(d->doing, w->doing) == 0;
        if (d->number >= 0 ? d->number < w->done : w->number < 0 && same) return d;
    }
    return w->n_deaths < WATCH_DEATHS_MAX ? &w->deaths[w->n_deaths++] : NULL;
}

static void say_how(const run_watch *w, int ended, char *how, size_t size)
{
    if (w->said[0] != '\0')
        snprintf(how, size, "%.*s", (int)sizeof w->said - 1, w->said);
    else
        child_how(&w->run, ended, how, size);
}

/* Whether another run can go on, without what was in hand. */
static bool note_death(run_watch *w, int ended, bool hung)
{
    watch_death *d = w->limit_s > 0 && w->key[0] != '\0' ? room_for_death(w) : NULL;
    if (d == NULL) return false;
    *d = (watch_death){.number = w->number, .next = w->next};
    memcpy(d->key, w->key, sizeof d->key);
    memcpy(d->doing, w->doing, sizeof d->doing);
    if (hung)
        snprintf(d->how, sizeof d->how, "it did not finish in %lld s (--isolate-limit)", (long long)limit_of(w));
    else
        say_how(w, ended, d->how, sizeof d->how);
    w->hung += hung;
    return true;
}

static cnn_status fail_end(run_watch *w, int ended, cnn_error *err)
{
    char how[WATCH_HOW_MAX];
    const char *hint =
        w->limit_s > 0 ? "" : "; with --isolate (sweep: and --out FILE) it says in which case, and the run goes on";
    say_how(w, ended, how, sizeof how);
    w->loaded[sizeof w->loaded - 1] = '\0';
    if (w->loaded[0] == '\0') return CNN_FAIL(err, CNN_INTERNAL, "outside of any implementation's code: %s", how);
    if (WIFSIGNALED(ended))
        return CNN_FAIL(err, CNN_INTERNAL, "a crash, with plug-ins loaded (%.200s): %s%s", w->loaded, how, hint);
    return CNN_FAIL(err, CNN_INTERNAL,
                    "a plug-in (%.140s) ended the process, in the middle of the command: %s, and never said that the "
                    "command ran to its end%s",
                    w->loaded, how, hint);
}

/* Waits for one run. CNN_OK: it said with which status to end (*status), or another run follows (-1). */
static cnn_status wait_for_run(run_watch *w, const watch_service *service, pid_t pid, int *status, cnn_error *err)
{
    bool hung;
    int ended;
    *status = -1;
    if (wait_for(w, service, pid, &ended, &hung, err) != CNN_OK) return err->status;
    if (child_said(&w->run, pid, ended)) {
        *status = WEXITSTATUS(ended);
        return service->end(service->user, *status, err);
    }
    if (!hung && WIFSIGNALED(ended) && is_default(w, WTERMSIG(ended))) {
        set_handler(WTERMSIG(ended), SIG_DFL);
        raise(WTERMSIG(ended));
    }
    return note_death(w, ended, hung) ? CNN_OK : fail_end(w, ended, err);
}

static pid_t start_run(run_watch *w, const watch_service *service)
{
    w->key[0] = w->loaded[0] = w->said[0] = '\0';
    w->number = -1;
    w->next = 0;
    mail_begin(service->mail);
    service->begin(service->user);
    return child_start(&w->run);
}

cnn_status watch_new(run_watch **result, cnn_error *err)
{
    *result = mmap(NULL, sizeof **result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (*result != MAP_FAILED) return CNN_OK;
    *result = NULL;
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to share with a child process");
}

/* As they were before the first run. */
static void begin_run(int shown)
{
    set_handler(SIGTSTP, SIG_DFL);
    set_handler(SIGCONT, SIG_DFL);
    set_handler(SIGCHLD, SIG_DFL);
    apart_begin(shown);
}

cnn_status watch_begin(run_watch *w, int64_t limit_s, const watch_service *service, int *ended, cnn_error *err)
{
    cnn_status status = CNN_OK;
    interrupt_share(&w->interrupted);
    w->limit_s = limit_s;
    w->on = true;
    *ended = -1;
    bell = &w->box.bell;
    set_handler(SIGCHLD, ring);
    const int shown = apart_hide();
    while (status == CNN_OK && *ended < 0) {
        const pid_t pid = start_run(w, service);
        if (pid < 0) status = CNN_FAIL(err, CNN_INTERNAL, "no child process can be started: %s", strerror(errno));
        if (pid < 0) break;
        if (pid == 0) {
            begin_run(shown);
            return CNN_OK;
        }
        watched = pid;
        interrupt_catch();
        set_handler(SIGTSTP, hand_on);
        set_handler(SIGCONT, hand_on);
        status = wait_for_run(w, service, pid, ended, err);
    }
    apart_show(shown);
    return status;
}
