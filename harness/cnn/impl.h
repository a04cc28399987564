/* cnn/impl.h: the implementation: one struct of typed function pointers, the nullable ones marked "(optional)". Part of
 * cnn.h.
 *
 * Each function leaves the calling thread's arithmetic as it found it: rounding, denormal numbers, traps. One that does
 * not has failed, whatever it returns: everybody else's results would depend on it. */
#ifndef CNN_IMPL_H
#define CNN_IMPL_H

#include "args.h"
#include "net.h"
#include "plan.h"

#define CNN_ABI_VERSION 1

#define CNN_OPERATION(slot, args) cnn_status (*slot)(cnn_context *, const cnn_plan *, const args *, cnn_error *)

typedef struct cnn_impl {
    /* Identity. The tables are static; the first algorithm that serves an operation is its default. */
    uint32_t abi_version; /* CNN_ABI_VERSION */
    uint32_t struct_size; /* sizeof(cnn_impl) */
    const char *name, *doc;
    cnn_device_kind device_kind;
    const cnn_algorithm *algorithms;
    int n_algorithms;
    const cnn_knob *knobs; /* (optional) */
    int n_knobs;

    /* Can it run here? If not: CNN_UNAVAILABLE, and why, in words a user can act on. */
    cnn_status (*probe)(cnn_error *);
    cnn_status (*open)(const cnn_open_params *, cnn_context **, cnn_error *);
    void (*close)(cnn_context *);
    void (*describe)(cnn_context *, cnn_put_fn *, void *user); /* (optional) versions, ISA, device: for the record */

    /* Memory and time on its device. NULL alloc stands for host memory: the harness then does all of these itself. */
    cnn_status (*alloc)(cnn_context *, size_t bytes, void **, cnn_error *);                       /* (optional) */
    void (*free)(cnn_context *, void *);                                                          /* with alloc */
    cnn_status (*upload)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);   /* with alloc */
    cnn_status (*download)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *); /* with alloc */
    cnn_status (*copy)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);     /* with alloc */
    cnn_status (*fill)(cnn_context *, void *dst, int byte, size_t bytes, cnn_error *);            /* with alloc */
    cnn_status (*memory_free)(cnn_context *, size_t *bytes, cnn_error *);                         /* with alloc */
    cnn_status (*sync)(cnn_context *, cnn_error *);        /* (optional) where operations are asynchronous */
    cnn_status (*timer_start)(cnn_context *, cnn_error *); /* (optional) device events; else the wall clock */
    cnn_status (*timer_stop)(cnn_context *, double *seconds, cnn_error *); /* with timer_start; waits for the device */
    /* (optional). CNN_UNSUPPORTED: not in this context, as its knobs are; steps can only be launched one by one. */
    cnn_status (*capture_begin)(cnn_context *, cnn_error *);
    cnn_status (*capture_end)(cnn_context *, cnn_graph **, cnn_error *); /* with capture_begin */
    cnn_status (*graph_run)(cnn_context *, cnn_graph *, cnn_error *);    /* with capture_begin */
    void (*graph_free)(cnn_context *, cnn_graph *);                      /* with capture_begin */

    /* Where the time goes: all five (optional), together. While laps are in use, operations mark the end of each of
     * their phases, and the harness the end of each operation (`lap` with ""). In a capture marks are captured too:
     * then the laps are those of the latest replay. Without laps in use, `lap` does nothing. */
    cnn_status (*laps_open)(cnn_context *, cnn_laps **, cnn_error *);
    void (*laps_close)(cnn_context *, cnn_laps *);
    cnn_status (*laps_use)(cnn_context *, cnn_laps *, cnn_error *); /* begins anew, here; NULL: none are in use */
    cnn_status (*lap)(cnn_context *, const char *phase, cnn_error *);
    /* After a sync. The list is good until the laps are used or read again. */
    cnn_status (*laps_read)(cnn_context *, cnn_laps *, const cnn_lap **list, int *count, cnn_error *);
    /* (optional) together: what is called between them stands under this name in the vendor's profiler. */
    void (*range_push)(cnn_context *, const char *name);
    void (*range_pop)(cnn_context *);

    /* Uploads beside the stream: all five (optional), together. There are two lanes, 0 and 1, taken in turn (after a
     * sync, either); a lane holds one upload at a time, and each goes  upload_async -> upload_use -> (operations that
     * read dst) -> upload_drain. `src` is memory from host_alloc. */
    cnn_status (*host_alloc)(cnn_context *, size_t bytes, void **, cnn_error *); /* host memory the device can read */
    void (*host_free)(cnn_context *, void *);
    /* Starts the copy and returns. It waits for what was on the stream before the other lane's latest upload_use, which
     * is all that read `dst` before; what came after overlaps with it. */
    cnn_status (*upload_async)(cnn_context *, int lane, void *dst, const void *src, size_t bytes, cnn_error *);
    /* What comes on the stream from now on waits for the lane's upload. */
    cnn_status (*upload_use)(cnn_context *, int lane, cnn_error *);
    /* Returns when the lane's upload is done and `src` may be written again; the seconds it took, 0 if there was none
     * since the last drain. */
    cnn_status (*upload_drain)(cnn_context *, int lane, double *seconds, cnn_error *);

    /* Plans. `supports` is the only gate: CNN_OK, or CNN_UNSUPPORTED and the reason, nothing else, and always the same;
     * what it lets through must run. `prepare` may call UNSUPPORTED what algorithms with CNN_ALGO_MAY_REFUSE cannot do;
     * of the others it has failed, as has a `workspace` or an operation that does. `enumerate` gives only algorithms
     * beyond the table, never more than capacity. */
    cnn_status (*supports)(cnn_context *, const cnn_problem *, cnn_dir, const cnn_algorithm *, cnn_error *);
    cnn_status (*workspace)(cnn_context *, const cnn_problem *, cnn_dir, const cnn_algorithm *, size_t *bytes,
                            cnn_error *); /* (optional) none needed */
    cnn_status (*enumerate)(cnn_context *, const cnn_problem *, cnn_dir, cnn_algorithm *list, int capacity, int *count,
                            cnn_error *);                          /* (optional) algorithms known only for a problem */
    cnn_status (*prepare)(cnn_context *, cnn_plan *, cnn_error *); /* (optional) may allocate, search, compile */
    void (*release)(cnn_context *, cnn_plan *); /* with prepare: for every plan whose state is not NULL */

    /* Operations: all (optional), asynchronous on the context's stream. NULL: unsupported, and `supports` says so. */
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
    /* (optional) Makes the batches of a training run; without it the host copies image by image. What it makes of the
     * first batches is compared with the host's own copy before training begins. */
    cnn_status (*gather)(cnn_context *, const cnn_gather_args *, cnn_error *);

    /* A whole training step (forward, loss, backward, update) in its own hands: all three (optional), together. Results
     * must agree with the composition of single operations, to which it is compared. */
    cnn_status (*step_open)(cnn_context *, const cnn_net *, const cnn_optimizer_desc *, cnn_stepper **,
                            size_t *workspace_bytes, cnn_error *);
    cnn_status (*step_run)(cnn_context *, cnn_stepper *, const cnn_step_args *, cnn_error *);
    void (*step_close)(cnn_context *, cnn_stepper *);

    /* Ceilings of its device, numbered 0 to n_peaks - 1: all (optional), together. peak_open allocates and fills in the
     * peak; CNN_UNSUPPORTED for one that this device has not. peak_run is asynchronous on the context's stream. */
    int n_peaks;
    cnn_status (*peak_open)(cnn_context *, int index, cnn_peak *, cnn_error *);
    cnn_status (*peak_run)(cnn_context *, const cnn_peak *, cnn_error *);
    void (*peak_close)(cnn_context *, cnn_peak *);
} cnn_impl;

/* What a plug-in exports, and all that it must: its table, static. See impl_template/ and `benchcnn list --plugin`. */
#define CNN_PLUGIN __attribute__((visibility("default")))
#ifdef __cplusplus
extern "C"
#endif
    CNN_PLUGIN const cnn_impl *
    cnn_plugin(void);

#endif
