/* npy.c: reading and writing .npy files; npy_header.c reads the dict in them. */
#include "npy.h"

#include "data_parts.h"
#include "harness/base/input.h"
#include "harness/base/text.h"
#include "harness/cnn/half.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are taken as they stand in the file");

enum { MAGIC = 6, HEADER_MAX = 1 << 16, BLOCK = 1 << 24 };
static const char magic[MAGIC] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

void npy_free(npy_array *array)
{
    free(array->data);
    array->data = NULL;
}

static const struct {
    const char *name, *descr;
    size_t bytes;
} types[NPY_TYPE_COUNT] = {
#define TYPE(id, text, descr, bytes) {text, descr, bytes},
    NPY_TYPE_LIST(TYPE)
#undef TYPE
};
size_t npy_type_size(npy_type type) { return types[type].bytes; }
const char *npy_type_name(npy_type type) { return types[type].name; }
const char *npy_type_descr(npy_type type) { return types[type].descr; }

double npy_get(const npy_array *array, int64_t index)
{
    switch (array->type) {
    case NPY_F32:
        return (double)((const float *)array->data)[index];
    case NPY_I32:
        return ((const int32_t *)array->data)[index];
    case NPY_I64:
        return (double)((const int64_t *)array->data)[index];
    case NPY_F16:
        return cnn_number_get(CNN_F16, array->data, index);
    case NPY_U8:
        return cnn_number_get(CNN_U8, array->data, index);
    case NPY_I8:
        return cnn_number_get(CNN_S8, array->data, index);
    default:
        return ((const double *)array->data)[index];
    }
}

void npy_shape_text(const int64_t *dims, int n_dims, char text[NPY_SHAPE_TEXT])
{
    snprintf(text, NPY_SHAPE_TEXT, "(");
    for (int i = 0; i < n_dims; i++) cnn_append(text, NPY_SHAPE_TEXT, "%s%lld", i > 0 ? ", " : "", (long long)dims[i]);
    cnn_append(text, NPY_SHAPE_TEXT, "%s", n_dims == 1 ? ",)" : ")");
}

/* Fewer bytes than wanted: a file that cannot be read, or one that ends too early. */
static cnn_status cut_off(FILE *file, const char *name, const char *what, cnn_error *err)
{
    if (ferror(file)) return CNN_FAIL(err, CNN_IO, "%s: cannot be read: %s", name, strerror(errno));
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: truncated: ends in %s", name, what);
}

/* The bytes of the header: what stands before the dict says how many. */
static cnn_status header_length(FILE *file, const char *name, size_t *length, cnn_error *err)
{
    unsigned char b[MAGIC + 2], size[4] = {0};
    const size_t got = fread(b, 1, sizeof b, file);
    if (got < MAGIC && ferror(file)) return cut_off(file, name, "", err);
    if (got < MAGIC || memcmp(b, magic, MAGIC) != 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: not a .npy file: it does not begin with \\x93NUMPY", name);
    if (got < sizeof b) return cut_off(file, name, "the version", err);
    if (b[MAGIC] < 1 || b[MAGIC] > 3 || b[MAGIC + 1] != 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: version %d.%d of .npy; 1.0, 2.0 and 3.0 are read", name, b[MAGIC],
                        b[MAGIC + 1]);
    const size_t bytes = b[MAGIC] == 1 ? 2 : 4;
    if (fread(size, 1, bytes, file) < bytes) return cut_off(file, name, "the header's length", err);
    *length = (size_t)size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    if (*length <= HEADER_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: a header of %zu bytes; no plain array needs more than %d", name, *length,
                    HEADER_MAX);
}

static cnn_status read_header(FILE *file, const char *name, npy_array *array, cnn_error *err)
{
    size_t length = 0;
    cnn_status status = header_length(file, name, &length, err);
    if (status != CNN_OK) return status;
    char *text = malloc(length + 1);
    if (text == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for its header", name);
    text[length] = '\0';
    if (fread(text, 1, length, file) < length)
        status = cut_off(file, name, "the header", err);
    else if (strlen(text) < length)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "%s: a zero byte in the header", name);
    else
        status = npy_header_parse(text, name, array, err);
    free(text);
    return status;
}

static cnn_status grow(npy_array *a, size_t bytes, const char *name, cnn_error *err)
{
    void *more = realloc(a->data, bytes > 0 ? bytes : 1);
    if (more == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for %zu bytes", name, bytes);
    a->data = more;
    return CNN_OK;
}

/* Blocks that double, so that a header that promises too much costs nothing. */
static cnn_status read_body(FILE *file, const char *name, npy_array *a, cnn_error *err)
{
    const size_t total = (size_t)a->count * npy_type_size(a->type);
    size_t done = 0, room = total < BLOCK ? total : BLOCK;
    cnn_status status = grow(a, room, name, err);
    while (status == CNN_OK && done < total) {
        const size_t got = fread((char *)a->data + done, 1, room - done, file);
        done += got;
        if (done < room) {
            char what[NPY_SHAPE_TEXT], text[NPY_SHAPE_TEXT + 100];
            npy_shape_text(a->dims, a->n_dims, what);
            snprintf(text, sizeof text, "the elements, after %zu of %zu bytes of %s %s", done, total, what,
                     npy_type_name(a->type));
            return cut_off(file, name, text, err);
        }
        if (done == total) break;
        room = total - done < done ? total : 2 * done;
        status = grow(a, room, name, err);
    }
    if (status == CNN_OK && fgetc(file) != EOF)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: bytes follow the %zu of its elements", name, total);
    return status;
}

cnn_status npy_read_stream(FILE *file, const char *name, npy_array *array, cnn_error *err)
{
    memset(array, 0, sizeof *array);
    cnn_status status = read_header(file, name, array, err);
    if (status == CNN_OK) status = read_body(file, name, array, err);
    if (status != CNN_OK) npy_free(array);
    return status;
}

cnn_status npy_read(const char *path, npy_array *array, cnn_error *err)
{
    memset(array, 0, sizeof *array);
    const char *why;
    FILE *file = input_stream(path, &why);
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "%s: cannot be opened: %s", path, why);
    cnn_status status = npy_read_stream(file, path, array, err);
    fclose(file);
    return status;
}

cnn_status npy_write(const char *path, const npy_array *array, cnn_error *err)
{
    enum { ALIGN = 64, BEFORE = MAGIC + 4 };
    char shape[NPY_SHAPE_TEXT], text[512] = {0};
    npy_shape_text(array->dims, array->n_dims, shape);
    memcpy(text, magic, MAGIC);
    int used =
        BEFORE + snprintf(text + BEFORE, sizeof text - BEFORE, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          npy_type_descr(array->type), shape);
    while ((used + 1) % ALIGN != 0) text[used++] = ' ';
    text[used++] = '\n';
    text[MAGIC] = 1;
    text[MAGIC + 2] = (char)((used - BEFORE) & 0xFF);
    text[MAGIC + 3] = (char)((used - BEFORE) >> 8);
    return data_write_file(path, text, (size_t)used, array->data, (size_t)array->count * npy_type_size(array->type),
                           err);
}
