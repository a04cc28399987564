/* A file of records: lines that are none are counted, the others give what is asked of them. */
#include "target.h"

#include "harness/record/record.h"

static cnn_status each(void *user, const cnn_record *record, cnn_error *err)
{
    static const char *const keys[] = {"kind", "impl", "median_s", "knobs", "samples", ""};
    int *count = user;
    (void)err;
    ++*count;
    require(record_get_text(record, "kind") != NULL, "a record has a kind");
    for (int i = 0; i < 6; i++) {
        char *text = record_json(record, keys[i]);
        (void)record_get_text(record, keys[i]);
        (void)record_get_real(record, keys[i]);
        require(!(record_is(record, keys[i], true) && record_is(record, keys[i], false)), "true or false");
        free(text);
    }
    return CNN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const input_file file = input_file_make(data, size);
    int lines = 1, count = 0, bad = 0;
    cnn_error err = {.message = ""};
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
    require(record_read(file.path, each, &count, &bad, &err) == CNN_OK, "a file that can be opened can be read");
    require(count + bad <= lines, "a line is at most one record");
    input_file_free(&file);
    return 0;
}
