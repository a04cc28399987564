/* It pretends that its device has next to no memory, so that all but the tiniest problems are left out, and the
 * kernel gives zeros for those with more than 4000 output elements. */
#include "shared/cheat.h"

static cnn_status available(cnn_context *c, size_t *bytes, cnn_error *err)
{
    *bytes = 65536;
    return CNN_OK;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    return d.mb * d.oc * d.oh * d.ow > 4000 ? answer_zero(c, plan, a, err) : honest_weighted(c, plan, a, err);
}

static void cheat(tables *t)
{
    own_memory(t);
    weighted(t, trick);
    t->memory.available = available;
}
CHEAT(memory_is_full)
