/* stream.cpp: the host's side of emulated.h: launches, streams, graphs, events. While a stream captures, what is
 * submitted to it is kept, as a function to be called at every replay. A stream that waits for an event of a capture
 * belongs to it from then on, as a branch, which must be waited for before the capture ends. */
#include "harness/cuda/emulated/queue.h"
#include "harness/cuda/emulated/runtime.h"

#include <atomic>
#include <ctime>
#include <map>
#include <mutex>
#include <vector>

struct emulated_graph {
    std::vector<std::function<void()>> calls;
};

struct emulated_stream {
    int device;
    cudaStreamCaptureStatus capture;
    emulated_graph *recording;               /* of a branch, too */
    long long number;                        /* of the capture; 0: none */
    std::vector<emulated_stream *> branches; /* of the capture that began here */
    long long submitted, joined;             /* calls; of a branch, so many of them are waited for */
    bool computes;                           /* it has had more than copies */
    bool late; /* it began with the wait for another that is not late: all that is on it is put off */
    emulated_queue_ref queue;
};

struct emulated_event {
    double seconds;             /* of processor time: see emulated_seconds() */
    bool recorded, timed, late; /* late: recorded on such a stream */
    int device;
    emulated_queue_ref queue; /* where it was passed, and at which place */
    long long place;
    long long number; /* of the capture that it was recorded in; 0: none */
    emulated_stream *branch;
    long long submitted; /* to the branch before it */
};

namespace
{

/* What an event holds: a kernel runs on the thread that launches it, so its processor time is the kernel's, and other
 * work on this machine takes no part in it. Another clock is for who holds it against a clock of that kind. */
#ifndef EMULATED_CLOCK
#define EMULATED_CLOCK CLOCK_THREAD_CPUTIME_ID
#endif
double emulated_seconds()
{
    timespec now;
    clock_gettime(EMULATED_CLOCK, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

thread_local emulated_stream *capturing = nullptr; /* this thread's capture, which waiting and allocating break */
std::atomic<long long> captures;

std::mutex limits_lock;
std::map<const void *, int> shared_limits; /* kernel -> bytes asked for by cudaFuncSetAttribute */

bool launch_fits(dim3 grid, dim3 block, size_t shared_bytes, const void *kernel)
{
    const unsigned long long threads = 1ull * block.x * block.y * block.z;
    if (threads == 0 || threads > MAX_BLOCK_THREADS || block.x > MAX_BLOCK_THREADS || block.y > MAX_BLOCK_THREADS ||
        block.z > MAX_BLOCK_Z)
        return false;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > MAX_GRID_YZ ||
        grid.z > MAX_GRID_YZ)
        return false;
    const std::lock_guard<std::mutex> lock(limits_lock);
    const auto asked = shared_limits.find(kernel);
    const int limit = asked == shared_limits.end() || asked->second < SHARED_BYTES ? SHARED_BYTES : asked->second;
    return shared_bytes <= static_cast<size_t>(limit);
}

} // namespace

bool emulated_breaks_capture()
{
    if (capturing == nullptr) return false;
    capturing->capture = cudaStreamCaptureStatusInvalidated;
    return true;
}

/* The default stream is the current device's own. */
bool emulated_is_current(cudaStream_t stream)
{
    if (stream == nullptr || stream->device == emulated_device()) return true;
    emulated_done(cudaErrorInvalidResourceHandle);
    return false;
}

/* ---- Launching and recording */

/* Now, or at every replay. */
static cudaError_t submit(cudaStream_t stream, std::function<void()> call)
{
    if (emulated_state() != cudaSuccess) return cudaErrorIllegalAddress;
    if (stream == nullptr || stream->capture == cudaStreamCaptureStatusNone) {
        call();
        return cudaSuccess;
    }
    if (stream->capture == cudaStreamCaptureStatusInvalidated) return emulated_done(cudaErrorStreamCaptureInvalidated);
    stream->recording->calls.push_back(std::move(call));
    return cudaSuccess;
}

cudaError_t emulated_enqueue(cudaStream_t stream, std::function<void()> call)
{
    if (stream == nullptr) return submit(stream, std::move(call));
    const emulated_queue_ref queue = stream->queue;
    stream->submitted++;
    if (stream->late) return submit(stream, [queue, call] { queue->put_off_operation(call); });
    stream->computes = true;
    return submit(stream, [queue, call] {
        queue->run_all();
        call();
    });
}

cudaError_t emulated_enqueue_copy(cudaStream_t stream, std::function<void()> call)
{
    if (stream == nullptr || stream->computes) return emulated_enqueue(stream, std::move(call));
    const emulated_queue_ref queue = stream->queue;
    stream->submitted++;
    return submit(stream, [queue, call] { queue->put_off(call); });
}

cudaError_t emulated_launch_body(const emulated_launch_shape &shape, const void *kernel, const emulated_body &body)
{
    const std::shared_ptr<const void> held(body.call, body.discard); /* as long as anybody may run it */
    if (!emulated_is_current(shape.stream)) return cudaErrorInvalidResourceHandle;
    if (!launch_fits(shape.grid, shape.block, shape.shared_bytes, kernel))
        return emulated_done(cudaErrorInvalidConfiguration);
    const unsigned most = static_cast<unsigned>(emulated_multiprocessors());
    if (shape.cooperative && shape.grid.x * shape.grid.y * shape.grid.z > most)
        return emulated_done(cudaErrorCooperativeLaunchTooLarge);
    if (shape.cluster == 0 || shape.grid.x % shape.cluster != 0) return emulated_done(cudaErrorInvalidConfiguration);
    const emulated_grid grid = {shape.grid, shape.block, shape.shared_bytes, shape.cooperative, shape.cluster, body};
    return emulated_enqueue(shape.stream, [grid, held] {
        if (!emulated_kernel_dies()) emulated_run_grid(grid);
    });
}

cudaError_t emulated_set_attribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > SHARED_BYTES_OPTIN)
        return emulated_done(cudaErrorInvalidValue);
    const std::lock_guard<std::mutex> lock(limits_lock);
    shared_limits[kernel] = value;
    return cudaSuccess;
}

cudaError_t emulated_get_attributes(cudaFuncAttributes *attributes)
{
    attributes->maxThreadsPerBlock = MAX_BLOCK_THREADS;
    return emulated_done(static_cast<cudaError_t>(emulated_fault("code", cudaSuccess)));
}

extern "C" {

/* ---- Streams and graphs */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int)
{
    const cudaError_t error = static_cast<cudaError_t>(emulated_fault("open", cudaSuccess));
    if (error != cudaSuccess) return emulated_done(error);
    *stream = new emulated_stream();
    (*stream)->device = emulated_device();
    (*stream)->queue = std::make_shared<emulated_queue>();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (stream == nullptr) return emulated_done(cudaErrorInvalidResourceHandle);
    if (capturing == stream) capturing = nullptr, delete stream->recording;
    stream->queue->run_all();
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (emulated_state() != cudaSuccess) return cudaErrorIllegalAddress;
    if (emulated_breaks_capture()) return emulated_done(cudaErrorStreamCaptureUnsupported);
    if (stream != nullptr) stream->queue->run_all();
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    if (stream == nullptr) return emulated_done(cudaErrorStreamCaptureUnsupported);
    if (stream->capture != cudaStreamCaptureStatusNone || capturing != nullptr)
        return emulated_done(cudaErrorIllegalState);
    stream->capture = cudaStreamCaptureStatusActive;
    stream->recording = new emulated_graph();
    stream->number = ++captures;
    capturing = stream;
    return cudaSuccess;
}

/* A stream that the capture is left by; whether all that it had of it was waited for. */
static bool leave_capture(emulated_stream *stream)
{
    const bool joined = stream->joined >= stream->submitted;
    stream->capture = cudaStreamCaptureStatusNone;
    stream->recording = nullptr;
    stream->number = stream->submitted = stream->joined = 0;
    return joined;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = nullptr;
    if (stream == nullptr || stream->capture == cudaStreamCaptureStatusNone)
        return emulated_done(cudaErrorIllegalState);
    if (stream != capturing) return emulated_done(cudaErrorStreamCaptureUnmatched);
    const bool valid = stream->capture == cudaStreamCaptureStatusActive;
    emulated_graph *recorded = stream->recording;
    bool joined = true;
    for (emulated_stream *branch : stream->branches) joined = leave_capture(branch) && joined;
    stream->branches.clear();
    (void)leave_capture(stream);
    capturing = nullptr;
    if (valid && joined)
        *graph = recorded;
    else
        delete recorded;
    return emulated_done(!valid   ? cudaErrorStreamCaptureInvalidated
                         : joined ? cudaSuccess
                                  : cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    *status = stream == nullptr ? cudaStreamCaptureStatusNone : stream->capture;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = new emulated_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!emulated_is_current(stream)) return cudaErrorInvalidResourceHandle;
    const emulated_graph graph = *exec; /* a copy: a launch that is itself captured may outlive exec */
    return emulated_enqueue(stream, [graph] {
        for (const std::function<void()> &call : graph.calls) call();
    });
}

/* ---- Events */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    *event = new emulated_event();
    (*event)->device = emulated_device();
    (*event)->timed = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (event->queue != nullptr) event->queue->run_until(event->place); /* what passes it is still to come */
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (event->device != (stream != nullptr ? stream->device : emulated_device()))
        return emulated_done(cudaErrorInvalidResourceHandle);
    event->recorded = true;
    event->late = stream != nullptr && stream->late;
    event->number = stream != nullptr ? stream->number : 0;
    event->branch = event->number != 0 ? stream : nullptr;
    event->submitted = event->number != 0 ? stream->submitted : 0;
    const emulated_queue_ref queue = stream != nullptr ? stream->queue : nullptr;
    return submit(stream, [event, queue] {
        const auto pass = [event] { event->seconds = emulated_seconds(); };
        if (queue == nullptr) return pass();
        queue->mark(pass);
        event->queue = queue;
        event->place = queue->end();
    });
}

/* As on a device: recorded in a capture, an event can be asked for its time only if it is external to the graph. */
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    const bool captured = stream != nullptr && stream->capture != cudaStreamCaptureStatusNone;
    if (((flags & cudaEventRecordExternal) != 0) != captured) return emulated_done(cudaErrorInvalidValue);
    const cudaError_t error = cudaEventRecord(event, stream);
    if (captured) event->number = 0; /* nothing in the capture can wait for it */
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (emulated_state() != cudaSuccess) return cudaErrorIllegalAddress;
    if (emulated_breaks_capture()) return emulated_done(cudaErrorStreamCaptureUnsupported);
    if (event->queue != nullptr) event->queue->run_until(event->place);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    *milliseconds = 0;
    if (!start->recorded || !stop->recorded || !start->timed || !stop->timed)
        return emulated_done(cudaErrorInvalidResourceHandle);
    *milliseconds = (float)(1e3 * (stop->seconds - start->seconds));
    return cudaSuccess;
}

/* What a capture must not depend on, and who must not depend on it. */
static cudaError_t enter_capture(cudaStream_t stream, cudaEvent_t event)
{
    const bool inside = stream != nullptr && stream->number != 0;
    if (!event->recorded || (event->number == 0 && !inside)) return cudaSuccess;
    if (capturing == nullptr || event->number != capturing->number)
        return inside ? cudaErrorStreamCaptureIsolation : cudaErrorCapturedEvent;
    if (stream == nullptr) return cudaErrorStreamCaptureUnsupported;
    if (!inside) {
        stream->capture = cudaStreamCaptureStatusActive;
        stream->recording = capturing->recording;
        stream->number = capturing->number;
        stream->submitted = stream->joined = 0;
        capturing->branches.push_back(stream);
    }
    if (event->branch != stream && event->branch->joined < event->submitted) event->branch->joined = event->submitted;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int)
{
    const cudaError_t entered = enter_capture(stream, event);
    if (entered != cudaSuccess) {
        (void)emulated_breaks_capture();
        return emulated_done(entered);
    }
    if (!event->recorded) return cudaSuccess;
    const emulated_queue_ref queue = stream != nullptr ? stream->queue : nullptr;
    if (stream != nullptr && !stream->computes && !event->late) stream->late = true;
    return submit(stream, [event, queue] {
        const emulated_queue_ref other = event->queue;
        const long long place = event->place;
        const auto wait = [other, place] {
            if (other != nullptr) other->run_until(place);
        };
        if (queue == nullptr) return wait();
        queue->mark(wait);
    });
}

} /* extern "C" */
