/* exemplar.c: what a step is of: --batch images, or with --parallel exemplar what the workers take between two merges.
 */
#include "parts.h"

#include <string.h>

enum { WORKERS_MOST = 4096 };

/* Of `sweep batch`: table 4.1 of the thesis. */
static const char thesis_batches[] = "5,10,20,40,50,100,200,400,500,1000,2000,5000";

static cnn_status read_batches(train *t, cnn_error *err)
{
    const cli_options *o = t->options;
    const char *batches = o->batch != NULL ? o->batch : t->sweep ? thesis_batches : "100";
    const char *stray = cli_given(o, "workers") ? "workers" : cli_given(o, "worker-batch") ? "worker-batch" : NULL;
    if (stray != NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--%s goes with --parallel exemplar, and means nothing without it",
                        stray);
    return cli_ints("batch", batches, 1, TRAIN_IMAGES_MOST, t->batches, BATCHES_MAX, &t->n_batches, err);
}

cnn_status train_read_steps(train *t, cnn_error *err)
{
    const cli_options *o = t->options;
    const char *workers = o->workers != NULL ? o->workers : "1";
    if (strcmp(o->parallel, "exemplar") != 0) return read_batches(t, err);
    if (t->sweep)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--parallel exemplar: `sweep batch` goes over batch sizes; `train` takes "
                        "a list of --workers");
    if (o->batch != NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--batch does not go with --parallel exemplar: a step is of --workers times --worker-batch "
                        "images, which each worker takes one by one");
    const cnn_status status =
        cli_ints("workers", workers, 1, WORKERS_MOST, t->workers, BATCHES_MAX, &t->n_batches, err);
    for (int i = 0; status == CNN_OK && i < t->n_batches; i++) t->batches[i] = t->workers[i] * o->worker_batch;
    return status;
}
