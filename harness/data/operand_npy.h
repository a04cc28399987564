/* operand_npy.h: operands and .npy files: which shape a file has, from doubles and back. */
#ifndef HARNESS_DATA_OPERAND_NPY_H
#define HARNESS_DATA_OPERAND_NPY_H

#include "harness/problem/shape.h"
#include "npy.h"

/* Reads an operand's array; a shape that is not the operand's is refused with both. `values` is malloc'd. */
cnn_status npy_load_operand(const char *path, const cnn_operand *operand, double **values, cnn_dtype *dtype,
                            cnn_error *err);
/* Writes it as f32 or f64. */
cnn_status npy_save_operand(const char *path, const cnn_operand *operand, const double *values, cnn_dtype dtype,
                            cnn_error *err);

#endif
