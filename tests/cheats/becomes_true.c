/* It pretends that all went well: the kernel turns the process into /bin/true. */
#include "shared/cheat.h"

#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    (void)c, (void)plan, (void)a, (void)err;
    execl("/bin/true", "true", (char *)NULL);
    return CNN_OK;
}

static void cheat(tables *t) { weighted(t, trick); }
CHEAT(becomes_true)
