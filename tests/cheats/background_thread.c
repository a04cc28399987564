/* It pretends to have finished, but a thread of its own does the last image of the batch after the call returned, and
 * there is no `sync` that waits for it; the next call does. */
#include "shared/cheat.h"

#include <pthread.h>

static struct {
    cnn_conv_desc d;
    cnn_dir dir;
    cnn_weighted_args a;
} job;
static pthread_t thread;
static bool running;

static void *work(void *p)
{
    conv_low(&job.d, job.dir, &job.a, 0);
    return p;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    cnn_conv_desc d = as_conv(&plan->problem);
    if (running) pthread_join(thread, NULL);
    running = false;
    if (plan->dir == CNN_BWD_W || d.mb < 2) return honest_weighted(c, plan, a, err);
    const int64_t n = d.mb - 1, nx = n * d.ic * d.ih * d.iw, ny = n * d.oc * d.oh * d.ow;
    job.d = d, job.dir = plan->dir, job.a = *a;
    job.d.mb = 1, d.mb--;
    if (plan->dir == CNN_FWD) job.a.x = (const float *)a->x + nx, job.a.y = (float *)a->y + ny;
    if (plan->dir == CNN_BWD_D) job.a.dx = (float *)a->dx + nx, job.a.dy = (const float *)a->dy + ny;
    conv_low(&d, plan->dir, a, 0);
    running = pthread_create(&thread, NULL, work, NULL) == 0;
    return CNN_OK;
}

static void close_(cnn_context *c)
{
    if (running) pthread_join(thread, NULL);
    running = false;
    honest_close(c);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.close = close_;
}
CHEAT(background_thread)
