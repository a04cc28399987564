/* arrays_npy.h: operands and .npy files: which shape a file has, from doubles and back. */
#ifndef CLI_CONV_ARRAYS_NPY_H
#define CLI_CONV_ARRAYS_NPY_H

#include "harness/data/npy.h"
#include "harness/problem/shape.h"

/* Reads an operand's array; a shape that is not the operand's is refused with both. `values` is malloc'd. */
cnn_status cli_npy_load(const char *path, const cnn_operand *operand, double **values, cnn_dtype *dtype,
                        cnn_error *err);
/* Writes it as f32 or f64. */
cnn_status cli_npy_save(const char *path, const cnn_operand *operand, const double *values, cnn_dtype dtype,
                        cnn_error *err);

#endif
