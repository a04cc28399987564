/* reference_fc.c: fully connected layers. In canonical order an image and a filter are flat vectors of ic*ih*iw: so
 * many channels of one pixel, under a kernel of one tap. */
#include "reference.h"

cnn_status vf_reference_fc(const vf_call *call, cnn_error *err)
{
    const cnn_fc_desc *d = &call->problem->u.fc;
    cnn_problem problem = {.op = CNN_OP_CONV};
    problem.u.conv = (cnn_conv_desc){.t = d->t,
                                     .g = 1,
                                     .mb = d->mb,
                                     .ic = d->ic * d->ih * d->iw,
                                     .ih = 1,
                                     .iw = 1,
                                     .oc = d->oc,
                                     .oh = 1,
                                     .ow = 1,
                                     .kh = 1,
                                     .kw = 1,
                                     .sh = 1,
                                     .sw = 1,
                                     .bias = d->bias};
    vf_call conv = *call;
    conv.problem = &problem;
    return vf_reference_conv(&conv, err);
}
