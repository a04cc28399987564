/* network_pass.c: walks the layers of a cnn_net, forward in order and backward against it. */
#include "network_pass.h"
#include "harness/cnn/half.h"
#include "verify/oracle/compare.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void vf_net_doubles(const cnn_net *net, const void *bytes, int64_t count, double *values)
{
    const float *floats = bytes;
    if (net->type.dtype == CNN_F64) memcpy(values, bytes, (size_t)count * sizeof *values);
    for (int64_t i = 0; net->type.dtype != CNN_F64 && i < count; i++) values[i] = (double)floats[i];
}

cnn_operand vf_net_images(const cnn_net *net, int64_t count)
{
    const cnn_value *v = &net->values[0];
    const int64_t all = count * v->c * v->h * v->w;
    return (cnn_operand){.dims = {count, v->c, v->h, v->w},
                         .count = all,
                         .bytes = (size_t)all * cnn_dtype_size(net->type.dtype)}; /* a tensor of the dtype */
}

double vf_distance(const double *a, const double *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += (a[i] - (b ? b[i] : 0.0)) * (a[i] - (b ? b[i] : 0.0));
    return vf_finite(sum) ? sqrt(sum) : (double)INFINITY;
}

bool vf_vanishes(const cnn_net *net, const cnn_param *p, const double *grads, double share)
{
    const double whole = vf_distance(grads, NULL, net->trained_elems);
    return vf_finite(whole) && vf_distance(grads + p->offset, NULL, p->count) <= share * whole;
}

static int64_t value_count(const cnn_net *net, int value)
{
    const cnn_value *v = &net->values[value];
    return net->batch * v->c * v->h * v->w;
}

/* Which layer last wrote each value is known by walking once. */
static bool find_sources(vf_pass *pass)
{
    const cnn_net *net = pass->net;
    int *writer = malloc((size_t)net->n_values * sizeof *writer);
    if (writer == NULL) return false;
    for (int v = 0; v < net->n_values; v++) writer[v] = -1;
    for (int l = 0; l < net->n_layers; l++) {
        for (int i = 0; i < net->layers[l].n_inputs; i++) pass->layers[l].source[i] = writer[net->layers[l].inputs[i]];
        writer[net->layers[l].output] = l;
    }
    free(writer);
    return true;
}

cnn_status vf_pass_open(vf_pass *pass, const cnn_net *net, thread_pool *pool, cnn_error *err)
{
    *pass = (vf_pass){.net = net,
                      .pool = pool,
                      .image_count = value_count(net, 0),
                      .whole = net->batch,
                      .rounds = cnn_is_half(net->type.dtype),
                      .loss_scale = 1.0};
    pass->layers = calloc((size_t)net->n_layers, sizeof *pass->layers);
    pass->labels = calloc((size_t)net->batch, sizeof *pass->labels);
    bool made = pass->layers != NULL && pass->labels != NULL && find_sources(pass);
    for (int v = 0; v < net->n_values; v++)
        if (value_count(net, v) > pass->scratch_count) pass->scratch_count = value_count(net, v);
    if (made) made = (pass->scratch = calloc((size_t)pass->scratch_count, sizeof(double))) != NULL;
    if (made && pass->rounds) made = (pass->copy = calloc((size_t)net->param_elems + 1, sizeof(double))) != NULL;
    for (int l = 0; made && l < net->n_layers; l++) {
        vf_pass_layer *p = &pass->layers[l];
        const int64_t channels = net->values[net->layers[l].output].c;
        p->count = value_count(net, net->layers[l].output);
        p->out = calloc(2 * (size_t)(p->count + channels), sizeof(double));
        made = p->out != NULL;
        if (!made) break;
        p->grad = p->out + p->count;
        p->save_mean = p->grad + p->count;
        p->save_invstd = p->save_mean + channels;
    }
    if (made) return CNN_OK;
    vf_pass_close(pass);
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the reference of network %s", net->name);
}

void vf_pass_close(vf_pass *pass)
{
    for (int l = 0; pass->layers != NULL && l < pass->net->n_layers; l++) free(pass->layers[l].out);
    free(pass->layers);
    free(pass->labels);
    free(pass->scratch);
    free(pass->copy);
    *pass = (vf_pass){0};
}

const double *vf_pass_input(const vf_pass *pass, int layer, int input)
{
    int source = pass->layers[layer].source[input];
    return source < 0 ? pass->images : pass->layers[source].out;
}

/* What is stored in the type of values; nothing where that is as good as a double. */
static void store(vf_pass *pass, double *values, int64_t count)
{
    const cnn_dtype dtype = pass->net->type.dtype;
    for (int64_t i = 0; pass->rounds && i < count; i++) {
        const double by = pass->nudge > 0.0 ? 1.0 + rng_real(&pass->rng, -pass->nudge, pass->nudge) : 1.0;
        values[i] = cnn_stored(dtype, values[i] * by);
    }
}

/* Offset of a layer's parameter by its operand's name ("w", "dw", "gamma", ...); -1: none. */
static int64_t param_offset(const cnn_net *net, int layer, const char *name)
{
    static const char *const names[] = {[CNN_WEIGHT] = "w",
                                        [CNN_BIAS] = "b",
                                        [CNN_GAMMA] = "gamma",
                                        [CNN_BETA] = "beta",
                                        [CNN_RUNNING_MEAN] = "running_mean",
                                        [CNN_RUNNING_VAR] = "running_var"};
    const cnn_layer *l = &net->layers[layer];
    for (int i = 0; i < l->n_params; i++)
        if (strcmp(names[net->params[l->params[i]].role], name) == 0) return net->params[l->params[i]].offset;
    return -1;
}

/* What an operand called `name` reads; NULL: nothing of the kind. `sums` are the loss's: the loss, the hits. */
static const double *source_of(const vf_pass *pass, int layer, const char *name)
{
    static const double zero = 0.0;
    const vf_pass_layer *p = &pass->layers[layer];
    int64_t param = param_offset(pass->net, layer, name);
    const bool multiplied = name[1] == '\0' && (name[0] == 'w' || name[0] == 'b');
    if (param >= 0) return (pass->rounds && multiplied ? pass->copy : pass->params) + param;
    if (strcmp(name, "y") == 0) return p->out;
    if (strcmp(name, "dy") == 0) return p->grad;
    if (strcmp(name, "save_mean") == 0) return p->save_mean;
    if (strcmp(name, "save_invstd") == 0) return p->save_invstd;
    if (strcmp(name, "labels") == 0) return pass->labels;
    if (name[0] == 'x') return vf_pass_input(pass, layer, name[1] == '\0' ? 0 : name[1] - '0');
    if (strcmp(name, "step") == 0) return &pass->step;
    if (strcmp(name, "loss_scale") == 0) return &pass->loss_scale;
    return &zero; /* loss_sum, correct */
}

static cnn_status layer_forward(vf_pass *pass, int layer, double *loss, cnn_error *err)
{
    vf_pass_layer *p = &pass->layers[layer];
    vf_call call;
    cnn_status status = vf_call_init(&call, &pass->net->layers[layer].problem, CNN_FWD, pass->pool, err);
    for (int i = 0; status == CNN_OK && i < call.count; i++) {
        const cnn_operand *o = &call.operands[i];
        if (o->access != CNN_OUT) call.in[i] = source_of(pass, layer, o->name);
        if (strcmp(o->name, "y") == 0) call.out[i].value = p->out;
        if (strcmp(o->name, "save_mean") == 0) call.out[i].value = p->save_mean;
        if (strcmp(o->name, "save_invstd") == 0) call.out[i].value = p->save_invstd;
        if (strcmp(o->name, "loss_sum") == 0) call.out[i].value = loss;
        if (strncmp(o->name, "running_", 8) == 0 && o->access != CNN_IN && pass->running != NULL)
            call.out[i].value = pass->running + param_offset(pass->net, layer, o->name);
    }
    call.first = pass->first;
    if (status == CNN_OK) vf_reference(&call);
    if (status == CNN_OK && layer + 1 < pass->net->n_layers) store(pass, p->out, p->count); /* probabilities are f32 */
    return status;
}

/* One direction of a layer's backward; gradients of its inputs are added to those of the layers that made them. */
static cnn_status layer_backward(vf_pass *pass, int layer, cnn_dir dir, double *grads, cnn_error *err)
{
    const cnn_layer *l = &pass->net->layers[layer];
    vf_call call;
    double *dx[CNN_MAX_INPUTS] = {NULL};
    bool wanted = false; /* the gradient of the images is not */
    cnn_status status = vf_call_init(&call, &l->problem, dir, pass->pool, err);
    call.scale = 1.0 / (double)pass->whole;
    call.first = pass->first;
    for (int i = 0; status == CNN_OK && i < call.count; i++) {
        const cnn_operand *o = &call.operands[i];
        int64_t param = o->name[0] == 'd' ? param_offset(pass->net, layer, o->name + 1) : -1;
        if (o->access == CNN_IN) {
            call.in[i] = source_of(pass, layer, o->name);
        } else if (param >= 0) {
            call.out[i].value = grads + param;
            wanted = true;
        } else {
            int input = o->name[2] == '\0' ? 0 : o->name[2] - '0'; /* dx, dx0, dx1, ... */
            dx[input] = call.out[i].value = malloc((size_t)o->count * sizeof(double));
            wanted = wanted || pass->layers[layer].source[input] >= 0;
            if (dx[input] == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a gradient");
        }
    }
    if (status == CNN_OK && wanted) vf_reference(&call);
    if (status == CNN_OK && wanted && pass->rounds && l->problem.op == CNN_OP_ACT && l->output == l->inputs[0])
        for (int64_t e = 0; e < pass->layers[layer].count; e++) /* in place: from the y that was rounded */
            dx[0][e] = vf_act_slope(&l->problem.u.act, pass->layers[layer].out[e]) * pass->layers[layer].grad[e];
    for (int i = 0; i < l->n_inputs; i++) {
        int source = pass->layers[layer].source[i];
        for (int64_t e = 0; status == CNN_OK && dx[i] != NULL && source >= 0 && e < pass->layers[source].count; e++)
            pass->layers[source].grad[e] += dx[i][e];
        if (status == CNN_OK && source >= 0) store(pass, pass->layers[source].grad, pass->layers[source].count);
        free(dx[i]);
    }
    return status;
}

static void mix(uint64_t *hash, uint64_t value) { *hash = (*hash ^ value) * 1099511628211u; }

/* Sides of kinks, and which tap each maximum is: where the gradient of numbered windows goes. */
static cnn_status layer_kinks(vf_pass *pass, int layer, uint64_t *hash, cnn_error *err)
{
    const cnn_problem *p = &pass->net->layers[layer].problem;
    const double *x = vf_pass_input(pass, layer, 0);
    vf_call call;
    if (p->op == CNN_OP_ACT) {
        double kinks[2];
        const int n = vf_act_kinks(&p->u.act, kinks);
        for (int64_t i = 0; n > 0 && i < pass->layers[layer].count; i++)
            mix(hash, n > 1 && x[i] >= kinks[1] ? 2 : x[i] > kinks[0] ? 1 : 0);
        return CNN_OK;
    }
    if (p->op != CNN_OP_POOL || p->u.pool.kind != CNN_POOL_MAX) return CNN_OK;
    cnn_status status = vf_call_init(&call, p, CNN_BWD_D, pass->pool, err);
    if (status != CNN_OK) return status;
    double *numbers = pass->layers[layer].grad; /* not in use before the backward */
    for (int64_t i = 0; i < pass->layers[layer].count; i++) numbers[i] = (double)(i + 1);
    for (int i = 0; i < call.count; i++)
        call.in[i] = call.operands[i].access == CNN_IN ? source_of(pass, layer, call.operands[i].name) : NULL;
    call.out[vf_index(call.operands, call.count, "dx")].value = pass->scratch;
    vf_reference(&call);
    int64_t count = call.operands[vf_index(call.operands, call.count, "dx")].count;
    for (int64_t i = 0; i < count; i++) mix(hash, (uint64_t)pass->scratch[i]);
    return CNN_OK;
}

cnn_status vf_pass_forward(vf_pass *pass, const double *params, const double *images, const int32_t *labels,
                           double *loss, uint64_t *kinks, cnn_error *err)
{
    cnn_status status = CNN_OK;
    uint64_t hash = 1469598103934665603u;
    pass->params = params;
    pass->images = images;
    for (int64_t i = 0; pass->rounds && i < pass->net->param_elems; i++)
        pass->copy[i] = cnn_stored(pass->net->type.dtype, params[i]);
    for (int64_t n = 0; n < pass->net->batch; n++) pass->labels[n] = labels[n];
    for (int l = 0; status == CNN_OK && l < pass->net->n_layers; l++) {
        status = layer_forward(pass, l, loss, err);
        if (status == CNN_OK && kinks != NULL) status = layer_kinks(pass, l, &hash, err);
    }
    *loss /= (double)pass->net->batch;
    if (kinks != NULL) *kinks = hash;
    return status;
}

/* What a layer with kinks reads, and its root mean square; NULL: no such layer. */
static double *read_at_kinks(const vf_pass *pass, int layer, double *size)
{
    const cnn_op op = pass->net->layers[layer].problem.op;
    const int source = pass->layers[layer].source[0];
    if ((op != CNN_OP_ACT && op != CNN_OP_POOL) || source < 0) return NULL;
    const vf_pass_layer *in = &pass->layers[source];
    double squares = 0.0;
    for (int64_t i = 0; i < in->count; i++) squares += in->out[i] * in->out[i];
    *size = sqrt(squares / (double)in->count);
    return in->out;
}

double vf_pass_clearance(const vf_pass *pass)
{
    double least = (double)INFINITY, size;
    for (int l = 0; l < pass->net->n_layers; l++) {
        const cnn_problem *p = &pass->net->layers[l].problem;
        const double *x = read_at_kinks(pass, l, &size);
        if (x == NULL) continue;
        const double near = p->op == CNN_OP_ACT ? vf_act_clearance(&p->u.act, x) : vf_pool_clearance(p, x);
        least = fmin(least, near / fmax(size, DBL_MIN));
    }
    return least;
}

void vf_pass_tilt(vf_pass *pass, double width)
{
    double size;
    for (int l = 0; l < pass->net->n_layers; l++) {
        const cnn_problem *p = &pass->net->layers[l].problem;
        double *x = read_at_kinks(pass, l, &size);
        if (x == NULL) continue;
        const double most = fmax(width * size, DBL_MIN);
        if (p->op == CNN_OP_ACT) vf_act_tilt(&p->u.act, x, most);
        if (p->op == CNN_OP_POOL) vf_pool_tilt(p, x, most);
    }
}

cnn_status vf_pass_backward(vf_pass *pass, double *grads, cnn_error *err)
{
    const cnn_net *net = pass->net;
    cnn_status status = CNN_OK;
    for (int64_t i = 0; i < net->param_elems; i++) grads[i] = 0.0;
    for (int l = 0; l < net->n_layers; l++)
        memset(pass->layers[l].grad, 0, (size_t)pass->layers[l].count * sizeof(double));
    for (int l = net->n_layers - 1; status == CNN_OK && l >= 0; l--) {
        const vf_pass_layer *p = &pass->layers[l];
        uint32_t dirs = cnn_op_dirs(&net->layers[l].problem);
        for (int i = 0; net->layers[l].problem.op == CNN_OP_ADD && i < 2; i++)
            for (int64_t e = 0; p->source[i] >= 0 && e < p->count; e++)
                pass->layers[p->source[i]].grad[e] += p->grad[e];
        for (int i = 0; net->layers[l].problem.op == CNN_OP_ADD && i < 2; i++)
            if (p->source[i] >= 0) store(pass, pass->layers[p->source[i]].grad, p->count);
        if (dirs & 1u << CNN_BWD_D) status = layer_backward(pass, l, CNN_BWD_D, grads, err);
        if (status == CNN_OK && dirs & 1u << CNN_BWD_W) status = layer_backward(pass, l, CNN_BWD_W, grads, err);
    }
    for (int64_t i = 0; pass->rounds && i < net->trained_elems; i++) grads[i] /= pass->loss_scale;
    return status;
}
