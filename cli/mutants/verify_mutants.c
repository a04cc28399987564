/* verify_mutants.c: every mutant must be killed, the unchanged implementation must hold wherever one of its mutants was
 * asked, and every check must have a mutant that hardly any other check catches. */
#include "verify_mutants.h"

#include "cli/output.h"
#include "harness/cpu/threads.h"
#include "harness/device/call.h"
#include "mutant_matrix.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_MAX = 1024, DEFAULT_THREADS = 2, MOST_AT_ONCE = 8 };

typedef struct hunt {
    const cli_options *options;
    char folder[FOLDER_MAX];
    mutant_list list;
    mutant_run *runs;                    /* those of the unchanged implementations first */
    char (*controls)[CNN_NAME_MAX + 16]; /* their names, an entry a run */
    int n_controls, n_runs, finished;
    bool chosen; /* by name: not all of an implementation */
    cli_output output;
    cnn_status write_status;
    cnn_error write_error;
    run_settings settings;
    cli_progress progress;
} hunt;

/* ---- Which. */

static cnn_status find_folder(hunt *h, cnn_error *err)
{
    const char *given = h->options->mutants_from;
    if (given != NULL) {
        if ((size_t)snprintf(h->folder, sizeof h->folder, "%s", given) < sizeof h->folder) return CNN_OK;
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--mutants-from: the path is too long");
    }
    const ssize_t length = readlink("/proc/self/exe", h->folder, sizeof h->folder - sizeof "mutants");
    if (length <= 0) return CNN_FAIL(err, CNN_IO, "cannot tell where this program is: %s", strerror(errno));
    h->folder[length] = '\0';
    strcpy(strrchr(h->folder, '/') + 1, "mutants");
    return CNN_OK;
}

static cnn_status read_lists(hunt *h, cnn_error *err)
{
    char pattern[FOLDER_MAX + 16];
    glob_t found;
    cnn_status status = CNN_OK;
    snprintf(pattern, sizeof pattern, "%s/*.mutants", h->folder);
    const int result = glob(pattern, 0, NULL, &found);
    for (size_t i = 0; result == 0 && status == CNN_OK && i < found.gl_pathc; i++)
        status = mutant_list_read(found.gl_pathv[i], &h->list, err);
    if (result == 0) globfree(&found);
    if (status == CNN_OK && h->list.count == 0)
        status = CNN_FAIL(err, CNN_UNAVAILABLE,
                          "no mutants in %s: build them (cmake --build BUILD_FOLDER --target mutants), or name their "
                          "folder with --mutants-from",
                          h->folder);
    return status;
}

static bool named(const cli_options *o, const char *name)
{
    for (int i = 0; i < o->words.count; i++)
        if (fnmatch(o->words.items[i], name, 0) == 0) return true;
    return o->words.count == 0;
}

/* Of an implementation that --impl names. */
static bool of_choice(const mutant *m, const cnn_choice *choices, int count)
{
    cnn_algorithm algorithm = {.name = ""};
    const size_t length = strcspn(m->of, ":");
    if (m->of[length] == ':') snprintf(algorithm.name, sizeof algorithm.name, "%s", m->of + length + 1);
    for (int i = 0; i < count; i++)
        if (strlen(choices[i].impl->name) == length && strncmp(choices[i].impl->name, m->of, length) == 0 &&
            cnn_choice_matches(&choices[i], &algorithm))
            return true;
    return false;
}

/* NULL: this implementation's mutants can run here. */
static const char *why_not(const char *impl_name, cnn_error *err)
{
    const cnn_impl *impl = cnn_impl_find(NULL, impl_name, err);
    if (impl == NULL || CNN_CALL(impl, probe, err, err) != CNN_OK) return err->message;
    return NULL;
}

static bool asked_already(const hunt *h, const mutant *m)
{
    for (int i = 0; i < h->n_runs; i++)
        if (strcmp(h->runs[i].mutant->of, m->of) == 0 && strcmp(h->runs[i].mutant->verify, m->verify) == 0) return true;
    return false;
}

/* The chosen mutants; skipped[i]: not run. Says what is left out, once for each implementation. */
static cnn_status choose(hunt *h, bool *skipped, cnn_error *err)
{
    static cnn_choice choices[CNN_MAX_CHOICES]; /* large: kept off the stack; a command runs once */
    const cli_options *o = h->options;
    char said[CNN_NAME_MAX] = "";
    int count = 0;
    if (o->impl != NULL && cnn_choices_parse(o->registry, o->impl, choices, &count, err) != CNN_OK) return err->status;
    h->chosen = o->words.count > 0;
    for (int i = 0; i < h->list.count; i++) {
        const mutant *m = &h->list.items[i];
        char impl[CNN_NAME_MAX];
        snprintf(impl, sizeof impl, "%.*s", (int)strcspn(m->of, ":"), m->of);
        skipped[i] = !named(o, m->name) || (o->impl != NULL && !of_choice(m, choices, count));
        if (skipped[i]) continue;
        const char *why = why_not(impl, err);
        skipped[i] = why != NULL;
        if (why != NULL && strcmp(said, impl) != 0) {
            fprintf(o->json ? stderr : stdout, "SKIPPED     the mutants of %s: %s\n", impl, why);
            snprintf(said, sizeof said, "%s", impl);
        }
    }
    return CNN_OK;
}

/* The runs: for everything that a mutant is asked, the unchanged implementation first; then the mutants. */
static cnn_status plan_runs(hunt *h, cnn_error *err)
{
    const size_t count = (size_t)h->list.count;
    bool *skipped = calloc(count, sizeof *skipped);
    cnn_status status = CNN_OK;
    h->runs = calloc(2 * count, sizeof *h->runs);
    h->controls = calloc(count, sizeof *h->controls);
    if (skipped == NULL || h->runs == NULL || h->controls == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the runs of %d mutants", h->list.count);
    if (status == CNN_OK) status = choose(h, skipped, err);
    for (int i = 0; status == CNN_OK && i < h->list.count; i++) {
        const mutant *m = &h->list.items[i];
        if (skipped[i] || asked_already(h, m)) continue;
        char *name = h->controls[h->n_runs];
        snprintf(name, sizeof h->controls[0], "control.%.*s", (int)strcspn(m->of, ":"), m->of);
        h->runs[h->n_runs++] = (mutant_run){.mutant = m, .program = name, .control = true};
    }
    h->n_controls = h->n_runs;
    for (int i = 0; status == CNN_OK && i < h->list.count; i++)
        if (!skipped[i])
            h->runs[h->n_runs++] = (mutant_run){.mutant = &h->list.items[i], .program = h->list.items[i].name};
    free(skipped);
    return status;
}

/* ---- Running. */

static const char *state_of(const mutant_run *r)
{
    if (r->end == RUN_BROKEN) return "BROKEN";
    if (r->control) return r->end == RUN_HELD ? "HELD" : "FAILED";
    return mutant_killed(r) ? "KILLED" : "SURVIVED";
}

static void finish_run(void *user, const mutant_run *r)
{
    hunt *h = user;
    char command[2048];
    cnn_error err;
    cnn_record *record = record_new("mutant");
    mutant_command(r, &h->settings, command, sizeof command);
    record_text(record, "mutant", r->program);
    record_text(record, "of", r->mutant->of);
    record_text(record, "why", r->control ? "the implementation as it is" : r->mutant->why);
    record_text(record, "state", state_of(r));
    record_text(record, "end", run_end_name(r->end));
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) record_int(record, verify_check_name((verify_check)i), r->failed[i]);
    record_real(record, "seconds", r->seconds);
    record_text(record, "reason", r->reason);
    record_text(record, "repro", command);
    const cnn_status status = record_write(h->output.sink, record, &err);
    if (status != CNN_OK && h->write_status == CNN_OK) h->write_status = status, h->write_error = err;
    cli_progress_show(&h->progress, ++h->finished, h->n_runs, r->program);
}

/* The unchanged first: from how long they take follows when a mutant counts as hung. */
static cnn_status run_all(hunt *h, cnn_error *err)
{
    const cli_options *o = h->options;
    const int cores = cpu_count();
    h->settings = (run_settings){.folder = h->folder,
                                 .seed = o->seed,
                                 .threads = o->threads > 0 ? o->threads : DEFAULT_THREADS,
                                 .device = o->device,
                                 .jobs = cores < MOST_AT_ONCE ? cores : MOST_AT_ONCE,
                                 .most = 600.0,
                                 .done = finish_run,
                                 .user = h};
    double slowest = 0.0;
    cnn_status status = mutant_runs(h->runs, h->n_controls, &h->settings, err);
    for (int i = 0; i < h->n_controls; i++)
        if (h->runs[i].seconds > slowest) slowest = h->runs[i].seconds;
    h->settings.most = 15.0 + 10.0 * slowest;
    if (status == CNN_OK) status = mutant_runs(h->runs + h->n_controls, h->n_runs - h->n_controls, &h->settings, err);
    return status;
}

/* ---- The verdict. */

static bool checks_proved(const hunt *h, const matrix_sums *sums, FILE *to)
{
    bool proved = true;
    for (int i = 0; i < VERIFY_CHECK_COUNT; i++) {
        const matrix_check *c = &sums->checks[i];
        if (h->chosen || (c->own != NULL && c->others <= MATRIX_FEW)) continue;
        proved = false;
        fprintf(to, "FAILED      check %s has no mutant that at most %d other checks catch\n",
                verify_check_name((verify_check)i), (int)MATRIX_FEW);
    }
    return proved;
}

static int report(const hunt *h, cnn_error *err)
{
    FILE *to = h->options->json ? stderr : stdout;
    matrix_sums sums;
    matrix_sum(h->runs, h->n_runs, &sums);
    if (!h->options->json) matrix_print(to, h->runs, h->n_runs);
    matrix_print_sums(to, &sums);
    if (h->options->matrix != NULL && matrix_write(h->options->matrix, h->runs, h->n_runs, &sums, err) != CNN_OK)
        return cli_fail(err);
    if (sums.mutants == 0) {
        fprintf(stderr, "benchcnn: nothing ran: no mutant was chosen, or none can run here\n");
        return EXIT_NOTHING;
    }
    const bool proved = checks_proved(h, &sums, to);
    return proved && sums.killed == sums.mutants && sums.controls_held == sums.controls ? EXIT_HELD : EXIT_FAILED;
}

/* A mutant says itself what it must be asked. */
cnn_status verify_mutants_args(const cli_options *o, cnn_error *err)
{
    const char *ignored = o->problem.count > 0    ? "problem"
                          : o->problems.count > 0 ? "problems"
                          : o->op != NULL         ? "op"
                          : o->dir != NULL        ? "dir"
                          : o->check != NULL      ? "check"
                          : o->net != NULL        ? "net"
                          : o->set.count > 0      ? "set"
                                                  : NULL;
    if (!o->mutants)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s goes with --mutants only",
                        o->matrix != NULL ? "matrix" : "mutants-from");
    if (ignored == NULL) return o->matrix != NULL ? matrix_check_file(o->matrix, err) : CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s does not go with --mutants: their list says what each is asked",
                    ignored);
}

int verify_mutants(const cli_options *options, cnn_error *err)
{
    hunt h = {.options = options};
    int exit_status = EXIT_HELD;
    cnn_status status = verify_mutants_args(options, err);
    if (status == CNN_OK) status = find_folder(&h, err);
    if (status == CNN_OK) status = read_lists(&h, err);
    if (status == CNN_OK) status = plan_runs(&h, err);
    if (status == CNN_OK) status = cli_output_open(options, &h.output, err);
    if (status == CNN_OK) status = cli_output_begin(&h.output, err);
    if (status == CNN_OK) status = record_environment(h.output.sink, NULL, options->command_line, err);
    cli_progress_start(&h.progress, "mutants", options->quiet);
    if (status == CNN_OK) status = run_all(&h, err);
    cli_progress_end(&h.progress);
    if (status == CNN_OK && h.write_status != CNN_OK) *err = h.write_error, status = h.write_status;
    exit_status = status == CNN_OK ? cli_output_end(&h.output, report(&h, err)) : cli_fail(err);
    cli_output_close(&h.output);
    mutant_list_free(&h.list);
    free(h.runs);
    free(h.controls);
    return exit_status;
}
