/* pack.c: tensors into bundles of images side by side, and back: transposes of 4 x 4 tiles. */
#include "im2col.h"

#include <string.h>

/* Pixel after pixel of a row, each time where it stands in the split row. */
typedef struct im2col_walk {
    int64_t phase, index, start; /* start: of the phase */
} im2col_walk;

static inline int64_t im2col_step(const cnn_conv_desc *d, im2col_walk *walk)
{
    const int64_t place = walk->start + walk->index;
    walk->start += d->iw / d->sw + (walk->phase < d->iw % d->sw);
    if (++walk->phase == d->sw) walk->phase = walk->start = 0, walk->index++;
    return place;
}

/* Pixel `p` of a channel, where it stands in the bundle. */
static inline int64_t im2col_pixel(const cnn_conv_desc *d, bool split, int64_t p)
{
    return split ? p / d->iw * d->iw + im2col_place(d, p % d->iw) : p;
}

#define KERNELS "impl_cpu/im2col/pack.inc"
#include "impl_cpu/for_each_real.inc"

/* Elements that are worth a task, and below which all is done by the caller. */
enum { TASK_ELEMS = 1 << 12 };

typedef struct pack_job {
    im2col_tensor tensors[2];
    int64_t slices[2]; /* of each bundle */
    int64_t tasks[2];
} pack_job;

/* What a bundle is cut along: rows where these are ordered anew, else channels; in NHWC pixels. */
static int64_t slice_axis(const im2col_tensor *t)
{
    const cnn_conv_desc *d = &t->plan->d;
    return d->t.layout == CNN_NHWC ? t->pixels : t->split ? t->channels * d->id * d->ih : t->channels;
}

static void pack_body(void *arg, int64_t task, int worker)
{
    (void)worker;
    const pack_job *job = arg;
    const int which = task >= job->tasks[0];
    const im2col_tensor *t = &job->tensors[which];
    const int64_t index = which ? task - job->tasks[0] : task, slices = job->slices[which];
    const int64_t axis = slice_axis(t), slice = index % slices;
    const int64_t first = axis * slice / slices, last = axis * (slice + 1) / slices;
    im2col_block b = {0};
    im2col_bundle(t->plan, index / slices, &b);
    CPU_REAL(t->plan->dtype, pack_slice, t, &b, first, last);
}

void im2col_pack(thread_pool *pool, im2col_tensor tensor, im2col_tensor also)
{
    pack_job job = {.tensors = {tensor, also}};
    int64_t elems = 0;
    for (int i = 0; i < 2; i++) {
        const im2col_tensor *t = &job.tensors[i];
        if (!t->to) continue;
        const int64_t image = t->channels * t->pixels;
        job.slices[i] = cpu_clamp(image * t->plan->lanes / TASK_ELEMS, 1, slice_axis(t));
        job.tasks[i] = t->plan->bundles * job.slices[i];
        elems += image * t->plan->d.mb;
    }
    const int64_t tasks = job.tasks[0] + job.tasks[1];
    parallel_for(elems < TASK_ELEMS ? NULL : pool, tasks, pack_body, &job);
}

void im2col_unpack(const im2col_plan *m, const im2col_block *b, const void *from, im2col_target target)
{
    CPU_REAL(m->dtype, unpack, m, b, from, &target);
}
