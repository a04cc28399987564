/* mock_device.c: the CPU implementation behind a lazy stream (mock_device.h): its memory, opening it, its table. */
#include "mock_parts.h"

#include <stdlib.h>
#include <string.h>

enum { KNOBS_MAX = 32 };

static const cnn_knob own_knobs[MOCK_KNOBS] = {{"fail_at", "", 0, INT64_MAX, 0, NULL, 0},
                                               {"sync_launches", "", 0, 1, 0, NULL, 0},
                                               {"refuse", "", 0, 3, 0, NULL, 0},
                                               {"early_uploads", "", 0, 1, 0, NULL, 0},
                                               {"memory", "", 0, INT64_MAX, (int64_t)1 << 40, NULL, 0},
                                               {"searches", "", 0, 1, 0, NULL, 0},
                                               {"rests_from", "", 0, INT64_MAX, 0, NULL, 0}};

mock_counts mock_counted(const cnn_context *context) { return ((const mock *)(const void *)context)->counts; }

/* ---- Memory ---- */

static cnn_status mock_host_alloc(cnn_context *context, size_t bytes, void **memory, cnn_error *err)
{
    (void)context;
    *memory = aligned_alloc(CNN_ALIGN, (bytes + CNN_ALIGN - 1) / CNN_ALIGN * CNN_ALIGN);
    if (*memory == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
    memset(*memory, 0xff, bytes);
    return CNN_OK;
}

static cnn_status mock_alloc(cnn_context *context, size_t bytes, void **memory, cnn_error *err)
{
    mock_of(context)->counts.allocations++;
    return mock_host_alloc(context, bytes, memory, err);
}

static void mock_free(cnn_context *context, void *memory)
{
    (void)context;
    free(memory);
}

static cnn_status mock_memory_free(cnn_context *context, size_t *bytes, cnn_error *err)
{
    (void)err;
    *bytes = (size_t)mock_of(context)->knobs[MOCK_MEMORY];
    return CNN_OK;
}

static cnn_status mock_transfer(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    const cnn_status status = mock_finish(mock_of(context), "a copy to or from the host", err);
    if (status == CNN_OK) memcpy(dst, src, bytes);
    return status;
}

/* ---- Opening, plans, the table ---- */

static cnn_status mock_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    mock *m = calloc(1, sizeof *m);
    if (m == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
    m->last_lane = -1;
    memcpy(m->knobs, params->knobs + cnn_impl_cpu()->n_knobs, sizeof m->knobs);
    const cnn_status status = cnn_impl_cpu()->open(params, &m->cpu, err); /* its knobs stand first */
    if (status == CNN_OK)
        *context = (cnn_context *)(void *)m;
    else
        free(m);
    return status;
}

static void mock_close(cnn_context *context)
{
    mock *m = mock_of(context);
    cnn_impl_cpu()->close(m->cpu);
    free(m->queue.list);
    free(m);
}

static cnn_status mock_supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                                const cnn_algorithm *algorithm, cnn_error *err)
{
    return cnn_impl_cpu()->supports(mock_of(context)->cpu, problem, dir, algorithm, err);
}

static cnn_status mock_workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                                 const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    return cnn_impl_cpu()->workspace(mock_of(context)->cpu, problem, dir, algorithm, bytes, err);
}

static cnn_status mock_prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    (void)err;
    if (mock_of(context)->knobs[MOCK_SEARCHES] && plan->problem.op == CNN_OP_CONV)
        snprintf(plan->choice, sizeof plan->choice, "found_%d", (int)plan->dir);
    return CNN_OK;
}

static void mock_release(cnn_context *context, cnn_plan *plan) { (void)context, (void)plan; }

static const cnn_knob *all_knobs(void)
{
    static cnn_knob knobs[KNOBS_MAX]; /* the same whenever it is filled */
    const cnn_impl *cpu = cnn_impl_cpu();
    memcpy(knobs, cpu->knobs, (size_t)cpu->n_knobs * sizeof *knobs);
    memcpy(knobs + cpu->n_knobs, own_knobs, sizeof own_knobs);
    return knobs;
}

const cnn_impl *cnn_impl_mock(void)
{
    static cnn_impl impl;
    impl = *cnn_impl_cpu();
    impl.name = "mock";
    impl.doc = "for tests: the CPU behind a lazy stream";
    impl.device_kind = CNN_DEVICE_CUDA;
    impl.knobs = all_knobs();
    impl.n_knobs = cnn_impl_cpu()->n_knobs + MOCK_KNOBS;
    impl.open = mock_open;
    impl.close = mock_close;
    impl.describe = NULL;
    impl.alloc = mock_alloc;
    impl.free = mock_free;
    impl.upload = mock_transfer;
    impl.download = mock_transfer;
    impl.memory_free = mock_memory_free;
    impl.host_alloc = mock_host_alloc;
    impl.host_free = mock_free;
    mock_put_stream(&impl);
    mock_put_laps(&impl);
    mock_put_lanes(&impl);
    mock_put_operations(&impl);
    impl.supports = mock_supports;
    impl.workspace = mock_workspace;
    impl.prepare = mock_prepare;
    impl.release = mock_release;
    impl.n_peaks = 0; /* the CPU's own are not this device's */
    impl.peak_open = NULL;
    impl.peak_run = NULL;
    impl.peak_close = NULL;
    return &impl;
}
