/* cmd_data.c: `benchcnn data`: what data there is; `data fetch` downloads MNIST or CIFAR-10; `data make` writes
 * synthetic images in the form of either. */
#include "cli/cli.h"
#include "cli/table.h"
#include "harness/cpu/threads.h"
#include "harness/data/dataset.h"

#include <string.h>

typedef struct named {
    const char *name, *title, *folder; /* folder: where the fetch puts it, unless --out says */
    int64_t c, side;                   /* of an image */
    cnn_status (*find)(const char *what, char folder[DATASET_PATH_MAX], cnn_error *err);
    cnn_status (*fetch)(const char *folder, cnn_error *err);
    cnn_status (*write)(const char *folder, const dataset *data, cnn_error *err);
} named;

static const named sets[] = {
    {"mnist", "MNIST", "data/mnist", 1, 28, mnist_find, mnist_fetch, mnist_write},
    {"cifar10", "CIFAR-10", "data/cifar10", CIFAR10_CHANNELS, CIFAR10_SIDE, cifar10_find, cifar10_fetch, cifar10_write},
};
enum { SETS = sizeof sets / sizeof sets[0] };

static void print_part(const char *name, const dataset *data, const dataset_part *part)
{
    int64_t histogram[DATASET_CLASSES];
    dataset_histogram(data, part, histogram);
    printf("  %-8s %6lld images; of the classes", name, (long long)part->count);
    for (int i = 0; i < DATASET_CLASSES; i++) printf(" %lld", (long long)histogram[i]);
    putchar('\n');
}

static void print_means(const dataset *data)
{
    printf("  %lld x %lld x %lld pixels, %lld classes, mean of the training images %.6f", (long long)data->c,
           (long long)data->h, (long long)data->w, (long long)data->classes, data->mean);
    for (int64_t k = 0; k < data->c && data->means != NULL; k++)
        printf("%s%.6f", k == 0 ? ", of the channels " : " ", data->means[k]);
    putchar('\n');
}

/* `write_to`: a folder that gets it as files of its set; NULL: none does. */
static cnn_status show(const cli_options *options, const named *set, const char *what, const char *write_to,
                       cnn_error *err)
{
    dataset_params params = {.c = set->c, .h = set->side, .w = set->side, .threads = cpu_count()};
    dataset data;
    cnn_status status = cli_dataset(options, &params, err);
    params.what = what;
    if (status == CNN_OK) status = dataset_open(&params, &data, err);
    if (status != CNN_OK) return status;
    if (write_to) status = set->write(write_to, &data, err);
    if (status == CNN_OK) {
        table_put(stdout, "%s: %s\n", data.name, data.source);
        print_means(&data);
        print_part("training", &data, &data.train);
        print_part("test", &data, &data.test);
    }
    if (status == CNN_OK && write_to) printf("written to %s; use it with --data %s\n", write_to, write_to);
    dataset_free(&data);
    return status;
}

/* Without a choice: each set where it is, or why it is not; then the synthetic ones. */
static cnn_status show_all(const cli_options *options, cnn_error *err)
{
    static const named any = {.name = "any"};
    char folder[DATASET_PATH_MAX];
    cnn_status status = CNN_OK;
    if (strcmp(options->data, "auto") != 0) return show(options, &any, options->data, NULL, err);
    for (int i = 0; i < SETS && status == CNN_OK; i++) {
        if (sets[i].find(NULL, folder, err) == CNN_OK)
            status = show(options, &sets[i], sets[i].name, NULL, err);
        else
            table_put(stdout, "%s: %s\n", sets[i].name, err->message);
    }
    for (int i = 0; i < SETS && status == CNN_OK; i++) status = show(options, &sets[i], "synthetic", NULL, err);
    return status;
}

/* The set that a second word names; MNIST without. */
static const named *named_by(const cli_options *o)
{
    const char *word = o->words.count > 1 ? o->words.items[1] : sets[0].name;
    for (int i = 0; i < SETS; i++)
        if (strcmp(word, sets[i].name) == 0) return &sets[i];
    return NULL;
}

static cnn_status fetch(const cli_options *options, cnn_error *err)
{
    const named *set = named_by(options);
    const char *folder = options->out != NULL ? options->out : set->folder;
    if (!options->quiet) fprintf(stderr, "fetching %s into %s\n", set->title, folder);
    const cnn_status status = set->fetch(folder, err);
    return status == CNN_OK ? show(options, set, folder, NULL, err) : status;
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
    if (named_by(o) == NULL)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "data %s: '%.64s' is neither mnist nor cifar10", word,
                        o->words.items[1]);
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
        status = show(options, named_by(options), "synthetic", options->out, err);
    return status == CNN_OK ? EXIT_HELD : cli_fail(err);
}
