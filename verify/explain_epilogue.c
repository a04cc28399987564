/* explain_epilogue.c: what authors of fused kernels get wrong: cases as mistakes in an epilogue would have them. */
#include "explain.h"

#include "harness/problem/problem.h"

static cnn_epilogue *epilogue_of(vf_case *c)
{
    if (c->problem.op == CNN_OP_FC) return &c->problem.u.fc.epilogue;
    return cnn_is_conv(&c->problem) ? &c->problem.u.conv.epilogue : NULL;
}

/* All of `late`, where there is all of it and an activation. */
static bool add_late(vf_case *c, unsigned late)
{
    const bool whole = cnn_is_quantized(c->problem.u.type.dtype); /* the bias is in the sum, which is scaled */
    const bool b = !(late & VF_LATE_B) || (vf_in(&c->call, "b") != NULL && !whole);
    const bool z = !(late & VF_LATE_Z) || vf_in(&c->call, "z") != NULL;
    const cnn_epilogue *e = epilogue_of(c);
    if (!b || !z || e == NULL || e->act == CNN_ACT_IDENTITY) return false;
    c->call.late = late;
    return true;
}

bool vf_change_late_add(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return add_late(c, VF_LATE_Z);
}

bool vf_change_late_bias(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return add_late(c, VF_LATE_B);
}

bool vf_change_late_both(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return add_late(c, VF_LATE_B | VF_LATE_Z);
}

/* Another function in the place of `was`. */
static bool change_act(vf_case *c, cnn_act_kind was, cnn_act_kind act)
{
    cnn_epilogue *e = epilogue_of(c);
    if (e == NULL || e->act != was || e->act == act) return false;
    e->act = act;
    return true;
}

/* What is left may be no epilogue at all; bias and z are in the sums then as before. */
bool vf_change_no_act(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return epilogue_of(c) != NULL && change_act(c, epilogue_of(c)->act, CNN_ACT_IDENTITY);
}

bool vf_change_no_ceiling(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_act(c, CNN_ACT_CLIPPED_RELU, CNN_ACT_RELU);
}

bool vf_change_no_slope(vf_case *c, const vf_case *earlier)
{
    (void)earlier;
    return change_act(c, CNN_ACT_LEAKY_RELU, CNN_ACT_RELU);
}

bool vf_change_default_alpha(vf_case *c, const vf_case *earlier)
{
    cnn_epilogue *e = epilogue_of(c);
    (void)earlier;
    if (e == NULL || e->alpha == cnn_act_default_alpha(e->act)) return false;
    e->alpha = cnn_act_default_alpha(e->act);
    return true;
}
