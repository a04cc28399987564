/* processes.c: `bench --processes N`: N rounds; in each a fresh process of every candidate, and of the first once more;
 * or, --together, one fresh process for them all (round.c).
 * What a process finds (where its memory lies, which cores it is on, what a neighbour does) is the same for all of its
 * samples, so processes are what differs, and what is compared.
 *
 * The rounds go A B A', A' B A, A B A' ...: what drifts hits both alike. A round is recorded when all of it is done. */
#include "processes.h"
#include "parts.h"

#include "cli/table.h"
#include "harness/process/program.h"
#include "harness/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

static void close_round(fresh *f)
{
    for (int i = 0; i < f->count; i++) {
        if (f->arms[i].records != NULL) fclose(f->arms[i].records);
        f->arms[i].records = NULL;
    }
}

static cnn_status run_round(fresh *f, cnn_error *err)
{
    char text[64 + ARM_NAME_MAX];
    const int64_t all = f->options->processes;
    cnn_status status = CNN_OK;
    const int count = fresh_processes(f);
    for (int i = 0; i < count && status == CNN_OK; i++) {
        arm *a = &f->arms[f->round % 2 == 1 ? i : count - 1 - i];
        snprintf(text, sizeof text, "round %lld of %lld%s%s", (long long)f->round, (long long)all,
                 f->all == NULL ? ": " : "", f->all == NULL ? a->name : "");
        cli_progress_show(&f->progress, (double)((f->round - 1) * count + i), (double)(all * count), text);
        status = fresh_run(f, a, err);
    }
    cli_progress_end(&f->progress);
    for (int i = 0; i < count && status == CNN_OK; i++) status = fresh_write(f, &f->arms[i], err);
    close_round(f);
    return status == CNN_OK ? resume_case(f->output.resume, f->output.sink, f->round - 1, "ROUND", err) : status;
}

static cnn_status run_rounds(fresh *f, cnn_error *err)
{
    const int64_t done = resume_done(f->output.resume);
    cnn_status status = cli_output_begin(f->options, &f->output, err);
    cli_progress_start(&f->progress, "bench", f->options->quiet);
    f->arms[f->count - 1].begun = true; /* its environment is A's */
    if (done > 0 && !f->options->quiet)
        table_put(stderr, "benchcnn: %lld of %lld rounds are in %s already\n", (long long)done,
                  (long long)f->options->processes, f->options->out);
    for (f->round = 1; status == CNN_OK && f->round <= f->options->processes; f->round++)
        if (!resume_has(f->output.resume, f->round - 1)) status = run_round(f, err);
    return status;
}

/* What was recorded, as `compare` says it: it is to be had from the file again. */
static int print_comparison(const fresh *f, const char *path, cnn_error *err)
{
    static cli_options own; /* large: kept off the stack */
    own = *f->options;
    memset(own.given, 0, sizeof own.given);
    own.words = (cli_list){.items = {path}, .count = 1};
    own.across = "impl";
    own.baseline = f->arms[0].name;
    own.match = own.out = NULL;
    return cmd_compare(&own, err);
}

static int finish(fresh *f, const char *path, cnn_error *err)
{
    const bool any = f->timed > 0 || resume_done(f->output.resume) > 0;
    const int result = cli_output_end(&f->output, f->failed > 0 ? EXIT_FAILED : any ? EXIT_HELD : EXIT_NOTHING);
    record_sink_close(f->output.sink); /* it is read now */
    f->output.sink = NULL;
    if (f->options->json) return result;
    if (f->count > 2 && any && print_comparison(f, path, err) == EXIT_USAGE) return EXIT_USAGE;
    printf("%lld processes: %lld figures timed and verified, %lld wrong or failed\n",
           (long long)(f->options->processes * fresh_processes(f)), (long long)f->timed, (long long)f->failed);
    if (f->count == 2)
        puts(
            "one candidate, and nothing to compare it with: name more with --impl, or `compare` its file with another");
    return result;
}

static cnn_status check(const cli_options *o, cnn_error *err)
{
    for (int i = 0; i < o->problems.count; i++)
        if (strcmp(o->problems.items[i], "-") == 0 || strncmp(o->problems.items[i], "/proc/self/", 11) == 0)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                            "--processes reads problem files in every process, and standard input only once: give "
                            "--problems a file");
    if (ranks_launched())
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--processes starts its processes itself: leave out mpirun");
    return CNN_OK;
}

int bench_processes(const cli_options *options, cnn_error *err)
{
    fresh f = {.options = options};
    cli_options *own = malloc(sizeof *own);
    FILE *kept = NULL;
    char path[64] = "";
    int result = EXIT_USAGE;
    cnn_status status = own != NULL ? check(options, err) : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for options");
    if (status == CNN_OK) *own = *options;
    if (status == CNN_OK && options->out == NULL && !options->json) { /* to be compared all the same */
        kept = program_file("records", err);
        status = kept != NULL ? CNN_OK : err->status;
        if (kept != NULL) snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(kept));
        own->out = path;
    }
    if (status == CNN_OK) f.options = own;
    if (status == CNN_OK) status = fresh_find(&f, err);
    if (status == CNN_OK) status = cli_output_open(own, false, &f.output, err);
    if (status == CNN_OK) status = run_rounds(&f, err);
    result = status == CNN_OK ? finish(&f, own->out, err) : cli_fail(err);
    cli_output_close(&f.output);
    if (kept != NULL) fclose(kept);
    free(f.words);
    free(f.all);
    free(own);
    return result;
}
