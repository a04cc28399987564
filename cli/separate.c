/* separate.c: --separate: a plug-in in a process of its own (harness/device/separate.h), which is this program, begun
 * anew with what is to be loaded on its command line. No word there tells what is asked of it, or with which seed. */
#include "harness/device/separate.h"
#include "cli/options/options.h"
#include "harness/process/watch.h"

#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- In the process that judges. */

static void lost(void *watch, const char *how) { watch_lost(watch, how); }

/* The runner's words: who compiled the kernel, then a command line. */
typedef struct told {
    const char *words[RUNNER_WORDS_MAX];
    int count;
} told;

static void say(told *t, const char *option, const char *value)
{
    if (value == NULL || t->count + 3 > RUNNER_WORDS_MAX) return;
    t->words[t->count++] = option;
    t->words[t->count++] = value;
}

static void say_kernel(const cli_options *o, told *t)
{
    say(t, "--kernel", o->kernel);
    say(t, "--args", o->args);
    say(t, "--op", o->op);
    say(t, "--dtype", o->dtype);
    say(t, "--layout", o->layout);
    say(t, "--math", o->math);
    for (int i = 0; i < o->set.count; i++) say(t, "--set", o->set.items[i]);
}

cnn_status cli_separate_load(const cli_options *o, cnn_registry *registry, const char *path, bool kernel,
                             cnn_error *err)
{
    told t = {.words = {o->kernel_command, "verify"}, .count = 2};
    const char *number = strrchr(o->kernel_code, '/');
    const int code = kernel && number != NULL ? atoi(number + 1) : -1;
    separate *s;
    if (kernel)
        say_kernel(o, &t);
    else
        say(&t, "--plugin", path);
    const cnn_status status = separate_start(kernel ? "" : path, t.words, code, lost, o->watch, &s, err);
    if (status == CNN_OK) return cnn_registry_add_separate(registry, s, path, err);
    return strncmp(err->message, "plug-in ", 8) == 0 ? status : cnn_error_before(err, status, "plug-in %.200s: ", path);
}

/* ---- In the runner. */

void cli_separate_serve(char **argv, char **words)
{
    static cli_options options; /* large: kept off the stack */
    static cnn_registry registry;
    static char program[] = "benchcnn";
    char compiler[sizeof options.kernel_command];
    int sockets[RUNNER_SOCKETS], count = 1;
    cnn_error err;
    if (runner_begin(argv, sockets, &err) != CNN_OK) exit(cli_fail(&err));
    snprintf(compiler, sizeof compiler, "%s", words[0]);
    words[0] = program;
    while (words[count] != NULL) count++;
    cnn_status status = cli_parse(&options, &registry, count, words, &err);
    if (status == CNN_OK)
        status = options.kernel != NULL ? cli_kernel_take(&options, &registry, RUNNER_CODE, compiler, &err)
                                        : cnn_registry_load(&registry, options.plugin.items[0], &err);
    separate_serve(cnn_impl_at(&registry, cnn_impl_count(&registry) - 1), sockets, status, &err);
}
