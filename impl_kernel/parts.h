/* parts.h: what the files of impl_kernel share. */
#ifndef IMPL_KERNEL_PARTS_H
#define IMPL_KERNEL_PARTS_H

#include "impl_kernel/expression.h"
#include "impl_kernel/kernel.h"

enum {
    KERNEL_DEVICE_KNOBS_MAX = 16,
    KERNEL_ARGS_MAX = 48,
    KERNEL_TEXT_MAX = 2048,
    KERNEL_FIELDS_MAX = 32,
    KERNEL_KNOWN_MAX = 512
};

bool kernel_is_cuda(const kernel *k);

/* ---- fields.c: the sizes that expressions name. */

typedef struct kernel_field {
    const char *name;
    size_t offset, size; /* in a cnn_problem: an int64_t, an int16_t, a bool or an enumerator */
    int64_t neutral;     /* what it must be where the kernel does not know it; -1: anything */
    const char *twin;    /* where the kernel does not know it, but knows this one: what it must equal */
    const char *unless;  /* a field that says as much */
} kernel_field;

const kernel_field *kernel_fields(cnn_op op, int *count);

/* What names mean for one problem. */
typedef struct kernel_names {
    const kernel *k;
    const cnn_problem *problem; /* NULL: all are 1 */
    const int64_t *knobs;       /* the kernel's own */
    int threads;
    uint32_t seen; /* of the fields' table: those that were asked for; bit 31: flip */
    uint32_t seen_knobs;
} kernel_names;

bool kernel_find_name(void *names, const char *name, int64_t *value);
/* CNN_UNSUPPORTED: a field that its arguments do not name is not neutral: a dilation, a group. */
cnn_status kernel_check_unnamed(const kernel *k, const cnn_problem *problem, cnn_error *err);

/* ---- args.c: what --args lists. */

typedef enum kernel_arg_kind { KERNEL_ARRAY, KERNEL_SIZE, KERNEL_REAL } kernel_arg_kind;
/* What is no whole number: `beta`, and `alpha`, the parameter of an epilogue's activation. */
typedef enum kernel_real { KERNEL_BETA, KERNEL_ALPHA, KERNEL_REALS } kernel_real;
typedef struct kernel_arg {
    kernel_arg_kind kind;
    kernel_real real;
    const char *text; /* an array's name, or an expression */
    size_t offset;    /* of an array: in cnn_weighted_args */
} kernel_arg;

cnn_status kernel_parse_args(kernel *k, cnn_error *err);
const kernel_arg *kernel_array(const kernel *k, const char *name); /* NULL: --args does not name it */

/* ---- plan.c: one problem's values, from supports to the run. */

/* An output, which the run adds to where beta is 1: what it held waits in the workspace. */
typedef struct kernel_output {
    size_t offset; /* in cnn_weighted_args */
    size_t at;     /* in the workspace */
    int64_t count;
} kernel_output;

typedef struct kernel_plan {
    int64_t sizes[KERNEL_ARGS_MAX]; /* of each argument that is one */
    int64_t grid[3], block[3], shared;
    double alpha;
    kernel_output outputs[2];
    int n_outputs;
    size_t workspace_bytes;
} kernel_plan;

cnn_status kernel_evaluate(const kernel *k, const cnn_request *request, const int64_t *knobs, int threads,
                           kernel_plan *plan, cnn_error *err);
/* For `prepare`: the same, kept as plan->state; kernel_release() frees it. */
cnn_status kernel_prepare(const kernel *k, cnn_plan *plan, const int64_t *knobs, int threads, cnn_error *err);
void kernel_release(cnn_context *context, cnn_plan *plan);

/* How a kind of device copies, adds (y += x), and calls the kernel. */
typedef struct kernel_device {
    cnn_status (*copy)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);
    cnn_status (*add)(cnn_context *, const cnn_plan *, void *y, const void *x, int64_t count, cnn_error *);
    cnn_status (*call)(cnn_context *, const kernel *, const kernel_plan *, void *const *arrays, const double *reals,
                       cnn_error *);
} kernel_device;
cnn_status kernel_run(const kernel_device *device, cnn_context *context, const kernel *k, const cnn_plan *plan,
                      const cnn_weighted_args *args, cnn_error *err);

/* ---- host.c: on the CPU. cuda.c: on a GPU, or emulated; where the build has CUDA. Each fills in k->impl, k->ops and
 * its own knobs. */
void kernel_fill_host(kernel *k);
void kernel_fill_cuda(kernel *k);
void kernel_leave_cuda_knobs(kernel_spec *spec);
/* kernel.c: the type of its arrays' elements as its text names it (of C functions for f16 and bf16 "void": a pointer of
 * any kind), that of beta and alpha, and the header that has it; NULL: none is needed. */
const char *kernel_type(const kernel *k, const char *array);
const char *kernel_real_type(const kernel *k);
const char *kernel_header(const kernel *k);
/* kernel.c: which kernel it is, and how it was compiled. */
void kernel_describe(const kernel *k, cnn_put_fn *put, void *user);

/* ---- source.c: a text of up to 16 MiB, to be freed. */
cnn_status kernel_read_file(const char *path, char **text, cnn_error *err);

/* ---- cuda_text.c: what is put around a .cu. */
void kernel_put_cuda_begin(FILE *out);
void kernel_put_cuda_text(const char *text, FILE *out);
void kernel_put_cuda_call(const kernel *k, FILE *out);

/* What the shared object exports, its arrays and sizes in the order of --args, reals by their names; of a .cu that is
 * emulated, with where and how it is launched, and the kernel itself, by which the emulator knows it. */
struct emulated_launch_shape;
typedef int kernel_emulated_launch(const struct emulated_launch_shape *shape, void *const *arrays,
                                   const long long *sizes, const double *reals);
typedef struct kernel_emulated {
    kernel_emulated_launch *launch;
    const void *kernel;
} kernel_emulated;
typedef void kernel_call(void *const *arrays, const long long *sizes, const double *reals);

struct kernel {
    cnn_impl impl; /* first: what it is known by */
    cnn_operations ops;
    cnn_algorithm algorithm;
    cnn_knob knobs[KERNEL_DEVICE_KNOBS_MAX + KERNEL_KNOBS_MAX]; /* the device's, then those of spec */
    int n_device_knobs;
    kernel_spec spec;
    char file[512], function[64], doc[128], label[192], compiler[256];
    uint64_t checksum;
    cnn_dir dir;
    char text[KERNEL_TEXT_MAX];   /* --args, cut at its commas */
    char known[KERNEL_KNOWN_MAX]; /* names that expressions may hold, for errors */
    kernel_arg args[KERNEL_ARGS_MAX];
    int n_args;
    uint32_t named; /* of the fields' table: those that --args, --grid, --block and --shared name; bit 31: flip */
    uint32_t named_knobs;
    bool takes[KERNEL_REALS]; /* beta: the kernel adds by itself */
    void *handle;
    kernel_call *call;
    kernel_emulated emulated;
    char *source; /* of one that NVRTC compiles: its text */
};

enum { KERNEL_FLIP_BIT = 31 };

#endif
