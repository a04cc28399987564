/* cnn/plan.h: what an implementation offers and is asked for: algorithms, knobs, plans, laps, ceilings. Part of cnn.h.
 */
#ifndef CNN_PLAN_H
#define CNN_PLAN_H

#include "desc.h"

typedef struct cnn_context cnn_context; /* opaque: a device, a stream, threads; contexts are independent */
typedef struct cnn_graph cnn_graph;     /* opaque: a captured sequence of operations */
typedef struct cnn_comm cnn_comm;       /* opaque: a group of processes that add up arrays */
typedef struct cnn_offload cnn_offload; /* opaque: copies to host memory and back, beside the stream */
typedef struct cnn_stream cnn_stream;   /* opaque: a second stream beside the context's */
typedef struct cnn_laps cnn_laps;       /* opaque: marks on the stream, and when it passed them */

/* What ran on the stream between one mark and the next. */
typedef struct cnn_lap {
    char phase[32]; /* "gemm", a kernel's name ...; "": what was left of an operation when the harness ended it */
    double seconds;
} cnn_lap;

/* From the device's memory to the host's, or from there back. */
typedef struct cnn_offload_copy {
    void *dst;
    const void *src;
    size_t bytes;
    bool to_host;
} cnn_offload_copy;

/* A launch parameter, tile size, version ... Valid: min <= v <= max and, where `values` is given, one of them. It is a
 * request's own, but for one `of_context`, which `open` takes: an instruction set, a library's memory. */
typedef struct cnn_knob {
    const char *name, *doc;
    int64_t min, max, def;
    const int64_t *values; /* (optional) */
    int n_values;
    bool of_context;
} cnn_knob;

enum {
    CNN_ALGO_DETERMINISTIC = 1, /* the same bits in every run and for every thread count */
    CNN_ALGO_TRANSFORMS = 2, /* conv, FC by FFT, Winograd: integers are not computed exactly; held to `amplification` */
    CNN_ALGO_MAY_REFUSE = 4, /* a library's, which is known to run only once it was tried: where `supports` said yes,
                                `prepare` may still say UNSUPPORTED */
    CNN_ALGO_EXEMPLARS =
        8, /* a trainer by exemplars: cnn_trainer_request.workers is above 0, and it has nothing else */
    CNN_ALGO_REPLACES =
        16, /* in f16, bf16 and integers beta is always 0: of the first two, adding to an output would round it twice */
    CNN_ALGO_RANKS = 32,     /* a trainer that several processes can share: cnn_trainer_request.ranks may be above 1 */
    CNN_ALGO_EPILOGUES = 64, /* conv, conv3d, fc: `supports` is asked of problems with a cnn_epilogue, too; without this
                                flag the harness refuses them */
    CNN_ALGO_FUSES = 128, /* likewise: training lets it do the activation behind the layer, for that costs it less than
                             an operation of its own does */
    CNN_ALGO_PROFILES = 256,           /* a trainer that can say where its time goes: cnn_trainers.profile is there */
    CNN_ALGO_QUANTIZED_EPILOGUES = 512 /* as CNN_ALGO_EPILOGUES, of quantized results */
};

/* All that is in a trainer's `ops` (train.h); its amplification means nothing. */
#define CNN_TRAINS (1u << 31)

typedef struct cnn_algorithm {
    char name[CNN_NAME_MAX];
    const char *doc;
    uint32_t ops;         /* bit 1 << cnn_op for each operation it serves */
    uint32_t flags;       /* CNN_ALGO_* */
    double amplification; /* of the rounding bound: 1 for plain sums of products; with TRANSFORMS what the transform
                             needs: 16 Winograd F(2x2,3x3), 96 F(4x4,3x3), 100 FFT, 4000 F(9x9,5x5). A kernel gets
                             no more than is proved for one that fits the problem: verify/oracle/transforms.h */
    int64_t id;           /* the implementation's own */
} cnn_algorithm;

/* What is asked for. `knobs` has one value a row of cnn_impl.knobs, checked by the harness: launch parameters are the
 * request's own, those of two layers may differ. Valid during the call only, with all that it points to. */
typedef struct cnn_request {
    const cnn_problem *problem;
    cnn_dir dir;
    const cnn_algorithm *algorithm; /* in `enumerate` NULL */
    const int64_t *knobs;
} cnn_request;

/* A request that can be run. The harness fills in the first four from what `supports` let through. `prepare` sets
 * workspace_bytes, choice and state, and may narrow what `algorithm` promises (TRANSFORMS, amplification) to what it
 * chose: that is what the plan is held to. All else in it `prepare` leaves as it is, and the address of a plan means
 * nothing: every call sees a copy. A partial batch is a plan of its own, made before the first step. */
typedef struct cnn_plan {
    cnn_problem problem;
    cnn_dir dir;
    cnn_algorithm algorithm;
    const int64_t *knobs; /* the plan's own, until it is released */
    size_t workspace_bytes;
    char choice[CNN_NAME_MAX]; /* what `prepare` settled on, where there was a choice; for the record */
    void *state;               /* the implementation's own, from `prepare` to `release` */
} cnn_plan;

/* Valid during `open` only, the knobs too. */
typedef struct cnn_open_params {
    int threads;          /* >= 1 */
    int device;           /* >= 0 */
    const int64_t *knobs; /* one value a row of cnn_impl.knobs: those that are of_context, and others' usual values */
    const struct cnn_impl *impl; /* whose `open` this is */
} cnn_open_params;

/* EMULATED: a GPU's kernels run on the host, to be tested; such an implementation is never timed. */
typedef enum cnn_device_kind { CNN_DEVICE_CPU, CNN_DEVICE_CUDA, CNN_DEVICE_EMULATED } cnn_device_kind;

typedef void cnn_put_fn(void *user, const char *key, const char *value);
/* How the key of a warning begins: something in the environment makes the figures other than they should be. The value
 * says so in words; commands that time repeat them, and records of figures hold them. */
#define CNN_WARNING "warning."

/* A ceiling: what the device can do at best, found by running a kernel that does nothing else. */
typedef enum cnn_peak_unit {
    CNN_PEAK_FLOPS,  /* floating-point operations a second, in dtype and math */
    CNN_PEAK_BYTES,  /* bytes a second, read and written ones added up */
    CNN_PEAK_SECONDS /* seconds each: a latency, by the host's clock */
} cnn_peak_unit;

typedef struct cnn_peak {
    char what[CNN_NAME_MAX];    /* "fma", "gemm", "read", "copy", "triad", "launch", ... */
    char variant[CNN_NAME_MAX]; /* an instruction set, a library, a cache ("L2"); or "" */
    cnn_peak_unit unit;
    cnn_dtype dtype;
    cnn_math math;
    double amount; /* what one run does: operations, bytes, launches */
    size_t holds;  /* of bytes: what the cache holds whose bandwidth this is; 0: memory */
    void *state;   /* the implementation's own, from peak_open to peak_close */
} cnn_peak;

#endif
