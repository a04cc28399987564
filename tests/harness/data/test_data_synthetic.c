/* test_data_synthetic.c: the synthetic digits: the same from any number of threads, in any shape, soon enough. */
#include "tests/unit.h"

#include "harness/data/dataset.h"

#include <time.h>

static dataset make(uint64_t seed, int threads, int64_t train, int64_t test, int64_t c, int64_t h)
{
    const dataset_params params = {.what = "synthetic",
                                   .seed = seed,
                                   .threads = threads,
                                   .train_images = train,
                                   .test_images = test,
                                   .c = c,
                                   .h = h,
                                   .w = h};
    dataset data;
    cnn_error err = {.message = ""};
    if (dataset_open(&params, &data, &err) != CNN_OK) fail_msg("%s", err.message);
    return data;
}

static void test_synthetic_is_determined(void **state)
{
    dataset a = make(3, 1, 1500, 300, 0, 0), b = make(3, 3, 1500, 300, 0, 0), other = make(4, 2, 1500, 300, 0, 0);
    dataset start = make(3, 2, 600, 300, 0, 0);
    assert_memory_equal(a.train.images, b.train.images, 1500 * 784);
    assert_memory_equal(a.train.labels, b.train.labels, 1500 * sizeof(int32_t));
    assert_memory_equal(a.test.images, b.test.images, 300 * 784);
    assert_memory_equal(a.train.images, start.train.images, 600 * 784);
    assert_memory_not_equal(a.train.images, other.train.images, 784);
    assert_memory_not_equal(a.train.images, a.test.images, 784);
    dataset_free(&a);
    dataset_free(&b);
    dataset_free(&other);
    dataset_free(&start);
}

static void test_synthetic_whole_set(void **state)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    dataset data = make(1, 2, 0, 0, 0, 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    const double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    print_message("70,000 synthetic digits in %.2f s of processor time\n", seconds);
    assert_int_equal(data.train.count, 60000);
    assert_int_equal(data.test.count, 10000);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(seconds < 3.0);
#endif
    int64_t histogram[10];
    dataset_histogram(&data, &data.train, histogram);
    for (int i = 0; i < 10; i++) assert_true(histogram[i] > 5600 && histogram[i] < 6400); /* 5 standard deviations */
    assert_true(data.mean > 0.05 && data.mean < 0.3);
    dataset_free(&data);
}

static void test_synthetic_shapes(void **state)
{
    dataset tiny = make(1, 1, 10, 5, 2, 1), colour = make(1, 2, 20, 5, 3, 32);
    assert_int_equal(colour.c * colour.h * colour.w, 3 * 32 * 32);
    dataset_free(&tiny);
    assert_string_equal(colour.name, "synthetic_pictures");

    float nchw[3 * 32 * 32], nhwc[3 * 32 * 32];
    const cnn_type a = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32}, b = {CNN_F32, CNN_F32, CNN_NHWC, CNN_MATH_F32};
    dataset_rows(&colour, &colour.train, 7, 1, &a, nchw);
    dataset_rows(&colour, &colour.train, 7, 1, &b, nhwc);
    for (int c = 0; c < 3; c++)
        for (int p = 0; p < 1024; p++) assert_true(nchw[c * 1024 + p] == nhwc[p * 3 + c]);
    dataset_free(&colour);
}

static void test_synthetic_limits(void **state)
{
    const dataset_params params = {.what = "synthetic", .train_images = 60001};
    dataset data;
    cnn_error err;
    assert_int_equal(dataset_open(&params, &data, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "60001");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synthetic_is_determined),
        cmocka_unit_test(test_synthetic_whole_set),
        cmocka_unit_test(test_synthetic_shapes),
        cmocka_unit_test(test_synthetic_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
