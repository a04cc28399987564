/* f16 and bf16 on the device (harness/cuda/real.h): all numbers that there are are read as what they are, and what is
 * stored becomes the nearest of them, of two as near the even one. */
#include "cuda_device.h"
#include "harness/cuda/real.h"

struct half_format {
    int exponent, fraction; /* bits */
};
static const half_format F16 = {5, 10}, BF16 = {8, 7};

/* The finite number with this code, without its sign; of infinity's code what would come behind the largest. */
static double number(half_format f, int code)
{
    const int field = code >> f.fraction, significand = code & ((1 << f.fraction) - 1), one = 1 << f.fraction;
    const int least = 2 - (1 << (f.exponent - 1)) - f.fraction;
    return field == 0 ? ldexp(significand, least) : ldexp(one + significand, field - 1 + least);
}

static int infinity_of(half_format f) { return ((1 << f.exponent) - 1) << f.fraction; }

template <typename T> static __global__ void load_all(int64_t count, const T *from, float *to)
{
    for (CUDA_GRID_STRIDE(i, count)) to[i] = cuda_load(from[i]);
}

template <typename T> static __global__ void store_all(int64_t count, const float *from, T *to)
{
    for (CUDA_GRID_STRIDE(i, count)) to[i] = cuda_stored<T>(from[i]);
}

template <typename T> static void loads(half_format f)
{
    device d = {};
    open_device(&d, 64, 2);
    const size_t count = 1 << 16;
    std::vector<uint16_t> codes(count);
    for (size_t i = 0; i < count; i++) codes[i] = static_cast<uint16_t>(i);
    const uint16_t *from = put(&d, codes);
    float *to = put(&d, std::vector<float>(count));
    cnn_error err;
    const cuda_shape shape = {"load_all", dim3(4), dim3(64), 0};
    assert_int_equal(
        cuda_launch(d.c, shape, &err, load_all<T>, static_cast<int64_t>(count), static_cast<const void *>(from), to),
        CNN_OK);
    const std::vector<float> loaded = get(d, to, count);
    for (size_t i = 0; i < count; i++) {
        const int size = static_cast<int>(i & 0x7fff);
        const float value = loaded[i];
        assert_int_equal(signbit(value) != 0, i >> 15);
        if (size < infinity_of(f)) assert_true(fabs(static_cast<double>(value)) == number(f, size));
        if (size == infinity_of(f)) assert_true(isinf(value));
        if (size > infinity_of(f)) assert_true(isnan(value));
    }
    close_device(&d);
}

/* The numbers themselves, what lies in the middle of two, and what lies beside that. */
template <typename T> static void stores(half_format f)
{
    device d = {};
    open_device(&d, 64, 2);
    std::vector<float> values;
    std::vector<uint16_t> expected;
    for (int code = 0; code < infinity_of(f); code++) {
        const float middle = static_cast<float>((number(f, code) + number(f, code + 1)) / 2);
        const float all[] = {static_cast<float>(number(f, code)), nextafterf(middle, 0), middle,
                             nextafterf(middle, INFINITY)};
        const int become[] = {code, code, code + (code & 1), code + 1};
        for (int i = 0; i < 4; i++)
            for (int sign = 0; sign < 2; sign++) {
                values.push_back(sign ? -all[i] : all[i]);
                expected.push_back(static_cast<uint16_t>(become[i] | sign << 15));
            }
    }
    values.push_back(INFINITY), expected.push_back(static_cast<uint16_t>(infinity_of(f)));
    const float *from = put(&d, values);
    uint16_t *to = put(&d, std::vector<uint16_t>(values.size()));
    cnn_error err;
    const cuda_shape shape = {"store_all", dim3(4), dim3(64), 0};
    assert_int_equal(
        cuda_launch(d.c, shape, &err, store_all<T>, static_cast<int64_t>(values.size()), from, static_cast<void *>(to)),
        CNN_OK);
    const std::vector<uint16_t> stored = get(d, to, values.size());
    for (size_t i = 0; i < values.size(); i++) assert_int_equal(stored[i], expected[i]);
    close_device(&d);
}

static void all_numbers_are_read(void **)
{
    loads<__half>(F16);
    loads<__nv_bfloat16>(BF16);
}

static void the_nearest_is_stored(void **)
{
    stores<__half>(F16);
    stores<__nv_bfloat16>(BF16);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_numbers_are_read),
        cmocka_unit_test(the_nearest_is_stored),
    };
    const int skip = gpu_or_skip();
    return skip != 0 ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
