/* cnn/impl.h: the implementation: who it is, and a few small tables of functions. Part of cnn.h.
 *
 * A table that is not there (NULL) stands for what its comment says. One that is there is whole: all of its functions
 * are, but for those of cnn_operations, each of which may be NULL. An author of one kernel fills in the identity,
 * open, close, supports and one operation.
 *
 * Each function leaves the calling thread's arithmetic as it found it: rounding, denormal numbers, traps. One that does
 * not has failed, whatever it returns: everybody else's results would depend on it. */
#ifndef CNN_IMPL_H
#define CNN_IMPL_H

#include "args.h"
#include "plan.h"
#include "train.h"

#define CNN_ABI_VERSION 5

/* Memory on its device. NULL: host memory, which the harness allocates and copies itself. */
typedef struct cnn_memory {
    cnn_status (*alloc)(cnn_context *, size_t bytes, void **, cnn_error *);
    void (*free)(cnn_context *, void *);
    cnn_status (*upload)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);
    cnn_status (*download)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);
    cnn_status (*copy)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *); /* on the stream */
    cnn_status (*fill)(cnn_context *, void *dst, int byte, size_t bytes, cnn_error *);        /* on the stream */
    cnn_status (*available)(cnn_context *, size_t *bytes, cnn_error *);
} cnn_memory;

/* The device's own clock, by events on the stream. NULL: the wall clock. */
typedef struct cnn_timing {
    cnn_status (*start)(cnn_context *, cnn_error *);
    cnn_status (*stop)(cnn_context *, double *seconds, cnn_error *); /* waits for the device */
} cnn_timing;

/* What is launched between `begin` and `end`, to be launched again in one go. NULL: one by one. */
typedef struct cnn_capture {
    cnn_status (*begin)(cnn_context *, cnn_error *); /* CNN_UNSUPPORTED: not in this context, as its knobs are */
    cnn_status (*end)(cnn_context *, cnn_graph **, cnn_error *);
    cnn_status (*run)(cnn_context *, cnn_graph *, cnn_error *);
    void (*free)(cnn_context *, cnn_graph *);
} cnn_capture;

/* Where the time goes. While laps are in use, operations mark the end of each of their phases, and the harness the end
 * of each operation (`lap` with ""). In a capture marks are captured too: then the laps are those of the latest replay.
 * Without laps in use, `lap` does nothing. NULL: nobody knows. */
typedef struct cnn_profile {
    cnn_status (*open)(cnn_context *, cnn_laps **, cnn_error *);
    void (*close)(cnn_context *, cnn_laps *);
    cnn_status (*use)(cnn_context *, cnn_laps *, cnn_error *); /* begins anew, here; NULL laps: none are in use */
    cnn_status (*lap)(cnn_context *, const char *phase, cnn_error *);
    /* After a sync. The list is good until the laps are used or read again. */
    cnn_status (*read)(cnn_context *, cnn_laps *, const cnn_lap **list, int *count, cnn_error *);
} cnn_profile;

/* What is called between the two stands under this name in the vendor's profiler. NULL: it has none. */
typedef struct cnn_ranges {
    void (*push)(cnn_context *, const char *name);
    void (*pop)(cnn_context *);
} cnn_ranges;

/* Uploads beside the stream. There are two lanes, 0 and 1, taken in turn (after a sync, either); a lane holds one
 * upload at a time, and each goes  start -> use -> (operations that read dst) -> drain. `src` is memory from
 * host_alloc. NULL: uploads wait. */
typedef struct cnn_uploads {
    cnn_status (*host_alloc)(cnn_context *, size_t bytes, void **, cnn_error *); /* host memory the device can read */
    void (*host_free)(cnn_context *, void *);
    /* Starts the copy and returns. It waits for what was on the stream before the other lane's latest `use`, which is
     * all that read `dst` before; what came after overlaps with it. */
    cnn_status (*start)(cnn_context *, int lane, void *dst, const void *src, size_t bytes, cnn_error *);
    /* What comes on the stream from now on waits for the lane's upload. */
    cnn_status (*use)(cnn_context *, int lane, cnn_error *);
    /* Returns when the lane's upload is done and `src` may be written again; the seconds it took, 0 if there was none
     * since the last drain. */
    cnn_status (*drain)(cnn_context *, int lane, double *seconds, cnn_error *);
} cnn_uploads;

/* Copies of what is on the device into host memory and back, beside the stream. NULL: nothing of a training can be
 * moved to the host meanwhile. */
typedef struct cnn_offloads {
    /* For copies 0 to count - 1; *host: `bytes` of host memory that the device can read and write, until `close`. */
    cnn_status (*open)(cnn_context *, int count, size_t bytes, cnn_offload **, void **host, cnn_error *);
    /* What was begun is over when it returns. */
    void (*close)(cnn_context *, cnn_offload *);
    /* Begins copy `index`: behind all that is on the stream now, and behind the copies that were begun before. What
     * comes on the stream from now on overlaps with it. In a capture it is captured, as the wait for it is, which then
     * comes before the end. */
    cnn_status (*begin)(cnn_context *, cnn_offload *, int index, const cnn_offload_copy *, cnn_error *);
    /* What comes on the stream from now on waits for the latest copy `index`. */
    cnn_status (*wait)(cnn_context *, cnn_offload *, int index, cnn_error *);
} cnn_offloads;

/* A second stream beside the context's, for operations that do not depend on each other. What operations share (a
 * library's memory, partial sums) it has twice. NULL: operations run one after another. */
typedef struct cnn_streams {
    /* With marks 0 to count - 1. */
    cnn_status (*open)(cnn_context *, int count, cnn_stream **, cnn_error *);
    /* When nothing runs on it any more. */
    void (*close)(cnn_context *, cnn_stream *);
    /* What is called from now on goes on the second stream, or on the context's own again, which it is on at first.
     * Between the two only operations and copies are called, `mark` and `wait`. */
    cnn_status (*use)(cnn_context *, cnn_stream *, bool second, cnn_error *);
    /* The place that the stream in use has come to. What comes on the stream in use from now on waits for the latest
     * mark `index`. In a capture both are captured: the second stream belongs to it from its first wait on, and what is
     * on it is waited for before the end. */
    cnn_status (*mark)(cnn_context *, cnn_stream *, int index, cnn_error *);
    cnn_status (*wait)(cnn_context *, cnn_stream *, int index, cnn_error *);
} cnn_streams;

/* Ceilings of its device, numbered 0 to count - 1. NULL: none. */
typedef struct cnn_peaks {
    int count;
    /* Allocates and fills in the peak; CNN_UNSUPPORTED for one that this device has not. */
    cnn_status (*open)(cnn_context *, int index, cnn_peak *, cnn_error *);
    cnn_status (*run)(cnn_context *, const cnn_peak *, cnn_error *); /* on the stream */
    void (*close)(cnn_context *, cnn_peak *);
} cnn_peaks;

/* Sums over the processes that train one network together, each with a device of its own. NULL: they go by way of host
 * memory, and steps are not captured. */
typedef struct cnn_comms {
    size_t id_bytes;                            /* of what names a group of processes */
    cnn_status (*id)(void *id, cnn_error *err); /* a new one, made by the first and sent to the others by the harness */
    /* Waits until all `size` processes have called it. */
    cnn_status (*open)(cnn_context *, const void *id, int rank, int size, cnn_comm **, cnn_error *);
    void (*close)(cnn_context *, cnn_comm *);
    /* Adds up all processes' buffers, in place, on the stream; in a capture it is captured, too. All get the same bits.
     */
    cnn_status (*sum)(cnn_context *, cnn_comm *, void *buffer, int64_t count, cnn_dtype, cnn_error *);
} cnn_comms;

#define CNN_OPERATION(slot, args) cnn_status (*slot)(cnn_context *, const cnn_plan *, const args *, cnn_error *)

/* Operations, asynchronous on the context's stream: what is next there finds all of their results. NULL: unsupported,
 * and `supports` says so. They search nothing and allocate nothing: what can be done once, `prepare` has done. */
typedef struct cnn_operations {
    uint32_t struct_size; /* sizeof(cnn_operations) */
    CNN_OPERATION(conv_fwd, cnn_weighted_args);
    CNN_OPERATION(conv_bwd_data, cnn_weighted_args);
    CNN_OPERATION(conv_bwd_weights, cnn_weighted_args);
    CNN_OPERATION(fc_fwd, cnn_weighted_args);
    CNN_OPERATION(fc_bwd_data, cnn_weighted_args);
    CNN_OPERATION(fc_bwd_weights, cnn_weighted_args);
    CNN_OPERATION(pool_fwd, cnn_map_fwd_args);
    CNN_OPERATION(pool_bwd, cnn_map_bwd_args);
    CNN_OPERATION(act_fwd, cnn_map_fwd_args);
    CNN_OPERATION(act_bwd, cnn_map_bwd_args);
    CNN_OPERATION(dropout_fwd, cnn_map_fwd_args);
    CNN_OPERATION(dropout_bwd, cnn_map_bwd_args);
    CNN_OPERATION(loss_fwd, cnn_loss_args);
    CNN_OPERATION(loss_bwd, cnn_loss_args);
    CNN_OPERATION(add_fwd, cnn_join_args);
    CNN_OPERATION(concat_fwd, cnn_join_args);
    CNN_OPERATION(concat_bwd, cnn_split_args);
    CNN_OPERATION(batchnorm_fwd, cnn_batchnorm_args);
    CNN_OPERATION(batchnorm_bwd, cnn_batchnorm_args);
    CNN_OPERATION(optimizer_step, cnn_optimizer_args);
    /* Makes the batches of a training run; NULL: the host copies image by image. What it makes of the first batches is
     * compared with the host's own copy before training begins. */
    cnn_status (*gather)(cnn_context *, const cnn_gather_args *, cnn_error *);
    /* The bias of a transposed convolution; `plan` is the convolution's. */
    CNN_OPERATION(bias_add, cnn_bias_args);
    CNN_OPERATION(bias_gradient, cnn_bias_args);
} cnn_operations;

/* Slots of cnn_operations: one function for conv and FC in all directions. */
#define CNN_WEIGHTED_SLOTS(f)                                                                                          \
    .conv_fwd = f, .conv_bwd_data = f, .conv_bwd_weights = f, .fc_fwd = f, .fc_bwd_data = f, .fc_bwd_weights = f

typedef struct cnn_impl {
    /* Identity. The first algorithm that serves an operation is its default. struct_size may be smaller than the
     * harness's, which has grown since: what is missing is NULL. So may cnn_operations'. */
    uint32_t abi_version; /* CNN_ABI_VERSION */
    uint32_t struct_size; /* sizeof(cnn_impl) */
    const char *name, *doc;
    cnn_device_kind device_kind;
    const cnn_algorithm *algorithms;
    int n_algorithms;
    const cnn_knob *knobs; /* (optional) */
    int n_knobs;

    /* (optional) Can it run here? If not: CNN_UNAVAILABLE, and why, in words a user can act on. */
    cnn_status (*probe)(cnn_error *);
    cnn_status (*open)(const cnn_open_params *, cnn_context **, cnn_error *);
    void (*close)(cnn_context *);
    void (*describe)(cnn_context *, cnn_put_fn *, void *user); /* (optional) versions, ISA, device: for the record */
    cnn_status (*sync)(cnn_context *, cnn_error *);            /* (optional) where operations are asynchronous */

    /* Plans. `supports` is the only gate: CNN_OK, or CNN_UNSUPPORTED and the reason, nothing else, and always the same;
     * what it lets through must run. `prepare` does what can be done once (it may choose, allocate, search, compile),
     * and says how much workspace the operation needs. It may call UNSUPPORTED what algorithms with
     * CNN_ALGO_MAY_REFUSE cannot do; of the others it has failed, as has an operation that does. */
    cnn_status (*supports)(cnn_context *, const cnn_request *, cnn_error *);
    cnn_status (*prepare)(cnn_context *, cnn_plan *, cnn_error *); /* (optional) no workspace, nothing to do */
    void (*release)(cnn_context *, cnn_plan *); /* (optional) where prepare sets plan->state: called for each such */
    /* (optional) Algorithms known only for a problem, beyond the table, never more than capacity. The request has no
     * algorithm. */
    cnn_status (*enumerate)(cnn_context *, const cnn_request *, cnn_algorithm *list, int capacity, int *count,
                            cnn_error *);

    const cnn_operations *ops;
    const cnn_memory *memory;
    const cnn_timing *timing;
    const cnn_capture *capture;
    const cnn_profile *profile;
    const cnn_ranges *ranges;
    const cnn_uploads *uploads;
    const cnn_peaks *peaks;
    const cnn_trainers *trainers; /* NULL: none; then no algorithm has CNN_TRAINS */
    const cnn_comms *comms;
    uint64_t dtypes; /* the types that it takes, a mask of 1 << cnn_dtype; 0: f32 and f64. `supports` is asked of no
                        other */
    const cnn_offloads *offloads;
    const cnn_streams *streams;
} cnn_impl;

/* What a plug-in exports, and all that it must: its table, static. See impl_template/ and `benchcnn list --plugin`. */
#define CNN_PLUGIN __attribute__((visibility("default")))
#ifdef __cplusplus
extern "C"
#endif
    CNN_PLUGIN const cnn_impl *
    cnn_plugin(void);

#endif
