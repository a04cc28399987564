/* test_data.c: IDX files: every complaint names the file and the value. */
#include "tests/unit.h"

#include "harness/data/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum { TRAIN = 7, TEST = 3, H = 4, W = 5 };
static const dataset_params all_of_it = {.what = NULL};

typedef struct folder {
    char path[64];
    uint8_t train[TRAIN * H * W], test[TEST * H * W];
    int32_t train_labels[TRAIN], test_labels[TEST];
} folder;

/* A folder with four good files. */
static int setup(void **state)
{
    folder *f = calloc(1, sizeof *f);
    cnn_error err;
    assert_non_null(f);
    strcpy(f->path, "/tmp/benchcnn-data-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    for (int i = 0; i < TRAIN * H * W; i++) f->train[i] = (uint8_t)(i * 7);
    for (int i = 0; i < TEST * H * W; i++) f->test[i] = (uint8_t)(255 - i);
    for (int i = 0; i < TRAIN; i++) f->train_labels[i] = i;
    for (int i = 0; i < TEST; i++) f->test_labels[i] = 9 - i;
    const dataset data = {.c = 1,
                          .h = H,
                          .w = W,
                          .classes = 10,
                          .train = {TRAIN, f->train, f->train_labels},
                          .test = {TEST, f->test, f->test_labels}};
    assert_int_equal(mnist_write(f->path, &data, &err), CNN_OK);
    *state = f;
    return 0;
}

static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                    "t10k-labels-idx1-ubyte"};

static void path_of(const folder *f, int file, const char *ending, char path[256])
{
    snprintf(path, 256, "%s/%s%s", f->path, names[file], ending);
}

static int teardown(void **state)
{
    folder *f = *state;
    char path[256];
    for (int i = 0; i < 4; i++) {
        path_of(f, i, "", path);
        unlink(path);
        path_of(f, i, ".gz", path);
        unlink(path);
    }
    rmdir(f->path);
    free(f);
    return 0;
}

/* Writes `count` bytes at `at`. */
static void patch(const folder *f, int file, long at, const char *bytes, size_t count)
{
    char path[256];
    path_of(f, file, "", path);
    FILE *out = fopen(path, "r+b");
    assert_non_null(out);
    assert_int_equal(fseek(out, at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, out), count);
    fclose(out);
}

static void shorten(const folder *f, int file, long bytes)
{
    char path[256];
    path_of(f, file, "", path);
    assert_int_equal(truncate(path, bytes), 0);
}

/* Reading fails, and the sentence holds the file's name and each word. */
static void expect_refusal(const folder *f, cnn_status status, int file, const char *word, const char *other)
{
    dataset data;
    cnn_error err;
    assert_int_equal(mnist_read(f->path, &all_of_it, &data, &err), status);
    assert_message(err, names[file]);
    assert_message(err, word);
    assert_message(err, other);
    assert_null(data.train.images);
}

static void test_good_files(void **state)
{
    const folder *f = *state;
    dataset data;
    cnn_error err;
    double sum = 0;
    assert_int_equal(mnist_read(f->path, &all_of_it, &data, &err), CNN_OK);
    assert_int_equal(data.train.count, TRAIN);
    assert_int_equal(data.test.count, TEST);
    assert_memory_equal(data.train.images, f->train, sizeof f->train);
    assert_memory_equal(data.test.labels, f->test_labels, sizeof f->test_labels);
    for (size_t i = 0; i < sizeof f->train; i++) sum += f->train[i] / 255.0;
    assert_true(fabs(data.mean - sum / (double)sizeof f->train) < 1e-12);

    double rows[2 * H * W];
    const cnn_type type = {.dtype = CNN_F64};
    dataset_rows(&data, &data.test, 1, 2, &type, rows);
    for (int i = 0; i < 2 * H * W; i++) assert_true(fabs(rows[i] - (f->test[H * W + i] / 255.0 - data.mean)) < 1e-15);
    dataset_free(&data);
}

static void test_limits(void **state)
{
    const folder *f = *state;
    dataset data;
    cnn_error err;
    dataset_params params = {.train_images = 2, .test_images = 1};
    assert_int_equal(mnist_read(f->path, &params, &data, &err), CNN_OK);
    assert_int_equal(data.train.count, 2);
    assert_int_equal(data.test.count, 1);
    dataset_free(&data);
    params.train_images = TRAIN + 1;
    assert_int_equal(mnist_read(f->path, &params, &data, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "8 training images");
}

static void test_gzip(void **state)
{
    const folder *f = *state;
    char plain[256], packed[256];
    uint8_t bytes[1024];
    dataset data;
    cnn_error err;
    path_of(f, 0, "", plain);
    path_of(f, 0, ".gz", packed);
    FILE *in = fopen(plain, "rb");
    const size_t count = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    unlink(plain);
    gzFile out = gzopen(packed, "wb");
    assert_int_equal(gzwrite(out, bytes, (unsigned)count), count);
    gzclose(out);
    assert_int_equal(mnist_read(f->path, &all_of_it, &data, &err), CNN_OK);
    assert_memory_equal(data.train.images, f->train, sizeof f->train);
    dataset_free(&data);
    assert_int_equal(truncate(packed, 60), 0);
    expect_refusal(f, CNN_BAD_FORMAT, 0, "cut off", "damaged");
}

static void test_bad_files(void **state)
{
    const folder *f = *state;
    shorten(f, 0, 100);
    expect_refusal(f, CNN_BAD_FORMAT, 0, "truncated: holds 84 bytes", "7 x 4 x 5 = 140");
    shorten(f, 0, 10);
    expect_refusal(f, CNN_BAD_FORMAT, 0, "truncated: ends in the header", "size 2 of 3");
    shorten(f, 0, 3);
    expect_refusal(f, CNN_BAD_FORMAT, 0, "truncated: only 3 bytes", "magic");
    shorten(f, 0, 0);
    expect_refusal(f, CNN_BAD_FORMAT, 0, "truncated: only 0 bytes", "magic");
}

static void test_wrong_magic(void **state)
{
    const folder *f = *state;
    patch(f, 0, 2, "\x0d", 1);
    expect_refusal(f, CNN_BAD_FORMAT, 0, "wrong magic number 0x00000d03", "expected 0x00000803");
}

static void test_images_for_labels(void **state)
{
    const folder *f = *state;
    char images[256], labels[256];
    path_of(f, 0, "", images);
    path_of(f, 1, "", labels);
    assert_int_equal(rename(images, labels), 0);
    expect_refusal(f, CNN_IO, 0, "missing", "");
    assert_int_equal(rename(labels, images), 0);
    expect_refusal(f, CNN_IO, 1, "missing", "");
}

static void test_longer_than_said(void **state)
{
    const folder *f = *state;
    patch(f, 1, 15, "x", 1);
    expect_refusal(f, CNN_BAD_FORMAT, 1, "longer than its header says", "7 = 7");
}

static void test_wrong_counts(void **state)
{
    const folder *f = *state;
    patch(f, 1, 7, "\x06", 1);
    shorten(f, 1, 8 + 6);
    expect_refusal(f, CNN_BAD_FORMAT, 1, "7 images", "6 labels");
}

static void test_label_out_of_range(void **state)
{
    const folder *f = *state;
    patch(f, 1, 8 + 5, "\x0b", 1);
    expect_refusal(f, CNN_BAD_FORMAT, 1, "label 11 at image 5", "0 to 9");
}

static void test_header_sizes(void **state)
{
    const folder *f = *state;
    patch(f, 0, 4, "\0\0\0\0", 4);
    expect_refusal(f, CNN_BAD_FORMAT, 0, "is 0", "size 1");
    patch(f, 0, 4, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
    expect_refusal(f, CNN_OVERFLOW, 0, "overflow", "4294967295");
}

static void test_other_test_shape(void **state)
{
    const folder *f = *state;
    dataset data;
    cnn_error err;
    patch(f, 2, 8, "\0\0\0\x05\0\0\0\x04", 8);
    assert_int_equal(mnist_read(f->path, &all_of_it, &data, &err), CNN_BAD_FORMAT);
    assert_message(err, "1 x 5 x 4");
    assert_message(err, "1 x 4 x 5");
}

static void test_folders(void **state)
{
    const folder *f = *state;
    char found[DATASET_PATH_MAX];
    cnn_error err;
    assert_int_equal(mnist_find(f->path, found, &err), CNN_OK);
    assert_string_equal(found, f->path);
    assert_int_equal(mnist_find("/nonexistent", found, &err), CNN_IO);
    assert_message(err, "/nonexistent");
    setenv("BENCHCNN_DATA", f->path, 1);
    assert_int_equal(mnist_find(NULL, found, &err), CNN_OK);
    assert_string_equal(found, f->path);
    setenv("BENCHCNN_DATA", "/nonexistent", 1);
    if (mnist_find(NULL, found, &err) != CNN_OK) assert_message(err, "/nonexistent");
    unsetenv("BENCHCNN_DATA");
    assert_int_equal(mnist_find("/tmp", found, &err), CNN_IO);
    assert_message(err, "train-images-idx3-ubyte");
}

int main(void)
{
#define ON_FILES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_FILES(test_good_files),       ON_FILES(test_limits),           ON_FILES(test_gzip),
        ON_FILES(test_bad_files),        ON_FILES(test_wrong_magic),      ON_FILES(test_images_for_labels),
        ON_FILES(test_longer_than_said), ON_FILES(test_wrong_counts),     ON_FILES(test_label_out_of_range),
        ON_FILES(test_header_sizes),     ON_FILES(test_other_test_shape), ON_FILES(test_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
