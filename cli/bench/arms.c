/* arms.c: who takes part in `bench --processes`. */
#include "parts.h"
#include "processes.h"

#include "cli/options/options.h"
#include "harness/process/program.h"
#include "verify/fuzz/workers.h"

#include <stdlib.h>
#include <string.h>

/* ---- In a process of its own: opening a device, and a plug-in's code, leave nothing in this one. */

typedef struct probe {
    cli_options *options;
    FILE *names; /* a line each */
} probe;

static cnn_status open_and_list(cli_options *o, FILE *names, cnn_error *err)
{
    cnn_registry registry = {.n_plugins = 0};
    bench b = {.options = o, .silent = false};
    o->registry = &registry;
    cnn_status status = watch_new(&o->watch, err);
    if (status == CNN_OK) status = cli_load(o, &registry, err);
    if (status == CNN_OK) status = cli_check_args(o, err);
    if (status == CNN_OK) status = bench_read_options(&b, err);
    if (status == CNN_OK) status = cli_sessions_open(o, true, &b.sessions, err);
    if (status == CNN_OK) status = cli_tuned_open(o, &b.sessions, false, &b.tuned, err);
    if (status == CNN_OK) cli_say_warnings(&b.sessions);
    return status == CNN_OK ? bench_list_candidates(&b, names, err) : status; /* the process ends here */
}

static cnn_status list_candidates(void *user, void *state, int64_t index, worker_message *message)
{
    const probe *p = user;
    cnn_error err = {.message = ""};
    (void)state, (void)index;
    message->result = (int)open_and_list(p->options, p->names, &err);
    if (fflush(p->names) != 0) message->result = (int)CNN_FAIL(&err, CNN_IO, "the candidates cannot be listed");
    snprintf(message->outcome.reason, sizeof message->outcome.reason, "%s", err.message);
    return CNN_OK;
}

/* ---- Here. */

static bool is_known(const fresh *f, const char *name)
{
    for (int i = 0; i < f->count; i++)
        if (strcmp(f->arms[i].name, name) == 0) return true;
    return false;
}

static cnn_status read_names(fresh *f, FILE *names, cnn_error *err)
{
    char name[ARM_NAME_MAX];
    rewind(names);
    while (fgets(name, sizeof name, names) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        if (is_known(f, name)) continue;
        if (f->count == ARMS_MAX - 1)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "more than %d candidates: name fewer with --impl", ARMS_MAX - 1);
        arm *a = &f->arms[f->count];
        memcpy(a->name, name, sizeof name);
        a->letter = f->count++ == 0 ? "A" : "B";
    }
    if (f->count == 0)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "nothing ran: --impl %.200s has no algorithm for these problems",
                        f->options->impl ? f->options->impl : "(all)");
    f->arms[f->count] = f->arms[0];
    f->arms[f->count++].letter = "A'";
    return CNN_OK;
}

/* Options that the process that is started gets anew, or not at all. Of one with a value how many words it takes. */
static int words_left_out(const char *word)
{
    static const char *const with_value[] = {"--processes", "--impl", "--out"}, *const flags[] = {"--json", "--quiet",
                                                                                                  "--together"};
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) {
        const size_t length = strlen(with_value[i]);
        if (strcmp(word, with_value[i]) == 0) return 2;
        if (strncmp(word, with_value[i], length) == 0 && word[length] == '=') return 1;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(word, flags[i]) == 0) return 1;
    return 0;
}

/* "planted:plain,planted:same": all arms for one process. */
static cnn_status join_names(fresh *f, cnn_error *err)
{
    size_t length = 0;
    if (!f->options->together) return CNN_OK;
    f->all = calloc((size_t)f->count, ARM_NAME_MAX + 1);
    if (f->all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the names of %d candidates", f->count);
    for (int i = 0; i < f->count - 1; i++)
        length += (size_t)sprintf(f->all + length, "%s%s", i > 0 ? "," : "", f->arms[i].name);
    return CNN_OK;
}

/* Ceilings take seconds, and say nothing of which candidate is faster. Two words are left for --impl NAME. */
static cnn_status make_words(fresh *f, cnn_error *err)
{
    const cli_options *o = f->options;
    int n = 0;
    f->words = calloc((size_t)o->n_typed + 10, sizeof *f->words);
    if (f->words == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a command line");
    f->words[n++] = "benchcnn";
    f->words[n++] = "bench";
    f->words[n++] = "--impl";
    n++;
    f->words[n++] = "--json";
    f->words[n++] = "--quiet";
    if (f->all != NULL) {
        f->words[n++] = "--round";
        f->words[n++] = f->number;
    }
    if (o->peaks == NULL) {
        f->words[n++] = "--peaks";
        f->words[n++] = "none";
    }
    for (int i = 2; i < o->n_typed;) {
        const int out = words_left_out(o->typed[i]);
        if (out == 0) f->words[n++] = o->typed[i];
        i += out > 0 ? out : 1;
    }
    return CNN_OK;
}

cnn_status fresh_find(fresh *f, cnn_error *err)
{
    static cli_options own; /* large: kept off the stack */
    worker_message message;
    probe p = {.options = &own, .names = program_file("the names of candidates", err)};
    if (p.names == NULL) return err->status;
    own = *f->options;
    const workers_job job = {.user = &p, .block = 1, .work = list_candidates};
    cnn_status status = workers_alone(&job, 0, &message, err);
    if (status == CNN_OK && message.result == WORKER_DIED)
        status = CNN_FAIL(err, CNN_INTERNAL, "asking for candidates ended the process: a plug-in did, or a library");
    else if (status == CNN_OK && message.result != CNN_OK)
        status = CNN_FAIL(err, (cnn_status)message.result, "%s", message.outcome.reason);
    if (status == CNN_OK) status = read_names(f, p.names, err);
    if (status == CNN_OK) status = join_names(f, err);
    if (status == CNN_OK) status = make_words(f, err);
    fclose(p.names);
    return status;
}
