/* sweep_ranks.h: what the files of `benchcnn sweep ranks=1,2,4` share. */
#ifndef CLI_TRAIN_SWEEP_RANKS_H
#define CLI_TRAIN_SWEEP_RANKS_H

#include "launch.h"

enum { COUNTS_MAX = 64, LIST_TEXT = 2048 };

typedef struct ranks_sweep {
    const cli_options *options;
    int64_t counts[COUNTS_MAX]; /* in their order */
    int n_counts;
    int64_t most;
    bool one; /* among them */
    const char *words[LAUNCH_WORDS_MAX];
    int n_words;
    char batches[LIST_TEXT]; /* of one rank, with --weak */
    int result;              /* the worst exit status */
} ranks_sweep;

/* sweep_ranks_read.c: the arguments, with train's among them; before anything is run or written. */
cnn_status sweep_ranks_read(ranks_sweep *s, cnn_error *err);

#endif
