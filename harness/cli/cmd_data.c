/* cmd_data.c: `benchcnn data`: what data there is; `data fetch` downloads MNIST; `data make` writes the synthetic
 * digits as IDX files. */
#include "../cpu/threads.h"
#include "../data/dataset.h"
#include "cli.h"

#include <string.h>

static void print_part(const char *name, const dataset *data, const dataset_part *part)
{
    int64_t histogram[DATASET_CLASSES];
    dataset_histogram(data, part, histogram);
    printf("  %-8s %6lld images; of the classes", name, (long long)part->count);
    for (int i = 0; i < DATASET_CLASSES; i++) printf(" %lld", (long long)histogram[i]);
    putchar('\n');
}

static void print_data(const dataset *data)
{
    printf("%s: %s\n", data->name, data->source);
    printf("  %lld x %lld x %lld pixels, %lld classes, mean of the training images %.6f\n", (long long)data->c,
           (long long)data->h, (long long)data->w, (long long)data->classes, data->mean);
    print_part("training", data, &data->train);
    print_part("test", data, &data->test);
}

static cnn_status show(const cli_options *options, const char *what, cnn_error *err)
{
    const dataset_params params = {.what = what, .seed = (uint64_t)options->seed, .threads = cpu_count()};
    dataset data;
    const cnn_status status = dataset_open(&params, &data, err);
    if (status != CNN_OK) return status;
    print_data(&data);
    dataset_free(&data);
    return CNN_OK;
}

/* Without a choice: MNIST where it is, or why it is not; then the synthetic digits. */
static cnn_status show_all(const cli_options *options, cnn_error *err)
{
    char folder[DATASET_PATH_MAX];
    if (strcmp(options->data, "auto") != 0) return show(options, options->data, err);
    cnn_status status = CNN_OK;
    if (mnist_find(NULL, folder, err) == CNN_OK)
        status = show(options, "mnist", err);
    else
        printf("mnist: %s\n", err->message);
    return status == CNN_OK ? show(options, "synthetic", err) : status;
}

static cnn_status fetch(const cli_options *options, cnn_error *err)
{
    const char *folder = options->out != NULL ? options->out : "data/mnist";
    if (!options->quiet) fprintf(stderr, "fetching MNIST into %s\n", folder);
    const cnn_status status = mnist_fetch(folder, err);
    return status == CNN_OK ? show(options, folder, err) : status;
}

static cnn_status make(const cli_options *options, cnn_error *err)
{
    const dataset_params params = {.what = "synthetic", .seed = (uint64_t)options->seed, .threads = cpu_count()};
    dataset data;
    if (options->out == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "data make needs a folder: --out DIR");
    cnn_status status = dataset_open(&params, &data, err);
    if (status != CNN_OK) return status;
    status = mnist_write(options->out, &data, err);
    if (status == CNN_OK) {
        print_data(&data);
        printf("written to %s; use it with --data %s\n", options->out, options->out);
    }
    dataset_free(&data);
    return status;
}

int cmd_data(const cli_options *options, cnn_error *err)
{
    const char *word = options->words.count > 0 ? options->words.items[0] : NULL;
    cnn_status status;
    if (options->words.count > 1)
        status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "data: one word at most, got '%.64s' too", options->words.items[1]);
    else if (word == NULL)
        status = show_all(options, err);
    else if (strcmp(word, "fetch") == 0)
        status = fetch(options, err);
    else if (strcmp(word, "make") == 0)
        status = make(options, err);
    else
        status =
            CNN_FAIL(err, CNN_BAD_ARGUMENT, "data: '%.64s' is neither fetch nor make (nor nothing, to show it)", word);
    return status == CNN_OK ? EXIT_HELD : cli_fail(err);
}
