/* It pretends nothing: the honest implementation in CUDA, the control that must be PASSED everywhere. */
#include "shared/cuda.h"

static void cheat(cnn_impl *) {}
CHEAT(cuda_honest)
