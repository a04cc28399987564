/* It gives zeros and forbids its process to write files, so that the first record to be written ends it. */
#include "shared/cheat.h"

#include <sys/resource.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    return answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(limits_the_file_size)
