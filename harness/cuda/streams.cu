/* streams.cu: a second stream, for operations that do not depend on each other.
 *
 * Idea: the context has one place for "the stream"; while the second one is in use, it stands there, with what belongs
 * to a stream: the scratch of sums over blocks, and, by cuda_context.follow, a library's handle and memory. So no
 * operation knows of it. Events tie the two together, and the host waits for neither:
 *
 *   mark(i)   the stream in use: record marks[i]
 *   wait(i)   the stream in use: wait for marks[i]
 *
 * In a capture the second stream's first wait forks it off, and the context's stream joins it by its own: the
 * operations become a branch of the graph. What a mark stands for is settled when the wait for it is called, so a mark
 * serves every step.
 *
 * Expected bottleneck, not measured yet: an operation that fills the device leaves no room for another beside it. */
#include "harness/cuda/cuda.h"

#include <stdlib.h>

struct cnn_stream {
    cudaStream_t other; /* of the two, the one that is not in use, with its scratch */
    cuda_scratch *scratch;
    bool second; /* is in use */
    cudaEvent_t *marks;
    int count;
};

static cnn_status streams_use(cnn_context *context, cnn_stream *s, bool second, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    cudaStream_t stream = s->other;
    cuda_scratch *scratch = s->scratch;
    if (s->second == second) return CNN_OK;
    s->other = c->stream;
    s->scratch = c->scratch;
    s->second = second;
    c->stream = stream;
    c->scratch = scratch;
    return c->follow != NULL ? c->follow(c, second, err) : CNN_OK;
}

/* What cannot be destroyed after a sticky error is lost with the process. */
static void streams_close(cnn_context *context, cnn_stream *s)
{
    cnn_error ignored;
    if (s == NULL) return;
    (void)cuda_enter(cuda_context_of(context), &ignored);
    (void)streams_use(context, s, false, &ignored);
    if (s->other != NULL) (void)cudaStreamSynchronize(s->other);
    for (int i = 0; s->marks != NULL && i < s->count; i++)
        if (s->marks[i] != NULL) (void)cudaEventDestroy(s->marks[i]);
    if (s->scratch != NULL) (void)cudaFree(s->scratch);
    if (s->other != NULL) (void)cudaStreamDestroy(s->other);
    free(s->marks);
    free(s);
}

/* The zeros are there before anything is on the second stream, whatever it waits for. */
static cnn_status streams_make(cuda_context *c, cnn_stream *s, cnn_error *err)
{
    cnn_context *context = reinterpret_cast<cnn_context *>(c);
    void *memory = NULL;
    CUDA_TRY(c, cudaStreamCreateWithFlags(&s->other, cudaStreamNonBlocking), err);
    for (int i = 0; i < s->count; i++) CUDA_TRY(c, cudaEventCreateWithFlags(&s->marks[i], cudaEventDisableTiming), err);
    cnn_status status = cuda_memory.alloc(context, sizeof *s->scratch, &memory, err);
    s->scratch = static_cast<cuda_scratch *>(memory);
    if (status == CNN_OK) status = cuda_memory.fill(context, memory, 0, sizeof *s->scratch, err);
    if (status == CNN_OK) status = cuda_sync(context, err);
    if (status == CNN_OK) status = streams_use(context, s, true, err); /* a library's memory is there from now on */
    return status == CNN_OK ? streams_use(context, s, false, err) : status;
}

static cnn_status streams_open(cnn_context *context, int count, cnn_stream **stream, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    *stream = NULL;
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    cnn_stream *s = static_cast<cnn_stream *>(calloc(1, sizeof *s));
    if (s == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a second stream");
    s->count = count;
    s->marks = static_cast<cudaEvent_t *>(calloc((size_t)count + 1, sizeof *s->marks));
    const cnn_status status =
        s->marks != NULL ? streams_make(c, s, err) : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a second stream");
    if (status == CNN_OK)
        *stream = s;
    else
        streams_close(context, s);
    return status;
}

static cnn_status streams_mark(cnn_context *context, cnn_stream *s, int index, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    return CUDA_CHECK(c, cudaEventRecord(s->marks[index], c->stream), err);
}

static cnn_status streams_wait(cnn_context *context, cnn_stream *s, int index, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    return CUDA_CHECK(c, cudaStreamWaitEvent(c->stream, s->marks[index], 0), err);
}

const cnn_streams cuda_streams = {streams_open, streams_close, streams_use, streams_mark, streams_wait};
