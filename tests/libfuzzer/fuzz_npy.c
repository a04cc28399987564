/* A .npy file: what is accepted reads back alike when it is written out again. */
#include "target.h"

#include "harness/data/npy.h"
#include "harness/problem/names.h"

static void write_and_read(const npy_array *array)
{
    const input_file file = input_file_make(NULL, 0);
    npy_array again;
    cnn_error err;
    require(npy_write(file.path, array, &err) == CNN_OK, "what was read can be written");
    require(npy_read(file.path, &again, &err) == CNN_OK, "what was written can be read");
    require(again.type == array->type && again.n_dims == array->n_dims && again.count == array->count,
            "the array is the same");
    require(array->count == 0 ||
                memcmp(again.data, array->data, (size_t)array->count * npy_type_size(array->type)) == 0,
            "the elements are the same");
    npy_free(&again);
    input_file_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const input_file file = input_file_make(data, size);
    npy_array array;
    cnn_error err = {.message = ""};
    const cnn_status status = npy_read(file.path, &array, &err);
    if (status == CNN_OK) {
        int64_t count = 1;
        for (int i = 0; i < array.n_dims; i++) count *= array.dims[i];
        require(count == array.count, "the count is the sizes' product");
        write_and_read(&array);
        npy_free(&array);
    } else {
        require_refusal(status, &err);
    }
    input_file_free(&file);
    return 0;
}
