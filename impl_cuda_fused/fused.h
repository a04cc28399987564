/* fused.h: what the files of impl_cuda_fused share: trainers that do a whole pass over the images in one launch.
 *
 *   stage.h, common.h  what the kernels know of a network, and what they share
 *   stages.c             a network becomes stages, or is refused in words
 *   v1.cu, v2.cu, v3.cu  a version of the kernel each, a row in kernels.inc
 *   layout.c, spread*.c  how v2 lays a network out in shared memory, and v3 in that of a cluster's blocks
 *   source.c, jit.c      the text that they are compiled from, and what NVRTC is given (harness/cuda/jit.h)
 *   nets/                networks compiled beforehand
 *   slots.c              the order of parameters that a version likes
 *   laps.c               where the time of passes went
 *   trainer.c            the table of trainers: state in and out, passes
 *   fused.c              the implementation around it */
#ifndef IMPL_CUDA_FUSED_FUSED_H
#define IMPL_CUDA_FUSED_FUSED_H

#include "harness/cuda/cuda.h"
#include "impl_cuda_fused/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __cplusplus
typedef struct fused_stage fused_stage;
typedef struct fused_pass fused_pass;
typedef struct fused_rule fused_rule;
typedef struct fused_place fused_place;
typedef struct fused_cut fused_cut;
#endif

/* Behind the shared knobs: FUSED_KNOB_V2_THREADS == CUDA_KNOB_COUNT. */
typedef enum fused_knob_id {
    FUSED_KNOB_BEFORE = CUDA_KNOB_COUNT - 1,
#define KNOB(id, ...) FUSED_KNOB_##id,
#define STEPS KNOB
#include "knobs.inc"
#undef KNOB
#undef STEPS
    FUSED_KNOB_COUNT
} fused_knob_id;

/* A network as stages. Slots of its canonical parameters are their offsets. */
typedef struct fused_net {
    fused_stage stages[FUSED_STAGES];
    int layers[FUSED_STAGES]; /* of cnn_net.layers, each stage's first */
    int n_stages;
    int64_t elems[FUSED_STAGES + 1]; /* of a value, of one image */
    int64_t params;                  /* cnn_net.trained_elems */
    int classes;
    int loss; /* of cnn_net.layers */
    bool nhwc, quadratic;
} fused_net;

/* CNN_UNSUPPORTED says which layer is none of it. */
cnn_status fused_stages(const cnn_net *, fused_net *, cnn_error *);

/* layout.c: how v2 lays a network out for blocks of so many threads. */
typedef struct fused_layout {
    int threads;                /* 0: v1, which needs none */
    int slots, floats, scratch; /* scratch stands behind floats: of the sums over blocks */
    int staged;                 /* where the next image arrives */
    size_t shared_bytes;
    fused_place places[FUSED_STAGES + 1];
    fused_cut cuts[FUSED_STAGES];
} fused_layout;
/* CNN_UNSUPPORTED where it does not fit, with the numbers. */
cnn_status fused_layout_of(const fused_net *, int threads, int blocks, size_t shared_most, fused_layout *, cnn_error *);
int fused_slot(const fused_stage *, const fused_cut *, int oc, int ic, int i, int j);

/* What a version needs for a network and a batch size. */
typedef struct fused_plan {
    int64_t blocks;
    int64_t slots, values, parts; /* floats: of the parameters, of all values, and copies of the gradients */
    const fused_stage *stages;    /* in device memory */
    fused_layout layout;          /* v2; v1 and v3 have slots as parameters are */
    void *own;                    /* the version's, from `open` to `close` */
} fused_plan;

typedef struct fused_request {
    int64_t batch;
    bool laps; /* to be profiled */
    const int64_t *knobs;
} fused_request;

/* source.c: struct `name` of v2.h, cut where it does not fit in `size` bytes. */
void fused_source(const fused_net *, const fused_layout *, const char *name, char *text, size_t size);
/* The same of a struct fused_this, then the kernel `entry` of it. */
void fused_source_kernel(const fused_net *, const fused_layout *, const char *entry, char *text, size_t size);

/* laps.c: the laps of a network's passes, [test][lap] as laps.h adds them up, in seconds. Returns how many. */
enum { FUSED_LAPS_MOST = 2 * FUSED_LAPS };
int fused_laps_read(const fused_net *, const unsigned long long numbers[2 * FUSED_LAPS],
                    cnn_trainer_lap list[FUSED_LAPS_MOST]);

/* slots.c: parameters, their gradients or the optimizer's state, between the order of cnn_net.params and slots. */
void fused_to_slots(const fused_net *, const fused_plan *, const float *params, float *slots);
void fused_from_slots(const fused_net *, const fused_plan *, const float *slots, float *params);

typedef struct fused_version {
    /* Fills in the plan but for `stages`, `own`; CNN_UNSUPPORTED where the network does not fit, with the numbers. */
    cnn_status (*plan)(const cuda_context *, const fused_net *, const fused_request *, fused_plan *, cnn_error *);
    cnn_status (*open)(cuda_context *, const fused_net *, const fused_request *, fused_plan *,
                       cnn_error *); /* (optional) */
    void (*close)(fused_plan *);     /* (optional) */
    cnn_status (*launch)(cuda_context *, const fused_net *, const fused_plan *, fused_pass *, cnn_error *);
} fused_version;
#define VERSION(name, ...) extern const fused_version fused_##name;
#include "kernels.inc"
#undef VERSION

extern const fused_version *const fused_versions[]; /* fused.c: cnn_algorithm.id indexes it */
extern const cnn_trainers fused_cuda_trainers;      /* trainer.c */

#ifdef __cplusplus
}
#endif
#endif
