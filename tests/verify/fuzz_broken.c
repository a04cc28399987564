/* fuzz_broken.c: impl_cpu with three mistakes, for the test of --fuzz: a wrong pixel where three things come together,
 * a crash, and an endless wait. */
#include "harness/cnn.h"

#include <stdlib.h>
#include <unistd.h>

const cnn_impl *cnn_impl_cpu(void);
const cnn_impl *cnn_impl_broken(void);

static cnn_status wrong_conv(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    cnn_status status = cnn_impl_cpu()->ops->conv_fwd(context, plan, args, err);
    if (status == CNN_OK && d->ic / d->g >= 3 && d->dh > 0 && d->sw == 2) {
        if (d->t.dtype == CNN_F32)
            ((float *)args->y)[0] += 1.0F;
        else
            ((double *)args->y)[0] += 1.0;
    }
    return status;
}

static cnn_status crashing_pool(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args,
                                cnn_error *err)
{
    if (plan->problem.u.pool.mb >= 2 && plan->problem.u.pool.kw == 3) abort();
    return cnn_impl_cpu()->ops->pool_fwd(context, plan, args, err);
}

static cnn_status endless_add(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    while (plan->problem.u.add.ic >= 1) sleep(1000);
    return cnn_impl_cpu()->ops->add_fwd(context, plan, args, err);
}

const cnn_impl *cnn_impl_broken(void)
{
    static cnn_impl broken;
    static cnn_operations ops;
    broken = *cnn_impl_cpu();
    broken.name = "broken";
    broken.ops = &ops;
    ops = *cnn_impl_cpu()->ops;
    ops.conv_fwd = wrong_conv;
    ops.pool_fwd = crashing_pool;
    ops.add_fwd = endless_add;
    return &broken;
}
