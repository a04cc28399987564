/* mock_device.c: the CPU implementation behind a lazy stream (mock_device.h). */
#include "mock_device.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 2, KNOBS_MAX = 32, LAPS_MAX = 256 };
enum { FAIL_AT, SYNC_LAUNCHES, REFUSE, EARLY_UPLOADS, MEMORY, OWN_KNOBS };

static const cnn_knob own_knobs[OWN_KNOBS] = {{"fail_at", "", 0, INT64_MAX, 0, NULL, 0},
                                              {"sync_launches", "", 0, 1, 0, NULL, 0},
                                              {"refuse", "", 0, 3, 0, NULL, 0},
                                              {"early_uploads", "", 0, 1, 0, NULL, 0},
                                              {"memory", "", 0, INT64_MAX, (int64_t)1 << 40, NULL, 0}};

const cnn_impl *cnn_impl_cpu(void);

typedef struct mock mock;
typedef struct call call;
typedef cnn_status runner(mock *, const call *, cnn_error *);

typedef struct copy_args {
    void *dst;
    const void *src;
    size_t bytes;
    int byte, lane;
    int64_t upload; /* which one of the lane is waited for */
} copy_args;

struct call {
    runner *run;
    const cnn_plan *plan;
    union {
        cnn_weighted_args weighted;
        cnn_map_fwd_args map_fwd;
        cnn_map_bwd_args map_bwd;
        cnn_loss_args loss;
        cnn_join_args join;
        cnn_split_args split;
        cnn_batchnorm_args batchnorm;
        cnn_optimizer_args optimizer;
        cnn_gather_args gather;
        copy_args copy;
        int64_t *mark;
    } args;
};

typedef struct calls {
    call *list;
    int64_t count, capacity;
} calls;

typedef struct lane {
    copy_args upload;
    bool waiting, undrained; /* not copied yet; not waited for yet */
    int64_t uploads;         /* so far */
    int64_t used_at;         /* the place in the stream of its latest upload_use */
} lane;

/* Marks are on the stream as well; each operation is one kernel and marks its end. The mock's clock: a mark a tick. */
struct cnn_laps {
    cnn_lap list[LAPS_MAX];
    int64_t passed[LAPS_MAX + 1];
    int count;
};

struct mock {
    cnn_context *cpu;
    cnn_laps *laps;
    int64_t ticks;
    calls queue, *capture; /* capture: where calls go instead */
    int64_t ran;           /* of the queue */
    int64_t knobs[OWN_KNOBS], executed;
    lane lanes[LANES];
    int last_lane;
    mock_counts counts;
    bool dead;
};

static mock *of(cnn_context *context) { return (mock *)(void *)context; }
mock_counts mock_counted(const cnn_context *context) { return ((const mock *)(const void *)context)->counts; }

static cnn_status append(calls *to, const call *from, int64_t count, cnn_error *err)
{
    if (to->count + count > to->capacity) {
        const int64_t capacity = 2 * to->capacity + count + 64;
        call *more = realloc(to->list, (size_t)capacity * sizeof *more);
        if (more == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the mock's stream");
        to->list = more;
        to->capacity = capacity;
    }
    memcpy(to->list + to->count, from, (size_t)count * sizeof *from);
    to->count += count;
    return CNN_OK;
}

/* Runs the stream up to a place in it. */
static cnn_status run_until(mock *m, int64_t place, cnn_error *err)
{
    while (m->ran < place) {
        const call *c = &m->queue.list[m->ran++];
        m->dead = m->dead || ++m->executed == m->knobs[FAIL_AT];
        if (m->dead) return CNN_FAIL(err, CNN_DEVICE, "mock: operation %lld failed", (long long)m->executed);
        const cnn_status status = c->run(m, c, err);
        if (status != CNN_OK) return status;
    }
    return m->dead ? CNN_FAIL(err, CNN_DEVICE, "mock: the context is dead") : CNN_OK;
}

static cnn_status finish(mock *m, const char *what, cnn_error *err)
{
    if (m->capture != NULL) return CNN_FAIL(err, CNN_DEVICE, "mock: %s is not allowed in a capture", what);
    const cnn_status status = run_until(m, m->queue.count, err);
    m->queue.count = m->ran = 0;
    for (int i = 0; i < LANES; i++) m->lanes[i].used_at = 0;
    m->last_lane = -1;
    return status;
}

static cnn_status launch_one(mock *m, const call *c, cnn_error *err)
{
    if (m->dead) return CNN_FAIL(err, CNN_DEVICE, "mock: the context is dead");
    if (m->capture != NULL && m->knobs[REFUSE] == 2)
        return CNN_FAIL(err, CNN_DEVICE, "mock: this operation cannot be captured");
    if (m->capture != NULL) return append(m->capture, c, 1, err);
    m->counts.launches++;
    const cnn_status status = append(&m->queue, c, 1, err);
    return status == CNN_OK && m->knobs[SYNC_LAUNCHES] ? run_until(m, m->queue.count, err) : status;
}

static cnn_status run_mark(mock *m, const call *c, cnn_error *err)
{
    (void)err;
    *c->args.mark = m->ticks++;
    return CNN_OK;
}

static cnn_status mock_lap(cnn_context *context, const char *phase, cnn_error *err)
{
    mock *m = of(context);
    if (m->laps == NULL) return CNN_OK;
    if (m->laps->count == LAPS_MAX) return CNN_FAIL(err, CNN_INTERNAL, "mock: too many laps");
    snprintf(m->laps->list[m->laps->count].phase, sizeof m->laps->list->phase, "%s", phase);
    const call c = {.run = run_mark, .args.mark = &m->laps->passed[++m->laps->count]};
    return launch_one(m, &c, err);
}

static cnn_status mock_laps_open(cnn_context *context, cnn_laps **laps, cnn_error *err)
{
    (void)context;
    *laps = calloc(1, sizeof **laps);
    return *laps != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
}

static void mock_laps_close(cnn_context *context, cnn_laps *laps)
{
    if (of(context)->laps == laps) of(context)->laps = NULL;
    free(laps);
}

static cnn_status mock_laps_use(cnn_context *context, cnn_laps *laps, cnn_error *err)
{
    mock *m = of(context);
    m->laps = laps;
    if (laps == NULL) return CNN_OK;
    laps->count = 0;
    const call c = {.run = run_mark, .args.mark = &laps->passed[0]};
    return launch_one(m, &c, err);
}

static cnn_status mock_laps_read(cnn_context *context, cnn_laps *laps, const cnn_lap **list, int *count, cnn_error *err)
{
    (void)context, (void)err;
    for (int i = 0; i < laps->count; i++)
        laps->list[i].seconds = 1e-7 * (double)(laps->passed[i + 1] - laps->passed[i]);
    *list = laps->list;
    *count = laps->count;
    return CNN_OK;
}

static cnn_status launch(cnn_context *context, const call *c, cnn_error *err)
{
    const cnn_status status = launch_one(of(context), c, err);
    return status == CNN_OK ? mock_lap(context, "kernel", err) : status;
}

/* ---- Operations: written down, and run by the CPU's slot of the same name. ---- */

#define OPERATIONS(X)                                                                                                  \
    X(conv_fwd, weighted, cnn_weighted_args)                                                                           \
    X(conv_bwd_data, weighted, cnn_weighted_args)                                                                      \
    X(conv_bwd_weights, weighted, cnn_weighted_args)                                                                   \
    X(fc_fwd, weighted, cnn_weighted_args)                                                                             \
    X(fc_bwd_data, weighted, cnn_weighted_args)                                                                        \
    X(fc_bwd_weights, weighted, cnn_weighted_args)                                                                     \
    X(pool_fwd, map_fwd, cnn_map_fwd_args)                                                                             \
    X(pool_bwd, map_bwd, cnn_map_bwd_args)                                                                             \
    X(act_fwd, map_fwd, cnn_map_fwd_args)                                                                              \
    X(act_bwd, map_bwd, cnn_map_bwd_args)                                                                              \
    X(dropout_fwd, map_fwd, cnn_map_fwd_args)                                                                          \
    X(dropout_bwd, map_bwd, cnn_map_bwd_args)                                                                          \
    X(loss_fwd, loss, cnn_loss_args)                                                                                   \
    X(loss_bwd, loss, cnn_loss_args)                                                                                   \
    X(add_fwd, join, cnn_join_args)                                                                                    \
    X(concat_fwd, join, cnn_join_args)                                                                                 \
    X(concat_bwd, split, cnn_split_args)                                                                               \
    X(batchnorm_fwd, batchnorm, cnn_batchnorm_args)                                                                    \
    X(batchnorm_bwd, batchnorm, cnn_batchnorm_args)                                                                    \
    X(optimizer_step, optimizer, cnn_optimizer_args)

#define X(slot, field, type)                                                                                           \
    static cnn_status run_##slot(mock *m, const call *c, cnn_error *err)                                               \
    {                                                                                                                  \
        return cnn_impl_cpu()->slot(m->cpu, c->plan, &c->args.field, err);                                             \
    }                                                                                                                  \
    static cnn_status mock_##slot(cnn_context *context, const cnn_plan *plan, const type *args, cnn_error *err)        \
    {                                                                                                                  \
        const call c = {.run = run_##slot, .plan = plan, .args.field = *args};                                         \
        return launch(context, &c, err);                                                                               \
    }
OPERATIONS(X)
#undef X

static cnn_status run_gather(mock *m, const call *c, cnn_error *err)
{
    return cnn_impl_cpu()->gather(m->cpu, &c->args.gather, err);
}

static cnn_status mock_gather(cnn_context *context, const cnn_gather_args *args, cnn_error *err)
{
    const call c = {.run = run_gather, .args.gather = *args};
    return launch(context, &c, err);
}

static cnn_status run_copy(mock *m, const call *c, cnn_error *err)
{
    (void)m, (void)err;
    memcpy(c->args.copy.dst, c->args.copy.src, c->args.copy.bytes);
    return CNN_OK;
}

static cnn_status mock_copy(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    const call c = {.run = run_copy, .args.copy = {.dst = dst, .src = src, .bytes = bytes}};
    return launch(context, &c, err);
}

static cnn_status run_fill(mock *m, const call *c, cnn_error *err)
{
    (void)m, (void)err;
    memset(c->args.copy.dst, c->args.copy.byte, c->args.copy.bytes);
    return CNN_OK;
}

static cnn_status mock_fill(cnn_context *context, void *dst, int byte, size_t bytes, cnn_error *err)
{
    const call c = {.run = run_fill, .args.copy = {.dst = dst, .byte = byte, .bytes = bytes}};
    return launch(context, &c, err);
}

/* ---- Memory, synchronising, graphs ---- */

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
    of(context)->counts.allocations++;
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
    *bytes = (size_t)of(context)->knobs[MEMORY];
    return CNN_OK;
}

static cnn_status mock_transfer(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    const cnn_status status = finish(of(context), "a copy to or from the host", err);
    if (status == CNN_OK) memcpy(dst, src, bytes);
    return status;
}

static cnn_status mock_sync(cnn_context *context, cnn_error *err) { return finish(of(context), "sync", err); }

static cnn_status mock_capture_begin(cnn_context *context, cnn_error *err)
{
    mock *m = of(context);
    if (m->knobs[REFUSE] == 1) return CNN_FAIL(err, CNN_DEVICE, "mock: nothing can be captured");
    if (m->capture != NULL) return CNN_FAIL(err, CNN_DEVICE, "mock: a capture in a capture");
    m->capture = calloc(1, sizeof *m->capture);
    return m->capture != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
}

static void mock_graph_free(cnn_context *context, cnn_graph *graph)
{
    calls *g = (calls *)(void *)graph;
    (void)context;
    free(g->list);
    free(g);
}

static cnn_status mock_capture_end(cnn_context *context, cnn_graph **graph, cnn_error *err)
{
    mock *m = of(context);
    *graph = (cnn_graph *)(void *)m->capture;
    m->capture = NULL;
    if (m->knobs[REFUSE] != 3) return CNN_OK;
    mock_graph_free(context, *graph);
    return CNN_FAIL(err, CNN_DEVICE, "mock: this capture was in vain");
}

static cnn_status mock_graph_run(cnn_context *context, cnn_graph *graph, cnn_error *err)
{
    mock *m = of(context);
    const calls *g = (const calls *)(void *)graph;
    m->counts.replays++;
    if (m->capture != NULL) return CNN_FAIL(err, CNN_DEVICE, "mock: a replay in a capture");
    if (m->dead) return CNN_FAIL(err, CNN_DEVICE, "mock: the context is dead");
    return append(&m->queue, g->list, g->count, err);
}

/* ---- Uploads beside the stream ---- */

static void copy_now(lane *l)
{
    if (l->waiting) memcpy(l->upload.dst, l->upload.src, l->upload.bytes);
    l->waiting = false;
}

static cnn_status mock_upload_async(cnn_context *context, int index, void *dst, const void *src, size_t bytes,
                                    cnn_error *err)
{
    mock *m = of(context);
    lane *l = &m->lanes[index];
    if (l->undrained) return CNN_FAIL(err, CNN_DEVICE, "mock: lane %d was not drained", index);
    if (m->last_lane == index) return CNN_FAIL(err, CNN_DEVICE, "mock: lane %d twice in a row", index);
    m->last_lane = index;
    m->counts.uploads_beside++;
    *l = (lane){.upload = {.dst = dst, .src = src, .bytes = bytes},
                .waiting = true,
                .undrained = true,
                .uploads = l->uploads + 1,
                .used_at = l->used_at};
    if (!m->knobs[EARLY_UPLOADS]) return CNN_OK;
    const cnn_status status = run_until(m, m->lanes[1 - index].used_at, err);
    copy_now(l); /* nothing after that has run: whoever still reads dst there gets the new batch */
    return status;
}

static cnn_status run_use(mock *m, const call *c, cnn_error *err)
{
    (void)err;
    lane *l = &m->lanes[c->args.copy.lane];
    if (c->args.copy.upload == l->uploads) copy_now(l); /* else it was drained long ago */
    return CNN_OK;
}

static cnn_status mock_upload_use(cnn_context *context, int index, cnn_error *err)
{
    mock *m = of(context);
    const call c = {.run = run_use, .args.copy = {.lane = index, .upload = m->lanes[index].uploads}};
    m->lanes[index].used_at = m->queue.count;
    return append(&m->queue, &c, 1, err);
}

static cnn_status mock_upload_drain(cnn_context *context, int index, double *seconds, cnn_error *err)
{
    mock *m = of(context);
    lane *l = &m->lanes[index];
    *seconds = l->undrained ? 1.0 : 0.0; /* so that they can be counted */
    const cnn_status status = l->waiting ? run_until(m, m->lanes[1 - index].used_at, err) : CNN_OK;
    copy_now(l);
    l->undrained = false;
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
    mock *m = of(context);
    cnn_impl_cpu()->close(m->cpu);
    free(m->queue.list);
    free(m);
}

static cnn_status mock_supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                                const cnn_algorithm *algorithm, cnn_error *err)
{
    return cnn_impl_cpu()->supports(of(context)->cpu, problem, dir, algorithm, err);
}

static cnn_status mock_workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                                 const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    return cnn_impl_cpu()->workspace(of(context)->cpu, problem, dir, algorithm, bytes, err);
}

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
    impl.n_knobs = cnn_impl_cpu()->n_knobs + OWN_KNOBS;
    impl.open = mock_open;
    impl.close = mock_close;
    impl.describe = NULL;
    impl.alloc = mock_alloc;
    impl.free = mock_free;
    impl.upload = mock_transfer;
    impl.download = mock_transfer;
    impl.copy = mock_copy;
    impl.fill = mock_fill;
    impl.memory_free = mock_memory_free;
    impl.sync = mock_sync;
    impl.capture_begin = mock_capture_begin;
    impl.capture_end = mock_capture_end;
    impl.graph_run = mock_graph_run;
    impl.graph_free = mock_graph_free;
    impl.host_alloc = mock_host_alloc;
    impl.host_free = mock_free;
    impl.upload_async = mock_upload_async;
    impl.upload_use = mock_upload_use;
    impl.upload_drain = mock_upload_drain;
    impl.laps_open = mock_laps_open;
    impl.laps_close = mock_laps_close;
    impl.laps_use = mock_laps_use;
    impl.lap = mock_lap;
    impl.laps_read = mock_laps_read;
    impl.supports = mock_supports;
    impl.workspace = mock_workspace;
#define X(slot, field, type) impl.slot = mock_##slot;
    OPERATIONS(X)
#undef X
    impl.gather = mock_gather;
    impl.n_peaks = 0; /* the CPU's own are not this device's */
    impl.peak_open = NULL;
    impl.peak_run = NULL;
    impl.peak_close = NULL;
    return &impl;
}
