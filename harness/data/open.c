/* open.c: choosing a data set: MNIST, CIFAR-10, synthetic images, a folder of IDX files or of CIFAR-10's, or CSV files.
 */
#include "data_parts.h"

#include <string.h>

/* The sets that have a name, and how they are found and read. */
static const struct named_set {
    const char *name, *title, *fetch;
    int64_t c, h, w;
    cnn_status (*find)(const char *what, char folder[DATASET_PATH_MAX], cnn_error *err);
    cnn_status (*read)(const char *folder, const dataset_params *params, dataset *data, cnn_error *err);
} sets[] = {
    {"mnist", "MNIST", "data fetch", 1, 28, 28, mnist_find, mnist_read},
    {"cifar10", "CIFAR-10", "data fetch cifar10", CIFAR10_CHANNELS, CIFAR10_SIDE, CIFAR10_SIDE, cifar10_find,
     cifar10_read},
};
enum { SETS = sizeof sets / sizeof sets[0] };

static cnn_status read_named(const struct named_set *set, const char *folder, const dataset_params *params,
                             dataset *data, cnn_error *err)
{
    const cnn_status status = set->read(folder, params, data, err);
    if (status == CNN_OK) snprintf(data->name, sizeof data->name, "%s", set->name);
    return status;
}

static cnn_status open_auto(const dataset_params *params, dataset *data, cnn_error *err)
{
    char folder[DATASET_PATH_MAX];
    cnn_error why;
    const struct named_set *set = NULL; /* of the shape */
    for (int i = SETS - 1; i >= 0; i--)
        if (data_fits(params, sets[i].c, sets[i].h, sets[i].w)) set = &sets[i];
    if (set != NULL && set->find(NULL, folder, &why) == CNN_OK) return read_named(set, folder, params, data, err);
    const cnn_status status = dataset_synthetic(params, data, err);
    if (status != CNN_OK) return status;
    const size_t used = strlen(data->source);
    if (set != NULL)
        snprintf(data->source + used, sizeof data->source - used, "; %s was not found (`benchcnn %s` gets it)",
                 set->title, set->fetch);
    else
        snprintf(data->source + used, sizeof data->source - used,
                 "; the network's input is neither MNIST's nor "
                 "CIFAR-10's");
    return CNN_OK;
}

/* CIFAR-10's where these are there and MNIST's are not, or where the shape asked for is theirs. */
static cnn_status open_folder(const char *what, const dataset_params *params, dataset *data, cnn_error *err)
{
    char folder[DATASET_PATH_MAX], other[DATASET_PATH_MAX];
    const bool wanted = params->c != 0 && data_fits(params, CIFAR10_CHANNELS, CIFAR10_SIDE, CIFAR10_SIDE);
    const bool pictures = cifar10_find(what, other, err) == CNN_OK;
    cnn_status status = CNN_OK;
    if (pictures && wanted) return cifar10_read(other, params, data, err);
    status = mnist_find(what, folder, err);
    if (status == CNN_OK) return mnist_read(folder, params, data, err);
    return pictures ? cifar10_read(other, params, data, err) : status;
}

cnn_status dataset_open(const dataset_params *params, dataset *data, cnn_error *err)
{
    const char *what = params->what == NULL ? "auto" : params->what;
    char folder[DATASET_PATH_MAX];
    memset(data, 0, sizeof *data);
    if (strcmp(what, "auto") == 0) return open_auto(params, data, err);
    if (strcmp(what, "synthetic") == 0) return dataset_synthetic(params, data, err);
    if (csv_named(what)) return csv_read(what, params, data, err);
    for (int i = 0; i < SETS; i++) {
        if (strcmp(what, sets[i].name) != 0) continue;
        const cnn_status status = sets[i].find(NULL, folder, err);
        return status == CNN_OK ? read_named(&sets[i], folder, params, data, err) : status;
    }
    return open_folder(what, params, data, err);
}
