/* dataset.h: images and labels to train on and to test on.
 *
 * Images are kept as they come, one byte a pixel (NCHW), and become numbers in one place, dataset_rows():
 *     MEAN          value = pixel / 255 - mean, the mean being that of pixel / 255 over the image's channel in all
 * training images in use (the thesis: divided by 255, then the mean subtracted; He et al. have one a pixel) NONE value
 * = pixel / 255 PROPORTIONAL  value = pixel / the largest pixel of the image (Karv); 0 where that is 0 A trainer
 * converts straight into its own memory, so the large form exists once. */
#ifndef HARNESS_DATA_DATASET_H
#define HARNESS_DATA_DATASET_H

#include "../cnn.h"

enum { DATASET_PATH_MAX = 1024, DATASET_CLASSES = 10, DATASET_TRAIN = 60000, DATASET_TEST = 10000 };
enum { CIFAR10_TRAIN = 50000, CIFAR10_TEST = 10000, CIFAR10_CHANNELS = 3, CIFAR10_SIDE = 32 };

typedef enum dataset_preprocess { DATASET_MEAN, DATASET_NONE, DATASET_PROPORTIONAL } dataset_preprocess;

typedef struct dataset_part {
    int64_t count;
    uint8_t *images; /* count * c * h * w */
    int32_t *labels; /* count, each in [0, classes) */
} dataset_part;

typedef struct dataset {
    char name[CNN_NAME_MAX]; /* "mnist", "cifar10", "synthetic", "synthetic_pictures", or the folder: for records */
    char source[DATASET_PATH_MAX]; /* one sentence: where it comes from */
    int64_t c, h, w, classes;
    dataset_preprocess preprocess;
    double mean;   /* of all channels; 0 unless it is DATASET_MEAN */
    double *means; /* of each channel; NULL: the mean is that of all, as where there is one */
    dataset_part train, test;
} dataset;

typedef struct dataset_params {
    const char *what; /* "auto" (or NULL), "mnist", "cifar10", "synthetic", a folder, or FILE.csv[,TEST.csv] */
    dataset_preprocess preprocess;
    int64_t targets[2];                /* of CSV: the columns [first, last] that hold the target */
    int64_t c, h, w;                   /* what is asked for; 0: of synthetic images 1 x 28 x 28 */
    int64_t train_images, test_images; /* only the first so many; 0: all */
    uint64_t seed;                     /* of synthetic images */
    int threads;                       /* that make them; the images do not depend on it */
} dataset_params;

/* auto is MNIST or CIFAR-10, whichever has the shape asked for, where it is found, else synthetic; `source` says which
 * and why. A folder that holds both is that of the shape asked for, MNIST without.
 * CNN_IO for what is missing or cannot be read, CNN_BAD_FORMAT for a file that is not what it should be,
 * CNN_BAD_ARGUMENT for more images than there are. Free with dataset_free(), which accepts a zeroed one. */
cnn_status dataset_open(const dataset_params *params, dataset *data, cnn_error *err);
void dataset_free(dataset *data);

/* Converts images [first, first + count) of a part to type->dtype, laid out as type->layout. */
void dataset_rows(const dataset *data, const dataset_part *part, int64_t first, int64_t count, const cnn_type *type,
                  void *out);

/* How many labels of each class; `histogram` has data->classes elements. */
void dataset_histogram(const dataset *data, const dataset_part *part, int64_t *histogram);

/* ---- The pieces (tests, `benchcnn data`). */

/* Synthetic digits: strokes with random slant, scale, place, thickness and noise. Of three channels they are pictures
 * in the manner of CIFAR-10: a digit of one colour on a ground that runs from one colour to another; colours say
 * nothing of the class. Image i of a part depends on the seed and i alone. */
cnn_status dataset_synthetic(const dataset_params *params, dataset *data, cnn_error *err);

/* The folder that holds the four IDX files: `what` a folder, or NULL: $BENCHCNN_DATA, $BENCHCNN_DATA/mnist, data/mnist.
 * CNN_IO says where it looked. */
cnn_status mnist_find(const char *what, char folder[DATASET_PATH_MAX], cnn_error *err);
/* Reads the four files (plain or .gz) of a folder. */
cnn_status mnist_read(const char *folder, const dataset_params *params, dataset *data, cnn_error *err);
/* CIFAR-10's binary version: data_batch_1.bin to data_batch_5.bin and test_batch.bin, 10,000 images each, of a label's
 * byte and three planes of 32 x 32 bytes, red, green, blue. cifar10_find() looks in `what` or, where that is NULL, in
 * $BENCHCNN_DATA and data, and in their folders cifar10 and cifar-10-batches-bin. */
cnn_status cifar10_find(const char *what, char folder[DATASET_PATH_MAX], cnn_error *err);
cnn_status cifar10_read(const char *folder, const dataset_params *params, dataset *data, cnn_error *err);
/* Of 3 x 32 x 32 pixels; at least 50,000 training images and 10,000 of the test: so many are written. */
cnn_status cifar10_write(const char *folder, const dataset *data, cnn_error *err);
/* Downloads its archive, checks the SHA-256 and unpacks the six files; what is there is checked, too, and kept. */
cnn_status cifar10_fetch(const char *folder, cnn_error *err);
/* Comma-separated numbers, an image a line: its target, and c * h * w pixels of 0 to 255 (c, h, w 0: square, of one
 * channel), in the columns that targets leaves. The target is a class, or a column for each class, one of them 1 and
 * the others 0. A first line that begins with no number is a heading. `what` is FILE.csv,TEST.csv; of one file alone
 * the last seventh of the images is the test's. */
cnn_status csv_read(const char *what, const dataset_params *params, dataset *data, cnn_error *err);
bool csv_named(const char *what); /* whether `what` is a file of these */
/* Downloads the four files into a folder (made if missing) with curl or wget, checks the SHA-256 of what they hold
 * unpacked, and only then gives them their names. Files that are there and right are kept. */
cnn_status mnist_fetch(const char *folder, cnn_error *err);
/* Writes the data set as four IDX files. */
cnn_status mnist_write(const char *folder, const dataset *data, cnn_error *err);

#endif
