/* Images as CSV, with and without a shape that is known: what is accepted has whole images and labels that are classes.
 */
#include "target.h"

#include "harness/data/dataset.h"

static void check_part(const dataset *data, const dataset_part *part)
{
    unsigned sum = 0;
    require(part->count > 0, "no part is empty");
    for (int64_t i = 0; i < part->count * data->c * data->h * data->w; i++) sum += part->images[i]; /* all is there */
    require(sum <= 255u * (uint64_t)(part->count * data->c * data->h * data->w), "bytes are bytes");
    for (int64_t i = 0; i < part->count; i++)
        require(part->labels[i] >= 0 && part->labels[i] < data->classes, "a label is a class");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const dataset_params ways[] = {
        {.c = 0}, {.c = 1, .h = 2, .w = 1}, {.c = 0, .targets = {1, 3}}, {.c = 1, .h = 1, .w = 4, .targets = {4, 4}}};
    const input_file file = input_file_make(bytes, size);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        dataset data;
        cnn_error err = {.message = ""};
        (void)lseek(file.fd, 0, SEEK_SET);
        const cnn_status status = csv_read(file.path, &ways[i], &data, &err);
        if (status == CNN_OK) {
            check_part(&data, &data.train);
            check_part(&data, &data.test);
            dataset_free(&data);
        } else {
            require_refusal(status, &err);
            require(data.train.images == NULL, "a refused file leaves no memory");
        }
    }
    input_file_free(&file);
    return 0;
}
