/* read.c: a recipe's lines: split, with variables filled in, and checked before any of them starts. */
#include "cli/cli.h"
#include "cli/options/options.h"
#include "cli/sessions.h"
#include "harness/process/watch.h"
#include "parts.h"
#include "verify/fuzz/workers.h"

#include "harness/base/grow.h"
#include "harness/base/input.h"
#include "harness/base/text.h"
#include "harness/net/net.h"
#include "harness/problem/find_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Variables of a line that are not set, but have a default: "${NAME:-default}". */
typedef struct defaults {
    int count;
    char names[8][64];
} defaults;

/* glibc refuses an unset variable even where a default stands beside it (WRDE_UNDEF), but takes an empty one. */
static void set_empty(const char *text, defaults *d)
{
    d->count = 0;
    for (const char *at = strstr(text, "${"); at != NULL; at = strstr(at + 2, "${")) {
        const char *name = at + 2, *end = name;
        while (isalnum((unsigned char)*end) || *end == '_') end++;
        const size_t length = (size_t)(end - name);
        if (strncmp(end, ":-", 2) != 0 || length == 0 || length >= sizeof d->names[0] ||
            d->count == (int)(sizeof d->names / sizeof d->names[0]))
            continue;
        snprintf(d->names[d->count], sizeof d->names[0], "%.*s", (int)length, name);
        if (getenv(d->names[d->count]) == NULL && setenv(d->names[d->count], "", 1) == 0) d->count++;
    }
}

static void unset_again(const defaults *d)
{
    for (int i = 0; i < d->count; i++) unsetenv(d->names[i]);
}

/* Words as a shell splits them, with variables, but without commands. */
static cnn_status split(step *s, cnn_error *err)
{
    static char program[] = "benchcnn";
    defaults d;
    s->words.we_offs = 1;
    set_empty(s->text, &d);
    const int failed = wordexp(s->text, &s->words, WRDE_DOOFFS | WRDE_NOCMD | WRDE_UNDEF);
    unset_again(&d);
    if (failed)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s",
                        failed == WRDE_BADVAL   ? "a variable that is not set ($OUT is)"
                        : failed == WRDE_CMDSUB ? "commands within commands are not run"
                                                : "an open quote, or one of | & ; < > ( ) { }");
    s->words.we_wordv[0] = program;
    return CNN_OK;
}

static cnn_status check_problems(const cli_options *o, cnn_error *err)
{
    problem_list list = {0};
    if (o->problem.count + o->problems.count == 0) return cli_ops(o, err) != 0 ? CNN_OK : err->status;
    cnn_status status = cli_read_problems(o, &(cnn_type){.dtype = CNN_F32}, &list, err);
    for (int i = 0; status == CNN_OK && i < list.count; i++)
        if (list.items[i].malformed) status = CNN_FAIL(err, CNN_BAD_FORMAT, "%s", list.items[i].why);
    free(list.items);
    return status == CNN_UNSUPPORTED ? CNN_OK : status;
}

/* The network at each batch size and in each type it will be asked for: a file is read and planned, nothing is
 * allocated that lasts. */
static cnn_status check_network(const cli_options *o, cnn_error *err)
{
    enum { BATCHES = 64 };
    int64_t batches[BATCHES] = {100};
    int count = 1;
    cli_type_set types;
    if (o->net == NULL) return CNN_OK;
    cnn_status status = cli_types(o, &types, err);
    if (status == CNN_OK && o->batch != NULL)
        status = cli_ints("batch", o->batch, 1, 1 << 20, batches, BATCHES, &count, err);
    for (int t = 0; status == CNN_OK && t < types.count; t++)
        for (int b = 0; status == CNN_OK && b < count; b++) {
            cnn_network *network = NULL;
            status = cnn_net_load(o->net, &types.types[t], batches[b], (uint64_t)o->seed, &network, err);
            cnn_net_free(network);
        }
    return status;
}

/* In a worker: a plug-in may end the process, and a process that has used a GPU cannot be forked. */
static cnn_status check_options(void *user, void *state, int64_t index, worker_message *message)
{
    cli_options *o = user;
    cnn_registry registry = {.n_plugins = 0};
    cnn_error err = {.message = ""};
    (void)state, (void)index;
    o->registry = &registry;
    cnn_status status = watch_new(&o->watch, &err);
    if (status == CNN_OK) status = cli_load(o, &registry, &err);
    if (status == CNN_OK) status = cli_check_args(o, &err);
    if (status == CNN_OK) status = check_problems(o, &err);
    if (status == CNN_OK) status = check_network(o, &err);
    if (status == CNN_OK && cli_runs_impl(o)) status = cli_sessions_probe(o, &err);
    message->result = (int)status;
    snprintf(message->outcome.reason, sizeof message->outcome.reason, "%s", err.message);
    return CNN_OK;
}

/* What can be wrong before anything runs: the command, its options, implementations, axes, problem files, networks. */
static cnn_status check(step *s, cnn_error *err)
{
    static cli_options o; /* large: kept off the stack */
    char **const argv = s->words.we_wordv;
    const int argc = (int)s->words.we_wordc + 1;
    if (argc < 2 || cli_find_command(cli_command_name(argc, argv), err) == NULL) return err->status;
    if (strcmp(argv[1], "run") == 0) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "a recipe does not run recipes");
    if (cli_parse(&o, NULL, argc, argv, err) != CNN_OK) return err->status;
    if (o.again) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--watch has no end: it does not go into a recipe");
    if ((s->command = strdup(o.command_line)) == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a recipe");
    const workers_job job = {.user = &o, .block = 1, .work = check_options};
    worker_message message;
    const cnn_status status = workers_alone(&job, 0, &message, err);
    if (status != CNN_OK || message.result == CNN_OK) return status;
    const bool died = message.result == WORKER_DIED;
    return CNN_FAIL(err, died ? CNN_INTERNAL : (cnn_status)message.result, "%s%s",
                    died ? "loading its plug-ins failed: " : "", message.outcome.reason);
}

/* "$OUT" and "${OUT}" stand for --out, whatever that is now; other variables make another step. */
static bool varies(const char *text)
{
    for (const char *at = strchr(text, '$'); at != NULL; at = strchr(at + 1, '$')) {
        const char *name = at + 1 + (at[1] == '{');
        const bool out = strncmp(name, "OUT", 3) == 0 && !isalnum((unsigned char)name[3]) && name[3] != '_';
        if (!out) return true;
    }
    return false;
}

static cnn_status add_line(recipe *r, int number, char *line, cnn_error *err)
{
    char *text = line + strspn(line, " \t");
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0' || text[0] == '#') return CNN_OK;
    step *s = cnn_add_item(&r->steps, &r->count, &r->capacity, sizeof *s, "a recipe", err);
    if (s == NULL) return err->status;
    *s = (step){.line = number, .text = strdup(text), .varies = varies(text)};
    if (s->text == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a recipe");
    cnn_status status = split(s, err);
    if (status == CNN_OK) status = check(s, err);
    if (status == CNN_UNAVAILABLE && (s->left_out = strdup(err->message)) != NULL) return CNN_OK;
    return status == CNN_OK ? CNN_OK : cnn_error_before(err, status, "%.200s:%d: ", r->path, number);
}

cnn_status run_read(recipe *r, cnn_error *err)
{
    char *line = NULL;
    size_t size = 0;
    cnn_status status = CNN_OK;
    char path[FOUND_PATH_MAX];
    const char *why;
    if (cnn_find_file(&cnn_recipe_files, r->path, path, err) != CNN_OK) return err->status;
    FILE *file = input_stream(path, &why);
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "%.300s: %s", r->path, why);
    for (int number = 1; status == CNN_OK && input_line(&line, &size, file) >= 0; number++)
        status = add_line(r, number, line, err);
    if (status == CNN_OK && !feof(file)) status = CNN_FAIL(err, CNN_IO, "%.300s: %s", r->path, input_line_why());
    free(line);
    fclose(file);
    if (status == CNN_OK && r->count == 0) status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s: no command", r->path);
    return status;
}
