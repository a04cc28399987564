/* main.c: the one place that turns errors into messages and exit statuses. */
#include "cli/options/options.h"
#include "harness/cpu/limits.h"
#include "harness/device/impl.h"
#include "harness/process/child.h"
#include "harness/process/runner.h"
#include "harness/process/watch.h"
#include "harness/record/record_keeper.h"

#include "harness/base/text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_fail(const cnn_error *err)
{
    char shown[4 * CNN_MESSAGE_MAX]; /* all of it, even where each byte is shown as four */
    fflush(stdout);
    fprintf(stderr, "benchcnn: %s\n", cnn_visible(err->message, shown, sizeof shown));
    switch (err->status) {
    case CNN_DEVICE:
    case CNN_INTERNAL:
        return EXIT_FAILED;
    case CNN_INTERRUPTED:
        return 130; /* what a shell reports for Ctrl-C */
    case CNN_UNAVAILABLE:
        return EXIT_NOTHING;
    default:
        return EXIT_USAGE;
    }
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

/* Output that cannot be written (a full disk behind a redirection) is a failure, even when all else went well. */
static int close_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "benchcnn: standard output cannot be written\n");
    return status == EXIT_HELD ? EXIT_USAGE : status;
}

/* benchcnn help [COMMAND]; for programs: help --words [COMMAND], help --man. A command may be two words. */
static int help(int argc, char **argv)
{
    cnn_error err;
    char command[64] = "";
    const char *form = argc > 2 && strncmp(argv[2], "--", 2) == 0 ? argv[2] : "";
    const int first = form[0] != '\0' ? 3 : 2;
    for (int i = first; i < argc; i++) cnn_append(command, sizeof command, "%s%s", i > first ? " " : "", argv[i]);
    if (strncmp(command, "sweep ranks=", 12) == 0) command[11] = '\0'; /* its name ends where its numbers begin */
    if (argc > first && strcmp(command, "help") != 0 && cli_find_command(command, &err) == NULL) return cli_fail(&err);
    if (strcmp(form, "--words") == 0)
        cli_words(command);
    else if (strcmp(form, "--man") == 0)
        cli_manual();
    else
        cli_help(command);
    return EXIT_HELD;
}

/* What is asked about the program, or is no command. True: that was answered, and *status is to end with. */
static bool answer(int argc, char **argv, int *status)
{
    cnn_error err;
    *status = EXIT_HELD;
    if (argc < 2) {
        cli_help("");
        *status = EXIT_USAGE;
    } else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "version") == 0) {
        printf("benchcnn %s\n", BENCHCNN_VERSION);
    } else if (strcmp(argv[1], "help") == 0) {
        *status = help(argc, argv);
    } else if (argv[1][0] != '-' && cli_find_command(argv[1], &err) == NULL) {
        *status = cli_fail(&err);
    } else if (asks_for_help(argc, argv)) {
        cli_help(argv[1][0] == '-' ? "" : cli_command_name(argc, argv));
    } else if (argv[1][0] == '-') {
        CNN_FAIL(&err, CNN_BAD_ARGUMENT, "%.64s: a command comes before its options; see `benchcnn --help`", argv[1]);
        *status = cli_fail(&err);
    } else {
        return false;
    }
    *status = close_output(*status);
    return true;
}

/* The words of the command line, for the program to keep: a plug-in finds those that main() was given, in memory and in
 * /proc/self/cmdline, and could change them, or tell by them which command it is to please. */
static char **copy_words(int argc, char **argv)
{
    size_t bytes = ((size_t)argc + 1) * sizeof(char *);
    for (int i = 0; i < argc; i++) bytes += strlen(argv[i]) + 1;
    char **words = calloc(1, bytes), *at = words == NULL ? NULL : (char *)(words + argc + 1);
    for (int i = 0; words != NULL && i < argc; i++) {
        words[i] = strcpy(at, argv[i]);
        at += strlen(argv[i]) + 1;
    }
    return words;
}

static void wipe(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) memset(argv[i], 0, strlen(argv[i]));
}

/* Where it was started for that, this process loads a plug-in and calls it, and does nothing else. */
static void begin_as_runner(int argc, char **argv)
{
    char **place, **words;
    if (!runner_is(argv, &words) || (place = copy_words(argc, argv)) == NULL) return;
    wipe(argc, argv);
    (void)runner_is(place, &words);
    cli_separate_serve(place, words);
}

/* `bench --processes` and `sweep ranks` leave plug-ins to the processes that they start, which also write the records.
 */
static bool leaves_plugins(const cli_options *o)
{
    return o->processes > 0 || (o->plugin.count > 0 && strcmp(o->command, "sweep ranks") == 0);
}

/* Whether a plug-in's code runs in this process. */
static bool loads_plugins(const cli_options *o) { return o->plugin.count > 0 && !leaves_plugins(o); }

/* Before any code of a plug-in runs. */
static cnn_status keep_records_apart(cli_options *options, cnn_error *err)
{
    if (!options->json || !loads_plugins(options)) return CNN_OK;
    const int fd = dup(STDOUT_FILENO);
    options->records = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (options->records != NULL && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "standard output cannot be kept for records alone: %s", strerror(errno));
}

/* Goes on in a run of its own, whose records this process keeps. *ended: with which status it did, here. */
static cnn_status watch(cli_options *o, int *ended, cnn_error *err)
{
    record_keeper *keeper = NULL;
    if (record_keeper_new(o->records != NULL ? o->records : stdout, &o->watch->box, &keeper, err) != CNN_OK)
        return err->status;
    const watch_service service = record_keeper_service(keeper);
    const cnn_status status = watch_begin(o->watch, o->isolate ? o->isolate_limit : 0, &service, ended, err);
    if (status != CNN_OK || *ended >= 0) return status;
    record_keeper_begin(keeper, (const char *const[]){o->out, o->tune}, 2);
    o->keeper = keeper;
    o->records = NULL;
    cli_kernel_forked(o);
    /* One of the plug-ins may set that limit: the signal ends the run, and who watches names them. */
    if (loads_plugins(o)) signal(SIGXFSZ, SIG_DFL);
    return CNN_OK;
}

int main(int argc, char **argv)
{
    static cli_options options; /* large: kept off the stack */
    cnn_registry registry = {.n_plugins = 0};
    cnn_error err;
    int status, ended = -1;
    (void)cnn_thread_restore(); /* the C locale is this thread's own from here on: setlocale() does not reach it */
    begin_as_runner(argc, argv);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a crash of a kernel loses no line that was printed before it */
    if (answer(argc, argv, &status)) return status;
    cpu_blas_restart(argv);
    char **words = copy_words(argc, argv);
    if (words == NULL) {
        CNN_FAIL(&err, CNN_OUT_OF_MEMORY, "no memory for %d words of a command line", argc);
        return cli_fail(&err);
    }
    cnn_status ready = cli_parse(&options, &registry, argc, words, &err);
    if (ready == CNN_OK && options.again) ready = cli_kernel_watch(&options, argc, words, &err);
    if (ready == CNN_OK) ready = cli_kernel_build(&options, &err);
    child_adopt();
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit (ulimit -f) is a failed write: it is said, and no line is torn */
    if (ready == CNN_OK) ready = cli_take_standard_input(&options, &err);
    if (ready == CNN_OK) ready = keep_records_apart(&options, &err);
    if (ready == CNN_OK) ready = watch_new(&options.watch, &err);
    if (ready == CNN_OK && loads_plugins(&options)) wipe(argc, argv);
    if (ready == CNN_OK && (loads_plugins(&options) || (options.isolate && !leaves_plugins(&options))))
        ready = watch(&options, &ended, &err);
    if (ready == CNN_OK && ended >= 0) _exit(ended); /* a run has been watched to its end */
    if (ready == CNN_OK && !leaves_plugins(&options)) ready = cli_load(&options, &registry, &err);
    if (ready == CNN_OK && !leaves_plugins(&options)) ready = cli_check_args(&options, &err);
    if (ready == CNN_OK) interrupt_catch();
    status = ready == CNN_OK ? close_output(options.row->run(&options, &err)) : cli_fail(&err);
    if (ready == CNN_UNAVAILABLE) status = EXIT_USAGE; /* a plug-in that cannot be loaded is bad input */
    record_keeper_end(options.keeper, status);
    if (options.watch != NULL && options.watch->on) child_end(&options.watch->run, status); /* no code runs behind it */
    cnn_registry_close(&registry);
    cli_kernel_free(&options);
    free(words);
    return status;
}
