/* output.h: the records of a command, and what an earlier run of it left in --out. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli.h"
#include "harness/record/resume.h"

typedef struct cli_output {
    record_sink *sink;
    resume *resume;
} cli_output;

/* Opens --out and --json. all_again: a command that was stopped does all of its work again (train, peaks, compare,
 * verify --fuzz); given once more with the same --out it writes only what it had not written, and says how much that
 * was. */
cnn_status cli_output_open(const cli_options *options, bool all_again, cli_output *output, cnn_error *err);
/* The first record, of the first of the command's runs. */
cnn_status cli_output_begin(const cli_options *options, const cli_output *output, cnn_error *err);
/* The command ran to its end, and will end with this status: the one to end with, another if that cannot be written. */
int cli_output_end(const cli_output *output, int exit_status);
void cli_output_close(cli_output *output);

#endif
