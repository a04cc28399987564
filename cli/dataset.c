/* dataset.c: what the options say of a data set. */
#include "cli.h"

#include <string.h>

static const char *const preprocesses[] = {
    [DATASET_MEAN] = "mean", [DATASET_NONE] = "none", [DATASET_PROPORTIONAL] = "proportional"};

cnn_status cli_dataset(const cli_options *o, dataset_params *p, cnn_error *err)
{
    const char *targets = o->targets != NULL ? o->targets : "0", *dots = strstr(targets, "..");
    char first[32];
    int count;
    p->what = o->data;
    p->seed = (uint64_t)o->seed;
    for (int i = 0; i < 3; i++)
        if (o->preprocess != NULL && strcmp(preprocesses[i], o->preprocess) == 0) p->preprocess = (dataset_preprocess)i;
    if (o->targets != NULL && !csv_named(o->data))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--targets goes with --data FILE.csv, and means nothing without it");
    snprintf(first, sizeof first, "%.*s", dots != NULL ? (int)(dots - targets) : (int)strlen(targets), targets);
    cnn_status status = cli_ints("targets", first, 0, INT32_MAX, &p->targets[0], 1, &count, err);
    p->targets[1] = p->targets[0];
    if (status == CNN_OK && dots != NULL)
        status = cli_ints("targets", dots + 2, p->targets[0], INT32_MAX, &p->targets[1], 1, &count, err);
    return status;
}
