/* It pretends to need 2^60 bytes of workspace for all that has more than one tap, so that these are left out as too
 * large. */
#include "shared/cheat.h"

static cnn_status workspace(cnn_context *c, const cnn_problem *p, cnn_dir dir, const cnn_algorithm *g, size_t *bytes,
                            cnn_error *err)
{
    const cnn_conv_desc d = as_conv(p);
    (void)c, (void)dir, (void)g, (void)err;
    *bytes = d.kh * d.kw > 1 ? (size_t)1 << 60 : 0;
    return CNN_OK;
}

static void cheat(cnn_impl *t) { t->workspace = workspace; }
CHEAT(asks_for_endless_workspace)
