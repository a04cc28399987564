/* output.c: see cli.h. */
#include "cli.h"

#include "harness/process/watch.h"

#include <string.h>
#include <unistd.h>

static resume_run run_of(const cli_options *o)
{
    return (resume_run){o->out,
                        o->command_line,
                        o->plugin.items,
                        o->plugin.count,
                        o->seed_drawn ? o->seed : -1,
                        o->over_ranks,
                        o->over_ranks && (o->fuzz != NULL || strcmp(o->command, "bench") == 0)};
}

cnn_status cli_settle_seed(cli_options *options, cnn_error *err)
{
    const resume_run run = run_of(options);
    resume *r;
    if (!options->seed_drawn || options->out == NULL || access(options->out, R_OK) != 0) return CNN_OK;
    const cnn_status status = resume_open(&run, &r, err);
    if (status == CNN_OK && resume_seed(r) >= 0) options->seed = resume_seed(r);
    resume_close(r);
    return status;
}

cnn_status cli_output_open(const cli_options *options, bool all_again, cli_output *output, cnn_error *err)
{
    const resume_run run = run_of(options);
    cnn_status status = cli_sink_open(options, &output->sink, err);
    if (status == CNN_OK) cli_shard_mark(options, output->sink);
    if (status == CNN_OK) status = resume_open(&run, &output->resume, err);
    if (status != CNN_OK || !all_again) return status;
    resume_pass_over(output->resume, output->sink);
    const int left = resume_left(output->resume);
    if (left > 0 && options->watch->n_deaths == 0) /* else a run of this very command left them */
        fprintf(stderr, "benchcnn: %s holds %d record%s of this command, which was stopped: none is written twice\n",
                options->out, left, left == 1 ? "" : "s");
    return CNN_OK;
}

cnn_status cli_output_begin(const cli_options *options, const cli_output *output, cnn_error *err)
{
    if (output->resume == NULL || options->watch->begun) return CNN_OK;
    const cnn_status status = resume_begin(output->resume, output->sink, err);
    options->watch->begun = status == CNN_OK;
    return status;
}

int cli_output_end(const cli_output *output, int exit_status)
{
    cnn_error err;
    if (output->resume == NULL) return exit_status;
    return resume_end(output->resume, output->sink, exit_status, &err) == CNN_OK ? exit_status : cli_fail(&err);
}

void cli_output_close(cli_output *output)
{
    record_sink_close(output->sink);
    resume_close(output->resume);
}
