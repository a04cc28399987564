/* Safetensors files: what the format says is read, what is written reads back, and whatever is malformed is refused
 * with a sentence that names the file, the tensor and the value. */
#include "tests/unit.h"

#include "harness/data/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/safetensors.XXXXXX", path[64];

/* A file with this header, whose length it says is `length` (-1: as it is), and `bytes` of elements. */
static void put(const char *header, int64_t length, const void *elements, size_t bytes)
{
    const uint64_t says = length < 0 ? strlen(header) : (uint64_t)length;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&says, sizeof says, 1, file), 1);
    assert_int_equal(fwrite(header, 1, strlen(header), file), strlen(header));
    assert_int_equal(fwrite(elements, 1, bytes, file), bytes);
    fclose(file);
}

static const float four[4] = {1.0f, -2.0f, 0.5f, 1e-30f};

static void every_spelling_is_read(void **state)
{
    static const char *const headers[] = {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}",
                                          "{\"__metadata__\":{\"format\":\"pt\"},\"w\":{\"shape\":[2,2],\"data_"
                                          "offsets\":[0,16],\"dtype\":\"F32\"}}      ",
                                          "{ \"a.b\" : {\"dtype\":\"I64\",\"shape\":[0],\"data_offsets\":[0,0]},\n "
                                          "\"w\" : {\"dtype\":\"F32\",\"shape\":[2,2],"
                                          "\"data_offsets\":[0,16]} }"};
    for (int i = 0; i < 3; i++) {
        st_file file;
        cnn_error err = {.message = ""};
        put(headers[i], -1, four, sizeof four);
        if (st_read(path, &file, &err) != CNN_OK) fail_msg("%s: %s", headers[i], err.message);
        const st_tensor *w = &file.tensors[file.count - 1];
        assert_string_equal(w->name, "w");
        assert_int_equal(w->n_dims, 2);
        assert_int_equal(w->count, 4);
        for (int k = 0; k < 4; k++) assert_true(st_get(w, k) == (double)four[k]);
        if (i == 1) assert_string_equal(st_metadata(&file, "format"), "pt");
        assert_null(st_metadata(&file, "nothing"));
        st_free(&file);
    }
}

static void halves_are_numbers(void **state)
{
    static const uint16_t bits[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x8000, 0x3f80, 0xc000};
    static const double values[] = {1.0, -2.0, 0x1p-24, 65504.0, INFINITY, -0.0, 1.0, -2.0};
    st_file file;
    cnn_error err = {.message = ""};
    put("{\"h\":{\"dtype\":\"F16\",\"shape\":[6],\"data_offsets\":[0,12]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[12,16]}}",
        -1, bits, sizeof bits);
    if (st_read(path, &file, &err) != CNN_OK) fail_msg("%s", err.message);
    for (int i = 0; i < 6; i++) assert_true(st_get(&file.tensors[0], i) == values[i]);
    for (int i = 0; i < 2; i++) assert_true(st_get(&file.tensors[1], i) == values[6 + i]);
    st_free(&file);
}

static void what_is_written_reads_back(void **state)
{
    const double wide[3] = {0.1, -1e300, 3.0};
    const st_tensor tensors[] = {
        {.name = "a", .type = ST_F32, .n_dims = 2, .dims = {4, 1}, .count = 4, .data = four},
        {.name = "scalar", .type = ST_F64, .n_dims = 0, .count = 1, .data = wide},
        {.name = "b \"\\", .type = ST_F64, .n_dims = 1, .dims = {2}, .count = 2, .data = wide + 1},
    };
    const st_pair metadata[] = {{"format", "pt"}, {"mean", "0.5"}};
    st_file file;
    cnn_error err = {.message = ""};
    assert_int_equal(unlink(path), 0);
    for (int again = 0; again < 2; again++) /* its own kind is replaced */
        if (st_write(path, tensors, 3, metadata, 2, &err) != CNN_OK) fail_msg("%s", err.message);
    if (st_read(path, &file, &err) != CNN_OK) fail_msg("%s", err.message);
    assert_int_equal(file.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(file.tensors[i].name, tensors[i].name);
        assert_int_equal(file.tensors[i].n_dims, tensors[i].n_dims);
        for (int64_t k = 0; k < tensors[i].count; k++)
            assert_true(st_get(&file.tensors[i], k) == st_get(&tensors[i], k));
    }
    assert_string_equal(st_metadata(&file, "mean"), "0.5");
    st_free(&file);
    put("no brace", -1, four, 4);
    assert_int_equal(st_write(path, tensors, 3, metadata, 2, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "is no safetensors file that could be replaced");
}

/* ---- What is refused ---- */

static void refused(const char *header, int64_t length, size_t bytes, const char *word)
{
    static const char elements[64];
    st_file file;
    cnn_error err = {.message = ""};
    put(header, length, elements, bytes);
    if (st_read(path, &file, &err) == CNN_OK) fail_msg("accepted: %s", header);
    assert_int_equal(err.status, CNN_BAD_FORMAT);
    assert_message(err, path);
    assert_message(err, word);
    assert_null(file.tensors);
}

#define TENSOR(name, type, shape, offsets)                                                                             \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void malformed_files_are_refused(void **state)
{
    const char good[] = "{" TENSOR("w", "F32", "[4]", "[0,16]") "}";
    refused(good, -1, 15, "ends in its elements, after 15 of 16 bytes");
    refused(good, -1, 17, "bytes follow the 16");
    refused(good, 200, 16, "ends in its header");
    refused(good, INT64_MAX, 16, "9223372036854775807 bytes, more than 16777216");
    refused(good, ST_HEADER_MAX + 1, 16, "16777217 bytes");
    refused(good, 10, 16, "no JSON object");
    refused("", 0, 0, "no JSON object");
    refused("[1]", -1, 0, "no JSON object");
    refused("{}", -1, 0, "no tensor");
    refused("{\"__metadata__\":{\"a\":1}}", -1, 0, "__metadata__ is no object of texts");
    refused("{\"w\":3}", -1, 0, "'w': dtype is missing");
    refused("{" TENSOR("w", "F31", "[4]", "[0,16]") "}", -1, 16, "dtype is \"F31\"");
    refused("{" TENSOR("w", "F32", "[-4]", "[0,16]") "}", -1, 16, "shape is [-4]");
    refused("{" TENSOR("w", "F32", "[1.5]", "[0,16]") "}", -1, 16, "shape is [1.5]");
    refused("{" TENSOR("w", "F32", "[1,1,1,1,1,1,1,1,4]", "[0,16]") "}", -1, 16, "up to 8 whole numbers");
    refused("{" TENSOR("w", "F32", "[4000000000,4000000000]", "[0,16]") "}", -1, 16, "whose product can be counted");
    refused("{" TENSOR("w", "F64", "[4000000000,1000000000]", "[0,16]") "}", -1, 16, "takes 18446744073709551615");
    refused("{" TENSOR("w", "F32", "[4]", "[16,0]") "}", -1, 16, "data_offsets is [16,0]");
    refused("{" TENSOR("w", "F32", "[4]", "[0]") "}", -1, 16, "data_offsets is [0]");
    refused("{" TENSOR("w", "F32", "[4]", "[0,1e300]") "}", -1, 16, "two whole numbers");
    refused("{" TENSOR("w", "F32", "[4]", "[0,12]") "}", -1, 16, "are 12 bytes, but F32 of shape (4,) takes 16");
    refused("{" TENSOR("w", "F32", "[4]", "[4,20]") "}", -1, 20, "'w' begins at byte 4, but those before it end at 0");
    refused("{" TENSOR("w", "F32", "[4]", "[0,16]") "," TENSOR("v", "F32", "[2]", "[8,16]") "}", -1, 16,
            "'v' begins at byte 8, but those before it end at 16");
    refused("{" TENSOR("w", "F32", "[2]", "[0,8]") "," TENSOR("w", "F32", "[2]", "[8,16]") "}", -1, 16,
            "'w' is there twice");
    refused("{" TENSOR("w", "F32", "[9007199254740992]", "[0,36028797018963968]") "}", -1, 16, "data_offsets");
    refused("{" TENSOR("w", "U8", "[9007199254740991]", "[0,9007199254740991]") "}", -1, 16,
            "after 16 of 9007199254740991 bytes");
}

static void what_cannot_be_opened_is_named(void **state)
{
    st_file file;
    cnn_error err = {.message = ""};
    assert_int_equal(st_read("/nonexistent/w.safetensors", &file, &err), CNN_IO);
    assert_message(err, "/nonexistent/w.safetensors");
    assert_int_equal(st_write_check("/nonexistent/w.safetensors", &err), CNN_IO);
    assert_message(err, "/nonexistent/w.safetensors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_spelling_is_read), cmocka_unit_test(halves_are_numbers),
                                       cmocka_unit_test(what_is_written_reads_back),
                                       cmocka_unit_test(malformed_files_are_refused),
                                       cmocka_unit_test(what_cannot_be_opened_is_named)};
    if (mkdtemp(folder) == NULL) return 1;
    snprintf(path, sizeof path, "%s/w.safetensors", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}
