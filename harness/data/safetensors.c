/* safetensors.c: reading; safetensors_header.c reads the JSON, safetensors_write.c writes. */
#include "safetensors.h"

#include "harness/base/input.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are taken as they stand in the file");

enum { BLOCK = 1 << 24 };

static const struct {
    const char *name;
    size_t bytes;
} types[ST_TYPE_COUNT] = {
#define TYPE(name, bytes) {#name, bytes},
    ST_TYPE_LIST(TYPE)
#undef TYPE
};
size_t st_type_size(st_type type) { return types[type].bytes; }
const char *st_type_name(st_type type) { return types[type].name; }
bool st_is_real(st_type type) { return type == ST_F64 || type == ST_F32 || type == ST_F16 || type == ST_BF16; }

/* ---- Elements ---- */

/* IEEE 754's binary16: a sign, 5 bits of exponent, 10 of fraction. */
static double of_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023, sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == 31) return fraction > 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

double st_get(const st_tensor *t, int64_t index)
{
    const char *at = (const char *)t->data + (size_t)index * st_type_size(t->type);
    double wide = NAN;
    float single;
    uint32_t bits = 0;
    if (t->type == ST_F64) return memcpy(&wide, at, sizeof wide), wide;
    if (t->type == ST_F32) return memcpy(&single, at, sizeof single), (double)single;
    memcpy(&bits, at, st_type_size(t->type));
    if (t->type == ST_F16) return of_half((uint16_t)bits);
    bits <<= 16; /* bfloat16 is the upper half of an f32 */
    return memcpy(&single, &bits, sizeof single), (double)single;
}

/* ---- Reading ---- */

/* Fewer bytes than wanted: a file that cannot be read, or one that ends too early. */
static cnn_status cut_off(FILE *file, const char *path, const char *where, size_t got, size_t wanted, cnn_error *err)
{
    if (ferror(file)) return CNN_FAIL(err, CNN_IO, "%s: cannot be read: %s", path, strerror(errno));
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: truncated: it ends in its %s, after %zu of %zu bytes", path, where, got,
                    wanted);
}

/* Exactly so many bytes and a NUL, in blocks that double: a file that promises too much costs nothing. */
static cnn_status read_bytes(FILE *file, const char *path, const char *where, size_t size, char **bytes, cnn_error *err)
{
    size_t done = 0, room = size < BLOCK ? size : BLOCK;
    *bytes = NULL;
    for (;;) {
        char *more = room < SIZE_MAX ? realloc(*bytes, room + 1) : NULL;
        if (more == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for %zu bytes", path, room);
        *bytes = more;
        done += fread(more + done, 1, room - done, file);
        if (done < room) return cut_off(file, path, where, done, size, err);
        more[done] = '\0';
        if (done == size) return CNN_OK;
        room = size - done < done ? size : 2 * done;
    }
}

static cnn_status read_header(FILE *in, const char *path, st_file *file, size_t *total, cnn_error *err)
{
    unsigned char length[ST_LENGTH];
    uint64_t size = 0;
    char *text = NULL;
    const size_t got = fread(length, 1, ST_LENGTH, in);
    if (got < ST_LENGTH) return cut_off(in, path, "header's length", got, ST_LENGTH, err);
    for (int i = ST_LENGTH - 1; i >= 0; i--) size = size << 8 | length[i];
    if (size > ST_HEADER_MAX)
        return CNN_FAIL(err, CNN_BAD_FORMAT,
                        "%s: no safetensors file that is read here: its header would have %llu bytes, more than %d",
                        path, (unsigned long long)size, ST_HEADER_MAX);
    cnn_status status = read_bytes(in, path, "header", (size_t)size, &text, err);
    if (status == CNN_OK && strlen(text) < size)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "%s: not a safetensors file: there is a zero byte in its header", path);
    if (status == CNN_OK) status = st_header_parse(text, path, file, total, err);
    free(text);
    return status;
}

static cnn_status read_all(FILE *in, const char *path, st_file *file, cnn_error *err)
{
    size_t total = 0;
    cnn_status status = read_header(in, path, file, &total, err);
    if (status == CNN_OK) status = read_bytes(in, path, "elements", total, &file->data, err);
    if (status != CNN_OK) return status;
    if (fgetc(in) != EOF)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: bytes follow the %zu that its header tells of", path, total);
    for (int i = 0; i < file->count; i++) file->tensors[i].data = file->data + file->tensors[i].begin;
    return CNN_OK;
}

cnn_status st_read(const char *path, st_file *file, cnn_error *err)
{
    const char *why;
    memset(file, 0, sizeof *file);
    FILE *in = input_stream(path, &why);
    if (in == NULL) return CNN_FAIL(err, CNN_IO, "%s: cannot be opened: %s", path, why);
    const cnn_status status = read_all(in, path, file, err);
    fclose(in);
    if (status != CNN_OK) st_free(file);
    return status;
}

void st_free(st_file *file)
{
    free(file->tensors);
    free(file->data);
    cJSON_Delete(file->header);
    memset(file, 0, sizeof *file);
}

const char *st_metadata(const st_file *file, const char *key)
{
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(file->header, "__metadata__");
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, key));
}
