/* weights.c: which tensor of a file is which parameter. */
#include "weights.h"

#include "harness/data/npy.h"
#include "harness/data/safetensors.h"
#include "harness/problem/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct tensor_name {
    char text[CNN_NAME_MAX + 32];
} tensor_name;

/* What PyTorch calls them. */
static const char *const role_names[CNN_PARAM_COUNT] = {
    [CNN_WEIGHT] = "weight",
    [CNN_BIAS] = "bias",
    [CNN_GAMMA] = "weight",
    [CNN_BETA] = "bias",
    [CNN_RUNNING_MEAN] = "running_mean",
    [CNN_RUNNING_VAR] = "running_var",
};

/* Name and shape of a parameter, without its elements. */
static st_tensor tensor_of(const cnn_net *net, const cnn_param *p, tensor_name *name)
{
    const cnn_layer *layer = &net->layers[p->layer];
    st_tensor t = {.name = name->text, .n_dims = 1, .dims = {p->count}, .count = p->count};
    snprintf(name->text, sizeof name->text, "%s.%s", layer->name, role_names[p->role]);
    t.type = cnn_params_dtype(net) == CNN_F64 ? ST_F64 : ST_F32;
    if (p->role != CNN_WEIGHT) return t;
    if (layer->problem.op == CNN_OP_CONV) {
        const cnn_conv_desc *c = &layer->problem.u.conv;
        t.n_dims = 4;
        t.dims[0] = c->oc, t.dims[1] = c->ic / c->g, t.dims[2] = c->kh, t.dims[3] = c->kw;
    } else {
        t.n_dims = 2;
        t.dims[0] = layer->problem.u.fc.oc, t.dims[1] = p->count / t.dims[0];
    }
    return t;
}

cnn_status weights_save(const cnn_network *network, const void *params, const weights_facts *facts, const char *path,
                        cnn_error *err)
{
    const cnn_net *net = &network->net;
    char *means = weights_means_text(facts, net->values[0].c);
    const st_pair metadata[] = {{"format", "pt"},
                                {"network", net->name},
                                {"mean", means},
                                {"preprocess", facts->proportional ? "proportional" : "mean"}};
    st_tensor *tensors = calloc((size_t)net->n_params + 1, sizeof *tensors);
    tensor_name *names = calloc((size_t)net->n_params + 1, sizeof *names);
    cnn_status status = means != NULL && tensors != NULL && names != NULL
                            ? CNN_OK
                            : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the weights of %s", net->name);
    for (int i = 0; i < net->n_params && status == CNN_OK; i++) {
        const cnn_param *p = &net->params[i];
        tensors[i] = tensor_of(net, p, &names[i]);
        tensors[i].data = (const char *)params + (size_t)p->offset * cnn_param_size(net);
    }
    if (status == CNN_OK)
        status = st_write(path, tensors, net->n_params, metadata, sizeof metadata / sizeof *metadata, err);
    free(means);
    free(tensors);
    free(names);
    return status;
}

/* ---- Loading ---- */

static const st_tensor *find(const st_file *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0) return &file->tensors[i];
    return NULL;
}

/* With the nearest name that is there. */
static cnn_status is_missing(const st_file *file, const char *path, const cnn_net *net, const char *name,
                             cnn_error *err)
{
    const char **names = calloc((size_t)file->count + 1, sizeof *names);
    for (int i = 0; names != NULL && i < file->count; i++) names[i] = file->tensors[i].name;
    const char *nearest = names != NULL ? cnn_nearest_name(name, names, file->count) : NULL;
    free(names);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "%s has no tensor '%s', which network %s needs; the first of its %d is '%.80s'%s%.80s%s", path,
                    name, net->name, file->count, file->tensors[0].name, nearest != NULL ? ", the nearest '" : "",
                    nearest != NULL ? nearest : "", nearest != NULL ? "'" : "");
}

/* Shape, type. */
static cnn_status check_tensor(const char *path, const cnn_net *net, const st_tensor *has, const st_tensor *needs,
                               cnn_error *err)
{
    char its[NPY_SHAPE_TEXT], wanted[NPY_SHAPE_TEXT];
    const bool same =
        has->n_dims == needs->n_dims && memcmp(has->dims, needs->dims, (size_t)has->n_dims * sizeof *has->dims) == 0;
    npy_shape_text(has->dims, has->n_dims, its);
    npy_shape_text(needs->dims, needs->n_dims, wanted);
    if (!same)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s: %s has the shape %s, but that of network %s is %s", path,
                        needs->name, its, net->name, wanted);
    if (st_is_real(has->type)) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s: %s is %s; F64, F32, F16 and BF16 are read: save it as one of these",
                    path, needs->name, st_type_name(has->type));
}

/* Into the network's type, which must hold it. */
static cnn_status take(const char *path, const cnn_net *net, const cnn_param *p, const st_tensor *t, void *params,
                       weights_facts *facts, cnn_error *err)
{
    const bool single = cnn_params_dtype(net) == CNN_F32;
    for (int64_t i = 0; i < p->count; i++) {
        const double value = st_get(t, i), kept = single ? (double)(float)value : value;
        if (!isfinite(kept))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s: element %lld of %s is %g, which no weight in %s can be", path,
                            (long long)i, t->name, value, cnn_dtype_name(cnn_params_dtype(net)));
        facts->crc = (uint32_t)crc32(facts->crc, (const Bytef *)&value, sizeof value);
        if (single)
            ((float *)params)[p->offset + i] = (float)value;
        else
            ((double *)params)[p->offset + i] = value;
    }
    return CNN_OK;
}

static cnn_status load_param(const st_file *file, const char *path, const cnn_net *net, const cnn_param *p,
                             void *params, weights_facts *facts, cnn_error *err)
{
    tensor_name name;
    const st_tensor needs = tensor_of(net, p, &name), *has = find(file, name.text);
    if (has == NULL) return is_missing(file, path, net, name.text, err);
    const cnn_status status = check_tensor(path, net, has, &needs, err);
    return status == CNN_OK ? take(path, net, p, has, params, facts, err) : status;
}

/* What PyTorch's batch norm counts, and nothing here needs. */
static bool is_counter(const char *name)
{
    static const char ending[] = ".num_batches_tracked";
    const size_t length = strlen(name);
    return length >= sizeof ending && strcmp(name + length + 1 - sizeof ending, ending) == 0;
}

/* A tensor that belongs to no layer: the file is of another network. */
static cnn_status check_others(const st_file *file, const char *path, const cnn_net *net, cnn_error *err)
{
    for (int i = 0; i < file->count; i++) {
        const char *name = file->tensors[i].name;
        bool known = is_counter(name);
        for (int k = 0; k < net->n_params && !known; k++) {
            tensor_name its;
            (void)tensor_of(net, &net->params[k], &its);
            known = strcmp(its.text, name) == 0;
        }
        if (!known)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s holds '%.80s', which network %s has not: it is of another one",
                            path, name, net->name);
    }
    return CNN_OK;
}

cnn_status weights_load(const cnn_network *network, const char *path, void *params, weights_facts *facts,
                        cnn_error *err)
{
    const cnn_net *net = &network->net;
    st_file file;
    cnn_status status = st_read(path, &file, err);
    if (status != CNN_OK) return status;
    const char *mean = st_metadata(&file, "mean");
    const char *how = st_metadata(&file, "preprocess");
    *facts = (weights_facts){.mean = NAN, .proportional = how != NULL && strcmp(how, "proportional") == 0};
    if (mean != NULL) status = weights_means_read(mean, net->values[0].c, path, facts, err);
    memset(params, 0, (size_t)net->param_elems * cnn_param_size(net));
    for (int i = 0; i < net->n_params && status == CNN_OK; i++)
        status = load_param(&file, path, net, &net->params[i], params, facts, err);
    if (status == CNN_OK) status = check_others(&file, path, net, err);
    st_free(&file);
    return status;
}
