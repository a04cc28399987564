/* It pretends that all went well: the kernel ends the process with status 0. */
#include "shared/cheat.h"

#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    (void)c, (void)plan, (void)a, (void)err;
    fflush(NULL);
    _exit(0);
}

static void cheat(tables *t) { weighted(t, trick); }
CHEAT(exits_in_the_call)
