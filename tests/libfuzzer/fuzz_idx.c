/* An IDX file, plain or gzip-compressed: what is accepted is as long as its header says. */
#include "target.h"

#include "harness/data/data_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const input_file file = input_file_make(data, size);
    idx_array array;
    cnn_error err = {.message = ""};
    const cnn_status status = idx_read(file.path, 1, IDX_MAX_DIMS, &array, &err);
    if (status == CNN_OK) {
        int64_t count = 1;
        unsigned sum = 0;
        for (int i = 0; i < array.n_dims; i++) count *= array.dims[i];
        require(count == array.count && count > 0, "the count is the sizes' product");
        for (int64_t i = 0; i < array.count; i++) sum += array.bytes[i]; /* all of it is there */
        require(sum <= 255u * (uint64_t)array.count, "bytes are bytes");
        free(array.bytes);
    } else {
        require_refusal(status, &err);
        require(array.bytes == NULL, "a refused file leaves no memory");
    }
    input_file_free(&file);
    return 0;
}
