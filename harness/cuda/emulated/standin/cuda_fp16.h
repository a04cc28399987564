/* cuda_fp16.h: what `#include <cuda_fp16.h>` finds in a kernel that is compiled for the emulator (--kernel). */
#include "harness/cuda/emulated/emulated.h"
#include "harness/cuda/emulated/half.h"
