/* gather.c: makes a batch of the shuffled data set: rows (images) and labels picked by index. */
#include "harness/names.h"
#include "ops.h"

#include <string.h>

typedef struct gather_job {
    const cnn_gather_args *args;
    const int32_t *index;
    int64_t tasks;
    size_t row_bytes;
} gather_job;

static void gather_rows(void *arg, int64_t task, int worker)
{
    const gather_job *job = arg;
    const cnn_gather_args *a = job->args;
    const cpu_span rows = cpu_share(a->count, 1, job->tasks, task);
    (void)worker;
    for (int64_t i = rows.first; i < rows.last; i++) {
        const char *from = (const char *)a->rows + (size_t)job->index[i] * job->row_bytes;
        memcpy((char *)a->y + (size_t)i * job->row_bytes, from, job->row_bytes);
        if (a->y_labels != NULL) a->y_labels[i] = a->labels[job->index[i]];
    }
}

cnn_status cpu_gather(cnn_context *context, const cnn_gather_args *args, cnn_error *err)
{
    const size_t elem = cnn_dtype_size(args->dtype);
    gather_job job = {.args = args,
                      .index = args->cursor != NULL ? args->index + *args->cursor : args->index,
                      .tasks = cpu_tasks(args->count, args->row_elems),
                      .row_bytes = (size_t)args->row_elems * elem};
    (void)err;
    cpu_run_plain(context, job.tasks, gather_rows, &job);
    if (args->cursor != NULL) *args->cursor += args->count;
    return CNN_OK;
}
