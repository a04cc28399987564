/* open.c: choosing a data set: MNIST, synthetic digits, a folder of IDX files, or CSV files. */
#include "dataset.h"

#include <string.h>

static bool is_mnist_shape(const dataset_params *p)
{
    return (p->c == 0 || p->c == 1) && (p->h == 0 || p->h == 28) && (p->w == 0 || p->w == 28);
}

static cnn_status open_auto(const dataset_params *params, dataset *data, cnn_error *err)
{
    char folder[DATASET_PATH_MAX];
    cnn_error why;
    const bool mnist_shape = is_mnist_shape(params);
    if (mnist_shape && mnist_find(NULL, folder, &why) == CNN_OK) {
        const cnn_status status = mnist_read(folder, params, data, err);
        if (status == CNN_OK) snprintf(data->name, sizeof data->name, "mnist");
        return status;
    }
    const cnn_status status = dataset_synthetic(params, data, err);
    if (status != CNN_OK) return status;
    const size_t used = strlen(data->source);
    snprintf(data->source + used, sizeof data->source - used, "; %s",
             mnist_shape ? "MNIST was not found (`benchcnn data fetch` gets it)"
                         : "the network's input is not MNIST's");
    return CNN_OK;
}

cnn_status dataset_open(const dataset_params *params, dataset *data, cnn_error *err)
{
    const char *what = params->what == NULL ? "auto" : params->what;
    char folder[DATASET_PATH_MAX];
    memset(data, 0, sizeof *data);
    if (strcmp(what, "auto") == 0) return open_auto(params, data, err);
    if (strcmp(what, "synthetic") == 0) return dataset_synthetic(params, data, err);
    if (csv_named(what)) return csv_read(what, params, data, err);
    const bool by_name = strcmp(what, "mnist") == 0;
    cnn_status status = mnist_find(by_name ? NULL : what, folder, err);
    if (status == CNN_OK) status = mnist_read(folder, params, data, err);
    if (status == CNN_OK && by_name) snprintf(data->name, sizeof data->name, "mnist");
    return status;
}
