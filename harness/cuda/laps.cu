/* laps.cu: when the stream passed which mark: an event a mark, and the time between two of them. In a capture events
 * are external: nodes of the graph that each replay records anew, so the laps of a captured step are those it has when
 * it is replayed. An event costs the stream time of its own (1.4 us between two marks with nothing between them, in a
 * graph on an H200), and kernels on both sides of it no longer overlap; without laps in use there is none.
 *
 * Ranges are NVTX's, a header of the toolkit; where no profiler listens, a call is one comparison. */
#include "harness/cuda/cuda.h"

#include <stdlib.h>

#ifdef BENCHCNN_CUDA_EMULATED
static void push(cnn_context *, const char *) {}
static void pop(cnn_context *) {}
#else
#include <nvtx3/nvToolsExt.h>
static void push(cnn_context *, const char *name) { (void)nvtxRangePushA(name); }
static void pop(cnn_context *) { (void)nvtxRangePop(); }
#endif
const cnn_ranges cuda_ranges = {push, pop};

/* events[0] is the beginning, events[i + 1] the end of list[i]. Events are kept when laps are used again. */
struct cnn_laps {
    cudaEvent_t *events;
    cnn_lap *list;
    int count, n_events, capacity;
};

static cnn_status laps_open(cnn_context *, cnn_laps **laps, cnn_error *err)
{
    *laps = static_cast<cnn_laps *>(calloc(1, sizeof **laps));
    return *laps != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for laps");
}

static void laps_close(cnn_context *context, cnn_laps *laps)
{
    if (laps == NULL) return;
    if (cuda_context_of(context)->laps == laps) cuda_context_of(context)->laps = NULL;
    for (int i = 0; i < laps->n_events; i++) (void)cudaEventDestroy(laps->events[i]);
    free(laps->events);
    free(laps->list);
    free(laps);
}

static cnn_status grow(cnn_laps *laps, cnn_error *err)
{
    const int capacity = 2 * laps->capacity + 256;
    cudaEvent_t *events =
        static_cast<cudaEvent_t *>(realloc(laps->events, static_cast<size_t>(capacity) * sizeof *events));
    if (events != NULL) laps->events = events;
    cnn_lap *list = static_cast<cnn_lap *>(realloc(laps->list, static_cast<size_t>(capacity) * sizeof *list));
    if (list != NULL) laps->list = list;
    if (events == NULL || list == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d laps", capacity);
    laps->capacity = capacity;
    return CNN_OK;
}

/* Records event number `index`, which is the next one or an old one. */
static cnn_status record(cuda_context *c, cnn_laps *laps, int index, cnn_error *err)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (index == laps->capacity) {
        const cnn_status status = grow(laps, err);
        if (status != CNN_OK) return status;
    }
    if (index == laps->n_events) {
        if (cuda_enter(c, err) != CNN_OK) return err->status; /* whose the event will be */
        CUDA_TRY(c, cudaEventCreate(&laps->events[index]), err);
        laps->n_events++;
    }
    CUDA_TRY(c, cudaStreamIsCapturing(c->stream, &capture), err);
    const unsigned flags = capture == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
    return CUDA_CHECK(c, cudaEventRecordWithFlags(laps->events[index], c->stream, flags), err);
}

static cnn_status laps_use(cnn_context *context, cnn_laps *laps, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    c->laps = laps;
    if (laps == NULL) return CNN_OK;
    laps->count = 0;
    return record(c, laps, 0, err);
}

static cnn_status lap(cnn_context *context, const char *phase, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    cnn_laps *laps = c->laps;
    if (laps == NULL) return CNN_OK;
    const cnn_status status = record(c, laps, laps->count + 1, err);
    if (status != CNN_OK) return status;
    cnn_lap *next = &laps->list[laps->count++];
    snprintf(next->phase, sizeof next->phase, "%.*s", (int)sizeof next->phase - 1, phase);
    return CNN_OK;
}

static cnn_status laps_read(cnn_context *context, cnn_laps *laps, const cnn_lap **list, int *count, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    *list = laps->list;
    *count = laps->count;
    for (int i = 0; i < laps->count; i++) {
        float milliseconds = 0.0f;
        CUDA_TRY(c, cudaEventElapsedTime(&milliseconds, laps->events[i], laps->events[i + 1]), err);
        laps->list[i].seconds = milliseconds * 1e-3;
    }
    return CNN_OK;
}

const cnn_profile cuda_profile = {laps_open, laps_close, laps_use, lap, laps_read};
