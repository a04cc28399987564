/* pool.h: what the files of impl_cpu's pooling share: the job, and where a row of outputs lies. */
#ifndef IMPL_CPU_POOL_POOL_H
#define IMPL_CPU_POOL_POOL_H

#include "impl_cpu/block.h"
#include "impl_cpu/pool/rows.h"

typedef struct pool_job {
    cpu_work work; /* rows of planes, or whole ones */
    const cnn_pool_desc *desc;
    const void *x, *dy;
    void *out; /* y or dx */
    cpu_isa isa;
    bool forward;
    int64_t blocks;    /* of a plane */
    int64_t planes;    /* of an image */
    int64_t item_rows; /* rows of outputs of an item */
} pool_job;

/* The plane's part of x, or of y, which has `pixels`: its first block, and in NHWC as wide as all of its blocks. */
CPU_INLINE cpu_block pool_block(const pool_job *job, int64_t plane, int64_t pixels)
{
    const cnn_pool_desc *d = job->desc;
    cpu_block block =
        cpu_block_at(d->t.layout, d->ic, pixels, plane / job->planes, 1, plane % job->planes * job->blocks);
    if (d->t.layout == CNN_NHWC) block.width = cpu_min(job->blocks * CPU_LANES, d->ic - block.channel);
    return block;
}

/* The outputs of a row whose windows lie wholly inside the image. */
static inline pool_span pool_inner_outputs(const cnn_pool_desc *d)
{
    const int64_t slack = d->iw - 1 - (d->kw - 1) * (d->dw + 1) + d->pw;
    pool_span inner = {cpu_ceil_div(d->pw, d->sw), slack < 0 ? 0 : slack / d->sw + 1};
    if (inner.last > d->ow) inner.last = d->ow;
    return inner;
}

/* A row of outputs, of all depths, of a plane, by groups: what rows.h's kernels leave. */
void pool_row_by_groups(const pool_job *, int64_t plane, int64_t row);

#endif
