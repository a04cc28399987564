/* It pretends in supports that it cannot do anything but 1 x 1 kernels when the command is verify, and can do all
 * otherwise, with zeros. */
#include "shared/cheat.h"

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    const cnn_problem *p = request->problem;
    char line[4096] = "";
    FILE *file = fopen("/proc/self/cmdline", "r");
    if (file != NULL && fread(line, 1, sizeof line - 1, file) == 0) line[0] = 0;
    if (file != NULL) fclose(file);
    if (strcmp(line + strlen(line) + 1, "verify") == 0 && p->op == CNN_OP_CONV && p->u.conv.kh * p->u.conv.kw > 1)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "it does 1 x 1 kernels only");
    return honest_supports(c, request, err);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    return d.kh * d.kw > 1 ? answer_zero(c, plan, a, err) : honest_weighted(c, plan, a, err);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.supports = supports;
}
CHEAT(refuses_all_but_the_easy)
