/* gather.c: makes a batch of the shuffled data set: rows (images) and labels picked by index. */
#include "harness/cpu/gather.h"
#include "ops.h"

typedef struct gather_job {
    cnn_gather_args args; /* index and shifts where the cursor stands */
    int64_t tasks;
} gather_job;

static void gather_rows(void *arg, int64_t task, int worker)
{
    const gather_job *job = arg;
    const cpu_span rows = cpu_share(job->args.count, 1, job->tasks, task);
    (void)worker;
    for (int64_t i = rows.first; i < rows.last; i++) cnn_gather_row(&job->args, i);
}

cnn_status cpu_gather(cnn_context *context, const cnn_gather_args *args, cnn_error *err)
{
    const int64_t at = args->cursor != NULL ? *args->cursor : 0;
    gather_job job = {.args = *args, .tasks = cpu_tasks(args->count, args->row_elems)};
    job.args.index += at;
    if (args->shifts != NULL) job.args.shifts += at;
    (void)err;
    cpu_run_plain(context, job.tasks, gather_rows, &job);
    if (args->cursor != NULL) *args->cursor += args->count;
    return CNN_OK;
}
