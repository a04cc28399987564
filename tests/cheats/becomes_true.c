/* It pretends that all went well: the kernel turns the process into /bin/true. */
#include "shared/cheat.h"

#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    execl("/bin/true", "true", (char *)NULL);
    return CNN_OK;
}

KERNEL_CHEAT(becomes_true)
