/* mock_parts.h: what the files of the mock share: a stream of calls (mock_stream.c) with its marks (mock_laps.c) and
 * the uploads beside it (mock_lanes.c), copies to the host (mock_offload.c), a second stream (mock_streams.c), what can
 * be put on it (mock_operations.c), and the table (mock_device.c). */
#ifndef TESTS_MOCK_MOCK_PARTS_H
#define TESTS_MOCK_MOCK_PARTS_H

#include "harness/base/rng.h"
#include "mock_device.h"

/* The mock needs few of the arguments that its functions get. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { MOCK_LANES = 2, MOCK_LAPS = 256 };
/* Its knobs, which stand behind the CPU's. */
enum {
    MOCK_FAIL_AT,
    MOCK_SYNC_LAUNCHES,
    MOCK_REFUSE,
    MOCK_EARLY_UPLOADS,
    MOCK_MEMORY,
    MOCK_SEARCHES,
    MOCK_RESTS_FROM,
    MOCK_DISORDER,
    MOCK_KNOBS
};

const cnn_impl *cnn_impl_cpu(void);

typedef struct mock mock;
typedef struct call call;
typedef cnn_status runner(mock *, const call *, cnn_error *);

typedef struct copy_args {
    void *dst;
    const void *src;
    size_t bytes;
    int byte, lane;
    int64_t upload;       /* which one of the lane is waited for */
    cnn_offload *offload; /* of which `lane` is a copy's index */
    cnn_stream *stream;   /* of which `lane` is a mark's index */
} copy_args;

struct call {
    runner *run;
    cnn_plan plan;        /* a copy: the one that it was called with is gone when it runs */
    bool planned, second; /* second: it is on the second stream */
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
    int64_t used_at;         /* the place in the stream of its latest `use` */
} lane;

/* Marks are on the stream as well; each operation is one kernel and marks its end. The mock's clock: a mark a tick. */
struct cnn_laps {
    cnn_lap list[MOCK_LAPS];
    int64_t passed[MOCK_LAPS + 1];
    int count;
};

struct mock {
    cnn_context *cpu;
    cnn_laps *laps;
    int64_t ticks;
    calls queue, *capture; /* capture: where calls go instead */
    calls beside;          /* what the second stream has been given, and has not done from `beside_ran` on */
    int64_t beside_ran;
    bool second; /* is in use */
    int64_t ran; /* of the queue */
    int64_t knobs[MOCK_KNOBS], executed;
    cnn_rng disorder;
    lane lanes[MOCK_LANES];
    int last_lane;
    mock_counts counts;
    bool dead;
};

static inline mock *mock_of(cnn_context *context) { return (mock *)(void *)context; }

/* mock_stream.c: calls at the end of a list. */
cnn_status mock_append(calls *to, const call *from, int64_t count, cnn_error *err);
/* Runs the stream up to a place in it. */
cnn_status mock_run_until(mock *m, int64_t place, cnn_error *err);
/* All of it, and begins a new one; `what` is not allowed in a capture. */
cnn_status mock_finish(mock *m, const char *what, cnn_error *err);
/* Puts a call on the stream, or into the capture. */
cnn_status mock_launch(mock *m, const call *c, cnn_error *err);
/* mock_streams.c: a call that the stream has come to, and that is the second one's. */
cnn_status mock_beside(mock *m, const call *c, cnn_error *err);
/* mock_laps.c: a mark on the stream, where laps are in use. */
cnn_status mock_lap(cnn_context *context, const char *phase, cnn_error *err);

/* What each file has of the tables. */
cnn_status mock_sync(cnn_context *context, cnn_error *err);
cnn_status mock_copy(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err);
cnn_status mock_fill(cnn_context *context, void *dst, int byte, size_t bytes, cnn_error *err);
cnn_status mock_host_alloc(cnn_context *context, size_t bytes, void **memory, cnn_error *err);
void mock_free(cnn_context *context, void *memory);
extern const cnn_capture mock_capture;
extern const cnn_profile mock_profile;
extern const cnn_uploads mock_uploads;
extern const cnn_offloads mock_offloads;
extern const cnn_streams mock_streams;
extern const cnn_operations mock_operations;

#endif
