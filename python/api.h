/* api.h: what the Python module benchcnn calls: the harness and the verifier as plain C functions, and an
 * implementation that calls back into Python. benchcnn/_library.py declares the same structs again, for ctypes.
 *
 * Functions return a cnn_status, and fill `err`. Texts are UTF-8; those that a struct points to are valid during the
 * call that hands it over. Everything is to be called by one thread at a time. */
#ifndef PYTHON_API_H
#define PYTHON_API_H

#include "harness/device/registry.h"
#include "verify/verify.h"

#define API __attribute__((visibility("default")))

/* Changes with any struct or function here: a module beside another library is refused. */
enum { API_VERSION = 1 };
API int api_version(void);

/* ---- problem.c: problems and their arrays. */

/* Names as the command line has them. */
typedef struct api_terms {
    const char *op, *dir, *dtype, *layout, *math;
    int bias, flip;
} api_terms;

typedef struct api_problem {
    cnn_problem problem;
    cnn_dir dir;
    cnn_operand operands[CNN_MAX_OPERANDS];
    int count;
    char text[CNN_PROBLEM_TEXT_MAX];
} api_problem;

/* An array; `data` as the caller says. */
typedef struct api_array {
    const char *name;
    int access; /* cnn_access */
    int type;   /* as TYPES of benchcnn/_library.py: 0 f32, 1 f64, 2 i32, 3 i64, 4 f16, 5 bf16, 6 u8, 7 i8 */
    int tensor; /* its layout is the problem's; else it is row-major */
    int n_dims; /* as PyTorch has them: (n, c, h, w), (oc, ic/g, kh, kw), (oc,) */
    int64_t dims[5];
    int64_t count;
    size_t bytes;
    void *data;
} api_array;

API cnn_status api_problem_new(const api_terms *terms, const char *text, api_problem **problem, cnn_error *err);
API void api_problem_free(api_problem *problem); /* NULL is accepted */
API const char *api_problem_text(const api_problem *problem);
API int api_problem_arrays(const api_problem *problem, api_array list[CNN_MAX_OPERANDS]); /* how many */
/* "mb=2 ic=3 ... " : every field, by the letters of a descriptor; a text of `size` bytes. */
API void api_problem_fields(const api_problem *problem, char *text, size_t size);
/* The built-in problem of this number of an operation; NULL behind the last. */
API const char *api_default_problem(const char *op, int index);

/* ---- registry.c: implementations. */

API cnn_status api_registry_new(cnn_registry **registry, cnn_error *err);
API cnn_status api_registry_load(cnn_registry *registry, const char *path, cnn_error *err); /* a plug-in */
/* "NAME NAME ... ", those that can run here or not. */
API void api_registry_names(const cnn_registry *registry, char *text, size_t size);
/* "NAME" or "NAME:ALGORITHM": `algorithm` is its part of `name`, or NULL. */
API cnn_status api_registry_find(const cnn_registry *registry, const char *name, const cnn_impl **impl,
                                 const char **algorithm, cnn_error *err);

/* ---- callable.c: a Python callable as an implementation, which serves one operation in one direction. */

/* One call; arrays in the order of cnn_operands(), those that it writes among them. */
typedef struct api_call {
    const char *problem; /* its text */
    const char *dir;
    int count;
    const api_array *arrays;
    double scale; /* loss, backward: what dx is multiplied by */
    char *message;
    size_t message_size;
} api_call;
/* 0: done. Else `message` says what went wrong. */
typedef int api_run_fn(const api_call *call);
/* 0: yes. Else `why` says why not. */
typedef int api_supports_fn(const char *problem, const char *dir, char *why, size_t size);

typedef struct api_callable_spec {
    const char *name, *op, *dir;
    int deterministic;
    double amplification;      /* above 1: a transform */
    api_run_fn *run;           /* outlives the callable, */
    api_supports_fn *supports; /* (optional) and so does this */
} api_callable_spec;

typedef struct api_callable api_callable;
API cnn_status api_callable_new(const api_callable_spec *spec, api_callable **callable, cnn_error *err);
API void api_callable_free(api_callable *callable); /* when no engine uses it any more */
API const cnn_impl *api_callable_impl(const api_callable *callable);

/* ---- engine.c: an implementation that is open, to verify, compute and time with. */

typedef struct api_open_params {
    int threads, device;
    const char *const *settings; /* "IMPL.KNOB=VALUE" */
    int n_settings;
    const char *checks; /* names, by commas; NULL: all */
    uint64_t seed;
    bool (*interrupted)(void); /* (optional) asked between runs: true ends it with CNN_INTERRUPTED */
} api_open_params;

typedef struct api_engine api_engine;

API cnn_status api_engine_open(const cnn_impl *impl, const char *algorithm, const api_open_params *params,
                               api_engine **engine, cnn_error *err);
API void api_engine_close(api_engine *engine); /* NULL is accepted */

/* As verify_result has it. */
typedef struct api_result {
    const char *check, *state, *algorithm, *reason, *worst, *where, *precision, *transform;
    double budget_used;
} api_result;
/* A result that is wrong: doubles, in canonical order; NULL where there are none. */
typedef struct api_failure {
    const char *check;
    int count;
    const api_array *arrays; /* without data */
    const double *const *before, *const *expected, *const *got;
} api_failure;
typedef void api_each(const api_result *result);
typedef void api_failed(const api_failure *failure);

/* ---- verify.c, compute.c, times.c. */

API cnn_status api_verify(api_engine *engine, const api_problem *problem, api_each *each, api_failed *failed,
                          cnn_error *err);

/* By the index of api_problem_arrays(); doubles, in PyTorch's order. */
typedef struct api_values {
    double *in[CNN_MAX_OPERANDS], *out[CNN_MAX_OPERANDS], *expect[CNN_MAX_OPERANDS]; /* `expect` may change */
    int expect_f64[CNN_MAX_OPERANDS]; /* what is expected is f64, not f32 */
    const char *expect_math;          /* (optional) */
    int close;                        /* held to rtol and atol */
    double rtol, atol;
} api_values;
API cnn_status api_compute(api_engine *engine, const api_problem *problem, const api_values *values, api_each *each,
                           cnn_error *err);

typedef struct api_times {
    double median, least, low, high; /* seconds; low and high: of the median */
    int count, repeats;
    size_t workspace_bytes;
    double flops, bytes; /* of one run, at least */
    char marks[128];     /* what is wrong with the figure, "noisy,few", or "" */
} api_times;
typedef struct api_bench_params {
    double min_time, max_time, warm_up; /* seconds, as of measure_params */
    int cold;
    uint64_t seed;
} api_bench_params;
/* `each` is told what became of the timed runs: unless that is PASSED, the times are worth nothing. */
API cnn_status api_bench(api_engine *engine, const api_problem *problem, const api_bench_params *params,
                         api_times *times, api_each *each, cnn_error *err);

#endif
