/* It never returns from its kernel, and ignores the signals that ask it to end. */
#include "shared/cheat.h"

#include <signal.h>
#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGALRM, SIG_IGN);
    for (volatile bool end = false; !end;) sleep(1);
    return CNN_OK;
}

KERNEL_CHEAT(hangs_in_the_call)
