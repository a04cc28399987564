/* cmd_train.c: `benchcnn train` and `benchcnn sweep batch`: train a network with each chosen implementation and
 * algorithm, from the same initial weights and in the same order of images, and time its epochs.
 *
 * Batch sizes are the outer loop, so that whatever drifts in the machine hits all curves alike. An epoch is a record as
 * soon as it is done. */
#include "harness/process/watch.h"
#include "parts.h"

_Static_assert(sizeof(train_sums) <= WATCH_KEPT, "what a command keeps over its processes has no room for the figures");

cnn_status args_train(const cli_options *options, cnn_error *err)
{
    train t = {.options = options};
    if (options->launcher != NULL || options->weak)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s goes with sweep ranks, and means nothing without it",
                        options->launcher != NULL ? "launcher" : "weak");
    return train_read_options(&t, err);
}

static cnn_status run_all(train *t, cnn_error *err)
{
    for (int b = 0; b < t->n_batches; b++)
        for (int c = 0; c < t->n_curves; c++) {
            if (interrupt_seen())
                return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted%s",
                                t->options->out != NULL ? "; the same command goes on from here" : "");
            if (train_point(t, b, c, err) != CNN_OK) return err->status;
        }
    return CNN_OK;
}

static void print_repeat(const train *t)
{
    if (t->options->json || t->options->plan || t->sums->trained == 0) return;
    printf("repeat: ");
    if (t->ranks != NULL) printf("mpirun -n %d ", t->ranks->size);
    printf("%s", t->options->command_line);
    if (!cli_given(t->options, "threads")) printf(" --threads %d", t->sessions.list[0].threads);
    putchar('\n');
}

int cmd_train(const cli_options *options, cnn_error *err)
{
    static train all; /* large: kept off the stack */
    train *t = &all;
    t->options = options;
    t->sums = (train_sums *)options->watch->kept;
    cnn_status status = cli_ranks_open(options, &t->own, &t->ranks, err);
    if (t->ranks != NULL) t->options = &t->own;
    if (status == CNN_OK) status = ranks_agree(t->ranks, train_set_up(t, err), err);
    if (status == CNN_OK) status = run_all(t, err);
    cli_ranks_abort(t->ranks, status, err);
    cli_progress_end(&t->progress);
    if ((status == CNN_OK || status == CNN_INTERRUPTED) && train_several(t)) train_print_summary(t);
    print_repeat(t);
    const bool bad = t->sums->bad > 0 || options->watch->failed > 0;
    int result = status != CNN_OK ? cli_fail(err) : bad ? EXIT_FAILED : t->sums->trained > 0 ? EXIT_HELD : EXIT_NOTHING;
    if (status == CNN_OK) result = cli_output_end(&t->output, result);
    for (int i = 0; i < TRAIN_SESSIONS; i++) clock_watch_close(t->watches[i]);
    tuned_close(t->tuned);
    train_close_others(t);
    cli_sessions_close(&t->sessions);
    cli_output_close(&t->output);
    epoch_table_free(&t->table);
    goal_table_free(&t->held);
    dataset_free(&t->data);
    const bool speaks = rank_number(t->ranks) == 0; /* a status of the others would end rank 0 before its time */
    train_ranks_close(t);
    return speaks ? result : EXIT_HELD;
}
