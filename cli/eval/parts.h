/* parts.h: what `benchcnn eval` and `benchcnn predict` share: weights from a file are asked about single test images.
 *
 * An implementation tells of a batch its loss and how many were right, and nothing else (cnn/train.h). So an image is a
 * batch of its own, and the answer to it is the label that the implementation counts as right. */
#ifndef CLI_EVAL_PARTS_H
#define CLI_EVAL_PARTS_H

#include "cli/cli.h"
#include "cli/sessions.h"
#include "harness/data/dataset.h"
#include "harness/net/trainer.h"

typedef struct eval_answer {
    int64_t index;      /* of the test image */
    int target, answer; /* answer -1: no label is right, as where the logits are not numbers */
    double loss;        /* for the target */
    double probability; /* of the answer; NaN where the loss is no cross-entropy */
} eval_answer;

typedef struct eval_run {
    const cli_options *options;
    cli_sessions sessions;
    const cnn_session *session;
    const char *algorithm;
    cnn_network *network; /* at batch 1 */
    dataset data;
    char weights[9]; /* checksum of the file's */
    void *params;    /* them */
    trainer *trainer;
    void *pixels;              /* of an image, as the network takes it */
    int64_t *images, n_images; /* which test images, in the order that was asked for */
    cli_output output;
} eval_run;

/* open.c: the options alone; then the command around `work`, which finds all open, and whose records are ended behind
 * it. `usual`: the images where --images is not given, NULL: all. */
typedef cnn_status eval_work(eval_run *run, cnn_error *err);
cnn_status eval_read_options(const cli_options *options, cnn_error *err);
int eval_command(const cli_options *options, const char *usual, eval_work *work, cnn_error *err);

/* images.c: "3,17" or "0..99", or both, of `count` images, into an array to be freed. With count INT64_MAX it is
 * checked alone. */
cnn_status eval_read_images(const char *text, int64_t count, int64_t **images, int64_t *n, cnn_error *err);

/* answer.c: to test image `index`. */
cnn_status eval_ask(eval_run *run, int64_t index, eval_answer *answer, cnn_error *err);

/* report.c */
void eval_print_head(const eval_run *run);
/* A record of this run's, for others to add to. */
cnn_record *eval_record(const eval_run *run, const char *kind);
/* One of kind "answer". */
cnn_status eval_write_answer(const eval_run *run, const eval_answer *answer, cnn_error *err);
/* "5", or "-" for none. */
const char *eval_answer_text(int answer, char text[16]);

#endif
