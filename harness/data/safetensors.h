/* safetensors.h: the file format in which weights travel between frameworks
 * (https://github.com/huggingface/safetensors).
 *
 * A file is the length of its header (64 bits, little-endian), the header, and the elements of all tensors. The header
 * is JSON: {"NAME": {"dtype": "F32", "shape": [20, 1, 4, 4], "data_offsets": [0, 1280]}, ..., "__metadata__": {"KEY":
 * "TEXT"}}. Offsets count from behind the header; together the tensors fill what follows it, without a gap. Elements
 * are little-endian, in C order. */
#ifndef HARNESS_DATA_SAFETENSORS_H
#define HARNESS_DATA_SAFETENSORS_H

#include "../cnn.h"

enum { ST_MAX_DIMS = 8, ST_HEADER_MAX = 1 << 24, ST_LENGTH = 8 /* bytes of the header's length */ };

/* X(the format's name, bytes of an element) */
#define ST_TYPE_LIST(X)                                                                                                \
    X(BOOL, 1)                                                                                                         \
    X(U8, 1)                                                                                                           \
    X(I8, 1)                                                                                                           \
    X(F8_E5M2, 1)                                                                                                      \
    X(F8_E4M3, 1)                                                                                                      \
    X(I16, 2)                                                                                                          \
    X(U16, 2)                                                                                                          \
    X(F16, 2)                                                                                                          \
    X(BF16, 2)                                                                                                         \
    X(I32, 4)                                                                                                          \
    X(U32, 4)                                                                                                          \
    X(F32, 4)                                                                                                          \
    X(F64, 8)                                                                                                          \
    X(I64, 8)                                                                                                          \
    X(U64, 8)
#define ST_TYPE_ID(name, bytes) ST_##name,
typedef enum st_type { ST_TYPE_LIST(ST_TYPE_ID) ST_TYPE_COUNT } st_type;

typedef struct st_tensor {
    const char *name;
    st_type type;
    int n_dims; /* 0: a single number */
    int64_t dims[ST_MAX_DIMS], count;
    const void *data;  /* count elements, perhaps not aligned */
    size_t begin, end; /* offsets in the file; st_write() finds its own */
} st_tensor;

typedef struct st_pair { /* of the metadata */
    const char *key, *value;
} st_pair;

typedef struct st_file {
    st_tensor *tensors; /* in the order of their elements */
    int count, capacity;
    struct cJSON *header; /* names and metadata stand in it */
    char *data;
} st_file;

/* Every error names the file and the offending value. Memory grows with what is really read, never with what a header
 * promises. Free with st_free(), which accepts a zeroed one. */
cnn_status st_read(const char *path, st_file *file, cnn_error *err);
void st_free(st_file *file);
const char *st_metadata(const st_file *file, const char *key); /* NULL without it */

size_t st_type_size(st_type type);
const char *st_type_name(st_type type); /* "F32" */
/* Whether st_get() reads it: F64, F32, F16, BF16. */
bool st_is_real(st_type type);
double st_get(const st_tensor *tensor, int64_t index);

/* safetensors_write.c. Replaces the file whole (harness/base/replace.h). What stands there and is no such file is left
 * alone: CNN_BAD_ARGUMENT. */
cnn_status st_write(const char *path, const st_tensor *tensors, int count, const st_pair *metadata, int n_metadata,
                    cnn_error *err);
/* Whether st_write() could: asked before hours are spent. */
cnn_status st_write_check(const char *path, cnn_error *err);

/* safetensors_header.c: the tensors of a header, which ends with a NUL, sorted by their offsets and checked; *total:
 * the bytes of all their elements. file->header is theirs, even if it is refused. */
cnn_status st_header_parse(const char *text, const char *path, st_file *file, size_t *total, cnn_error *err);

#endif
