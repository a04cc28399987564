/* output.c: see cli.h. */
#include "cli.h"

#include "harness/process/watch.h"

cnn_status cli_output_open(const cli_options *options, bool all_again, cli_output *output, cnn_error *err)
{
    const resume_run run = {options->out, options->command_line, options->plugin.items, options->plugin.count};
    cnn_status status = cli_sink_open(options->out, cli_records(options), &output->sink, err);
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
