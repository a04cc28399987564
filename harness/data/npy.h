/* npy.h: NumPy's file format for arrays of f32 and f64: what numpy.save writes and numpy.load reads.
 *
 * A file is "\x93NUMPY", the version (1.0, 2.0 or 3.0), the length of the header (16 bits, from 2.0 on 32), a Python
 * dict as text, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, and the elements. Read are little-endian
 * f32 and f64 in C order; everything else is refused with a sentence that says what there is and what to do. */
#ifndef HARNESS_DATA_NPY_H
#define HARNESS_DATA_NPY_H

#include "../cnn.h"
#include "harness/problem/shape.h"

enum { NPY_MAX_DIMS = 8, NPY_SHAPE_TEXT = 200 };

typedef struct npy_array {
    cnn_dtype dtype;
    int n_dims; /* 0: a single number */
    int64_t dims[NPY_MAX_DIMS], count;
    void *data; /* count floats or doubles; free() it */
} npy_array;

/* Every error names the file and the offending value. The file may be a pipe: memory grows with what is really read,
 * never with what a header promises. */
cnn_status npy_read(const char *path, npy_array *array, cnn_error *err);
/* The same from an open stream, which `name` stands for in errors. */
cnn_status npy_read_stream(FILE *file, const char *name, npy_array *array, cnn_error *err);
/* Version 1.0; a file that could not be written whole is CNN_IO. */
cnn_status npy_write(const char *path, const npy_array *array, cnn_error *err);
void npy_free(npy_array *array);

/* npy_header.c: sets dtype, n_dims, dims and count from the dict at a file's head, `text`, which ends with a NUL. */
cnn_status npy_header_parse(const char *text, const char *name, npy_array *array, cnn_error *err);

double npy_get(const npy_array *array, int64_t index);
/* "(2, 20, 16, 16)", as Python writes it. */
void npy_shape_text(const int64_t *dims, int n_dims, char text[NPY_SHAPE_TEXT]);

/* operand_npy.c: operands: which shape a file has, from doubles and back. */

/* Reads an operand's array; a shape that is not the operand's is refused with both. `values` is malloc'd. */
cnn_status npy_load_operand(const char *path, const cnn_operand *operand, double **values, cnn_dtype *dtype,
                            cnn_error *err);
/* Writes it as f32 or f64. */
cnn_status npy_save_operand(const char *path, const cnn_operand *operand, const double *values, cnn_dtype dtype,
                            cnn_error *err);

#endif
