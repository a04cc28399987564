/* mnist.c: the four IDX files of MNIST (or of anything in its form): finding, reading, checking, writing. */
#include "data_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const mnist_files[MNIST_FILES] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                              "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

bool mnist_path(const char *folder, int file, char path[DATASET_PATH_MAX])
{
    static const char *const endings[] = {"", ".gz"};
    for (int i = 0; i < 2; i++) {
        const int n = snprintf(path, DATASET_PATH_MAX, "%s/%s%s", folder, mnist_files[file], endings[i]);
        if (n < DATASET_PATH_MAX && access(path, F_OK) == 0) return true;
    }
    return false;
}

/* A folder is MNIST's when the training images are in it; what else is missing is said when it is read. */
static bool holds_images(const char *folder)
{
    char path[DATASET_PATH_MAX];
    return mnist_path(folder, MNIST_TRAIN_IMAGES, path);
}

/* The folder itself, or its folder mnist. */
static bool find_in(const char *where, char folder[DATASET_PATH_MAX])
{
    static const char *const below[] = {"", "/mnist"};
    for (int i = 0; i < 2; i++)
        if (snprintf(folder, DATASET_PATH_MAX, "%s%s", where, below[i]) < DATASET_PATH_MAX && holds_images(folder))
            return true;
    return false;
}

cnn_status mnist_find(const char *what, char folder[DATASET_PATH_MAX], cnn_error *err)
{
    struct stat st;
    const char *env = getenv("BENCHCNN_DATA");
    if (what != NULL) {
        if (find_in(what, folder)) return CNN_OK;
        if (stat(what, &st) != 0 || !S_ISDIR(st.st_mode))
            return CNN_FAIL(
                err, CNN_IO,
                "data \"%.200s\": expected auto, mnist, cifar10, synthetic, a folder or FILE.csv, and there is no "
                "such folder",
                what);
        return CNN_FAIL(err, CNN_IO, "%s: neither it nor its folder mnist holds %s, plain or .gz, nor CIFAR-10's files",
                        what, mnist_files[0]);
    }
    if (env != NULL && env[0] != '\0' && find_in(env, folder)) return CNN_OK;
    if (find_in("data", folder)) return CNN_OK;
    return CNN_FAIL(err, CNN_IO,
                    "MNIST was not found in $BENCHCNN_DATA (%s%s) or data/mnist: `benchcnn data fetch` gets it, "
                    "--data synthetic does without",
                    env != NULL ? env : "not set", env != NULL ? ", itself and its folder mnist" : "");
}

static cnn_status read_file(const char *folder, int file, int min_dims, int max_dims, idx_array *array, cnn_error *err)
{
    char path[DATASET_PATH_MAX];
    if (!mnist_path(folder, file, path))
        return CNN_FAIL(err, CNN_IO, "%s/%s: missing, plain or .gz", folder, mnist_files[file]);
    return idx_read(path, min_dims, max_dims, array, err);
}

/* Moves the images into `part` and makes int32 of the labels. */
static cnn_status take_part(const char *folder, int file, idx_array *images, const idx_array *labels, int64_t classes,
                            dataset_part *part, cnn_error *err)
{
    if (images->dims[0] != labels->dims[0])
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: %s has %lld images but %s has %lld labels", folder, mnist_files[file],
                        (long long)images->dims[0], mnist_files[file + 1], (long long)labels->dims[0]);
    part->count = images->dims[0];
    part->images = images->bytes;
    images->bytes = NULL;
    part->labels = malloc((size_t)part->count * sizeof *part->labels);
    if (part->labels == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for %lld labels", folder, (long long)part->count);
    for (int64_t i = 0; i < part->count; i++) {
        part->labels[i] = labels->bytes[i];
        if (part->labels[i] >= classes)
            return CNN_FAIL(err, CNN_BAD_FORMAT, "%s/%s: label %d at image %lld: expected 0 to %lld", folder,
                            mnist_files[file + 1], part->labels[i], (long long)i, (long long)classes - 1);
    }
    return CNN_OK;
}

static cnn_status read_part(const char *folder, int file, dataset *data, dataset_part *part, cnn_error *err)
{
    idx_array images = {0}, labels = {0};
    cnn_status status = read_file(folder, file, 3, 4, &images, err);
    if (status == CNN_OK) status = read_file(folder, file + 1, 1, 1, &labels, err);
    if (status == CNN_OK) {
        const int64_t c = images.n_dims == 4 ? images.dims[1] : 1;
        const int64_t h = images.dims[images.n_dims - 2], w = images.dims[images.n_dims - 1];
        if (data->c != 0 && (c != data->c || h != data->h || w != data->w))
            status = CNN_FAIL(err, CNN_BAD_FORMAT,
                              "%s: the test images are %lld x %lld x %lld, the training images %lld x %lld x %lld",
                              folder, (long long)c, (long long)h, (long long)w, (long long)data->c, (long long)data->h,
                              (long long)data->w);
        data->c = c;
        data->h = h;
        data->w = w;
    }
    if (status == CNN_OK) status = take_part(folder, file, &images, &labels, data->classes, part, err);
    free(images.bytes);
    free(labels.bytes);
    return status;
}

cnn_status mnist_read(const char *folder, const dataset_params *params, dataset *data, cnn_error *err)
{
    memset(data, 0, sizeof *data);
    data->classes = DATASET_CLASSES;
    data->preprocess = params->preprocess;
    snprintf(data->name, sizeof data->name, "%.*s", CNN_NAME_MAX - 1, folder);
    snprintf(data->source, sizeof data->source, "IDX files in %.900s", folder);
    cnn_status status = read_part(folder, MNIST_TRAIN_IMAGES, data, &data->train, err);
    if (status == CNN_OK) status = read_part(folder, MNIST_TEST_IMAGES, data, &data->test, err);
    return dataset_finish(status, folder, params, data, err);
}

static cnn_status write_part(const char *folder, int file, const dataset *data, const dataset_part *part,
                             cnn_error *err)
{
    char path[DATASET_PATH_MAX];
    idx_array images = {3, {part->count, data->h, data->w, 0}, part->count * data->c * data->h * data->w, part->images};
    idx_array labels = {1, {part->count, 0, 0, 0}, part->count, malloc((size_t)part->count)};
    if (data->c != 1) images = (idx_array){4, {part->count, data->c, data->h, data->w}, images.count, part->images};
    if (labels.bytes == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the labels");
    for (int64_t i = 0; i < part->count; i++) labels.bytes[i] = (uint8_t)part->labels[i];
    snprintf(path, sizeof path, "%.900s/%s", folder, mnist_files[file]);
    cnn_status status = idx_write(path, &images, err);
    snprintf(path, sizeof path, "%.900s/%s", folder, mnist_files[file + 1]);
    if (status == CNN_OK) status = idx_write(path, &labels, err);
    free(labels.bytes);
    return status;
}

cnn_status mnist_write(const char *folder, const dataset *data, cnn_error *err)
{
    cnn_status status = data_make_folders(folder, err);
    if (status == CNN_OK) status = write_part(folder, MNIST_TRAIN_IMAGES, data, &data->train, err);
    return status == CNN_OK ? write_part(folder, MNIST_TEST_IMAGES, data, &data->test, err) : status;
}
