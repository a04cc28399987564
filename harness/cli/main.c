/* main.c: the one place that turns errors into messages and exit statuses. */
#include "options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_fail(const cnn_error *err)
{
    fflush(stdout);
    fprintf(stderr, "benchcnn: %s\n", err->message);
    switch (err->status) {
    case CNN_DEVICE:
    case CNN_INTERNAL:
        return EXIT_FAILED;
    case CNN_INTERRUPTED:
        return 130; /* what a shell reports for Ctrl-C */
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

/* ---- What a plug-in may do to the process. Both only speak of it; --isolate survives it. */

static volatile sig_atomic_t running; /* a command has not returned yet */

/* Somebody else's exit(0) in mid-command must not look like success. */
static void at_exit(void)
{
    static const char text[] = "benchcnn: a plug-in ended the process, in the middle of the command\n";
    if (!running) return;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(EXIT_FAILED);
    _exit(EXIT_FAILED);
}

/* Async-signal-safe; the signal is raised again when it returns. */
static void on_crash(int signal_number)
{
    static const char text[] =
        "benchcnn: a crash, with plug-ins loaded: `benchcnn verify --isolate` tells in which case, and goes on\n";
    (void)signal_number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

static void watch_plugins(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
    atexit(at_exit);
    running = 1;
}

int main(int argc, char **argv)
{
    static cli_options options; /* large: kept off the stack */
    cnn_registry registry = {.n_plugins = 0};
    cnn_error err;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a crash of a kernel loses no line that was printed before it */
    if (argc < 2 || argv[1][0] == '-') {
        if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
            printf("benchcnn %s\n", BENCHCNN_VERSION);
            return close_output(EXIT_HELD);
        }
        cli_help(NULL);
        return close_output(asks_for_help(argc, argv) ? EXIT_HELD : EXIT_USAGE);
    }
    int status;
    cli_command *command = cli_find_command(argv[1], &err);
    if (command == NULL) return cli_fail(&err);
    if (asks_for_help(argc, argv)) {
        cli_help(argv[1]);
        return close_output(EXIT_HELD);
    }
    if (cli_parse(&options, &registry, argc, argv, &err) == CNN_OK) {
        cli_catch_interrupt();
        if (options.plugin.count > 0) watch_plugins();
        status = close_output(command(&options, &err));
        running = 0;
    } else {
        status = cli_fail(&err);
    }
    cnn_registry_close(&registry);
    return status;
}
