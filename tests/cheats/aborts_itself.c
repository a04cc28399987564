/* It calls abort() in its kernel, as a failed assertion does. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err) { abort(); }

KERNEL_CHEAT(aborts_itself)
