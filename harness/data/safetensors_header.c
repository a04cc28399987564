/* safetensors_header.c: the JSON at a file's head -> tensors. Nothing in it is believed: a number must be whole, a
 * range must hold what the shape takes, and all ranges must lie one behind the other. */
#include "safetensors.h"

#include "harness/base/grow.h"
#include "harness/problem/names.h"
#include "npy.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A whole number from 0 on, as far as a double tells whole numbers apart. */
static bool whole(const cJSON *item, int64_t *value)
{
    const double most = 0x1p53;
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= most)) return false;
    *value = (int64_t)item->valuedouble;
    return (double)*value >= item->valuedouble;
}

/* "[2,-1]" of what stands there, cut to what an error has room for. */
static cnn_status bad_field(const char *path, const cJSON *tensor, const char *field, const char *expected,
                            cnn_error *err)
{
    char *text = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(tensor, field));
    const cnn_status status = CNN_FAIL(err, CNN_BAD_FORMAT, "%s: tensor '%.80s': %s is %.100s, expected %s", path,
                                       tensor->string, field, text != NULL ? text : "missing", expected);
    cJSON_free(text);
    return status;
}

static bool find_type(const char *name, st_type *type)
{
    for (int i = 0; name != NULL && i < ST_TYPE_COUNT; i++)
        if (strcmp(name, st_type_name((st_type)i)) == 0) return *type = (st_type)i, true;
    return false;
}

static bool read_shape(const cJSON *shape, st_tensor *t)
{
    const cJSON *size;
    if (!cJSON_IsArray(shape) || cJSON_GetArraySize(shape) > ST_MAX_DIMS) return false;
    t->count = 1;
    cJSON_ArrayForEach(size, shape)
    {
        if (!whole(size, &t->dims[t->n_dims])) return false;
        if (__builtin_mul_overflow(t->count, t->dims[t->n_dims++], &t->count)) return false;
    }
    return true;
}

static bool read_offsets(const cJSON *offsets, st_tensor *t)
{
    int64_t begin, end;
    if (!cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2) return false;
    if (!whole(cJSON_GetArrayItem(offsets, 0), &begin) || !whole(cJSON_GetArrayItem(offsets, 1), &end)) return false;
    t->begin = (size_t)begin;
    t->end = (size_t)end;
    return begin <= end;
}

static cnn_status read_tensor(const char *path, const cJSON *item, st_tensor *t, cnn_error *err)
{
    char shape[NPY_SHAPE_TEXT];
    size_t bytes;
    t->name = item->string;
    if (!find_type(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "dtype")), &t->type))
        return bad_field(path, item, "dtype", "a type such as \"F32\"", err);
    if (!read_shape(cJSON_GetObjectItemCaseSensitive(item, "shape"), t))
        return bad_field(path, item, "shape", "up to 8 whole numbers, whose product can be counted", err);
    if (!read_offsets(cJSON_GetObjectItemCaseSensitive(item, "data_offsets"), t))
        return bad_field(path, item, "data_offsets", "[BEGIN, END], two whole numbers in order", err);
    const bool overflow = __builtin_mul_overflow((size_t)t->count, st_type_size(t->type), &bytes);
    if (!overflow && t->end - t->begin == bytes) return CNN_OK;
    npy_shape_text(t->dims, t->n_dims, shape);
    return CNN_FAIL(
        err, CNN_BAD_FORMAT, "%s: tensor '%.80s': data_offsets [%zu, %zu] are %zu bytes, but %s of shape %s takes %zu",
        path, t->name, t->begin, t->end, t->end - t->begin, st_type_name(t->type), shape, overflow ? SIZE_MAX : bytes);
}

static cnn_status check_metadata(const char *path, const cJSON *metadata, cnn_error *err)
{
    const cJSON *item;
    bool texts = cJSON_IsObject(metadata);
    cJSON_ArrayForEach(item, metadata) texts = texts && cJSON_IsString(item);
    return texts ? CNN_OK : CNN_FAIL(err, CNN_BAD_FORMAT, "%s: __metadata__ is no object of texts", path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const st_tensor *)a)->name, ((const st_tensor *)b)->name);
}

/* Empty tensors come first where others begin at the same offset. */
static int by_place(const void *a, const void *b)
{
    const st_tensor *p = a, *q = b;
    if (p->begin != q->begin) return p->begin < q->begin ? -1 : 1;
    return (p->end > q->end) - (p->end < q->end);
}

/* No name twice; no byte that belongs to two tensors, or to none. Leaves them in the order of their elements. */
static cnn_status check_all(const char *path, st_file *file, size_t *total, cnn_error *err)
{
    *total = 0;
    if (file->count == 0) return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: there is no tensor in it", path);
    qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, by_name);
    for (int i = 1; i < file->count; i++)
        if (strcmp(file->tensors[i].name, file->tensors[i - 1].name) == 0)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: tensor '%.80s' is there twice", path, file->tensors[i].name);
    qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, by_place);
    for (int i = 0; i < file->count; i++) {
        const st_tensor *t = &file->tensors[i];
        if (t->begin != *total)
            return CNN_FAIL(err, CNN_BAD_FORMAT,
                            "%s: tensor '%.80s' begins at byte %zu, but those before it end at %zu", path, t->name,
                            t->begin, *total);
        *total = t->end;
    }
    return CNN_OK;
}

cnn_status st_header_parse(const char *text, const char *path, st_file *file, size_t *total, cnn_error *err)
{
    const cJSON *item;
    file->header = cJSON_ParseWithOpts(text, NULL, true);
    if (!cJSON_IsObject(file->header))
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: not a safetensors file: its header '%.40s' is no JSON object", path,
                        text);
    cJSON_ArrayForEach(item, file->header)
    {
        if (strcmp(item->string, "__metadata__") == 0) {
            if (check_metadata(path, item, err) != CNN_OK) return err->status;
            continue;
        }
        st_tensor *t = cnn_add_item(&file->tensors, &file->count, &file->capacity, sizeof *t, "tensors", err);
        if (t == NULL || read_tensor(path, item, t, err) != CNN_OK) return err->status;
    }
    return check_all(path, file, total, err);
}
