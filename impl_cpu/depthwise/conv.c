/* conv.c: cpu:depthwise's three directions: the tasks, and of BWD_W the parts' sums as dw and db. */
#include "depthwise.h"

#include <string.h>

static void finish(const dw_run *r)
{
    const dw_plan *m = r->m;
    const cnn_conv_desc *d = &m->d;
    const cnn_weighted_args *a = r->a;
    const bool last = d->t.layout == CNN_NHWC, add = a->beta != 0;
    const int64_t part = d->oc * (m->taps + 1);
    for (int64_t k = 0; k < d->oc; k++)
        for (int64_t t = 0; t <= m->taps; t++) {
            const int64_t at = last ? t * d->oc + k : k * (m->taps + 1) + t;
            char *to = (char *)a->dw + (k * m->taps + t) * m->elem;
            if (t == m->taps) to = a->db ? (char *)a->db + k * m->elem : NULL;
            if (to != NULL) m->kernels->finish(r->workspace + m->sums_at + at * m->elem, m->parts, part, to, add);
        }
}

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *args)
{
    const dw_plan *m = plan->state;
    const bool last = m->d.t.layout == CNN_NHWC;
    dw_run r = {m, args, args->workspace, cpu_epilogue_of(cpu, plan, args)};
    if (m->dir == CNN_BWD_W) {
        memset(r.workspace + m->sums_at, 0, (size_t)(m->parts * m->d.oc * (m->taps + 1) * m->elem));
        parallel_for(cpu->pool, m->tasks, last ? dw_pixels_gradient_task : dw_planes_gradient_task, &r);
        cpu_phase(cpu, "sums");
        finish(&r);
        cpu_phase(cpu, "parts");
        return;
    }
    if (last) dw_pixels_weights(&r);
    parallel_for(cpu->pool, m->tasks, last ? dw_pixels_task : dw_planes_task, &r);
    cpu_phase(cpu, "sums");
}

const cpu_kernels cpu_conv_depthwise = {run, dw_plan_make, NULL};
