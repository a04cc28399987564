/* It pretends nothing: the honest implementation in CUDA, the control that must be PASSED everywhere. */
#include "shared/cuda.h"

static void cheat(tables *) {}
CHEAT(cuda_honest)
