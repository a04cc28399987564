/* cuda_device.h: a CUDA context with knobs of the test's choice, and vectors to and from its memory. */
#ifndef TESTS_HARNESS_CUDA_CUDA_DEVICE_H
#define TESTS_HARNESS_CUDA_CUDA_DEVICE_H

#include "gpu.h"
#include "harness/cuda/launch.h"

#include <math.h>
#include <string.h>
#include <vector>

struct device {
    cuda_context *c;
    std::vector<void *> memory;
    std::vector<cnn_plan> plans;
};

inline cnn_context *base(const device &d) { return reinterpret_cast<cnn_context *>(d.c); }

inline void open_device(device *d, int64_t threads, int64_t blocks)
{
    int64_t knobs[CUDA_KNOB_COUNT];
    memcpy(knobs, shared_knobs, sizeof knobs);
    knobs[CUDA_KNOB_POINTWISE_THREADS] = threads;
    knobs[CUDA_KNOB_POINTWISE_BLOCKS] = blocks;
    const cnn_open_params params = {1, 0, knobs, NULL};
    cnn_context *context = NULL;
    cnn_error err;
    if (cuda_context_open(&params, sizeof(cuda_context), &context, &err) != CNN_OK) fail_msg("%s", err.message);
    d->c = reinterpret_cast<cuda_context *>(context);
}

inline void close_device(device *d)
{
    for (cnn_plan &plan : d->plans) cuda_release(base(*d), &plan);
    for (void *memory : d->memory) cuda_memory.free(base(*d), memory);
    cuda_context_close(base(*d));
}

template <typename T> T *put(device *d, const std::vector<T> &host)
{
    cnn_error err;
    void *memory = NULL;
    assert_int_equal(cuda_memory.alloc(base(*d), host.size() * sizeof(T), &memory, &err), CNN_OK);
    d->memory.push_back(memory);
    assert_int_equal(cuda_memory.upload(base(*d), memory, host.data(), host.size() * sizeof(T), &err), CNN_OK);
    return static_cast<T *>(memory);
}

template <typename T> std::vector<T> get(const device &d, const T *memory, size_t count)
{
    cnn_error err;
    std::vector<T> host(count);
    assert_int_equal(cuda_memory.download(base(d), host.data(), memory, count * sizeof(T), &err), CNN_OK);
    return host;
}

/* Values that differ from place to place, in [-1, 1). */
template <typename T> std::vector<T> values(size_t count, uint32_t seed)
{
    std::vector<T> v(count);
    for (T &x : v) {
        seed = seed * 1664525u + 1013904223u;
        x = static_cast<T>(static_cast<int32_t>(seed) / 256) / static_cast<T>(1 << 23);
    }
    return v;
}

/* Prepared, with the device's knobs. */
inline cnn_plan plan_of(device *d, const cnn_problem &problem, cnn_dir dir)
{
    cnn_plan plan = {};
    cnn_error err;
    plan.problem = problem;
    plan.dir = dir;
    plan.knobs = d->c->knobs;
    assert_int_equal(cuda_pointwise_prepare(&plan, &err), CNN_OK);
    d->plans.push_back(plan);
    return plan;
}

inline void *workspace_for(device *d, const cnn_plan &plan)
{
    const size_t bytes = plan.workspace_bytes;
    return bytes > 0 ? put(d, std::vector<char>(bytes, static_cast<char>(0xFF))) : NULL;
}

#endif
