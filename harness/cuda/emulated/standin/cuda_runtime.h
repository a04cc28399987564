/* cuda_runtime.h: what `#include <cuda_runtime.h>` finds in a kernel that is compiled for the emulator (--kernel). */
#include "harness/cuda/emulated/emulated.h"
