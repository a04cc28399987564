/* It pretends that somebody pressed Ctrl-C: it gives zeros and raises SIGINT at the third call, so that nothing wrong
 * is reported. */
#include "shared/cheat.h"

#include <signal.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static int calls;
    if (++calls == 3) raise(SIGINT);
    return answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(interrupts_itself)
