/* parts.h: what the files of `benchcnn run` share: read.c reads a recipe, done.c finds what an earlier run of
 * it finished, step.c runs a line. */
#ifndef CLI_RUN_PARTS_H
#define CLI_RUN_PARTS_H

#include "cli/cli.h"

#include <wordexp.h>

typedef struct step {
    int line;
    char *text;      /* as in the file */
    wordexp_t words; /* behind the program's name */
    char *command;   /* as the program itself names it in its records */
    bool varies;     /* it has variables of the environment, beside $OUT */
    bool done;       /* by an earlier run */
    char *left_out;  /* why it cannot run here: an implementation that was not built, or has no device */
} step;

typedef struct recipe {
    const cli_options *options;
    const char *path;
    step *steps;
    int count, capacity, left, failed; /* left: out */
    record_sink *sink;
} recipe;

/* read.c: all lines of the recipe at r->path, checked. */
cnn_status run_read(recipe *r, cnn_error *err);

/* Marks the steps that --out says are done, once for each time they stand there. */
cnn_status run_find_done(recipe *r, cnn_error *err);
/* A record of kind "step": it begins (status -1), or how it ended, after how many seconds (NaN: an earlier run did not
 * live to say). */
cnn_status run_record(const recipe *r, const step *s, int status, double seconds, cnn_error *err);

/* In a process of its own, which does not outlive this one. CNN_INTERRUPTED when it was stopped, or this one was. */
cnn_status run_step(recipe *r, const step *s, cnn_error *err);

#endif
