/* parts.h: `benchcnn compute`: which file holds which operand, and what is in them. */
#ifndef CLI_COMPUTE_PARTS_H
#define CLI_COMPUTE_PARTS_H

#include "cli/cli.h"
#include "harness/problem/shape.h"
#include "verify/verify.h"

enum { ARRAY_FILES_TEXT = 8192 };

/* What --in, --out or --expect name. */
typedef struct array_files {
    const char *option; /* "in" */
    char text[ARRAY_FILES_TEXT];
    size_t used;
    struct {
        const char *name, *path; /* name NULL: of the one output */
    } items[CNN_MAX_OPERANDS];
    int count;
} array_files;

/* Adds "FILE.npy", or "NAME=FILE.npy,NAME=FILE.npy"; `given` may be NULL. */
cnn_status array_files_add(array_files *files, const char *given, cnn_error *err);
bool array_files_have(const array_files *files, const char *name);

typedef struct array_call {
    cnn_problem problem;
    cnn_dir dir;
    cnn_operand operands[CNN_MAX_OPERANDS];
    int count;
} array_call;

/* The files by operand; NULL: none. A name that no operand has is refused: inputs for --in, else outputs. */
cnn_status array_files_assign(const array_files *files, const array_call *call, const char *path[CNN_MAX_OPERANDS],
                              cnn_error *err);
/* "conv FWD reads x, w, b and writes y". */
const char *array_call_text(const array_call *call, char *text, size_t size);

typedef struct compute_run {
    const cli_options *options;
    array_files in, out, expect;
    array_call call;
    cnn_algorithm algorithm;
    /* By operand; NULL: none. */
    const char *in_path[CNN_MAX_OPERANDS], *out_path[CNN_MAX_OPERANDS], *expect_path[CNN_MAX_OPERANDS];
    double *values[CNN_MAX_OPERANDS];
    verify_arrays arrays;
    verify_engine *engine;
} compute_run;

/* load.c: the options alone; or these, and then all arrays. */
cnn_status compute_read_options(compute_run *run, cnn_error *err);
cnn_status compute_load(compute_run *run, cnn_error *err);

#endif
