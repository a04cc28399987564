/* onednn.h: what the files of impl_onednn share.
 *
 * A plan is a program: a few steps, each a primitive of oneDNN (reorders of operands, the operation itself, reorders of
 * results) with the memory that it reads and writes. What is in another layout than oneDNN wants lies in the workspace,
 * as do the primitives' scratchpads. `supports` and `prepare` build a program by the same functions: `supports` makes
 * the descriptors, which say whether oneDNN has a kernel, and counts the workspace; `prepare` makes the primitives.
 *
 * Weights, too, are reordered in every call: the interface hands them over as they are, and they may have changed. */
#ifndef IMPL_ONEDNN_ONEDNN_H
#define IMPL_ONEDNN_ONEDNN_H

#include "compat.h"
#include "harness/cnn/shape.h"

typedef enum onednn_knob_id {
#define KNOB(id, name, doc, min, max, def) ONEDNN_KNOB_##id,
#include "knobs.inc"
#undef KNOB
    ONEDNN_KNOB_COUNT
} onednn_knob_id;

/* cnn_algorithm.id. */
enum { ONEDNN_ANY, ONEDNN_NCHW, ONEDNN_NHWC, ONEDNN_WINOGRAD, ONEDNN_LOOPS, ONEDNN_ALGORITHM_COUNT };

/* ---- context.c */

typedef struct onednn_context {
    int threads;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    cnn_laps *laps; /* NULL while none are in use */
} onednn_context;

cnn_status onednn_probe(cnn_error *);
cnn_status onednn_open(const cnn_open_params *, cnn_context **, cnn_error *);
void onednn_close(cnn_context *);
void onednn_describe(cnn_context *, cnn_put_fn *, void *user);

/* OpenMP keeps how many threads a region gets for each host thread. Between the two it is the context's number, when
 * oneDNN makes something and when it runs: what it makes for so many threads needs as many. */
int onednn_threads_begin(const onednn_context *);
void onednn_threads_end(const onednn_context *, int before);

/* What oneDNN computes with here: "avx2"; whether that has VNNI, which adds up products of integers in 32 bits, and
 * types of 16 bits. */
const char *onednn_isa(void);
bool onednn_has_vnni(void);
bool onednn_has_half(void);

/* "cannot WHAT: oneDNN says unimplemented". UNSUPPORTED where oneDNN has no kernel, or does not take the arguments. */
cnn_status onednn_fail(dnnl_status_t, const char *what, cnn_error *);

/* ---- program.c */

enum { ONEDNN_MAX_MEMORIES = 24, ONEDNN_MAX_STEPS = 8, ONEDNN_MAX_ARGS = 12 };

/* Whose memory: an argument of the call, or the workspace. */
typedef enum onednn_slot {
    ONEDNN_X,
    ONEDNN_X1, /* of ADD: the other input */
    ONEDNN_W,
    ONEDNN_B,
    ONEDNN_DY,
    ONEDNN_Y,
    ONEDNN_DX,
    ONEDNN_DW,
    ONEDNN_DB,
    ONEDNN_GAMMA,
    ONEDNN_BETA,
    ONEDNN_DGAMMA,
    ONEDNN_DBETA,
    ONEDNN_MEAN,
    ONEDNN_VARIANCE,
    ONEDNN_Z,
    ONEDNN_SCALE, /* of a quantized result, and the zero points */
    ONEDNN_ZERO_X,
    ONEDNN_ZERO_Y,
    ONEDNN_SLOT_COUNT,
    ONEDNN_INSIDE = ONEDNN_SLOT_COUNT, /* the workspace */
    ONEDNN_SCRATCH                     /* behind it, what is one step's only */
} onednn_slot;

typedef enum onednn_when { ONEDNN_ALWAYS, ONEDNN_BETA_0, ONEDNN_BETA_1 } onednn_when;

typedef struct onednn_memory {
    onednn_slot slot;
    bool aside;   /* a result that oneDNN writes in place: with beta 1 it goes to the workspace, to be added */
    size_t at;    /* in the workspace */
    onednn_md md; /* while it is built */
    dnnl_memory_t memory;
} onednn_memory;

typedef struct onednn_step {
    onednn_when when;
    const char *phase;
    dnnl_primitive_t primitive;
    int n_args;
    dnnl_exec_arg_t args[ONEDNN_MAX_ARGS];
} onednn_step;

typedef struct onednn_program {
    int n_memories, n_steps;
    size_t workspace, scratch; /* bytes; scratch: the most that a step takes */
    onednn_memory memories[ONEDNN_MAX_MEMORIES];
    onednn_step steps[ONEDNN_MAX_STEPS];
    char choice[CNN_NAME_MAX]; /* oneDNN's name of the kernel */
    int32_t zero_x, zero_y;
} onednn_program;

/* While a program is built. The first failure stays in `status` and `err`; what is asked for after it does nothing. */
typedef struct onednn_build {
    const onednn_context *c;
    const cnn_request *request;
    bool only_count; /* for `supports`: no primitives */
    cnn_status status;
    cnn_error *err;
    onednn_program *program;
    dnnl_primitive_attr_t plain, sum; /* attributes; sum: the result is added to what stands there */
    dnnl_primitive_attr_t fused;      /* of the operation: quantized results, an epilogue; NULL: `plain` */
    char passed_over[CNN_NAME_MAX];   /* the first kernel that would not do; or "" */
    const char *passed_why;           /* what it would do */
    int n_mds, n_pds;
    onednn_md mds[ONEDNN_MAX_MEMORIES];
    dnnl_primitive_desc_t pds[ONEDNN_MAX_STEPS + 1];
    int n_results;
    int results[2], targets[2]; /* what the operation writes, and the argument that it is for */
} onednn_build;

/* `program` is empty. NULL of a call: there is no such memory; or it has failed before. */
cnn_status onednn_build_program(const onednn_context *, const cnn_request *, bool only_count, onednn_program *,
                                cnn_error *);
void onednn_free_program(onednn_program *);

/* A layout, kept until the program is built. */
onednn_md onednn_layout(onednn_build *, dnnl_data_type_t, int n_dims, const dnnl_dims_t dims, dnnl_format_tag_t tag);
/* Keeps the descriptor that a compat.h function made, or notes the failure: "conv FWD". */
dnnl_primitive_desc_t onednn_keep(onednn_build *, dnnl_status_t, dnnl_primitive_desc_t);
onednn_make onednn_how(onednn_build *, const_dnnl_primitive_desc_t forward);
/* false: what a onednn_make.takes says of a kernel; the first one is remembered, and what it would do. */
bool onednn_pass_over(onednn_build *, const char *kernel, const char *why);
void onednn_refuse(onednn_build *, cnn_status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Notes what oneDNN says of the operation, or of `part` ("a reorder of ") of it. */
void onednn_failed(onednn_build *, dnnl_status_t, const char *part);

/* Memory as an index; -1 after a failure. */
int onednn_memory_add(onednn_build *, onednn_slot, bool aside, onednn_md);
int onednn_argument(onednn_build *, onednn_slot, onednn_md);
int onednn_inside(onednn_build *, onednn_md);
/* A step: n pairs of DNNL_ARG_* and a memory. */
typedef struct onednn_use {
    int arg, memory;
} onednn_use;
void onednn_step_add(onednn_build *, onednn_when, const char *phase, dnnl_primitive_desc_t, const onednn_use *, int n);
/* The same of the operation itself: its kernel's name is the program's choice. */
void onednn_operation(onednn_build *, dnnl_primitive_desc_t, const onednn_use *, int n);

/* ---- reorder.c */

/* The argument of the call, that is stored as `given`, in the layout `wanted`: reordered where these differ. */
int onednn_input(onednn_build *, onednn_slot, onednn_md given, onednn_md wanted);
/* What the next step is to write as `made`: onednn_deliver() brings it to the argument, by `beta`. */
int onednn_result(onednn_build *, onednn_slot, onednn_md given, onednn_md made);
void onednn_deliver(onednn_build *);

/* ---- run.c */

typedef struct onednn_call {
    const void *pointers[ONEDNN_SLOT_COUNT];
    double beta;
    void *workspace;
} onednn_call;
cnn_status onednn_run(cnn_context *, const cnn_plan *, const onednn_call *, cnn_error *);

/* ---- laps.c: where the time of an operation goes: its reorders, and the primitive. */

extern const cnn_profile onednn_profile;
/* What ran since the last mark is `phase`. Without laps in use it costs one comparison. */
void onednn_phase(const onednn_context *, const char *phase);

/* ---- plan.c: the gate, and the layouts of activations. */

cnn_status onednn_supports(cnn_context *, const cnn_request *, cnn_error *);
cnn_status onednn_prepare(cnn_context *, cnn_plan *, cnn_error *);
void onednn_release(cnn_context *, cnn_plan *);

/* (n, c, h, w), or with depth (n, c, d, h, w), stored as `layout` says. */
typedef struct onednn_shape {
    int n_dims; /* 2: (n, c); 4; 5 */
    dnnl_dims_t dims;
} onednn_shape;
/* In the type that this part of the problem has: without joined types that of all of them. */
onednn_md onednn_activations(onednn_build *, cnn_part, const onednn_shape *, dnnl_format_tag_t tag);
dnnl_format_tag_t onednn_tag(const onednn_shape *, cnn_layout);
dnnl_data_type_t onednn_type(const onednn_build *, cnn_part);

/* ---- limits.c */

/* Refuses what oneDNN's convolutions and FC cannot do, or do not do right. */
void onednn_check_weighted(onednn_build *, const cnn_conv_desc *);
/* A onednn_make.takes of any convolution: user is the build. */
bool onednn_conv_takes(void *user, const char *kernel);

/* ---- whole.c: products of integers, and results of 8 bits. */

/* Sets the attributes of a result of 8 bits, y being of so many dimensions, its epilogue among them, z being how the
 * residual is stored; and writes the arguments that come of them, but for z, to `uses`: ONEDNN_MAX_QUANTIZED at most.
 * Returns how many. */
enum { ONEDNN_MAX_QUANTIZED = 3 };
int onednn_quantize(onednn_build *, const cnn_conv_desc *, int n_dims, onednn_md z, onednn_use *uses);
/* A onednn_make.takes, with an epilogue or without: user is the build. */
bool onednn_whole_takes(void *user, const char *kernel);
/* Adds the bias to sums of s32. */
void onednn_whole_bias(const onednn_context *, const cnn_problem *, const cnn_weighted_args *);

/* ---- act.c, epilogue.c: what oneDNN is asked for of an activation, `alpha` and `beta` as it names them. */

typedef struct onednn_function {
    dnnl_alg_kind_t forward, backward;
    double alpha, beta;
} onednn_function;
onednn_function onednn_function_of(const cnn_act_desc *);
/* Appends an epilogue to post-operations; z: how the residual is stored, where there is one; zero: its zero point. */
dnnl_status_t onednn_append_epilogue(onednn_build *, dnnl_post_ops_t, onednn_md z, int zero);
/* Sets the attributes of an operation with an epilogue; z: how the residual is stored, where there is one. */
void onednn_fuse(onednn_build *, onednn_md z);
/* A onednn_make.takes where a residual is added: user is the build. */
bool onednn_fused_takes(void *user, const char *kernel);

/* ---- The operations: what puts a program together, and the slots. */

typedef void onednn_build_fn(onednn_build *);
onednn_build_fn onednn_build_conv, onednn_build_fc, onednn_build_pool, onednn_build_act, onednn_build_add,
    onednn_build_batchnorm;

cnn_status onednn_weighted(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);
cnn_status onednn_map_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status onednn_map_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status onednn_batchnorm(cnn_context *, const cnn_plan *, const cnn_batchnorm_args *, cnn_error *); /* both ways */
cnn_status onednn_add_fwd(cnn_context *, const cnn_plan *, const cnn_join_args *, cnn_error *);

#endif
