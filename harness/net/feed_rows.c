/* feed_rows.c: a batch from host memory into its staging buffer, for a device. The rows lie all over the memory, and
 * one core waits for most of them: a fast device takes steps in less time than one core gathers the images of the next.
 * So large batches are gathered by several threads. */
#include "harness/cpu/gather.h"
#include "harness/cpu/threads.h"
#include "trainer_parts.h"

/* Bytes that are worth a thread, and a task; chosen, not measured. */
enum { THREAD_BYTES = 32 << 10, TASK_BYTES = 16 << 10, THREADS_MOST = 16 };

typedef struct gathering {
    const cnn_gather_args *args;
    int64_t rows, each; /* of the batch, of a task */
} gathering;

static void gather_some(void *user, int64_t task, int worker)
{
    const gathering *g = user;
    const int64_t first = task * g->each, left = g->rows - first;
    (void)worker;
    for (int64_t i = first; i < first + (left < g->each ? left : g->each); i++) cnn_gather_row(g->args, i);
}

cnn_status trainer_gatherers_open(trainer *t, size_t row_bytes, cnn_error *err)
{
    const int64_t worth = (int64_t)((size_t)t->net->batch * row_bytes / THREAD_BYTES);
    int64_t threads = t->session->threads < THREADS_MOST ? t->session->threads : THREADS_MOST;
    if (worth < threads) threads = worth;
    if (!t->params.host_data || t->session->impl->memory == NULL || threads < 2) return CNN_OK;
    return thread_pool_open((int)threads, &t->gatherers, err);
}

void trainer_gatherers_close(trainer *t) { thread_pool_close(t->gatherers); }

void trainer_gather(const trainer *t, const cnn_gather_args *args, int64_t rows)
{
    const int64_t bytes = args->row_elems * (int64_t)cnn_dtype_size(args->dtype);
    gathering g = {args, rows, bytes < TASK_BYTES ? TASK_BYTES / bytes : 1};
    parallel_for(t->gatherers, (rows + g.each - 1) / g.each, gather_some, &g);
}
