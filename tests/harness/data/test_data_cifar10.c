/* test_data_cifar10.c: CIFAR-10's binary version, by files written to its published layout: <1 x label><3072 x pixel>,
 * 1024 red ones row by row, then green, then blue; 10,000 such records a file. */
#include "tests/unit.h"

#include "harness/data/data_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD = 3073, IMAGES = 10000, FILES = 6 };
static const dataset_params all_of_it = {.what = NULL};
static const char *const names[FILES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                         "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

static uint8_t label_of(int file, int image) { return (uint8_t)((image * 3 + file) % 10); }

/* Of channel k; most are the same, so that the means are known. */
static uint8_t pixel_of(int file, int image, int k, int p)
{
    if (image == 77 && p == 32 * 5 + 9) return (uint8_t)(200 + 10 * k + file);
    return (uint8_t)(51 * (k + 1));
}

static char folder[64];

static void path_of(int file, char path[256]) { snprintf(path, 256, "%s/%s", folder, names[file]); }

static int setup(void **state)
{
    uint8_t *bytes = malloc((size_t)IMAGES * RECORD);
    char path[256];
    assert_non_null(bytes);
    strcpy(folder, "/tmp/benchcnn-cifar-XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (int f = 0; f < FILES; f++) {
        for (int i = 0; i < IMAGES; i++) {
            uint8_t *record = bytes + (size_t)i * RECORD;
            record[0] = label_of(f, i);
            for (int k = 0; k < 3; k++) {
                memset(record + 1 + k * 1024, pixel_of(f, i, k, 0), 1024);
                record[1 + k * 1024 + 32 * 5 + 9] = pixel_of(f, i, k, 32 * 5 + 9);
            }
        }
        path_of(f, path);
        FILE *out = fopen(path, "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(bytes, RECORD, IMAGES, out), IMAGES);
        fclose(out);
    }
    free(bytes);
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void test_good_files(void **state)
{
    static const cnn_type type = {CNN_F64, CNN_F64, CNN_NHWC, CNN_MATH_F32};
    static double image[3072];
    double sum[3] = {0};
    dataset data;
    cnn_error err = {.message = ""};
    if (cifar10_read(folder, &all_of_it, &data, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(data.train.count, 50000);
    assert_int_equal(data.test.count, 10000);
    assert_true(data.c == 3 && data.h == 32 && data.w == 32 && data.classes == 10);
    for (int i = 0; i < 50000; i++) assert_int_equal(data.train.labels[i], label_of(i / IMAGES, i % IMAGES));
    for (int i = 0; i < IMAGES; i++) assert_int_equal(data.test.labels[i], label_of(5, i));
    for (int f = 0; f < 5; f++)
        for (int k = 0; k < 3; k++) sum[k] += pixel_of(f, 77, k, 32 * 5 + 9) - 51.0 * (k + 1);
    for (int k = 0; k < 3; k++) {
        const double mean = 0.2 * (k + 1) + sum[k] / 255.0 / (50000.0 * 1024.0);
        assert_true(fabs(data.means[k] - mean) < 1e-12);
    }
    dataset_rows(&data, &data.train, 3 * IMAGES + 77, 1, &type, image);
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++)
            for (int k = 0; k < 3; k++) {
                const double want = pixel_of(3, 77, k, y * 32 + x) / 255.0 - data.means[k];
                assert_true(fabs(image[(y * 32 + x) * 3 + k] - want) < 1e-15);
            }
    dataset_free(&data);
}

/* By its name, by the environment, by a folder, by the network's shape; never for another shape. */
static void test_found(void **state)
{
    dataset_params params = {.what = "cifar10", .train_images = 20, .test_images = 10, .threads = 1};
    dataset data;
    cnn_error err = {.message = ""};
    char below[128], link[256];
    setenv("BENCHCNN_DATA", folder, 1);
    if (dataset_open(&params, &data, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_string_equal(data.name, "cifar10");
    assert_int_equal(data.train.count, 20);
    dataset_free(&data);

    params.what = "auto", params.c = 3, params.h = params.w = 32;
    assert_int_equal(dataset_open(&params, &data, &err), CNN_OK);
    assert_string_equal(data.name, "cifar10");
    dataset_free(&data);
    params.c = 1;
    assert_int_equal(dataset_open(&params, &data, &err), CNN_OK);
    assert_string_equal(data.name, "synthetic");
    dataset_free(&data);

    snprintf(below, sizeof below, "%s/up", folder);
    snprintf(link, sizeof link, "ln -s .. %s/cifar-10-batches-bin", below);
    assert_int_equal(mkdir(below, 0777), 0);
    assert_int_equal(system(link), 0);
    params = (dataset_params){.what = below, .train_images = 20, .test_images = 10};
    unsetenv("BENCHCNN_DATA");
    if (dataset_open(&params, &data, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(data.c, 3);
    dataset_free(&data);

    params.what = "cifar10";
    setenv("BENCHCNN_DATA", "/nowhere/at/all", 1);
    assert_int_equal(dataset_open(&params, &data, &err), CNN_IO);
    assert_message(err, "/nowhere/at/all");
    assert_message(err, "data fetch cifar10");
    unsetenv("BENCHCNN_DATA");
}

static void patch(int file, long at, uint8_t byte)
{
    char path[256];
    path_of(file, path);
    FILE *out = fopen(path, "r+b");
    assert_non_null(out);
    assert_int_equal(fseek(out, at, SEEK_SET), 0);
    assert_int_equal(fwrite(&byte, 1, 1, out), 1);
    fclose(out);
}

static void refused(const char *const words[3])
{
    dataset data;
    cnn_error err = {.message = ""};
    assert_int_not_equal(cifar10_read(folder, &all_of_it, &data, &err), CNN_OK);
    for (int i = 0; i < 3; i++) assert_message(err, words[i]);
    assert_null(data.train.images);
}

static void test_wrong_files(void **state)
{
    char path[256];
    patch(1, 123L * RECORD, 10);
    refused((const char *const[]){"data_batch_2.bin", "label 10 at image 123", "0 to 9"});
    patch(1, 123L * RECORD, label_of(1, 123));

    path_of(4, path);
    assert_int_equal(truncate(path, 9999L * RECORD), 0); /* whole images, but not all */
    refused((const char *const[]){"data_batch_5.bin", "30726927 bytes", "expected 30730000"});
    assert_int_equal(truncate(path, 17), 0);
    refused((const char *const[]){"data_batch_5.bin", "17 bytes", "10000 images"});
    assert_int_equal(truncate(path, (long)IMAGES * RECORD), 0);
    path_of(5, path);
    assert_int_equal(truncate(path, (long)IMAGES * RECORD + 1), 0);
    refused((const char *const[]){"test_batch.bin", "longer than 30730000 bytes", ""});
    unlink(path);
    refused((const char *const[]){"test_batch.bin", "cannot be opened", ""});
}

/* What is written is read as it was. */
static void test_synthetic_round_trip(void **state)
{
    const dataset_params params = {.what = "synthetic", .c = 3, .h = 32, .w = 32, .threads = 2, .seed = 5};
    char into[64] = "/tmp/benchcnn-cifar-XXXXXX", command[128];
    dataset made, back;
    cnn_error err = {.message = ""};
    assert_non_null(mkdtemp(into));
    assert_int_equal(dataset_open(&params, &made, &err), CNN_OK);
    assert_string_equal(made.name, "synthetic_pictures");
    if (cifar10_write(into, &made, &err) != CNN_OK) fail_msg("%s", err.message);
    if (cifar10_read(into, &all_of_it, &back, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_memory_equal(made.train.images, back.train.images, 50000 * 3072);
    assert_memory_equal(made.test.images, back.test.images, 10000 * 3072);
    assert_memory_equal(made.train.labels, back.train.labels, 50000 * sizeof(int32_t));
    for (int k = 0; k < 3; k++) assert_true(made.means[k] > 0.45 && made.means[k] < 0.55); /* colours tell nothing */
    dataset_free(&back);
    made.train.count--;
    assert_int_equal(cifar10_write(into, &made, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "49999 + 10000");
    dataset_free(&made);
    snprintf(command, sizeof command, "rm -r %s", into);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_wrong_files), /* leaves them wrong */
        cmocka_unit_test(test_synthetic_round_trip),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
