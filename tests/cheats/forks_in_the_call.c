/* It pretends that all went well: in the first call the process forks, the child goes on wrongly with its output
 * closed, and the parent ends with status 0. */
#include "shared/cheat.h"

#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static bool forked;
    if (!forked && fork() != 0) _exit(0);
    forked = true;
    alarm(10); /* the child is to stay behind, but not for ever */
    close(1);
    close(2);
    return answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(forks_in_the_call)
