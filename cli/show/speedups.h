/* speedups.h: speedups from the files on the command line: `plot speedup` draws them, `table --kind speedups` lists
 * them. */
#ifndef CLI_SHOW_SPEEDUPS_H
#define CLI_SHOW_SPEEDUPS_H

#include "bench/figures/speedup.h"
#include "cli/cli.h"

/* Of the files words[first...], by --impl and --baseline. */
cnn_status cli_speedups(const cli_options *options, int first, speedup_set *set, cnn_error *err);
/* Says on standard error what was left out; frees the set, whatever came of it. */
void cli_speedups_end(const cli_options *options, speedup_set *set);

#endif
