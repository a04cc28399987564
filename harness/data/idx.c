/* idx.c: reading and writing IDX files. zlib's gzFile reads plain files too, so there is one path for both. */

#include "data_parts.h"
#include "harness/base/input.h"
#include "harness/base/text.h"
#include "harness/cpu/limits.h"
#include "harness/problem/shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 1 << 26 }; /* gzread takes an unsigned int */

/* Reads until `bytes` are there or the file ends; *got says how many there were. A damaged or cut .gz is an error. */
static cnn_status read_bytes(gzFile file, const char *path, uint8_t *out, int64_t bytes, int64_t *got, cnn_error *err)
{
    *got = 0;
    while (*got < bytes) {
        const int64_t left = bytes - *got;
        const int n = gzread(file, out + *got, left < CHUNK ? (unsigned)left : (unsigned)CHUNK);
        int code = Z_OK;
        const char *why = gzerror(file, &code);
        if (n < 0 || (n == 0 && code == Z_BUF_ERROR))
            return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: damaged or cut off after %lld unpacked bytes (%s)", path,
                            (long long)*got, code == Z_ERRNO ? strerror(errno) : why);
        if (n == 0) break;
        *got += n;
    }
    return CNN_OK;
}

static int64_t big_endian(const uint8_t b[4])
{
    return ((int64_t)b[0] << 24) | ((int64_t)b[1] << 16) | ((int64_t)b[2] << 8) | (int64_t)b[3];
}

static cnn_status read_magic(gzFile file, const char *path, int min_dims, int max_dims, int *n_dims, cnn_error *err)
{
    uint8_t b[4];
    int64_t got = 0;
    cnn_status status = read_bytes(file, path, b, 4, &got, err);
    if (status != CNN_OK) return status;
    if (got < 4)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: truncated: only %lld bytes, not even the magic number", path,
                        (long long)got);
    const int64_t magic = big_endian(b);
    *n_dims = (int)(magic & 0xff);
    if ((magic >> 8) != 0x08 || *n_dims < min_dims || *n_dims > max_dims)
        return CNN_FAIL(err, CNN_BAD_FORMAT,
                        "%s: wrong magic number 0x%08llx: expected 0x%08x (IDX, unsigned bytes, %d dimension%s)", path,
                        (unsigned long long)magic, 0x800u | (unsigned)min_dims, min_dims, min_dims == 1 ? "" : "s");
    return CNN_OK;
}

/* "60000 x 28 x 28" */
static void format_dims(const idx_array *a, char text[96])
{
    text[0] = '\0';
    for (int i = 0; i < a->n_dims; i++) cnn_append(text, 96, "%s%lld", i ? " x " : "", (long long)a->dims[i]);
}

static cnn_status read_dims(gzFile file, const char *path, idx_array *a, cnn_error *err)
{
    a->count = 1;
    for (int i = 0; i < a->n_dims; i++) {
        uint8_t b[4];
        int64_t got = 0;
        cnn_status status = read_bytes(file, path, b, 4, &got, err);
        if (status != CNN_OK) return status;
        if (got < 4)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: truncated: ends in the header, at size %d of %d", path, i + 1,
                            a->n_dims);
        a->dims[i] = big_endian(b);
        if (a->dims[i] == 0) return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: size %d in the header is 0", path, i + 1);
        if (!cnn_mul(a->count, a->dims[i], &a->count))
            return CNN_FAIL(err, CNN_OVERFLOW, "%s: the sizes in the header overflow at %lld", path,
                            (long long)a->dims[i]);
    }
    return CNN_OK;
}

/* The next part of the data. Memory grows with what is really there, never with what a header promises. */
static cnn_status read_part(gzFile file, const char *path, idx_array *a, int64_t at, int64_t *got, cnn_error *err)
{
    enum { LEAST = 1 << 20 };
    char text[96];
    const int64_t left = a->count - at, part = at > LEAST ? at : LEAST;
    const int64_t size = at + (left < part ? left : part);
    const bool fits = cnn_host_check((size_t)(size - at), err) == CNN_OK;
    uint8_t *grown = fits ? realloc(a->bytes, (size_t)size) : NULL;
    format_dims(a, text);
    if (grown == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: the header says %s bytes, more than memory can hold", path, text);
    a->bytes = grown;
    return read_bytes(file, path, a->bytes + at, size - at, got, err);
}

static cnn_status read_body(gzFile file, const char *path, idx_array *a, cnn_error *err)
{
    char text[96];
    uint8_t extra;
    int64_t got = 0, more = 1;
    cnn_status status = CNN_OK;
    for (; status == CNN_OK && got < a->count && more > 0; got += more)
        status = read_part(file, path, a, got, &more, err);
    if (status != CNN_OK) return status;
    format_dims(a, text);
    if (got < a->count)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: truncated: holds %lld bytes of data, its header says %s = %lld", path,
                        (long long)got, text, (long long)a->count);
    more = 0;
    status = read_bytes(file, path, &extra, 1, &more, err);
    if (status == CNN_OK && more != 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: longer than its header says (%s = %lld bytes of data)", path, text,
                        (long long)a->count);
    return status;
}

cnn_status idx_read(const char *path, int min_dims, int max_dims, idx_array *array, cnn_error *err)
{
    memset(array, 0, sizeof *array);
    const char *why;
    const int fd = input_open(path, &why);
    if (fd < 0) return CNN_FAIL(err, CNN_IO, "%s: cannot be opened: %s", path, why);
    gzFile file = gzdopen(fd, "rb");
    if (file == NULL) {
        close(fd);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory to read it", path);
    }
    cnn_status status = read_magic(file, path, min_dims, max_dims, &array->n_dims, err);
    if (status == CNN_OK) status = read_dims(file, path, array, err);
    if (status == CNN_OK) status = read_body(file, path, array, err);
    gzclose(file);
    if (status != CNN_OK) {
        free(array->bytes);
        array->bytes = NULL;
    }
    return status;
}

cnn_status idx_write(const char *path, const idx_array *array, cnn_error *err)
{
    uint8_t header[4 + 4 * IDX_MAX_DIMS] = {0, 0, 8, (uint8_t)array->n_dims};
    for (int i = 0; i < array->n_dims; i++)
        for (int b = 0; b < 4; b++) header[4 + 4 * i + b] = (uint8_t)((uint64_t)array->dims[i] >> (24 - 8 * b));
    return data_write_file(path, header, 4 + 4 * (size_t)array->n_dims, array->bytes, (size_t)array->count, err);
}
