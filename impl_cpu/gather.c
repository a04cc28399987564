/* gather.c: makes a batch of the shuffled data set: rows (images) and labels picked by index. */
#include "harness/cpu/gather.h"
#include "ops.h"

typedef struct gather_job {
    cpu_work work;
    cnn_gather_args args; /* index and shifts where the cursor stands */
} gather_job;

CPU_INLINE void gather_rows(const gather_job *job, cpu_share rows)
{
    for (int64_t i = rows.first; i < rows.last; i++) cnn_gather_row(&job->args, i);
}
CPU_VARIANTS(gather_rows);

cnn_status cpu_gather(cnn_context *context, const cnn_gather_args *args, cnn_error *err)
{
    const int64_t at = args->cursor != NULL ? *args->cursor : 0;
    gather_job job = {.work = cpu_items(args->count, args->row_elems), .args = *args};
    job.args.index += at;
    if (args->shifts != NULL) job.args.shifts += at;
    (void)err;
    cpu_run(context, gather_rows_variants, &job.work);
    if (args->cursor != NULL) *args->cursor += args->count;
    return CNN_OK;
}
