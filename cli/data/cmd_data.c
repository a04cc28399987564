/* cmd_data.c: `benchcnn data`: what data there is; `data fetch` downloads MNIST; `data make` writes the synthetic
 * digits as IDX files. */
#include "cli/cli.h"
#include "cli/table.h"
#include "harness/cpu/threads.h"
#include "harness/data/dataset.h"

#include <string.h>

static void print_part(const char *name, const dataset *data, const dataset_part *part)
{
    int64_t histogram[DATASET_CLASSES];
    dataset_histogram(data, part, histogram);
    printf("  %-8s %6lld images; of the classes", name, (long long)part->count);
    for (int i = 0; i < DATASET_CLASSES; i++) printf(" %lld", (long long)histogram[i]);
    putchar('\n');
}

/* `write_to`: a folder that gets it as IDX files; NULL: none does. */
static cnn_status show(const cli_options *options, const char *what, const char *write_to, cnn_error *err)
{
    dataset_params params = {.threads = cpu_count()};
    dataset data;
    cnn_status status = cli_dataset(options, &params, err);
    params.what = what;
    if (status == CNN_OK) status = dataset_open(&params, &data, err);
    if (status != CNN_OK) return status;
    if (write_to) status = mnist_write(write_to, &data, err);
    if (status == CNN_OK) {
        table_put(stdout, "%s: %s\n", data.name, data.source);
        printf("  %lld x %lld x %lld pixels, %lld classes, mean of the training images %.6f\n", (long long)data.c,
               (long long)data.h, (long long)data.w, (long long)data.classes, data.mean);
        print_part("training", &data, &data.train);
        print_part("test", &data, &data.test);
    }
    if (status == CNN_OK && write_to) printf("written to %s; use it with --data %s\n", write_to, write_to);
    dataset_free(&data);
    return status;
}

/* Without a choice: MNIST where it is, or why it is not; then the synthetic digits. */
static cnn_status show_all(const cli_options *options, cnn_error *err)
{
    char folder[DATASET_PATH_MAX];
    if (strcmp(options->data, "auto") != 0) return show(options, options->data, NULL, err);
    cnn_status status = CNN_OK;
    if (mnist_find(NULL, folder, err) == CNN_OK)
        status = show(options, "mnist", NULL, err);
    else
        table_put(stdout, "mnist: %s\n", err->message);
    return status == CNN_OK ? show(options, "synthetic", NULL, err) : status;
}

static cnn_status fetch(const cli_options *options, cnn_error *err)
{
    const char *folder = options->out != NULL ? options->out : "data/mnist";
    if (!options->quiet) fprintf(stderr, "fetching MNIST into %s\n", folder);
    const cnn_status status = mnist_fetch(folder, err);
    return status == CNN_OK ? show(options, folder, NULL, err) : status;
}

cnn_status args_data(const cli_options *o, cnn_error *err)
{
    const char *word = o->words.count > 0 ? o->words.items[0] : NULL;
    if (word == NULL && o->out != NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--out %.200s: data is written by `data fetch` and `data make`", o->out);
    if (word == NULL) return CNN_OK;
    if (strcmp(word, "fetch") != 0 && strcmp(word, "make") != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "data: '%.64s' is neither fetch nor make (nor nothing, to show it)",
                        word);
    if (cli_given(o, "data"))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--data %.64s does not go with data %s: --out DIR says where it writes",
                        o->data, word);
    if (strcmp(word, "make") == 0 && o->out == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "data make needs a folder: --out DIR");
    return CNN_OK;
}

int cmd_data(const cli_options *options, cnn_error *err)
{
    cnn_status status;
    if (options->words.count == 0)
        status = show_all(options, err);
    else if (strcmp(options->words.items[0], "fetch") == 0)
        status = fetch(options, err);
    else
        status = show(options, "synthetic", options->out, err);
    return status == CNN_OK ? EXIT_HELD : cli_fail(err);
}
