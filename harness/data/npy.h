/* npy.h: NumPy's file format for arrays of f32, f64, f16, i32, i64, u8 and i8: what numpy.save writes and numpy.load
 * reads.
 *
 * A file is "\x93NUMPY", the version (1.0, 2.0 or 3.0), the length of the header (16 bits, from 2.0 on 32), a Python
 * dict as text, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, and the elements. Read are little-endian
 * elements of these types in C order; everything else is refused with a sentence that says what there is and what to
 * do. */
#ifndef HARNESS_DATA_NPY_H
#define HARNESS_DATA_NPY_H

#include "../cnn.h"
#include "harness/problem/shape.h"

enum { NPY_MAX_DIMS = 8, NPY_SHAPE_TEXT = 200 };

/* X(ID, text, NumPy's name, bytes) */
#define NPY_TYPE_LIST(X)                                                                                               \
    X(F32, "f32", "<f4", 4)                                                                                            \
    X(F64, "f64", "<f8", 8)                                                                                            \
    X(F16, "f16", "<f2", 2)                                                                                            \
    X(I32, "i32", "<i4", 4)                                                                                            \
    X(I64, "i64", "<i8", 8)                                                                                            \
    X(U8, "u8", "|u1", 1)                                                                                              \
    X(I8, "i8", "|i1", 1) /* whole numbers from I32 on */
#define NPY_TYPE_ID(id, text, descr, bytes) NPY_##id,
typedef enum npy_type { NPY_TYPE_LIST(NPY_TYPE_ID) NPY_TYPE_COUNT } npy_type;

typedef struct npy_array {
    npy_type type;
    int n_dims; /* 0: a single number */
    int64_t dims[NPY_MAX_DIMS], count;
    void *data; /* count elements; free() it */
} npy_array;

/* Every error names the file and the offending value. The file may be a pipe: memory grows with what is really read,
 * never with what a header promises. */
cnn_status npy_read(const char *path, npy_array *array, cnn_error *err);
/* The same from an open stream, which `name` stands for in errors. */
cnn_status npy_read_stream(FILE *file, const char *name, npy_array *array, cnn_error *err);
/* Version 1.0; a file that could not be written whole is CNN_IO. */
cnn_status npy_write(const char *path, const npy_array *array, cnn_error *err);
void npy_free(npy_array *array);

/* npy_header.c: sets type, n_dims, dims and count from the dict at a file's head, `text`, which ends with a NUL. */
cnn_status npy_header_parse(const char *text, const char *name, npy_array *array, cnn_error *err);

size_t npy_type_size(npy_type type);
const char *npy_type_name(npy_type type);  /* "f32" */
const char *npy_type_descr(npy_type type); /* "<f4" */
/* Whole numbers beyond 2^53 are rounded. */
double npy_get(const npy_array *array, int64_t index);
/* "(2, 20, 16, 16)", as Python writes it. */
void npy_shape_text(const int64_t *dims, int n_dims, char text[NPY_SHAPE_TEXT]);

/* operand_npy.c: operands: which shape a file has, from doubles and back. */

/* Reads an operand's array; a shape that is not the operand's is refused with both, and so are real numbers where whole
 * ones belong (labels, step, correct), and i64 where an array has the problem's type. Dimensions of 1 at the end of a
 * shape may be left out, or be there. `values` is malloc'd. number: what the numbers of such an array stand in; of
 * labels and the like it is left alone. */
cnn_status npy_load_operand(const char *path, const cnn_operand *operand, double **values, cnn_dtype *number,
                            cnn_error *err);
/* Writes it: labels and the like as whole numbers, totals (loss_sum) as f64, other arrays as `number`; bf16, which
 * NumPy has not, as f32. */
cnn_status npy_save_operand(const char *path, const cnn_operand *operand, const double *values, cnn_dtype number,
                            cnn_error *err);

#endif
