/* kernel.h: one function of a source file as an implementation, named "kernel": --kernel FILE.c:NAME. The program
 * compiles it, calls or launches it with the arrays and sizes that --args lists, and does the rest of an
 * implementation's work: it says what the kernel does not take, and adds to an output where beta is 1.
 *
 * new -> put_source (a compiler makes a shared object of it, but for NVRTC) -> built -> load -> impl ... -> free */
#ifndef IMPL_KERNEL_KERNEL_H
#define IMPL_KERNEL_KERNEL_H

#include "harness/cnn.h"

#include <stdio.h>

enum { KERNEL_KNOBS_MAX = 16, KERNEL_KNOB_MAX = 48 };

typedef struct kernel_knob {
    char name[KERNEL_KNOB_MAX];
    int64_t def;
} kernel_knob;

/* As it was asked for; the texts must outlive the kernel. */
typedef struct kernel_spec {
    const char *kernel;                  /* "FILE.c:NAME" or "FILE.cu:NAME" */
    const char *args;                    /* "x,w,b,y,mb,ic,..." */
    const char *grid, *block;            /* of a .cu: expressions, up to three each; NULL of a .c */
    const char *shared;                  /* (optional) of a .cu: bytes of dynamic shared memory */
    cnn_op op;                           /* CONV, CONV3D, FC */
    cnn_type type;                       /* the one that it is for */
    kernel_knob knobs[KERNEL_KNOBS_MAX]; /* names that --set and sweep's axes give values */
    int n_knobs;
} kernel_spec;

typedef struct kernel kernel;

/* CNN_BAD_ARGUMENT: a name in --args that there is not, an expression that is none, a file of another kind. */
cnn_status kernel_new(const kernel_spec *spec, kernel **result, cnn_error *err);
void kernel_free(kernel *k); /* NULL is accepted */

const char *kernel_file(const kernel *k);
void kernel_folder(const kernel *k, char *folder, size_t size); /* in which the file is */
/* What its text is compiled by: a C compiler, a C++ compiler for the emulator, or NVRTC when it is opened. */
typedef enum kernel_language { KERNEL_C, KERNEL_EMULATED, KERNEL_NVRTC } kernel_language;
kernel_language kernel_compiled_by(const kernel *k);
cnn_dir kernel_dir(const kernel *k);     /* by the output that --args names: y, dx or dw */
bool kernel_takes_bias(const kernel *k); /* --args names b, or db; BWD_D has none */

/* Whether `name`, of the implementation or of a pair with it, is one of spec->knobs: it is there since it was set. */
bool kernel_has_knob(const kernel *k, const char *name);

/* What is compiled: the file's text, each line of which keeps its number, and the call. CNN_BAD_ARGUMENT: there is no
 * such file, or nothing in it has this name. */
cnn_status kernel_put_source(const kernel *k, FILE *out, cnn_error *err);
/* What it was built by, for records: "gcc -O3 -march=native", and the checksum of what came of it. */
void kernel_built(kernel *k, const char *compiler, uint64_t checksum);
/* In the process that calls it: the shared object's code is loaded, or, for NVRTC, the source. CNN_UNAVAILABLE: it
 * cannot be. */
cnn_status kernel_load(kernel *k, const char *path, cnn_error *err);
const cnn_impl *kernel_impl(const kernel *k);

#endif
