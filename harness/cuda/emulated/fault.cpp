/* fault.cpp: what may go wrong with a device, on request; see EMULATED_CUDA_FAULT in emulated.h. */
#include "harness/cuda/emulated/runtime.h"

#include <atomic>
#include <cstdlib>

namespace
{
std::atomic<long long> kernels;
std::atomic<bool> dead;
} // namespace

long long emulated_fault(const char *name, long long without)
{
    const char *list = std::getenv("EMULATED_CUDA_FAULT");
    const size_t length = std::strlen(name);
    for (const char *item = list; item != nullptr; item = std::strchr(item, ',')) {
        if (*item == ',') item++;
        if (std::strncmp(item, name, length) == 0 && item[length] == '=') return std::atoll(item + length + 1);
    }
    return without;
}

bool emulated_kernel_dies()
{
    static const long long fatal = emulated_fault("kernel", 0);
    if (fatal == 0) return false;
    if (++kernels == fatal) dead = true;
    return dead;
}

int emulated_multiprocessors() { return static_cast<int>(emulated_fault("multiprocessors", 2)); }

cudaError_t emulated_state() { return dead ? emulated_done(cudaErrorIllegalAddress) : cudaSuccess; }
