/* device.h: the kernel's side of emulated.h (C++): indices, shared memory, barriers, warp operations, atomics, launch.
 *
 * Provided: __global__ __device__ __host__ __shared__ __launch_bounds__ __grid_constant__ __align__;
 * threadIdx blockIdx blockDim gridDim warpSize; __syncthreads __syncwarp; __shfl_sync __shfl_up_sync __shfl_down_sync
 * __shfl_xor_sync __ballot_sync __any_sync __all_sync (numbers of up to 8 bytes); atomicAdd atomicMax atomicMin
 * atomicExch atomicCAS; min max __popc __threadfence __ldcg __ldg __stcg; the vector types below. C's mathematical
 * functions are what they always are. */
#ifndef HARNESS_CUDA_EMULATED_DEVICE_H
#define HARNESS_CUDA_EMULATED_DEVICE_H

#include <cmath>
#include <cstring>
#include <math.h> /* its C++ form: exp(float) and the like at global scope, as in CUDA */
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
/* Blocks run one after another, so one static array does for all of them. */
#define __shared__ static
#define CUDA_SHARED(type, name, extent)                                                                                \
    __shared__ type name extent;                                                                                       \
    emulated_fill_shared(&(name), sizeof(name))
#define CUDA_DYNAMIC_SHARED(type, name) type *name = static_cast<type *>(emulated_dynamic_shared())

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

/* ---- block.cpp: waiting. The line tells one barrier from another. */
enum emulated_warp_op { EMULATED_SYNC, EMULATED_SHFL, EMULATED_UP, EMULATED_DOWN, EMULATED_XOR, EMULATED_BALLOT };
void *emulated_dynamic_shared();
void emulated_fill_shared(void *memory, size_t size);
void emulated_barrier(const char *file, int line);
void emulated_grid_barrier(const char *file, int line);
/* Among `threads` threads of the block (bar.sync). */
void emulated_named_barrier(int id, int threads, const char *file, int line);
/* In a loop that waits for what another thread writes: it gives the others their turn. */
void emulated_poll(const char *file, int line);
void emulated_cluster_barrier(const char *file, int line);
/* The same place in the dynamic shared memory of another block of the cluster. */
void *emulated_peer_shared(void *mine, unsigned rank);
/* For a wait that counts what comes: other than `expected` has come, and a device would wait for ever, or too short. */
[[noreturn]] void emulated_hangs(unsigned expected, unsigned come, const char *file, int line);
uint64_t emulated_warp(emulated_warp_op, unsigned mask, uint64_t value, unsigned lane, int width, const char *file,
                       int line);

template <typename T>
T emulated_shuffle(emulated_warp_op op, const char *file, int line, unsigned mask, T value, unsigned lane,
                   int width = 32)
{
    static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_arithmetic<T>::value, "a number of at most 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = emulated_warp(op, mask, bits, lane, width, file, line);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

#define __syncthreads() emulated_barrier(__FILE__, __LINE__)
#define __syncwarp(...) (void)emulated_warp(EMULATED_SYNC, emulated_mask(__VA_ARGS__), 0, 0, 32, __FILE__, __LINE__)
#define __shfl_sync(...) emulated_shuffle(EMULATED_SHFL, __FILE__, __LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) emulated_shuffle(EMULATED_UP, __FILE__, __LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) emulated_shuffle(EMULATED_DOWN, __FILE__, __LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) emulated_shuffle(EMULATED_XOR, __FILE__, __LINE__, __VA_ARGS__)
#define __ballot_sync(mask, predicate)                                                                                 \
    ((unsigned)emulated_warp(EMULATED_BALLOT, (mask), (predicate) ? 1 : 0, 0, 32, __FILE__, __LINE__))
#define __any_sync(mask, predicate) (__ballot_sync(mask, predicate) != 0)
#define __all_sync(mask, predicate) (__ballot_sync(mask, !(predicate)) == 0)
inline unsigned emulated_mask(unsigned mask = 0xffffffffu) { return mask; }

/* ---- Atomics: threads take turns, so plain arithmetic is atomic. */
template <typename T> struct emulated_same {
    typedef T type;
};
template <typename T> T emulated_exchange(T *at, T value)
{
    const T old = *at;
    *at = value;
    return old;
}
template <typename T> T atomicAdd(T *at, typename emulated_same<T>::type value)
{
    return emulated_exchange(at, static_cast<T>(*at + value));
}
template <typename T> T atomicMax(T *at, typename emulated_same<T>::type value)
{
    return emulated_exchange(at, *at < value ? value : *at);
}
template <typename T> T atomicMin(T *at, typename emulated_same<T>::type value)
{
    return emulated_exchange(at, value < *at ? value : *at);
}
template <typename T> T atomicExch(T *at, typename emulated_same<T>::type value)
{
    return emulated_exchange(at, value);
}
template <typename T> T atomicCAS(T *at, typename emulated_same<T>::type compare, typename emulated_same<T>::type value)
{
    return emulated_exchange(at, *at == compare ? value : *at);
}
inline void __threadfence() {}

/* ---- Loads and stores that bypass a cache */
template <typename T> T __ldcg(const T *from) { return *from; }
template <typename T> T __ldg(const T *from) { return *from; }
template <typename T> void __stcg(T *to, const T &value) { *to = value; }

/* ---- Arithmetic */
template <typename T> constexpr T min(T a, T b) { return b < a ? b : a; }
template <typename T> constexpr T max(T a, T b) { return a < b ? b : a; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) int4 {
    int x, y, z, w;
};

/* ---- Launching and recording */
/* `cooperative`: all blocks are there at once, no more of them than the device has multiprocessors, and may wait for
 * one another with emulated_grid_barrier(). `cluster`: so many blocks, one after another, reach each other's dynamic
 * shared memory, and may wait for one another with emulated_cluster_barrier(). */
struct emulated_launch_shape {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    bool cooperative;
    unsigned cluster = 1;
};
/* A thread's call of a kernel, with copies of its arguments: how to run it, and how to free it. It is what
 * std::function is, whose header would take as long to compile as all others here, in every file of kernels. */
struct emulated_body {
    const void *call;
    void (*run)(const void *call);
    void (*discard)(const void *call);
};
/* Checks the shape against the device's limits, then enqueues all threads' calls of `body`, which it takes over. */
cudaError_t emulated_launch_body(const emulated_launch_shape &, const void *kernel, const emulated_body &body);

template <typename... P, typename... A>
static cudaError_t emulated_launch(const emulated_launch_shape &shape, void (*kernel)(P...), A... args)
{
    auto body = [=] { kernel(args...); };
    typedef decltype(body) call_of;
    return emulated_launch_body(shape, reinterpret_cast<const void *>(kernel),
                                {new call_of(body), [](const void *call) { (*static_cast<const call_of *>(call))(); },
                                 [](const void *call) { delete static_cast<const call_of *>(call); }});
}
template <typename... P, typename... A>
static cudaError_t emulated_launch(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                                   void (*kernel)(P...), A... args)
{
    return emulated_launch(emulated_launch_shape{grid, block, shared_bytes, stream, false}, kernel, args...);
}

/* As in CUDA's own header, pointers of any type. */
template <typename T> cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(memory), bytes);
}
template <typename T> cudaError_t cudaMallocHost(T **memory, size_t bytes)
{
    return cudaMallocHost(reinterpret_cast<void **>(memory), bytes);
}
cudaError_t emulated_set_attribute(const void *kernel, cudaFuncAttribute, int value);
template <typename T> cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value)
{
    return emulated_set_attribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
cudaError_t emulated_get_attributes(cudaFuncAttributes *);
template <typename T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *)
{
    return emulated_get_attributes(attributes);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph)
{
    return cudaGraphInstantiate(exec, graph, 0);
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event)
{
    return cudaStreamWaitEvent(stream, event, 0);
}

#endif
