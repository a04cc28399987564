/* launch.h: this program once more, on so many ranks. */
#ifndef CLI_TRAIN_LAUNCH_H
#define CLI_TRAIN_LAUNCH_H

#include "cli/cli.h"

enum { LAUNCH_WORDS_MAX = 2 * CLI_LIST_MAX + 512 };

/* A launcher is a command with {} where the number of ranks stands: "srun -n {}". NULL: mpirun. CNN_BAD_ARGUMENT where
 * it is none. */
cnn_status launch_check(const char *launcher, cnn_error *err);
/* Runs it to its end; `words` are those behind the program's name. *result: its exit status, which is 128 + the signal
 * that ended it. What the program or the launcher has to say it says itself. CNN_INTERRUPTED: this process was asked to
 * stop, and so was that. */
cnn_status launch_ranks(const char *launcher, int count, const char *const *words, int n_words, int *result,
                        cnn_error *err);

#endif
