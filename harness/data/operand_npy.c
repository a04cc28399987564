/* operand_npy.c: see npy.h. */
#include "npy.h"

#include "harness/base/input.h"
#include "harness/cnn/half.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shape an operand has in a file, as PyTorch has it: tensors (n, c, h, w), weights (oc, ic/g, kh, kw), of three
 * dimensions (n, c, d, h, w), vectors (oc,), an optimizer's parameters among them. Returns the number of dimensions. */
static int dims_of(const cnn_operand *o, int64_t dims[5])
{
    int n = cnn_operand_dims(o, dims);
    const bool weights = (strcmp(o->name, "w") == 0 && o->access == CNN_IN) || strcmp(o->name, "dw") == 0;
    if (o->shape == CNN_SHAPE_FLAT && !weights)
        while (n > 1 && dims[n - 1] == 1) n--;
    return n;
}

/* Ones at the end may be left out, or be there. */
static bool same_shape(const npy_array *a, const int64_t *dims, int n)
{
    for (int i = 0; i < n || i < a->n_dims; i++)
        if ((i < a->n_dims ? a->dims[i] : 1) != (i < n ? dims[i] : 1)) return false;
    return true;
}

static bool is_whole(const cnn_operand *o) { return o->elem == CNN_ELEM_I32 || o->elem == CNN_ELEM_I64; }

/* Shape and kind of number. */
static cnn_status check_kind(const char *path, const npy_array *a, const cnn_operand *o, cnn_error *err)
{
    int64_t dims[5];
    const int n = dims_of(o, dims);
    if (!same_shape(a, dims, n)) {
        char has[NPY_SHAPE_TEXT], needs[NPY_SHAPE_TEXT];
        npy_shape_text(a->dims, a->n_dims, has);
        npy_shape_text(dims, n, needs);
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s has the shape %s, but %s of this problem is %s", path, has, o->name,
                        needs);
    }
    if (is_whole(o) ? a->type >= NPY_I32 : a->type != NPY_I64) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s is %s, but %s holds %s numbers: save a.astype('%s')", path,
                    npy_type_name(a->type), o->name, is_whole(o) ? "whole" : "real", is_whole(o) ? "<i8" : "<f4");
}

/* What a double, and the operand's own element, hold exactly. */
static cnn_status check_range(const char *path, const npy_array *a, const cnn_operand *o, cnn_error *err)
{
    const double most = o->elem == CNN_ELEM_I32 ? INT32_MAX : 0x1p53;
    for (int64_t i = 0; is_whole(o) && i < a->count; i++)
        if (!(fabs(npy_get(a, i)) <= most))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s holds %.17g, but %s goes no further than %.17g", path,
                            npy_get(a, i), o->name, most);
    return CNN_OK;
}

cnn_status npy_load_operand(const char *path, const cnn_operand *o, double **values, cnn_dtype *number, cnn_error *err)
{
    static const cnn_dtype numbers[NPY_TYPE_COUNT] = {[NPY_F32] = CNN_F32, [NPY_F64] = CNN_F64, [NPY_F16] = CNN_F16,
                                                      [NPY_I32] = CNN_S32, [NPY_U8] = CNN_U8,   [NPY_I8] = CNN_S8};
    npy_array array;
    *values = NULL;
    cnn_status status = npy_read(path, &array, err);
    if (status != CNN_OK) return status;
    status = check_kind(path, &array, o, err);
    if (status == CNN_OK) status = check_range(path, &array, o, err);
    if (status == CNN_OK && (*values = malloc((size_t)array.count * sizeof **values)) == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for %lld numbers", path, (long long)array.count);
    for (int64_t i = 0; status == CNN_OK && i < array.count; i++) (*values)[i] = npy_get(&array, i);
    if (status == CNN_OK && !is_whole(o)) *number = numbers[array.type];
    npy_free(&array);
    return status;
}

static npy_type type_of(const cnn_operand *o, cnn_dtype number)
{
    static const npy_type types[CNN_NUMBER_COUNT] = {
        [CNN_F64] = NPY_F64, [CNN_F16] = NPY_F16, [CNN_U8] = NPY_U8, [CNN_S8] = NPY_I8, [CNN_S32] = NPY_I32}; /* others:
                                                                                                                 NPY_F32
                                                                                                               */
    if (o->elem == CNN_ELEM_I32) return NPY_I32;
    if (o->elem == CNN_ELEM_I64) return NPY_I64;
    return o->elem == CNN_ELEM_DOUBLE ? NPY_F64 : types[number];
}

static void put(npy_array *a, int64_t i, double value)
{
    switch (a->type) {
    case NPY_F32:
        ((float *)a->data)[i] = (float)value;
        break;
    case NPY_I32:
        ((int32_t *)a->data)[i] = (int32_t)value;
        break;
    case NPY_I64:
        ((int64_t *)a->data)[i] = (int64_t)value;
        break;
    case NPY_F16:
        cnn_number_put(CNN_F16, a->data, i, value);
        break;
    case NPY_U8:
        cnn_number_put(CNN_U8, a->data, i, value);
        break;
    case NPY_I8:
        cnn_number_put(CNN_S8, a->data, i, value);
        break;
    default:
        ((double *)a->data)[i] = value;
    }
}

cnn_status npy_save_operand(const char *path, const cnn_operand *o, const double *values, cnn_dtype number,
                            cnn_error *err)
{
    npy_array array = {.type = type_of(o, number), .count = o->count};
    int64_t dims[5];
    array.n_dims = dims_of(o, dims);
    memcpy(array.dims, dims, sizeof dims);
    array.data = malloc((size_t)o->count * npy_type_size(array.type));
    if (array.data == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for %lld numbers", path, (long long)o->count);
    for (int64_t i = 0; i < o->count; i++) put(&array, i, values[i]);
    cnn_status status = cnn_check_replaced(path, "array (.npy)", "\x93NUMPY", err);
    if (status == CNN_OK) status = npy_write(path, &array, err);
    npy_free(&array);
    return status;
}
