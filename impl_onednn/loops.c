/* loops.c: the threads of the loops; batches, dropout, joined tensors. */
#include "loops.h"

#include "harness/cpu/gather.h"

#include <string.h>

enum { SHARE_COST = 16384, MANY = 256, LINE = 16 };

int64_t onednn_share(int64_t items, int64_t cost)
{
    const int64_t least = SHARE_COST / cost < 1 ? 1 : SHARE_COST / cost, most = items / 256;
    const int64_t share = least > most ? least : most;
    return share < MANY ? share : (share + LINE - 1) / LINE * LINE;
}

void onednn_parallel(const onednn_context *c, int64_t items, int64_t share, onednn_body *body, const void *job)
{
    const int64_t tasks = (items + share - 1) / share;
#pragma omp parallel for num_threads(c->threads) schedule(static) if (tasks > 1)
    for (int64_t task = 0; task < tasks; task++) {
        const int64_t first = task * share;
        body(job, first, share < items - first ? first + share : items, task);
    }
}

/* ---- Batches. */

static void gather_rows(const void *job, int64_t first, int64_t last, int64_t task)
{
    (void)task;
    for (int64_t i = first; i < last; i++) cnn_gather_row(job, i);
}

cnn_status onednn_gather(cnn_context *context, const cnn_gather_args *args, cnn_error *err)
{
    const int64_t at = args->cursor != NULL ? *args->cursor : 0;
    cnn_gather_args here = *args;
    (void)err;
    here.index += at;
    if (here.shifts != NULL) here.shifts += at;
    onednn_parallel((const onednn_context *)context, args->count, onednn_share(args->count, args->row_elems),
                    gather_rows, &here);
    if (args->cursor != NULL) *args->cursor += args->count;
    return CNN_OK;
}

/* ---- Dropout. */

typedef struct dropout_job {
    const cnn_dropout_desc *d;
    const float *in;
    float *out;
    int64_t step;
} dropout_job;

ONEDNN_CLONES static void drop(const void *job, int64_t first, int64_t last, int64_t task)
{
    const dropout_job *j = job;
    const float scale = (float)(1 / (1 - j->d->rate));
    (void)task;
    if (j->d->inference) {
        memcpy(j->out + first, j->in + first, (size_t)(last - first) * sizeof *j->out);
        return;
    }
    for (int64_t i = first; i < last; i++) {
        const float scaled = j->in[i] * scale;
        j->out[i] = cnn_dropout_keep(j->d->seed, j->step, i, j->d->rate) ? scaled : 0;
    }
}

static cnn_status dropout(cnn_context *context, const cnn_plan *plan, const void *in, void *out, const int64_t *step)
{
    const cnn_dropout_desc *d = &plan->problem.u.dropout;
    const dropout_job job = {d, in, out, d->inference ? 0 : *step};
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    onednn_parallel((const onednn_context *)context, count, onednn_share(count, 4), drop, &job);
    return CNN_OK;
}

cnn_status onednn_dropout_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    (void)err;
    return dropout(context, plan, a->x, a->y, a->step);
}

cnn_status onednn_dropout_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    (void)err;
    return dropout(context, plan, a->dy, a->dx, a->step);
}

/* ---- Concat: one of the parts lies in the whole as equal runs: an image's in NCHW, a pixel's in NHWC. */

typedef struct concat_job {
    const cnn_concat_desc *d;
    const cnn_join_args *join;   /* forward */
    const cnn_split_args *split; /* backward */
    int64_t pixels;              /* of a run */
} concat_job;

static void copy_runs(const void *job, int64_t first, int64_t last, int64_t task)
{
    const concat_job *j = job;
    int64_t all = 0, at = 0;
    (void)task;
    for (int i = 0; i < j->d->n_inputs; i++) all += j->d->ic[i] * j->pixels;
    for (int i = 0; i < j->d->n_inputs; i++) {
        const int64_t part = j->d->ic[i] * j->pixels;
        const int64_t size = (int64_t)cnn_dtype_size(j->d->t.dtype);
        const size_t bytes = (size_t)(part * size);
        for (int64_t run = first; run < last; run++)
            if (j->join != NULL)
                memcpy((char *)j->join->y + (run * all + at) * size, (const char *)j->join->x[i] + run * part * size,
                       bytes);
            else if (j->split->dx[i] != NULL)
                memcpy((char *)j->split->dx[i] + run * part * size,
                       (const char *)j->split->dy + (run * all + at) * size, bytes);
        at += part;
    }
}

static cnn_status concat(cnn_context *context, concat_job job)
{
    const cnn_concat_desc *d = job.d;
    const bool nhwc = d->t.layout == CNN_NHWC;
    const int64_t runs = nhwc ? d->mb * d->ih * d->iw : d->mb;
    int64_t channels = 0;
    for (int i = 0; i < d->n_inputs; i++) channels += d->ic[i];
    job.pixels = nhwc ? 1 : d->ih * d->iw;
    onednn_parallel((const onednn_context *)context, runs, onednn_share(runs, channels * job.pixels), copy_runs, &job);
    return CNN_OK;
}

cnn_status onednn_concat_fwd(cnn_context *context, const cnn_plan *plan, const cnn_join_args *a, cnn_error *err)
{
    (void)err;
    return concat(context, (concat_job){.d = &plan->problem.u.concat, .join = a});
}

cnn_status onednn_concat_bwd(cnn_context *context, const cnn_plan *plan, const cnn_split_args *a, cnn_error *err)
{
    (void)err;
    return concat(context, (concat_job){.d = &plan->problem.u.concat, .split = a});
}
