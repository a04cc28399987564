/* compare.h: what `compare` does, for `bench --against`, too. */
#ifndef CLI_SHOW_COMPARE_H
#define CLI_SHOW_COMPARE_H

#include "cli/cli.h"

/* A and B; in messages they have `names`; records of the comparison go to `sink`. */
typedef struct cli_compared {
    const char *paths[2], *names[2];
    record_sink *sink;
} cli_compared;

/* --threshold and --fail-on. */
cnn_status cli_compare_check(const cli_options *options, cnn_error *err);
/* Shows and records what it comes to; *result: the status that `compare` ends with. */
cnn_status cli_compare_files(const cli_options *options, const cli_compared *files, int *result, cnn_error *err);

#endif
