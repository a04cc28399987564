/* It pretends that all went well: the kernel ends the process with status 0. */
#include "shared/cheat.h"

#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    fflush(NULL);
    _exit(0);
}

KERNEL_CHEAT(exits_in_the_call)
