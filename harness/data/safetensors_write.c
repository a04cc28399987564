/* safetensors_write.c: see safetensors.h. */
#include "safetensors.h"

#include "harness/base/input.h"
#include "harness/base/replace.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers as text: cJSON would turn large ones into approximations. */
static cJSON *numbers(const int64_t *values, int count)
{
    char text[32];
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%lld", (long long)values[i]);
        cJSON *item = cJSON_CreateRaw(text);
        if (!cJSON_AddItemToArray(array, item)) cJSON_Delete(item);
    }
    return array;
}

/* False: out of memory. */
static bool add(cJSON *object, const char *key, cJSON *item)
{
    if (item != NULL && cJSON_AddItemToObject(object, key, item)) return true;
    cJSON_Delete(item);
    return false;
}

/* The header as text, with blanks at its end, so that elements begin at a multiple of 8. NULL: out of memory. */
static char *header_text(const st_tensor *tensors, int count, const st_pair *metadata, int n_metadata)
{
    cJSON *header = cJSON_CreateObject(), *pairs = cJSON_CreateObject();
    int64_t at = 0;
    bool made = add(header, "__metadata__", pairs);
    for (int i = 0; i < n_metadata && made; i++)
        made = add(pairs, metadata[i].key, cJSON_CreateString(metadata[i].value));
    for (int i = 0; i < count && made; i++) {
        const st_tensor *t = &tensors[i];
        const int64_t offsets[] = {at, at + t->count * (int64_t)st_type_size(t->type)};
        cJSON *item = cJSON_CreateObject();
        made = add(header, t->name, item) && add(item, "dtype", cJSON_CreateString(st_type_name(t->type))) &&
               add(item, "shape", numbers(t->dims, t->n_dims)) && add(item, "data_offsets", numbers(offsets, 2));
        at = offsets[1];
    }
    char *plain = made ? cJSON_PrintUnformatted(header) : NULL;
    cJSON_Delete(header);
    const size_t length = plain != NULL ? strlen(plain) : 0, whole = (length + 7) / 8 * 8;
    char *text = plain != NULL ? calloc(1, whole + 1) : NULL;
    if (text != NULL) memcpy(memset(text, ' ', whole), plain, length);
    cJSON_free(plain);
    return text;
}

cnn_status st_write(const char *path, const st_tensor *tensors, int count, const st_pair *metadata, int n_metadata,
                    cnn_error *err)
{
    char *header = header_text(tensors, count, metadata, n_metadata);
    file_piece *pieces = calloc((size_t)count + 2, sizeof *pieces);
    const uint64_t length = header != NULL ? strlen(header) : 0;
    cnn_status status = CNN_OK;
    if (header == NULL || pieces == NULL) {
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to write %.300s", path);
    } else {
        pieces[0] = (file_piece){&length, sizeof length};
        pieces[1] = (file_piece){header, length};
        for (int i = 0; i < count; i++)
            pieces[2 + i] = (file_piece){tensors[i].data, (size_t)tensors[i].count * st_type_size(tensors[i].type)};
        status = st_write_check(path, err);
    }
    if (status == CNN_OK) status = cnn_replace_file("weights file", path, pieces, count + 2, err);
    free(pieces);
    free(header);
    return status;
}

/* Such a file has no beginning of its own but the brace behind its length. */
cnn_status st_write_check(const char *path, cnn_error *err)
{
    unsigned char begins[ST_LENGTH + 1];
    FILE *file = cnn_is_plain_file(path) ? fopen(path, "re") : NULL;
    const size_t got = file != NULL ? fread(begins, 1, sizeof begins, file) : 0;
    if (file != NULL) fclose(file);
    if (got > 0 && (got < sizeof begins || begins[ST_LENGTH] != '{'))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "%.300s is there, and is no safetensors file that could be replaced: name another file", path);
    return cnn_replace_check("weights file", path, err);
}
