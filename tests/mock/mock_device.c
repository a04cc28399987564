/* mock_device.c: the CPU implementation behind a lazy stream (mock_device.h): its memory, opening it, its table. */
#include "mock_parts.h"

#include <stdlib.h>
#include <string.h>

enum { KNOBS_MAX = 32 };

/* Of the context: `open` reads them. */
static const cnn_knob own_knobs[MOCK_KNOBS] = {{"fail_at", "", 0, INT64_MAX, 0, NULL, 0, true},
                                               {"sync_launches", "", 0, 1, 0, NULL, 0, true},
                                               {"refuse", "", 0, 3, 0, NULL, 0, true},
                                               {"early_uploads", "", 0, 1, 0, NULL, 0, true},
                                               {"memory", "", 0, INT64_MAX, (int64_t)1 << 40, NULL, 0, true},
                                               {"searches", "", 0, 1, 0, NULL, 0, true},
                                               {"rests_from", "", 0, INT64_MAX, 0, NULL, 0, true},
                                               {"disorder", "", 0, INT64_MAX, 0, NULL, 0, true}};

mock_counts mock_counted(const cnn_context *context) { return ((const mock *)(const void *)context)->counts; }

/* ---- Memory ---- */

cnn_status mock_host_alloc(cnn_context *context, size_t bytes, void **memory, cnn_error *err)
{
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

void mock_free(cnn_context *context, void *memory) { free(memory); }

static cnn_status mock_available(cnn_context *context, size_t *bytes, cnn_error *err)
{
    *bytes = (size_t)mock_of(context)->knobs[MOCK_MEMORY];
    return CNN_OK;
}

static cnn_status mock_transfer(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    const cnn_status status = mock_finish(mock_of(context), "a copy to or from the host", err);
    if (status == CNN_OK) memcpy(dst, src, bytes);
    return status;
}

static const cnn_memory mock_memory = {.alloc = mock_alloc,
                                       .free = mock_free,
                                       .upload = mock_transfer,
                                       .download = mock_transfer,
                                       .copy = mock_copy,
                                       .fill = mock_fill,
                                       .available = mock_available};

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
    free(m->beside.list);
    free(m);
}

/* Of the knobs of a request, too, the CPU's stand first. */
static cnn_status mock_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    return cnn_impl_cpu()->supports(mock_of(context)->cpu, request, err);
}

static cnn_status mock_prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    mock *m = mock_of(context);
    const cnn_status status = cnn_impl_cpu()->prepare(m->cpu, plan, err);
    if (m->knobs[MOCK_SEARCHES] && plan->problem.op == CNN_OP_CONV)
        snprintf(plan->choice, sizeof plan->choice, "found_%d", (int)plan->dir);
    return status;
}

static void mock_release(cnn_context *context, cnn_plan *plan)
{
    const cnn_impl *cpu = cnn_impl_cpu();
    if (cpu->release != NULL) cpu->release(mock_of(context)->cpu, plan);
}

static const cnn_knob *all_knobs(void)
{
    static cnn_knob knobs[KNOBS_MAX]; /* the same whenever it is filled */
    const cnn_impl *cpu = cnn_impl_cpu();
    memcpy(knobs, cpu->knobs, (size_t)cpu->n_knobs * sizeof *knobs);
    memcpy(knobs + cpu->n_knobs, own_knobs, sizeof own_knobs);
    return knobs;
}

/* The CPU's rows but for those that train, which stand last: a trainer would know nothing of the stream. */
static int rows_of_operations(const cnn_impl *cpu)
{
    int count = 0;
    while (count < cpu->n_algorithms && cpu->algorithms[count].ops != CNN_TRAINS) count++;
    return count;
}

const cnn_impl *cnn_impl_mock(void)
{
    static cnn_impl impl;
    const cnn_impl *cpu = cnn_impl_cpu();
    impl = (cnn_impl){.abi_version = CNN_ABI_VERSION,
                      .struct_size = sizeof(cnn_impl),
                      .name = "mock",
                      .doc = "for tests: the CPU behind a lazy stream",
                      .device_kind = CNN_DEVICE_CUDA,
                      .algorithms = cpu->algorithms,
                      .n_algorithms = rows_of_operations(cpu),
                      .knobs = all_knobs(),
                      .n_knobs = cpu->n_knobs + MOCK_KNOBS,
                      .probe = cpu->probe,
                      .open = mock_open,
                      .close = mock_close,
                      .sync = mock_sync,
                      .supports = mock_supports,
                      .prepare = mock_prepare,
                      .release = mock_release,
                      .ops = &mock_operations,
                      .memory = &mock_memory,
                      .capture = &mock_capture,
                      .profile = &mock_profile,
                      .uploads = &mock_uploads,
                      .offloads = &mock_offloads,
                      .streams = &mock_streams};
    return &impl;
}
