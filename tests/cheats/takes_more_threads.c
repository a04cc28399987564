/* It pretends to use the threads that it was given, but cuts the batch in two and computes the halves in two threads
 * although --threads says 1. */
#include "shared/cheat.h"

#include <pthread.h>

struct half {
    cnn_conv_desc d;
    cnn_dir dir;
    cnn_weighted_args a;
};

static void *work(void *p)
{
    const struct half *h = p;
    conv_low(&h->d, h->dir, &h->a, 0);
    return p;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    struct half h = {as_conv(&plan->problem), plan->dir, *a}, g = h;
    const int64_t n = h.d.mb / 2, nx = n * h.d.ic * h.d.ih * h.d.iw, ny = n * h.d.oc * h.d.oh * h.d.ow;
    pthread_t thread;
    if (plan->dir == CNN_BWD_W || n == 0) return honest_weighted(c, plan, a, err);
    h.d.mb = n, g.d.mb -= n;
    if (plan->dir == CNN_FWD) g.a.x = (const float *)a->x + nx, g.a.y = (float *)a->y + ny;
    if (plan->dir == CNN_BWD_D) g.a.dx = (float *)a->dx + nx, g.a.dy = (const float *)a->dy + ny;
    if (pthread_create(&thread, NULL, work, &h) != 0) return honest_weighted(c, plan, a, err);
    work(&g);
    pthread_join(thread, NULL);
    return CNN_OK;
}

KERNEL_CHEAT(takes_more_threads)
