/* names.h: the text of every enum in cnn.h, both ways. One table an enum, in names.c. */
#ifndef HARNESS_PROBLEM_NAMES_H
#define HARNESS_PROBLEM_NAMES_H

#include "harness/cnn.h"

#ifdef __cplusplus
extern "C" {
#endif

const char *cnn_status_name(cnn_status status);          /* "ok", "bad argument", ... */
const char *cnn_dtype_name(cnn_dtype dtype);             /* "f32", "f64" */
const char *cnn_layout_name(cnn_layout layout);          /* "nchw", "nhwc" */
const char *cnn_math_name(cnn_math math);                /* "f32", "tf32", "f16", "bf16" */
const char *cnn_op_name(cnn_op op);                      /* "conv", "fc", "pool", ... */
const char *cnn_dir_name(cnn_dir dir);                   /* "FWD", "BWD_D", "BWD_W" */
const char *cnn_pool_name(cnn_pool_kind kind);           /* "max", "avg", "avg_pad", "global_avg" */
const char *cnn_act_name(cnn_act_kind kind);             /* "identity", "relu", "leaky_relu", ... */
const char *cnn_optimizer_name(cnn_optimizer_kind kind); /* "sgd", "momentum", "adagrad", "rmsprop", "adam" */
const char *cnn_param_role_name(cnn_param_role role);    /* "weight", "bias", ... */

/* A set of names, e.g. cnn_dtype_names: names[0..count-1]. */
typedef struct cnn_name_set {
    const char *what; /* "dtype" */
    const char *const *names;
    int count;
} cnn_name_set;

extern const cnn_name_set cnn_dtype_names, cnn_layout_names, cnn_math_names, cnn_op_names, cnn_dir_names,
    cnn_pool_names, cnn_act_names, cnn_optimizer_names;

/* The index of `text` (case-insensitive) in the set, or -1 and an error that offers the nearest name. */
int cnn_name_find(const cnn_name_set *set, const char *text, cnn_error *err);

/* The nearest of `count` names to `text` by edit distance, or NULL when none is near (more than a third wrong). */
const char *cnn_nearest_name(const char *text, const char *const *names, int count);

/* Bytes of one number. */
static inline size_t cnn_dtype_size(cnn_dtype dtype) { return dtype == CNN_F64 ? sizeof(double) : sizeof(float); }

#ifdef __cplusplus
}
#endif
#endif
