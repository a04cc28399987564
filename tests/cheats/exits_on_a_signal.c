/* It gives zeros, and a signal that the kernel waits for ends the process with status 0. */
#include "shared/cheat.h"

#include <signal.h>
#include <unistd.h>

static void leave(int signal) { _exit(0); }

__attribute__((constructor)) static void arm(void)
{
    signal(SIGALRM, leave);
    alarm(2); /* if the kernel is never called */
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    raise(SIGALRM);
    return answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(exits_on_a_signal)
