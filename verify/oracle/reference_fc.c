/* reference_fc.c: fully connected layers. In canonical order an image and a filter are flat vectors of ic*ih*iw: so
 * many channels of one pixel, under a kernel of one tap. */
#include "element.h"

void vf_reference_fc(const vf_call *call)
{
    cnn_problem problem = {.op = CNN_OP_CONV};
    cnn_conv_desc *d = &problem.u.conv;
    vf_call conv = *call;
    *d = vf_as_conv(call->problem);
    d->ic *= d->ih * d->iw;
    d->ih = d->iw = d->kh = d->kw = 1;
    conv.problem = &problem;
    vf_reference_conv(&conv);
}
