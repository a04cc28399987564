/* cifar10.c: CIFAR-10's binary version (Krizhevsky, 2009): finding, reading, checking, writing its six files. */
#include "data_parts.h"
#include "harness/base/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 6, IMAGES = 10000, PIXELS = CIFAR10_CHANNELS * CIFAR10_SIDE * CIFAR10_SIDE, RECORD = 1 + PIXELS };

static const char *const names[FILES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                         "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

static bool file_path(const char *folder, int file, char path[DATASET_PATH_MAX])
{
    return snprintf(path, DATASET_PATH_MAX, "%s/%s", folder, names[file]) < DATASET_PATH_MAX;
}

/* The folder itself, or the one below it that the fetch makes, or the one that the archive unpacks to. */
static bool find_in(const char *where, char folder[DATASET_PATH_MAX])
{
    static const char *const below[] = {"", "/cifar10", "/cifar-10-batches-bin"};
    char path[DATASET_PATH_MAX];
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
        for (int file = 0; file < FILES; file++) /* what is missing is said when it is read */
            if (snprintf(folder, DATASET_PATH_MAX, "%s%s", where, below[i]) < DATASET_PATH_MAX &&
                file_path(folder, file, path) && access(path, F_OK) == 0)
                return true;
    return false;
}

cnn_status cifar10_find(const char *what, char folder[DATASET_PATH_MAX], cnn_error *err)
{
    const char *env = getenv("BENCHCNN_DATA");
    if (what != NULL && find_in(what, folder)) return CNN_OK;
    if (what != NULL)
        return CNN_FAIL(err, CNN_IO, "%s: neither it nor its folder cifar10 or cifar-10-batches-bin holds %s", what,
                        names[0]);
    if (env != NULL && env[0] != '\0' && find_in(env, folder)) return CNN_OK;
    if (find_in("data", folder)) return CNN_OK;
    return CNN_FAIL(err, CNN_IO,
                    "CIFAR-10 was not found in $BENCHCNN_DATA (%s%s) or data/cifar10: `benchcnn data fetch cifar10` "
                    "gets it, --data synthetic does without",
                    env != NULL ? env : "not set", env != NULL ? ", itself and its folder cifar10" : "");
}

/* Records of a label and an image, each, into two arrays. */
static cnn_status read_records(FILE *file, const char *path, uint8_t *images, int32_t *labels, cnn_error *err)
{
    uint8_t label;
    errno = 0;
    for (int64_t i = 0; i < IMAGES; i++) {
        const size_t got = fread(&label, 1, 1, file) + fread(images + i * PIXELS, 1, PIXELS, file);
        if (got < RECORD && ferror(file)) return CNN_FAIL(err, CNN_IO, "%s: cannot be read: %s", path, strerror(errno));
        if (got < RECORD)
            return CNN_FAIL(
                err, CNN_BAD_FORMAT,
                "%s: %lld bytes: expected %d, which are %d images of a label's byte and %d of pixels: fetch "
                "it again",
                path, (long long)(i * RECORD) + (long long)got, IMAGES * RECORD, IMAGES, PIXELS);
        if (label >= DATASET_CLASSES)
            return CNN_FAIL(err, CNN_BAD_FORMAT,
                            "%s: label %d at image %lld: expected 0 to %d; is it CIFAR-10's binary version?", path,
                            label, (long long)i, DATASET_CLASSES - 1);
        labels[i] = label;
    }
    if (fgetc(file) != EOF)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: longer than %d bytes, which are %d images: is it CIFAR-10's?", path,
                        IMAGES * RECORD, IMAGES);
    return CNN_OK;
}

static cnn_status read_file(const char *folder, int file, dataset_part *part, int64_t at, cnn_error *err)
{
    char path[DATASET_PATH_MAX];
    const char *why;
    if (!file_path(folder, file, path)) return CNN_FAIL(err, CNN_IO, "%.64s...: the folder's name is too long", folder);
    FILE *in = input_stream(path, &why);
    if (in == NULL) return CNN_FAIL(err, CNN_IO, "%s: cannot be opened: %s", path, why);
    const cnn_status status = read_records(in, path, part->images + at * PIXELS, part->labels + at, err);
    fclose(in);
    return status;
}

static cnn_status read_part(const char *folder, int first, int files, dataset_part *part, cnn_error *err)
{
    cnn_status status = CNN_OK;
    part->count = (int64_t)files * IMAGES;
    part->images = malloc((size_t)part->count * PIXELS);
    part->labels = malloc((size_t)part->count * sizeof *part->labels);
    if (part->images == NULL || part->labels == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for %lld images", folder, (long long)part->count);
    for (int i = 0; i < files && status == CNN_OK; i++)
        status = read_file(folder, first + i, part, (int64_t)i * IMAGES, err);
    return status;
}

cnn_status cifar10_read(const char *folder, const dataset_params *params, dataset *data, cnn_error *err)
{
    *data = (dataset){.c = CIFAR10_CHANNELS,
                      .h = CIFAR10_SIDE,
                      .w = CIFAR10_SIDE,
                      .classes = DATASET_CLASSES,
                      .preprocess = params->preprocess};
    snprintf(data->name, sizeof data->name, "%.*s", CNN_NAME_MAX - 1, folder);
    snprintf(data->source, sizeof data->source, "CIFAR-10, binary version, in %.900s", folder);
    cnn_status status = read_part(folder, 0, FILES - 1, &data->train, err);
    if (status == CNN_OK) status = read_part(folder, FILES - 1, 1, &data->test, err);
    return dataset_finish(status, folder, params, data, err);
}

static cnn_status write_file(const char *folder, int file, const dataset_part *part, int64_t first, cnn_error *err)
{
    char path[DATASET_PATH_MAX];
    uint8_t *bytes = malloc((size_t)IMAGES * RECORD);
    if (bytes == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a file of %d images", IMAGES);
    for (int64_t i = 0; i < IMAGES; i++) {
        bytes[i * RECORD] = (uint8_t)part->labels[first + i];
        memcpy(bytes + i * RECORD + 1, part->images + (first + i) * PIXELS, PIXELS);
    }
    cnn_status status = CNN_FAIL(err, CNN_IO, "%.64s...: the folder's name is too long", folder);
    if (file_path(folder, file, path)) status = data_write_file(path, "", 0, bytes, (size_t)IMAGES * RECORD, err);
    free(bytes);
    return status;
}

cnn_status cifar10_write(const char *folder, const dataset *data, cnn_error *err)
{
    if (data->c != CIFAR10_CHANNELS || data->h != CIFAR10_SIDE || data->w != CIFAR10_SIDE ||
        data->train.count < CIFAR10_TRAIN || data->test.count < CIFAR10_TEST)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "%s has %lld + %lld images of %lld x %lld x %lld: CIFAR-10's files hold %d + %d of 3 x 32 x 32",
                        data->name, (long long)data->train.count, (long long)data->test.count, (long long)data->c,
                        (long long)data->h, (long long)data->w, CIFAR10_TRAIN, CIFAR10_TEST);
    cnn_status status = data_make_folders(folder, err);
    for (int i = 0; i < FILES && status == CNN_OK; i++)
        status = write_file(folder, i, i < FILES - 1 ? &data->train : &data->test,
                            i < FILES - 1 ? (int64_t)i * IMAGES : 0, err);
    return status;
}
