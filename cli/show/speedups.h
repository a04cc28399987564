/* speedups.h: speedups from the files on the command line: `plot speedup` draws them, `table --kind speedups` lists
 * them. */
#ifndef CLI_SHOW_SPEEDUPS_H
#define CLI_SHOW_SPEEDUPS_H

#include "bench/figures/speedup.h"
#include "cli/cli.h"

/* Of the files words[first...], by --impl and --baseline; what is left out is said on standard error. Free the set,
 * whatever comes of it. */
cnn_status cli_speedups(const cli_options *options, int first, speedup_set *set, cnn_error *err);
/* A record of kind "speedup"; NULL when out of memory. */
cnn_record *cli_speedup_record(const speedup *row);

#endif
