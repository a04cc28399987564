/* act.c: activations, forward and backward; in place where the caller likes. */
#include "ops.h"

#include <string.h>
#include <tgmath.h>

typedef struct act_job {
    cpu_work work;
    cnn_act_kind kind;
    double alpha;
    const void *x, *dy; /* dy: of an epilogue, the residual */
    const void *y_in;   /* backward: what the forward wrote */
    void *out;          /* y or dx */
} act_job;

/* What SELU comes to far below zero, with a minus. */
#define SELU_LOW (CNN_SELU_SCALE * CNN_SELU_ALPHA)

#define KERNELS "act.inc"
#include "for_each_real.inc"

/* In element operations: a libm call costs about fifty. */
static int64_t act_cost(cnn_act_kind kind)
{
    return kind == CNN_ACT_ELU || kind == CNN_ACT_SELU || kind == CNN_ACT_SIGMOID || kind == CNN_ACT_TANH ? 50 : 1;
}

static void run(cnn_context *context, const cnn_act_desc *d, act_job job, bool forward)
{
    job.kind = d->kind;
    job.alpha = d->alpha;
    job.work = cpu_elements(d->mb * d->ic * d->ih * d->iw, act_cost(d->kind));
    if (forward)
        CPU_RUN(context, d->t.dtype, act_fwd, &job);
    else
        CPU_RUN(context, d->t.dtype, act_bwd, &job);
}

cnn_status cpu_act_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_fwd(context, plan, args, cpu_act_fwd, err);
    run(context, &plan->problem.u.act, (act_job){.x = args->x, .out = args->y}, true);
    return CNN_OK;
}

cnn_status cpu_act_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_bwd(context, plan, args, cpu_act_bwd, err);
    run(context, &plan->problem.u.act, (act_job){.x = args->x, .y_in = args->y, .dy = args->dy, .out = args->dx},
        false);
    return CNN_OK;
}

/* ---- Epilogues. */

static bool has_lines(cnn_act_kind act)
{
    return act == CNN_ACT_IDENTITY || act == CNN_ACT_RELU || act == CNN_ACT_LEAKY_RELU || act == CNN_ACT_CLIPPED_RELU ||
           act == CNN_ACT_SCALE;
}

cpu_epilogue cpu_epilogue_of(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    const cnn_epilogue what = cnn_epilogue_of(&plan->problem);
    const bool any = plan->dir == CNN_FWD && cnn_has_epilogue(&plan->problem);
    return (cpu_epilogue){.what = what,
                          .dtype = plan->problem.u.type.dtype,
                          .isa = cpu->isa,
                          .any = any,
                          .curved = any && !has_lines(what.act),
                          .y = a->y,
                          .z = a->z};
}

void cpu_epilogue_row(const cpu_epilogue *e, int64_t at, int64_t count)
{
    const int64_t skip = at * (int64_t)cnn_dtype_size(e->dtype);
    const cpu_share share = {.last = count};
    const bool f32 = e->dtype == CNN_F32;
    act_job job = {.kind = e->what.act, .alpha = e->what.alpha, .x = e->y + skip, .out = e->y + skip};
    if (e->what.add) {
        job.dy = e->z + skip;
        (f32 ? add_row_float_variants : add_row_double_variants)[e->isa](&job, share);
    }
    if (e->what.act != CNN_ACT_IDENTITY) (f32 ? act_fwd_float_variants : act_fwd_double_variants)[e->isa](&job, share);
}

void cpu_epilogue_curve(const cpu_epilogue *e, int64_t at, int64_t count)
{
    cpu_epilogue alone = *e;
    alone.what.add = false;
    if (e->curved) cpu_epilogue_row(&alone, at, count);
}

cpu_finish cpu_finish_at(const cpu_epilogue *e, const void *from)
{
    return (cpu_finish){e->any && e->what.add ? e->z + ((const char *)from - e->y) : NULL,
                        e->curved ? CNN_ACT_IDENTITY : e->what.act, e->what.alpha};
}

void cpu_epilogue_image(const cpu_epilogue *e, cnn_layout layout, const cpu_epilogue_part *p)
{
    if (layout == CNN_NCHW)
        for (int64_t c = p->c0; c < p->c1; c++)
            cpu_epilogue_row(e, (p->image * p->channels + c) * p->pixels + p->p0, p->p1 - p->p0);
    else if (p->c1 - p->c0 == p->channels)
        cpu_epilogue_row(e, (p->image * p->pixels + p->p0) * p->channels, (p->p1 - p->p0) * p->channels);
    else
        for (int64_t q = p->p0; q < p->p1; q++)
            cpu_epilogue_row(e, (p->image * p->pixels + q) * p->channels + p->c0, p->c1 - p->c0);
}
