/* names.h: from text to the enumerations of cnn.h; the other way is cnn/shape.h. */
#ifndef HARNESS_PROBLEM_NAMES_H
#define HARNESS_PROBLEM_NAMES_H

#include "harness/cnn.h"
#include "harness/cnn/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A set of names, e.g. cnn_dtype_names: names[0..count-1]. */
typedef struct cnn_name_set {
    const char *what; /* "dtype" */
    const char *const *names;
    int count;
} cnn_name_set;

extern const cnn_name_set cnn_dtype_names, cnn_layout_names, cnn_math_names, cnn_op_names, cnn_dir_names,
    cnn_pool_names, cnn_act_names, cnn_loss_names, cnn_optimizer_names;

/* The index of `text` (case-insensitive) in the set, or -1 and an error that offers the nearest name. */
int cnn_name_find(const cnn_name_set *set, const char *text, cnn_error *err);

/* "f32,f64" as a mask of 1 << index; NULL and "all": each of the set. 0 is an error, as of cnn_name_find(). */
uint32_t cnn_name_mask(const cnn_name_set *set, const char *text, cnn_error *err);

/* The nearest of `count` names to `text` by edit distance, or NULL when none is near (more than a third wrong). */
const char *cnn_nearest_name(const char *text, const char *const *names, int count);

#ifdef __cplusplus
}
#endif
#endif
