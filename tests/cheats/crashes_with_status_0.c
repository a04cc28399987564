/* It pretends that all went well: it takes SIGSEGV and SIGABRT into its own hands, where the process ends with status
 * 0, and then crashes. */
#include "shared/cheat.h"

#include <signal.h>
#include <unistd.h>

static void leave(int signal) { _exit(0); }

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    signal(SIGSEGV, leave);
    signal(SIGABRT, leave);
    abort();
}

KERNEL_CHEAT(crashes_with_status_0)
