/* A safetensors file: what is accepted reads back alike when it is written out again. */
#include "target.h"

#include "harness/data/safetensors.h"

#include <unistd.h>

static void write_and_read(const st_file *file)
{
    char path[] = "/tmp/fuzz_safetensors.XXXXXX";
    const int fd = mkstemp(path);
    st_file again;
    cnn_error err;
    require(fd >= 0, "a temporary file");
    close(fd);
    require(st_write(path, file->tensors, file->count, NULL, 0, &err) == CNN_OK, "what was read can be written");
    require(st_read(path, &again, &err) == CNN_OK, "what was written can be read");
    require(again.count == file->count, "no tensor is lost");
    for (int i = 0; i < file->count; i++) {
        const st_tensor *a = &file->tensors[i], *b = &again.tensors[i];
        require(a->begin == b->begin && a->end == b->end, "the ranges are the same");
        require(a->end == a->begin || memcmp(a->data, b->data, a->end - a->begin) == 0, "the elements are the same");
    }
    st_free(&again);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const input_file in = input_file_make(data, size);
    st_file file;
    cnn_error err = {.message = ""};
    const cnn_status status = st_read(in.path, &file, &err);
    if (status == CNN_OK) {
        for (int i = 0; i < file.count; i++)
            for (int64_t k = 0; st_is_real(file.tensors[i].type) && k < file.tensors[i].count; k++)
                (void)st_get(&file.tensors[i], k);
        write_and_read(&file);
        st_free(&file);
    } else {
        require_refusal(status, &err);
    }
    input_file_free(&in);
    return 0;
}
