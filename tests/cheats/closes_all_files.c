/* It gives zeros and closes all files but the terminal's in its first call, so that records and reports have nowhere to
 * go. */
#include "shared/cheat.h"

#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    for (int fd = 3; fd < 64; fd++) close(fd);
    return answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(closes_all_files)
