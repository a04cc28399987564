/* operand_npy.c: see npy.h. */
#include "npy.h"

#include "harness/base/input.h"

#include <stdlib.h>
#include <string.h>

/* The shape an operand has in a file, as PyTorch has it: tensors (n, c, h, w), weights (oc, ic/g, kh, kw), vectors
 * (oc,). Returns the number of dimensions. */
static int dims_of(const cnn_operand *o, int64_t dims[4])
{
    int n = 4;
    const bool weights = strcmp(o->name, "w") == 0 || strcmp(o->name, "dw") == 0;
    memcpy(dims, o->dims, 4 * sizeof *dims);
    if (o->shape == CNN_SHAPE_FLAT && !weights)
        while (n > 1 && dims[n - 1] == 1) n--;
    return n;
}

static bool same_shape(const npy_array *a, const int64_t *dims, int n)
{
    if (a->n_dims != n) return false;
    for (int i = 0; i < n; i++)
        if (a->dims[i] != dims[i]) return false;
    return true;
}

cnn_status npy_load_operand(const char *path, const cnn_operand *o, double **values, cnn_dtype *dtype, cnn_error *err)
{
    npy_array array;
    int64_t dims[4];
    const int n = dims_of(o, dims);
    *values = NULL;
    cnn_status status = npy_read(path, &array, err);
    if (status != CNN_OK) return status;
    if (!same_shape(&array, dims, n)) {
        char has[NPY_SHAPE_TEXT], needs[NPY_SHAPE_TEXT];
        npy_shape_text(array.dims, array.n_dims, has);
        npy_shape_text(dims, n, needs);
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s has the shape %s, but %s of this problem is %s", path, has,
                          o->name, needs);
    } else if ((*values = malloc((size_t)array.count * sizeof **values)) == NULL) {
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for %lld numbers", path, (long long)array.count);
    }
    for (int64_t i = 0; status == CNN_OK && i < array.count; i++) (*values)[i] = npy_get(&array, i);
    *dtype = array.dtype;
    npy_free(&array);
    return status;
}

cnn_status npy_save_operand(const char *path, const cnn_operand *o, const double *values, cnn_dtype dtype,
                            cnn_error *err)
{
    npy_array array = {.dtype = dtype, .count = o->count};
    int64_t dims[4];
    array.n_dims = dims_of(o, dims);
    memcpy(array.dims, dims, sizeof dims);
    array.data = malloc((size_t)o->count * cnn_dtype_size(dtype));
    if (array.data == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for %lld numbers", path, (long long)o->count);
    for (int64_t i = 0; i < o->count; i++)
        if (dtype == CNN_F64)
            ((double *)array.data)[i] = values[i];
        else
            ((float *)array.data)[i] = (float)values[i];
    cnn_status status = cnn_check_replaced(path, "array (.npy)", "\x93NUMPY", err);
    if (status == CNN_OK) status = npy_write(path, &array, err);
    npy_free(&array);
    return status;
}
