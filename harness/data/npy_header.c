/* npy_header.c: reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }: three keys in any order, with any
 * white space, either kind of quotes, and nothing else. */
#include "npy.h"

#include "harness/problem/names.h"
#include "harness/problem/shape.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 64 };

typedef struct reader {
    const char *text, *at, *name;
    npy_array *array;
    bool descr, order, shape; /* the keys seen */
    cnn_error *err;
} reader;

static bool take(reader *r, char c)
{
    while (isspace((unsigned char)*r->at)) r->at++;
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static cnn_status expected(const reader *r, const char *what)
{
    return CNN_FAIL(r->err, CNN_BAD_FORMAT, "%s: the header has '%.20s' at byte %lld where %s must stand", r->name,
                    r->at, (long long)(r->at - r->text), what);
}

/* A quoted word without escapes. */
static cnn_status quoted(reader *r, char word[WORD_MAX], const char *what)
{
    const char quote = take(r, '\'') ? '\'' : take(r, '"') ? '"' : '\0';
    if (quote == '\0') return expected(r, what);
    size_t length = 0;
    for (; *r->at != quote; r->at++) {
        if (*r->at == '\0' || *r->at == '\\' || length == WORD_MAX - 1) return expected(r, what);
        word[length++] = *r->at;
    }
    word[length] = '\0';
    r->at++;
    return CNN_OK;
}

static cnn_status read_descr(reader *r)
{
    char word[WORD_MAX];
    if (take(r, '['))
        return CNN_FAIL(r->err, CNN_BAD_FORMAT, "%s: a structured array; save one field as float32 or float64",
                        r->name);
    cnn_status status = quoted(r, word, "an element type such as '<f4'");
    if (status != CNN_OK) return status;
    for (int t = 0; t < NPY_TYPE_COUNT; t++) {
        const char *descr = npy_type_descr((npy_type)t);
        r->array->type = (npy_type)t;
        if (strcmp(word, descr) == 0) return CNN_OK;
        if (word[0] == '>' && strcmp(word + 1, descr + 1) == 0)
            return CNN_FAIL(r->err, CNN_BAD_FORMAT, "%s: big-endian elements ('%s'); save a.astype('%s')", r->name,
                            word, descr);
    }
    return CNN_FAIL(r->err, CNN_BAD_FORMAT,
                    "%s: elements of type '%s'; f32 ('<f4'), f64 ('<f8'), f16 ('<f2'), i32 ('<i4'), i64 ('<i8'), u8 "
                    "('|u1') and i8 ('|i1') are read: save a.astype('<f4'), of whole numbers a.astype('<i8')",
                    r->name, word);
}

static cnn_status read_order(reader *r)
{
    while (isspace((unsigned char)*r->at)) r->at++;
    if (strncmp(r->at, "True", 4) == 0)
        return CNN_FAIL(r->err, CNN_BAD_FORMAT, "%s: Fortran order; save numpy.ascontiguousarray(a)", r->name);
    if (strncmp(r->at, "False", 5) != 0) return expected(r, "True or False");
    r->at += 5;
    return CNN_OK;
}

static cnn_status read_size(reader *r, npy_array *a)
{
    char *end;
    while (isspace((unsigned char)*r->at)) r->at++;
    if (!isdigit((unsigned char)*r->at)) return expected(r, "a size");
    errno = 0;
    const long long size = strtoll(r->at, &end, 10);
    if (errno == ERANGE)
        return CNN_FAIL(r->err, CNN_OVERFLOW, "%s: size %.30s in the header is beyond 64 bits", r->name, r->at);
    if (a->n_dims == NPY_MAX_DIMS)
        return CNN_FAIL(r->err, CNN_BAD_FORMAT, "%s: more than %d dimensions", r->name, NPY_MAX_DIMS);
    a->dims[a->n_dims++] = size;
    r->at = end;
    return CNN_OK;
}

static cnn_status read_shape(reader *r)
{
    npy_array *a = r->array;
    a->n_dims = 0;
    if (!take(r, '(')) return expected(r, "a shape such as (2, 3)");
    while (!take(r, ')')) {
        cnn_status status = read_size(r, a);
        if (status != CNN_OK) return status;
        if (take(r, ',')) continue;
        if (!take(r, ')')) return expected(r, "a comma or the end of the shape");
        break;
    }
    int64_t bytes;
    a->count = 1;
    for (int i = 0; i < a->n_dims; i++)
        if (!cnn_mul(a->count, a->dims[i], &a->count) || !cnn_mul(a->count, 8, &bytes))
            return CNN_FAIL(r->err, CNN_OVERFLOW, "%s: the sizes in the header overflow at %lld", r->name,
                            (long long)a->dims[i]);
    return CNN_OK;
}

static cnn_status read_entry(reader *r)
{
    char key[WORD_MAX];
    cnn_status status = quoted(r, key, "'descr', 'fortran_order' or 'shape'");
    if (status != CNN_OK) return status;
    bool *seen = strcmp(key, "descr") == 0           ? &r->descr
                 : strcmp(key, "fortran_order") == 0 ? &r->order
                 : strcmp(key, "shape") == 0         ? &r->shape
                                                     : NULL;
    if (seen == NULL)
        return CNN_FAIL(r->err, CNN_BAD_FORMAT, "%s: the header has the key '%s', which .npy does not know", r->name,
                        key);
    if (*seen) return CNN_FAIL(r->err, CNN_BAD_FORMAT, "%s: the header has '%s' twice", r->name, key);
    *seen = true;
    if (!take(r, ':')) return expected(r, "a colon");
    return seen == &r->descr ? read_descr(r) : seen == &r->order ? read_order(r) : read_shape(r);
}

cnn_status npy_header_parse(const char *text, const char *name, npy_array *array, cnn_error *err)
{
    reader r = {.text = text, .at = text, .name = name, .array = array, .err = err};
    if (!take(&r, '{')) return expected(&r, "a dict, '{'");
    while (!take(&r, '}')) {
        cnn_status status = read_entry(&r);
        if (status != CNN_OK) return status;
        if (take(&r, ',')) continue;
        if (!take(&r, '}')) return expected(&r, "a comma or '}'");
        break;
    }
    if (!take(&r, '\0')) return expected(&r, "the end of the header");
    if (r.descr && r.order && r.shape) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: the header lacks '%s'", name,
                    !r.descr   ? "descr"
                    : !r.order ? "fortran_order"
                               : "shape");
}
