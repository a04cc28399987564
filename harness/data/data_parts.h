/* data_parts.h: what the files of harness/data share among themselves. */
#ifndef HARNESS_DATA_DATA_PARTS_H
#define HARNESS_DATA_DATA_PARTS_H

#include "../cnn.h"
#include "dataset.h"

/* Sets data->mean and data->means from the training images. */
cnn_status dataset_find_mean(dataset *data, cnn_error *err);
/* The last step of reading a set: keeps the images that params ask for and finds their mean. With a status that is not
 * CNN_OK it frees the set and returns that. `where`: what an error calls it. */
cnn_status dataset_finish(cnn_status status, const char *where, const dataset_params *params, dataset *data,
                          cnn_error *err);

/* Keeps the first `limit` images (0: all); more than there are is CNN_BAD_ARGUMENT. */
cnn_status dataset_limit(dataset_part *part, int64_t limit, const char *what, const char *where, cnn_error *err);

/* The four files of MNIST, in this order. */
enum { MNIST_TRAIN_IMAGES, MNIST_TRAIN_LABELS, MNIST_TEST_IMAGES, MNIST_TEST_LABELS, MNIST_FILES };
extern const char *const mnist_files[MNIST_FILES];

/* FOLDER/NAME or, where that is missing, FOLDER/NAME.gz; false when there is neither. */
bool mnist_path(const char *folder, int file, char path[DATASET_PATH_MAX]);

/* Makes a folder and those above it. */
cnn_status data_make_folders(const char *folder, cnn_error *err);
/* A file of a head and a body. */
cnn_status data_write_file(const char *path, const void *head, size_t head_bytes, const void *body, size_t body_bytes,
                           cnn_error *err);

/* Whether the shape that is asked for is, or may be, this one. */
static inline bool data_fits(const dataset_params *p, int64_t c, int64_t h, int64_t w)
{
    return (p->c == 0 || p->c == c) && (p->h == 0 || p->h == h) && (p->w == 0 || p->w == w);
}

/* pictures.c. Makes a picture of three channels of a mask, 0 to 255, that is in its first one. */
struct cnn_rng;
void picture_paint(struct cnn_rng *rng, int64_t h, int64_t w, uint8_t *image);

/* The strokes of digit `digit`: points on a grid of 0..20, PEN_UP between strokes. */
typedef struct glyph_point {
    int8_t x, y;
} glyph_point;
enum { PEN_UP = -1, GLYPH_GRID = 20, GLYPH_VARIANTS = 2 };
const glyph_point *glyph(int digit, int variant, int *count);

/* idx.c: the file format of MNIST: a big-endian header (magic 0x000008DD for unsigned bytes in D dimensions, then the D
 * sizes) and the bytes. Plain or gzip-compressed files are read alike. Internal to harness/data. */
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
