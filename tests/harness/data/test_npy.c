/* .npy files: what NumPy writes is read, what is written NumPy reads (the bytes are NumPy's own), and whatever is
 * malformed is refused with a sentence that names the file and the value. */
#include "tests/unit.h"

#include "harness/data/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A file in memory: version, the dict, then `bytes` of elements. */
typedef struct image {
    char bytes[1024];
    size_t size;
} image;

static image make(int version, const char *dict, const void *elements, size_t bytes)
{
    image m = {.bytes = "\x93NUMPY"};
    const size_t length = strlen(dict), before = version == 1 ? 10 : 12;
    m.bytes[6] = (char)version;
    m.bytes[8] = (char)(length & 0xFF);
    m.bytes[9] = (char)(length >> 8);
    memcpy(m.bytes + before, dict, length);
    memcpy(m.bytes + before + length, elements, bytes);
    m.size = before + length + bytes;
    return m;
}

static cnn_status read_image(const image *m, npy_array *array, cnn_error *err)
{
    char copy[sizeof m->bytes];
    memcpy(copy, m->bytes, m->size);
    FILE *file = fmemopen(copy, m->size, "rb");
    assert_non_null(file);
    cnn_status status = npy_read_stream(file, "a.npy", array, err);
    fclose(file);
    return status;
}

static const float six[6] = {1.0f, -2.0f, 0.5f, 3.0f, 1e-30f, 6.0f};

static void versions_and_spellings_are_read(void **state)
{
    static const char *const dicts[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                                          \n",
        "{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}",
        " { 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , 'descr' : '<f4' } \n"};
    for (int version = 1; version <= 3; version++)
        for (int i = 0; i < 3; i++) {
            const image m = make(version, dicts[i], six, sizeof six);
            npy_array a;
            cnn_error err = {.message = ""};
            if (read_image(&m, &a, &err) != CNN_OK) fail_msg("%s: %s", dicts[i], err.message);
            assert_int_equal(a.type, NPY_F32);
            assert_int_equal(a.n_dims, 2);
            assert_int_equal(a.dims[0], 2);
            assert_int_equal(a.dims[1], 3);
            assert_int_equal(a.count, 6);
            assert_memory_equal(a.data, six, sizeof six);
            assert_true(npy_get(&a, 1) < -1.9);
            npy_free(&a);
        }
}

static void scalars_vectors_and_doubles_are_read(void **state)
{
    static const struct {
        const char *shape;
        int n_dims;
        int64_t count;
    } shapes[] = {{"()", 0, 1}, {"(2,)", 1, 2}, {"(1, 2, 1, 1)", 4, 2}, {"(0, 7)", 2, 0}};
    const double two[2] = {0.1, -1e300};
    for (int i = 0; i < 4; i++) {
        char dict[100];
        npy_array a;
        cnn_error err = {.message = ""};
        snprintf(dict, sizeof dict, "{'descr': '<f8', 'fortran_order': False, 'shape': %s}", shapes[i].shape);
        const image m = make(1, dict, two, (size_t)shapes[i].count * sizeof *two);
        if (read_image(&m, &a, &err) != CNN_OK) fail_msg("%s: %s", dict, err.message);
        assert_int_equal(a.n_dims, shapes[i].n_dims);
        assert_int_equal(a.count, shapes[i].count);
        assert_memory_equal(a.data, two, (size_t)shapes[i].count * sizeof *two);
        npy_free(&a);
    }
}

static void whole_numbers_are_read(void **state)
{
    const int32_t small[2] = {-7, INT32_MAX};
    const int64_t large[2] = {INT64_C(1) << 40, -3};
    npy_array a;
    cnn_error err = {.message = ""};
    image m = make(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", small, sizeof small);
    assert_int_equal(read_image(&m, &a, &err), CNN_OK);
    assert_int_equal(a.type, NPY_I32);
    assert_true(npy_get(&a, 0) == -7.0 && npy_get(&a, 1) == 2147483647.0);
    npy_free(&a);
    m = make(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}", large, sizeof large);
    assert_int_equal(read_image(&m, &a, &err), CNN_OK);
    assert_int_equal(a.type, NPY_I64);
    assert_true(npy_get(&a, 0) == 0x1p40 && npy_get(&a, 1) == -3.0);
    npy_free(&a);
    m = make(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", (const unsigned char[]){200, 0}, 2);
    assert_int_equal(read_image(&m, &a, &err), CNN_OK);
    assert_true(a.type == NPY_U8 && npy_get(&a, 0) == 200.0);
    npy_free(&a);
    m = make(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}", (const signed char[]){-128, 127}, 2);
    assert_int_equal(read_image(&m, &a, &err), CNN_OK);
    assert_true(a.type == NPY_I8 && npy_get(&a, 0) == -128.0);
    npy_free(&a);
}

static void halves_are_read(void **state)
{
    const uint16_t codes[3] = {0x3c00, 0xfbff, 0x0001};
    npy_array a;
    cnn_error err = {.message = ""};
    const image m = make(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (3,)}", codes, sizeof codes);
    assert_int_equal(read_image(&m, &a, &err), CNN_OK);
    assert_true(a.type == NPY_F16 && npy_get(&a, 0) == 1.0 && npy_get(&a, 1) == -65504.0 && npy_get(&a, 2) == 0x1p-24);
    npy_free(&a);
}

static void refuse(const image *m, cnn_status expected, const char *word)
{
    npy_array a;
    cnn_error err = {.message = ""};
    cnn_status status = read_image(m, &a, &err);
    if (status != expected) fail_msg("'%s' gives %d instead of '%s'", err.message, (int)status, word);
    assert_message(err, word);
    assert_message(err, "a.npy");
    assert_null(a.data);
}

static void malformed_headers_are_refused(void **state)
{
    static const struct {
        const char *dict, *word;
        cnn_status status;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran order", CNN_BAD_FORMAT},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}", "astype('<f4')", CNN_BAD_FORMAT},
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3)}", "big-endian", CNN_BAD_FORMAT},
        {"{'descr': '>i8', 'fortran_order': False, 'shape': (2, 3)}", "astype('<i8')", CNN_BAD_FORMAT},
        {"{'descr': '<u8', 'fortran_order': False, 'shape': (2, 3)}", "'<u8'", CNN_BAD_FORMAT},
        {"{'descr': '>f2', 'fortran_order': False, 'shape': (2, 3)}", "astype('<f2')", CNN_BAD_FORMAT},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3)}", "u8 ('|u1') and i8", CNN_BAD_FORMAT},
        {"{'descr': '|V2', 'fortran_order': False, 'shape': (2, 3)}", "'|V2'", CNN_BAD_FORMAT},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "'|O'", CNN_BAD_FORMAT},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}", "structured", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3)}", "a size", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", "comma", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3}", "comma", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 6}", "shape such as", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", "True or False", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False}", "lacks 'shape'", CNN_BAD_FORMAT},
        {"{'shape': (6,), 'descr': '<f4'}", "lacks 'fortran_order'", CNN_BAD_FORMAT},
        {"{}", "lacks 'descr'", CNN_BAD_FORMAT},
        {"", "a dict", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", "twice", CNN_BAD_FORMAT},
        {"{'colour': 'red', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", "'colour'", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} or more", "the end", CNN_BAD_FORMAT},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': (6,)}", "'<f4, '", CNN_BAD_FORMAT},
        {"{'descr': '<f4", "header has", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,6)}", "8 dimensions", CNN_BAD_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "overflow", CNN_OVERFLOW},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2305843009213693952,)}", "overflow", CNN_OVERFLOW},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "64 bits", CNN_OVERFLOW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const image m = make(1, cases[i].dict, six, sizeof six);
        refuse(&m, cases[i].status, cases[i].word);
    }
}

/* Every file that is cut, at every byte; and one with a byte too many. */
static void truncated_and_longer_files_are_refused(void **state)
{
    const char *dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}\n";
    image whole = make(1, dict, six, sizeof six), m = whole;
    for (m.size = 1; m.size < whole.size; m.size++) refuse(&m, CNN_BAD_FORMAT, m.size < 6 ? "not a .npy" : "truncated");
    whole.size++;
    refuse(&whole, CNN_BAD_FORMAT, "bytes follow");
}

/* A header that promises a terabyte costs no more than the file holds. */
static void promises_cost_nothing(void **state)
{
    const image m = make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (137438953472,)}", six, sizeof six);
    refuse(&m, CNN_BAD_FORMAT, "after 24 of 1099511627776 bytes");
}

static void other_files_are_refused(void **state)
{
    image m = make(4, "{}", six, 0);
    refuse(&m, CNN_BAD_FORMAT, "version 4.0");
    m = make(1, "{}", six, 0);
    m.bytes[7] = 1;
    refuse(&m, CNN_BAD_FORMAT, "version 1.1");
    m = make(1, "{}", six, 0);
    m.bytes[0] = 'P';
    refuse(&m, CNN_BAD_FORMAT, "not a .npy");
    m = make(2, "{}", six, 0);
    m.bytes[11] = 0x7F;
    refuse(&m, CNN_BAD_FORMAT, "header of");
    m = make(1, "{'descr': '<f4'", six, 0);
    m.bytes[13] = '\0';
    refuse(&m, CNN_BAD_FORMAT, "zero byte");
}

/* numpy.save of numpy.array([[1, 2, 3]], dtype='<f4'), to the byte. */
static void what_is_written_is_what_numpy_writes(void **state)
{
    static const char header[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
    char path[] = "/tmp/test_npy_XXXXXX", bytes[256], expected[140];
    float values[3] = {1.0f, 2.0f, 3.0f};
    const npy_array a = {.type = NPY_F32, .n_dims = 2, .dims = {1, 3}, .count = 3, .data = values};
    cnn_error err = {.message = ""};
    memset(expected, ' ', sizeof expected);
    memcpy(expected, header, sizeof header - 1);
    expected[127] = '\n';
    memcpy(expected + 128, values, sizeof values);
    close(mkstemp(path));
    assert_int_equal(npy_write(path, &a, &err), CNN_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof expected);
    fclose(file);
    assert_memory_equal(bytes, expected, sizeof expected);
    npy_array back;
    assert_int_equal(npy_read(path, &back, &err), CNN_OK);
    assert_memory_equal(back.data, values, sizeof values);
    npy_free(&back);
    unlink(path);
    assert_int_equal(npy_read(path, &back, &err), CNN_IO);
    assert_message(err, path);
    assert_int_equal(npy_read("/", &back, &err), CNN_IO);
    assert_int_equal(npy_write("/nonexistent/a.npy", &a, &err), CNN_IO);
    assert_int_equal(npy_write("/dev/full", &a, &err), CNN_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_spellings_are_read),
        cmocka_unit_test(scalars_vectors_and_doubles_are_read),
        cmocka_unit_test(whole_numbers_are_read),
        cmocka_unit_test(halves_are_read),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(truncated_and_longer_files_are_refused),
        cmocka_unit_test(promises_cost_nothing),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(what_is_written_is_what_numpy_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
