/* idx.h: the file format of MNIST: a big-endian header (magic 0x000008DD for unsigned bytes in D dimensions, then the D
 * sizes) and the bytes. Plain or gzip-compressed files are read alike. Internal to harness/data. */
#ifndef HARNESS_DATA_IDX_H
#define HARNESS_DATA_IDX_H

#include "../cnn.h"

enum { IDX_MAX_DIMS = 4 };

typedef struct idx_array {
    int n_dims;
    int64_t dims[IDX_MAX_DIMS], count; /* count: their product */
    uint8_t *bytes;                    /* free() it */
} idx_array;

/* Reads a file of min_dims to max_dims dimensions. Every error names the file and the offending value. */
cnn_status idx_read(const char *path, int min_dims, int max_dims, idx_array *array, cnn_error *err);
cnn_status idx_write(const char *path, const idx_array *array, cnn_error *err);

#endif
